fn print(records: &barkeep_data::Block<'_>) {
    println!("{:?}", records);
}

fn main() {}
