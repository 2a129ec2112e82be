fn read(budget: &barkeep_curator::Budget) {
    let _ = budget.0.lock();
}

fn main() {}
