//! libFuzzer's way into [`perfkit_fuzz::matcher_log`]; the body lives in the library.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| perfkit_fuzz::matcher_log(data));
