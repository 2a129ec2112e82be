fn main() {
    let _ = barkeep_curator::Curator::candidates;
}
