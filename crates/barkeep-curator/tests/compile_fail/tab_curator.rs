fn step(tab: &mut barkeep_curator::Tab) -> &barkeep_curator::Curator {
    &tab.curator
}

fn main() {}
