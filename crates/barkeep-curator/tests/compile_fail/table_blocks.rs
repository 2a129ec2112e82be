fn values(table: &barkeep_curator::Table) {
    let _ = table.blocks();
}

fn main() {}
