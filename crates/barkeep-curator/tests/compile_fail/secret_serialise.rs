fn write(_: impl serde::Serialize) {}

fn leak(secret: barkeep_curator::Secret<i64>) {
    write(secret);
}

fn main() {}
