//! Body of the target over templates of FIX messages: any values, one message after the other.

use fixcore::{Decimal, Encoder, Error, ErrorKind, Isa, Slot, Template, Timestamp};

/// Messages of a script, and slots of a message.
const MESSAGES_MAX: usize = 64;
const SLOTS: usize = 3;

/// Any bytes as values for the slots of a template, message after message: every instruction set
/// writes what the encoder writes field by field, or refuses for the same reason, whatever was in the
/// slots before.
pub fn fix_template(data: &[u8]) {
    let template = Template::builder("FIX.4.4", "D")
        .slot(58)
        .constant(59, b"0")
        .slot(354)
        .slot(355);
    let template = template.build();
    let by = |isa| Some((isa, template.clone().with_isa(isa)?));
    let mut templates: Vec<(Isa, Template)> = Isa::ALL.into_iter().filter_map(by).collect();
    let mut encoder = Encoder::new("FIX.4.4");
    let mut script = data;
    for _ in 0..MESSAGES_MAX {
        if script.is_empty() {
            return;
        }
        let values: [Slot<'_>; SLOTS] = std::array::from_fn(|_| value(&mut script));
        let [first, second, third] = values;
        let mut writing = encoder.start("D");
        let fields = [
            (58, first),
            (59, Slot::Bytes(b"0")),
            (354, second),
            (355, third),
        ];
        for (tag, value) in fields {
            writing = match value {
                Slot::Bytes(bytes) => writing.bytes(tag, bytes),
                Slot::Unsigned(number) => writing.unsigned(tag, number),
                Slot::Decimal(number) => writing.decimal(tag, number),
                Slot::Time(moment) => writing.timestamp(tag, moment),
            };
        }
        let right = writing.finish().map(<[u8]>::to_vec).map_err(what);
        for (isa, template) in &mut templates {
            let written = template.encode(&values).map(<[u8]>::to_vec).map_err(what);
            assert_eq!(written, right, "{isa}: {values:?}");
        }
    }
}

fn what(error: Error) -> (ErrorKind, Option<u32>) {
    (error.kind(), error.tag())
}

/// The next value: a byte says of which kind and how many bytes it takes, and those are it.
fn value<'d>(script: &mut &'d [u8]) -> Slot<'d> {
    let Some((head, rest)) = script.split_first() else {
        return Slot::Unsigned(0);
    };
    // Text has up to 255 bytes, in steps that leave no register's end out.
    let bytes = match head & 3 {
        0 => usize::from(head >> 2) + 192 * usize::from(*head == u8::MAX - 3),
        _ => usize::from(head >> 2) % 10,
    };
    let (own, rest) = rest.split_at(bytes.min(rest.len()));
    *script = rest;
    let number = own
        .iter()
        .take(8)
        .fold(0_u64, |number, byte| number << 8 | u64::from(*byte));
    match head & 3 {
        0 => Slot::Bytes(own),
        1 => Slot::Unsigned(number),
        2 => Slot::Decimal(Decimal {
            mantissa: number.cast_signed(),
            scale: own.last().copied().unwrap_or(0) % 20,
        }),
        _ => Slot::Time(Timestamp(number.cast_signed())),
    }
}
