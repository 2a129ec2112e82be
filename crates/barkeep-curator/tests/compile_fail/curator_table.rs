fn read(curator: &barkeep_curator::Curator) -> &barkeep_curator::Table {
    &curator.table
}

fn main() {}
