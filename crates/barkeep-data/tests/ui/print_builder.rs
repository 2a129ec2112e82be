fn print(records: &barkeep_data::TableBuilder) {
    println!("{:?}", records);
}

fn main() {}
