fn leak(secret: barkeep_curator::Secret<i64>) -> i64 {
    *secret
}

fn main() {}
