fn print(records: &barkeep_curator::TableBuilder) {
    println!("{:?}", records);
}

fn main() {}
