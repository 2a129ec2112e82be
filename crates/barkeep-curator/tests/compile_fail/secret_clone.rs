fn leak(secret: &barkeep_curator::Secret<i64>) -> barkeep_curator::Secret<i64> {
    Clone::clone(secret)
}

fn main() {}
