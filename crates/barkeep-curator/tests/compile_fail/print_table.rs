fn print(records: &barkeep_curator::Table) {
    println!("{:?}", records);
}

fn main() {}
