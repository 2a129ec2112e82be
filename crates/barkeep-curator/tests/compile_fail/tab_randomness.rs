fn step(tab: &mut barkeep_curator::Gate) -> u64 {
    tab.rng.next_u64()
}

fn main() {}
