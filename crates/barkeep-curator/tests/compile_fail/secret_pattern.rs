fn leak(secret: barkeep_curator::Secret<i64>) -> i64 {
    let barkeep_curator::Secret(value) = secret;
    value
}

fn main() {}
