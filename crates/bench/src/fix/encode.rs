//! A new order written by a template, and messages written field by field.

use std::hint::black_box;

use fixcore::workload::{Sample, new_order};
use fixcore::{DataPairs, Decoder, Encoder, Isa};

use crate::fix::batches::{Bench, Set, failed};
use crate::{Checks, Error};

/// Tags that the encoder writes by itself.
const FRAME: [u32; 4] = [8, 9, 35, 10];

/// A new order by a template, which has to be the sample, and every set field by field.
pub(crate) fn rows(bench: &mut Bench<'_>, sets: &[Set], checks: &mut Checks) -> Result<(), Error> {
    let (mut template, values) = new_order();
    let order = Sample::NewOrder.bytes();
    checks.that(template.encode(&values).is_ok_and(|bytes| bytes == order));
    let set = Set {
        name: format!("nos {} B", order.len()),
        messages: vec![order],
    };
    let isa = Isa::detect();
    bench.row("encode", &set, isa, &set.messages, |_| {
        black_box(template.encode(black_box(&values)).is_ok());
    })?;
    for set in sets {
        by_fields(bench, set, checks)?;
    }
    Ok(())
}

/// A field that will be written: what says its length where it is data, its tag and value.
type Written = (Option<u32>, u32, Vec<u8>);

/// The messages of a set taken apart before, written once more.
fn by_fields(bench: &mut Bench<'_>, set: &Set, checks: &mut Checks) -> Result<(), Error> {
    let mut encoder = Encoder::new("FIX.4.4");
    let mut decoder = Decoder::new();
    let mut parts = Vec::new();
    for bytes in &set.messages {
        let part = taken_apart(&mut decoder, bytes)?;
        checks.that(write(&mut encoder, &part).is_some_and(|written| written == bytes));
        parts.push(part);
    }
    bench.row("encode fields", set, Isa::detect(), &parts, |part| {
        black_box(write(&mut encoder, black_box(part)).is_some());
    })
}

fn taken_apart(decoder: &mut Decoder, bytes: &[u8]) -> Result<(String, Vec<Written>), Error> {
    let pairs = DataPairs::standard();
    let message = decoder.parse(bytes).map_err(failed)?;
    let mut fields: Vec<Written> = Vec::new();
    for field in message.fields().filter(|field| !FRAME.contains(&field.tag)) {
        // The encoder writes a length with its data.
        let last = fields.last().map(|last| last.1);
        let length = last.filter(|last| pairs.pairs().contains(&(*last, field.tag)));
        if length.is_some() {
            fields.pop();
        }
        fields.push((length, field.tag, field.value.to_vec()));
    }
    let msg_type = String::from_utf8_lossy(message.msg_type()).into_owned();
    Ok((msg_type, fields))
}

fn write<'e>(
    encoder: &'e mut Encoder,
    (msg_type, fields): &(String, Vec<Written>),
) -> Option<&'e [u8]> {
    let mut writing = encoder.start(msg_type);
    for (length, tag, value) in fields {
        writing = match length {
            Some(length) => writing.data(*length, *tag, value),
            None => writing.bytes(*tag, value),
        };
    }
    writing.finish().ok()
}
