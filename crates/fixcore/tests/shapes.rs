//! Messages of every shape: the encoder writes the bytes of plain code, and every instruction set reads what the
//! oracle reads.
//!
//! `FIX_CASES` sets how many messages are tested.

use fixcore::workload::shapes::{Content, Drawer, Drawn, Shape, drawn, named, sweeps};
use fixcore::{Encoder, ErrorKind, Isa};

use crate::common::cases;
use crate::paths::{check, decoders};

/// Messages of a shape, fewer of those that are long.
fn messages(shape: &Shape, seed: u64) -> Vec<Drawn> {
    let mut drawer = Drawer::new(shape.clone(), seed);
    let first = drawer.message();
    let more = (20_000 / first.bytes.len().max(1)).min(20);
    std::iter::once(first)
        .chain((0..more).map(|_| drawer.message()))
        .collect()
}

fn write(encoder: &mut Encoder, msg_type: &str, message: &Drawn) -> Vec<u8> {
    let mut writing = encoder.start(msg_type);
    for field in &message.fields {
        writing = match (&field.content, field.length_tag) {
            (Content::Bytes(data), Some(length_tag)) => writing.data(length_tag, field.tag, data),
            (Content::Bytes(text), None) => writing.bytes(field.tag, text),
            (Content::Number(number), _) => writing.unsigned(field.tag, *number),
            (Content::Decimal(number), _) => writing.decimal(field.tag, *number),
            (Content::Time(moment), _) => writing.timestamp(field.tag, *moment),
        };
    }
    writing.finish().unwrap().to_vec()
}

#[test]
fn messages_of_every_shape_are_written_and_read_alike_on_every_path() {
    let mut decoders = decoders();
    let draws = (0..cases(10_000) / 100).map(drawn);
    let swept = sweeps().into_iter().flat_map(|sweep| sweep.shapes);
    for (seed, shape) in (0..).zip(named().into_iter().chain(swept).chain(draws)) {
        let isas = Isa::ALL.into_iter();
        let mut encoders: Vec<Encoder> = isas
            .filter_map(|isa| Encoder::new(shape.begin_string).with_isa(isa))
            .collect();
        for message in messages(&shape, seed) {
            let is_valid = check(&mut decoders, &message.bytes);
            let fault = message.fault;
            assert_eq!(
                is_valid,
                fault.is_none(),
                "{} {fault:?}: {}",
                shape.name,
                message.bytes.escape_ascii()
            );
            if is_valid {
                for encoder in &mut encoders {
                    let written = write(encoder, shape.msg_type, &message);
                    assert!(written == message.bytes, "{}", shape.name);
                }
            }
        }
    }
}

/// Lengths around those of words and of the first buffer, with a separator at each place.
#[test]
fn values_of_every_length_are_written_and_a_separator_in_them_is_refused() {
    let mut encoder = Encoder::new("FIX.4.4");
    for length in (1..300).chain([800, 900, 1_000, 1_023, 1_024, 1_025, 5_000]) {
        let mut value: Vec<u8> = (0..length).map(|at| b'a' + at as u8 % 26).collect();
        let bytes = encoder
            .start("D")
            .bytes(55, &value)
            .bytes(20_001, &value)
            .bytes(58, b"end")
            .finish()
            .unwrap();
        let text = String::from_utf8(value.clone()).unwrap();
        let body = format!("35=D\x0155={text}\x0120001={text}\x0158=end\x01");
        assert_eq!(bytes, crate::common::framed(body.as_bytes()));
        for at in (0..length).step_by(1 + length / 70) {
            let before = std::mem::replace(&mut value[at], 1);
            let error = encoder
                .start("D")
                .bytes(55, b"x")
                .bytes(58, &value)
                .finish()
                .unwrap_err();
            let found = (error.kind(), error.tag(), error.offset());
            assert_eq!(found, (ErrorKind::Value, Some(58), "35=D|55=x|".len()));
            value[at] = before;
        }
    }
}

/// The first thing that is wrong is reported, with its place.
#[test]
fn the_first_error_is_kept() {
    let mut encoder = Encoder::new("FIX.4.4");
    let of = |error: fixcore::Error| (error.kind(), error.tag(), error.offset());
    let place = "35=D|".len();
    for tag in [0, 1_000_000_000, u32::MAX] {
        let error = encoder.start("D").bytes(tag, b"").bytes(1, b"");
        let kind = (ErrorKind::EmptyValue, Some(tag), place);
        assert_eq!(of(error.finish().unwrap_err()), kind);
        let error = encoder.start("D").bytes(tag, b"x").bytes(1, b"");
        let kind = (ErrorKind::Tag, Some(tag), place);
        assert_eq!(of(error.finish().unwrap_err()), kind);
        let error = encoder.start("D").unsigned(tag, 1).bytes(tag, b"\x01");
        assert_eq!(of(error.finish().unwrap_err()), kind);
    }
    let error = encoder.start("D").data(95, 96, b"").bytes(0, b"x");
    let kind = (ErrorKind::EmptyValue, Some(96), place);
    assert_eq!(of(error.finish().unwrap_err()), kind);
    // The error does not affect the next message.
    assert!(encoder.start("D").data(95, 96, b"\x01").finish().is_ok());
}
