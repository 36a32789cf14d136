//! The naive encoder: a vector for the body, a loop for digits, and a loop over bytes for the sum.

use fixcore::workload::shapes::{Content, Written};
use fixcore::{Decimal, ErrorKind, SOH};
use memchr::memchr;

/// Writes messages, with the checks of fixcore: tags, empty values, separators in values.
#[derive(Debug)]
pub struct Encoder {
    begin_string: String,
    body: Vec<u8>,
    out: Vec<u8>,
}

fn push_number(out: &mut Vec<u8>, mut number: u64) {
    let (mut digits, mut at) = ([0; 20], 20);
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

fn push_decimal(out: &mut Vec<u8>, number: Decimal) {
    if number.mantissa < 0 {
        out.push(b'-');
    }
    let unit = 10_u64.pow(number.scale.into());
    push_number(out, number.mantissa.unsigned_abs() / unit);
    if number.scale > 0 {
        let start = out.len();
        // The added unit keeps zeros after the point, and its digit becomes the point.
        push_number(out, number.mantissa.unsigned_abs() % unit + unit);
        out[start] = b'.';
    }
}

impl Encoder {
    /// An encoder of messages with this BeginString (8).
    #[must_use]
    pub fn new(begin_string: &str) -> Self {
        Self {
            begin_string: begin_string.to_owned(),
            body: Vec::new(),
            out: Vec::new(),
        }
    }

    /// Writes a message.
    ///
    /// # Errors
    /// The first field that cannot be written.
    pub fn encode(&mut self, msg_type: &str, fields: &[Written]) -> Result<&[u8], ErrorKind> {
        let body = &mut self.body;
        body.clear();
        push_text(body, 35, msg_type.as_bytes())?;
        for field in fields {
            match (&field.content, field.length_tag) {
                (Content::Bytes(data), Some(length_tag)) => {
                    if data.is_empty() {
                        return Err(ErrorKind::EmptyValue);
                    }
                    push_tag(body, length_tag)?;
                    push_number(body, data.len() as u64);
                    body.push(SOH);
                    push_tag(body, field.tag)?;
                    body.extend_from_slice(data);
                    body.push(SOH);
                }
                (Content::Bytes(text), None) => push_text(body, field.tag, text)?,
                (Content::Time(moment), _) => push_text(body, field.tag, &moment.to_millis())?,
                (Content::Number(number), _) => {
                    push_tag(body, field.tag)?;
                    push_number(body, *number);
                    body.push(SOH);
                }
                (Content::Decimal(number), _) => {
                    push_tag(body, field.tag)?;
                    push_decimal(body, *number);
                    body.push(SOH);
                }
            }
        }
        self.out.clear();
        self.out.extend_from_slice(b"8=");
        self.out.extend_from_slice(self.begin_string.as_bytes());
        self.out.extend_from_slice(b"\x019=");
        push_number(&mut self.out, self.body.len() as u64);
        self.out.push(SOH);
        self.out.extend_from_slice(&self.body);
        let sum = self
            .out
            .iter()
            .fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        self.out.extend_from_slice(b"10=");
        let digits = [sum / 100, sum / 10 % 10, sum % 10];
        self.out.extend(digits.map(|digit| b'0' + digit));
        self.out.push(SOH);
        Ok(&self.out)
    }
}

fn push_tag(out: &mut Vec<u8>, tag: u32) -> Result<(), ErrorKind> {
    if !(1..=999_999_999).contains(&tag) {
        return Err(ErrorKind::Tag);
    }
    push_number(out, tag.into());
    out.push(b'=');
    Ok(())
}

fn push_text(out: &mut Vec<u8>, tag: u32, value: &[u8]) -> Result<(), ErrorKind> {
    if value.is_empty() {
        return Err(ErrorKind::EmptyValue);
    }
    if memchr(SOH, value).is_some() {
        return Err(ErrorKind::Value);
    }
    push_tag(out, tag)?;
    out.extend_from_slice(value);
    out.push(SOH);
    Ok(())
}
