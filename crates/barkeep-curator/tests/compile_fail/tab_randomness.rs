fn step(tab: &mut barkeep_curator::Tab) -> u64 {
    tab.rng.next_u64()
}

fn main() {}
