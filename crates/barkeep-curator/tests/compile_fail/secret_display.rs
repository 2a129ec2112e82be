fn leak(secret: barkeep_curator::Secret<i64>) {
    println!("{}", secret);
}

fn main() {}
