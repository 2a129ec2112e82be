//! Feeds any bytes to a certificate's reader, and what it accepts to its verification.

#![no_main]

use barkeep::Certificate;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(certificate) = serde_json::from_slice::<Certificate>(bytes) {
        let _ = certificate.verify();
    }
});
