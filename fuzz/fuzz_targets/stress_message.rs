//! libFuzzer's way into [`perfkit_fuzz::stress_message`]; the body lives in the library.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| perfkit_fuzz::stress_message(data));
