fn copy(table: &barkeep_curator::Table) -> barkeep_curator::Table {
    table.clone()
}

fn main() {}
