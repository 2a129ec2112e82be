fn same(one: &barkeep_curator::Table, other: &barkeep_curator::Table) -> bool {
    one == other
}

fn main() {}
