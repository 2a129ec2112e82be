fn leak(secret: barkeep_curator::Secret<i64>) -> String {
    format!("{:?}", secret)
}

fn main() {}
