//! Reads the same file from the disk and from a store.

use super::source::Source;
use super::*;
use crate::location::Object;
use object_store::memory::InMemory;
use object_store::path::Path as Key;
use object_store::{ObjectStore, ObjectStoreExt};
use std::sync::Arc;

/// All values of a column, decoded row group by row group.
fn column(file: &SerializedFileReader<Source>, source: &Source, name: &str) -> Vec<f64> {
    let column = crate::Column::real(name, -1e9, 1e9, 0.0).unwrap();
    let position = names(file).iter().position(|own| own == name).unwrap();
    let descriptor = &file.metadata().file_metadata().schema_descr().columns()[position];
    let leaf = Leaf::new(Path::new("x"), name, position, descriptor).unwrap();
    let mut decoders = [Decoder::new(Cells::new(&column), leaf)];
    let mut values = Vec::new();
    for group in 0..file.num_row_groups() {
        let ranges = [group, group + 1].map(|group| ranges(file, group, &decoders));
        source.expect(&ranges[0], &ranges[1]);
        let group = file.get_row_group(group).unwrap();
        decoders[0].start(Path::new("x"), &*group).unwrap();
        let start = values.len();
        values.resize(start + usize::try_from(group.metadata().num_rows()).unwrap(), 0.0);
        decoders[0].fill(Path::new("x"), &mut values[start..]).unwrap();
    }
    values
}

#[test]
fn an_object_is_read_as_the_file_is() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parquet");
    for name in ["plain", "snappy", "pages_v2", "encodings"] {
        let path = folder.join(format!("{name}.parquet"));
        let local = Source::open(&path).unwrap();
        let store: Arc<dyn ObjectStore> = Arc::new(InMemory::new());
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let key = Key::from("records.parquet");
        runtime.block_on(store.put(&key, std::fs::read(&path).unwrap().into())).unwrap();
        let remote = Source::of(Object::of(&path, store, &key).unwrap());
        let [here, there] = [&local, &remote].map(|source| opened(&path, source.clone()).unwrap());
        for own in ["income", "age", "member"] {
            let [here, there] = [column(&here, &local, own), column(&there, &remote, own)];
            let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
            assert_eq!((here.len(), bits(&here)), (2500, bits(&there)), "{name}: {own}");
        }
    }
}
