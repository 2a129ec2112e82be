fn serialise<Format: serde::Serializer>(records: &barkeep_data::Blocks<'_>, format: Format) {
    let _ = serde::Serialize::serialize(records, format);
}

fn main() {}
