fn print(records: &barkeep_data::Table) {
    println!("{:?}", records);
}

fn main() {}
