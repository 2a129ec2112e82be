fn serialise<Format: serde::Serializer>(records: &barkeep_curator::TableBuilder, format: Format) {
    let _ = serde::Serialize::serialize(records, format);
}

fn main() {}
