fn step(tab: &mut barkeep_curator::Gate) -> &barkeep_curator::Curator {
    &tab.curator
}

fn main() {}
