fn weights(choice: barkeep_curator::Choose<'_>) {
    let _ = choice.worth();
}

fn main() {}
