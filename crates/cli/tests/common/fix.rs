//! FIX messages of the tests.

#![allow(dead_code, reason = "each test binary uses its own part of this")]

/// A message around fields that are separated by `|`, with the byte 1 in their place.
pub(crate) fn message(body: &str) -> Vec<u8> {
    let body = body.replace('|', "\x01");
    let mut bytes = format!("8=FIX.4.4\x019={}\x01{body}", body.len()).into_bytes();
    let sum = bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    bytes.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
    bytes
}

pub(crate) fn order(seq: u32, id: &str, ms: u32) -> Vec<u8> {
    message(&format!(
        "35=D|49=A|56=B|34={seq}|52=20260305-14:15:16.{ms:03}|11={id}|55=X|54=1|60=20260305-14:15:16|40=1|38=5|"
    ))
}

pub(crate) fn execution(seq: u32, id: &str, ms: u32) -> Vec<u8> {
    message(&format!(
        "35=8|49=B|56=A|34={seq}|52=20260305-14:15:16.{ms:03}|37=o|11={id}|17=e|150=0|39=0|55=X|54=1|151=5|14=0|6=0|"
    ))
}
