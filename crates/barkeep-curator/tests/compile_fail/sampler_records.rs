fn step(ask: &mut dyn barkeep_curator::Ask) {
    let _ = ask.curator.table.blocks();
}

fn main() {}
