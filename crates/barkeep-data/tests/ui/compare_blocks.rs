fn same(one: barkeep_data::Block<'_>, other: barkeep_data::Block<'_>) -> bool {
    one == other
}

fn main() {}
