fn copy(table: &barkeep_data::Table) -> barkeep_data::Table {
    table.clone()
}

fn main() {}
