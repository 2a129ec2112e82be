fn step(gate: &mut barkeep_curator::Gate) -> &barkeep_curator::Curator {
    &gate.curator
}

fn main() {}
