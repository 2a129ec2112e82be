fn read(curator: &barkeep_curator::Curator) -> &barkeep_data::Table {
    &curator.table
}

fn main() {}
