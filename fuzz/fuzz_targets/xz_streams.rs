//! libFuzzer's way into [`perfkit_fuzz::xz_streams`]; the body lives in the library.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| perfkit_fuzz::xz_streams(data));
