//! Fields and whole messages as bytes, by plain code that shares nothing with the encoder.

use super::{Content, Shape, Written};

impl Content {
    /// Its text.
    #[must_use]
    pub fn text(&self) -> Vec<u8> {
        match self {
            Self::Bytes(bytes) => bytes.clone(),
            Self::Number(number) => number.to_string().into_bytes(),
            Self::Decimal(number) => number.to_string().into_bytes(),
            Self::Time(moment) => moment.to_millis().to_vec(),
        }
    }
}

/// A field with the separator after it.
fn field(out: &mut Vec<u8>, tag: u32, value: &[u8]) {
    out.extend_from_slice(tag.to_string().as_bytes());
    out.push(b'=');
    out.extend_from_slice(value);
    out.push(1);
}

/// The fields of a message from MsgType (35) on, without CheckSum (10). Returns also where each begins.
pub(super) fn body(shape: &Shape, fields: &[Written]) -> (Vec<u8>, Vec<usize>) {
    let (mut out, mut starts) = (Vec::new(), vec![0]);
    field(&mut out, 35, shape.msg_type.as_bytes());
    for written in fields {
        let value = written.content.text();
        if let Some(length_tag) = written.length_tag {
            starts.push(out.len());
            field(&mut out, length_tag, value.len().to_string().as_bytes());
        }
        starts.push(out.len());
        field(&mut out, written.tag, &value);
    }
    (out, starts)
}
