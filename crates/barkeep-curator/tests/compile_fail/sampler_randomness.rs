fn step(ask: &mut dyn barkeep_curator::Ask) -> u64 {
    ask.rng.next_u64()
}

fn main() {}
