//! libFuzzer's way into [`perfkit_fuzz::lz4_read`]; the body lives in the library.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| perfkit_fuzz::lz4_read(data));
