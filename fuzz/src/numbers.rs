//! Stub.
pub fn gate_parse(_: &[u8]) {}
pub fn hgrm_read(_: &[u8]) {}
pub fn histogram_decode(_: &[u8]) {}
pub fn hlog_read(_: &[u8]) {}
pub fn report_json(_: &[u8]) {}
