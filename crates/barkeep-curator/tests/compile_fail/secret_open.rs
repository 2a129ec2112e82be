fn leak(secret: barkeep_curator::Secret<i64>) -> i64 {
    secret.open()
}

fn main() {}
