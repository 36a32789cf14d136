//! Validated parses, alone and with look-ups.

use std::hint::black_box;

use fixcore::{Decoder, Isa};

use crate::Error;
use crate::fix::batches::{Bench, Set};

/// The tags that a parse with look-ups asks for.
const LOOKUPS: [u32; 8] = [35, 49, 56, 34, 11, 55, 54, 38];

/// The rows of a set by an instruction set.
pub(crate) fn rows(bench: &mut Bench<'_>, set: &Set, isa: Isa) -> Result<(), Error> {
    let Some(mut decoder) = Decoder::with_isa(isa) else {
        return Ok(());
    };
    bench.row("parse", set, isa, &set.messages, |bytes| {
        black_box(decoder.parse(black_box(bytes)).is_ok());
    })?;
    bench.row("parse, 8 gets", set, isa, &set.messages, |bytes| {
        if let Ok(message) = decoder.parse(black_box(bytes)) {
            for tag in LOOKUPS {
                black_box(message.get(tag));
            }
        }
    })
}
