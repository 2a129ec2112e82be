fn step(gate: &mut barkeep_curator::Gate) -> u64 {
    gate.rng.next_u64()
}

fn main() {}
