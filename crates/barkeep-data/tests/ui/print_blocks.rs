fn print(records: &barkeep_data::Blocks<'_>) {
    println!("{:?}", records);
}

fn main() {}
