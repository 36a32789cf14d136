//! One recorder, report and comparison behind every perfkit number.
#![forbid(unsafe_code)]

pub mod report;
