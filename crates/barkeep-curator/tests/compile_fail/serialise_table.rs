fn serialise<Format: serde::Serializer>(records: &barkeep_curator::Table, format: Format) {
    let _ = serde::Serialize::serialize(records, format);
}

fn main() {}
