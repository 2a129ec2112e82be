fn leak(one: barkeep_curator::Secret<i64>, other: barkeep_curator::Secret<i64>) -> bool {
    one == other
}

fn main() {}
