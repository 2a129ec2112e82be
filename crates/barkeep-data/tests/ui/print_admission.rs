fn print(records: &barkeep_data::Admission) {
    println!("{:?}", records);
}

fn main() {}
