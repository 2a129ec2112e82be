fn serialise<Format: serde::Serializer>(records: &barkeep_data::TableBuilder, format: Format) {
    let _ = serde::Serialize::serialize(records, format);
}

fn main() {}
