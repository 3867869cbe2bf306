//! Every parser and file format under libFuzzer: no panic, no hang, and no more memory than the input deserves.
//!
//! `FORMAT` names the format, one of those in [`formats`].

#![no_main]

mod formats;

use std::{env, panic, path::Path, sync::OnceLock};

use formats::{Bench, FORMATS};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    thread_local! {
        static BENCH: OnceLock<Bench> = const { OnceLock::new() };
    }
    BENCH.with(|bench| {
        let bench = bench.get_or_init(|| {
            // A panic of a decoder of Parquet is caught and refused with the file; every other one is a finding.
            let report = panic::take_hook();
            panic::set_hook(Box::new(move |about| {
                if !dp_assay::is_decoding() {
                    report(about);
                }
            }));
            let name = env::var("FORMAT").unwrap_or_default();
            let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
            let names = || FORMATS.map(|(name, _)| name).join(", ");
            Bench::new(&name, &root).unwrap_or_else(|| panic!("FORMAT is one of {}, not {name:?}", names()))
        });
        bench.read(data);
    });
});
