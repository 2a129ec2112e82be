//! Feeds any bytes to the schema's reader.

#![no_main]

use barkeep::data::Schema;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(schema) = serde_json::from_slice::<Schema>(bytes) {
        for column in schema.columns() {
            let (low, high) = column.range();
            assert!(low <= high && low.is_finite() && high.is_finite());
        }
    }
});
