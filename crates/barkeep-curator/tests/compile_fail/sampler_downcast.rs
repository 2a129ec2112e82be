fn step(ask: &mut dyn barkeep_curator::Ask) -> Option<&mut barkeep_curator::Gate> {
    let any: &mut dyn std::any::Any = ask;
    any.downcast_mut()
}

fn main() {}
