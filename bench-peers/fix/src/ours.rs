//! fixcore: what every library does, and scans and parses by each instruction set beside.

use std::hint::black_box;

use fixcore::dict::{Rules, Validator, Version};
use fixcore::workload::new_order;
use fixcore::{Decoder, Encoder, Isa, Scanner, Separators};

use crate::rows::{Rows, found, readable};
use crate::{LOOKUPS, Result, order};

/// A decoder with the rules of FIX 4.4.
pub(crate) struct Ours {
    decoder: Decoder,
    validator: Validator<'static>,
}

impl Ours {
    pub(crate) fn new() -> Result<Self> {
        let dictionary = Version::Fix44.dictionary().ok_or("there is no FIX 4.4")?;
        Ok(Self {
            decoder: Decoder::new(),
            validator: Validator::new(dictionary, Rules::default()),
        })
    }

    pub(crate) fn validate(&mut self, bytes: &[u8]) -> bool {
        let message = self.decoder.parse(bytes);
        message.is_ok_and(|message| self.validator.validate(&message).is_ok())
    }
}

/// The rows of a set.
pub(crate) fn set(name: &str, set: &[Vec<u8>], rows: &mut Rows) -> Result<()> {
    let mut ours = Ours::new()?;
    let valid = set.iter().filter(|bytes| ours.decoder.parse(bytes).is_ok());
    let valid = valid.count().to_string();
    let decoder = &mut ours.decoder;
    rows.add("parse", name, set, &valid, |bytes| {
        black_box(decoder.parse(bytes).is_ok());
    });
    let message = decoder.parse(&set[0])?;
    let answer = found(LOOKUPS.into_iter().map(|tag| message.get(tag)));
    rows.add("parse, 8 gets", name, set, &answer, |bytes| {
        if let Ok(message) = decoder.parse(bytes) {
            for tag in LOOKUPS {
                black_box(message.get(black_box(tag)));
            }
        }
    });
    let valid = set.iter().filter(|bytes| ours.validate(bytes));
    let valid = valid.count().to_string();
    rows.add("validate", name, set, &valid, |bytes| {
        black_box(ours.validate(bytes));
    });
    for isa in Isa::ALL {
        by_isa(isa, name, set, rows)?;
    }
    Ok(())
}

/// What one instruction set does; nothing where the processor has none such.
fn by_isa(isa: Isa, name: &str, set: &[Vec<u8>], rows: &mut Rows) -> Result<()> {
    let Some((scanner, mut decoder)) = Scanner::with_isa(isa).zip(Decoder::with_isa(isa)) else {
        return Ok(());
    };
    let mut separators = Separators::new();
    let mut count = 0;
    for bytes in set {
        scanner.positions(bytes, &mut separators)?;
        count += separators.soh().len();
    }
    let scan = format!("scan, {}", isa.name());
    rows.add(&scan, name, set, &count.to_string(), |bytes| {
        let _ = scanner.positions(bytes, &mut separators);
        black_box(separators.soh());
    });
    let valid = set.iter().filter(|bytes| decoder.parse(bytes).is_ok());
    let valid = valid.count().to_string();
    let parse = format!("parse, {}", isa.name());
    rows.add(&parse, name, set, &valid, |bytes| {
        black_box(decoder.parse(bytes).is_ok());
    });
    Ok(())
}

/// The new order, field by field as the others write it, and by a template.
pub(crate) fn encode(rows: &mut Rows) -> Result<()> {
    let mut encoder = Encoder::new("FIX.4.4");
    let fields = order()?;
    let answer = readable(by_fields(&mut encoder, &fields)?);
    rows.add("encode", "nos", &[()], &answer, |()| {
        black_box(by_fields(&mut encoder, black_box(&fields)).is_ok());
    });
    let (mut template, values) = new_order();
    let answer = readable(template.encode(&values)?);
    rows.add("encode by template", "nos", &[()], &answer, |()| {
        black_box(template.encode(black_box(&values)).is_ok());
    });
    Ok(())
}

fn by_fields<'e>(encoder: &'e mut Encoder, fields: &[(u32, String)]) -> fixcore::Result<&'e [u8]> {
    let mut writing = encoder.start("D");
    for (tag, value) in fields {
        writing = writing.bytes(*tag, value.as_bytes());
    }
    writing.finish()
}
