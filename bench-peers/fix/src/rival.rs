//! fefix, which always parses by its dictionary.

use std::hint::black_box;

use fefix::Dictionary;
use fefix::tagvalue::{Config, Decoder, Encoder, FieldAccess, FvWrite};

use crate::rows::{Rows, found, readable};
use crate::{LOOKUPS, Result, order};

pub(crate) struct Rival {
    decoder: Decoder<Config>,
}

impl Rival {
    pub(crate) fn new() -> Self {
        Self {
            decoder: Decoder::new(Dictionary::fix44()),
        }
    }

    pub(crate) fn parse(&mut self, bytes: &[u8]) -> bool {
        self.decoder.decode(bytes).is_ok()
    }
}

/// Whether it takes a message, in a decoder that nothing else has been through.
pub(crate) fn accepts(bytes: &[u8]) -> bool {
    std::panic::catch_unwind(|| Rival::new().parse(bytes)).unwrap_or(false)
}

/// The rows of a set.
pub(crate) fn set(name: &str, set: &[Vec<u8>], rows: &mut Rows) {
    let mut rival = Rival::new();
    let valid = set.iter().filter(|bytes| rival.parse(bytes));
    let valid = valid.count().to_string();
    rows.add("parse", name, set, &valid, |bytes| {
        black_box(rival.parse(bytes));
    });
    if set.len() > 1 {
        return;
    }
    // It keeps what it knows of a group beyond the end of a message, and then misses fields of the
    // next: only a new one finds them all.
    let mut fresh = Rival::new();
    let message = fresh.decoder.decode(&set[0][..]);
    let values = LOOKUPS.iter().map(|tag| message.as_ref().ok()?.fv_raw(tag));
    let answer = found(values);
    let decoder = &mut rival.decoder;
    rows.add("parse, 8 gets", name, set, &answer, |bytes| {
        if let Ok(message) = decoder.decode(&bytes[..]) {
            for tag in LOOKUPS {
                black_box(message.fv_raw(&black_box(tag)));
            }
        }
    });
}

/// The new order.
pub(crate) fn encode(rows: &mut Rows) -> Result<()> {
    let fields = order()?;
    let mut encoder = Encoder::<Config>::default();
    let mut buffer = Vec::with_capacity(1024);
    let answer = readable(write(&mut encoder, &mut buffer, &fields));
    rows.add("encode", "nos", &[()], &answer, |()| {
        black_box(write(&mut encoder, &mut buffer, black_box(&fields)));
    });
    Ok(())
}

fn write<'b>(
    encoder: &'b mut Encoder<Config>,
    buffer: &'b mut Vec<u8>,
    fields: &[(u32, String)],
) -> &'b [u8] {
    buffer.clear();
    let mut writing = encoder.start_message(b"FIX.4.4", buffer, b"D");
    for (tag, value) in fields {
        writing.set_fv(tag, value.as_bytes());
    }
    writing.wrap()
}
