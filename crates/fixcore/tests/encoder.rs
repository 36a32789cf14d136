//! Header fields are written in order, and every instruction set writes the same messages of a template.

#![allow(
    clippy::unwrap_used,
    reason = "a test that unwraps fails with the place in hand"
)]

use fixcore::{Decimal, Decoder, Encoder, Error, Isa, Slot, Template, Timestamp};

fn tags(bytes: &[u8]) -> Vec<u32> {
    Decoder::new().parse(bytes).unwrap().tags().to_vec()
}

#[test]
fn a_header_is_in_the_order_of_quickfix_whatever_order_it_was_given_in() {
    let mut encoder = Encoder::new("FIX.4.4");
    let bytes = encoder
        .start("D")
        .bytes(56, b"T")
        .bytes(11, b"id")
        .bytes(49, b"S")
        .unsigned(34, 7)
        .unsigned(627, 2)
        .bytes(628, b"a")
        .unsigned(630, 1)
        .bytes(628, b"b")
        .data(90, 91, b"\x0134=9\x01")
        .bytes(43, b"Y")
        .bytes(55, b"X")
        .bytes(52, b"20260305-14:15:16")
        .finish()
        .unwrap();
    let order = [
        8, 9, 35, 34, 43, 49, 52, 56, 90, 91, 627, 628, 630, 628, 11, 55, 10,
    ];
    assert_eq!(tags(bytes), order);
    // The error does not affect the next message.
    let bytes = encoder.start("0").bytes(49, b"S").finish().unwrap();
    assert_eq!(tags(bytes), [8, 9, 35, 49, 10]);

    let mut template = Template::builder("FIX.4.4", "D")
        .constant(56, b"T")
        .slot(11)
        .slot(52)
        .slot(34)
        .constant(49, b"S")
        .build();
    let values = [
        Slot::Bytes(b"id"),
        Slot::Time(Timestamp(0)),
        Slot::Unsigned(7),
    ];
    let bytes = template.encode(&values).unwrap();
    assert_eq!(tags(bytes), [8, 9, 35, 34, 49, 52, 56, 11, 10]);
    let mut decoder = Decoder::new();
    let message = decoder.parse(bytes).unwrap();
    assert_eq!(message.get(11), Some(&b"id"[..]), "values stay with slots");
    assert_eq!(message.get_timestamp(52), Ok(Some(Timestamp(0))));
}

/// Random numbers from a seed: SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }
}

fn template(isa: Isa) -> Option<Template> {
    let long = [b'c'; 100];
    let builder = Template::builder("FIX.4.4", "D")
        .slot(34)
        .slot(52)
        .constant(58, &long)
        .slot(55)
        .slot(44)
        .constant(59, b"0");
    builder.build().with_isa(isa)
}

#[test]
fn every_instruction_set_writes_what_the_encoder_writes() {
    let mut templates: Vec<Template> = Isa::ALL.into_iter().filter_map(template).collect();
    let mut encoder = Encoder::new("FIX.4.4");
    let mut random = Random(5);
    for case in 0..20_000 {
        let number = random.next() >> random.below(64);
        let price = Decimal {
            mantissa: (random.next() as i64) >> random.below(64),
            scale: random.below(19) as u8,
        };
        // The same second several times, and years apart.
        let second = 1_700_000_000 + (case / 8) * 40_000_000 % 3_000_000_000;
        let moment = Timestamp(second * 1_000_000_000 + random.below(1_000_000_000) as i64);
        let length = [0, 1, 8, 31, 32, 33, 64, 65, 200][random.below(9) as usize];
        let mut text = vec![b'x'; length];
        if let (Some(at), 0) = (length.checked_sub(1 + case as usize % 7), random.below(20)) {
            text[at] = 1;
        }
        let right = encoder
            .start("D")
            .unsigned(34, number)
            .timestamp(52, moment)
            .bytes(58, &[b'c'; 100])
            .bytes(55, &text)
            .decimal(44, price)
            .bytes(59, b"0")
            .finish();
        let values = [
            Slot::Unsigned(number),
            Slot::Time(moment),
            Slot::Bytes(&text),
            Slot::Decimal(price),
        ];
        let what = |error: Error| (error.kind(), error.tag());
        for template in &mut templates {
            let written = template.encode(&values).map_err(what);
            assert_eq!(written, right.map_err(what), "{values:?}");
        }
    }
}

/// A number with this many digits.
fn with_digits(random: &mut Random, digits: u32) -> u64 {
    let least = if digits == 1 {
        0
    } else {
        10_u64.pow(digits - 1)
    };
    let end = 10_u64.pow(digits);
    match random.below(4) {
        0 => least,
        1 => end - 1,
        _ => least + random.below(end - least),
    }
}

/// Values that keep their length for some messages, then change it.
#[test]
fn a_message_is_written_over_the_one_before_it() {
    let mut templates: Vec<Template> = Isa::ALL.into_iter().filter_map(template).collect();
    let mut encoder = Encoder::new("FIX.4.4");
    let mut random = Random(17);
    let (mut digits, mut length, mut scale, mut behind) = (1, 1, 1, 2);
    let mut second = 1_700_000_000;
    let mut is_whole = true;
    for case in 0..40_000 {
        match random.below(24) {
            0 => digits = 1 + random.below(9) as u32,
            1 => length = [1, 3, 31, 32, 33, 64, 90, 0][random.below(8) as usize],
            2 => (scale, behind) = (1 + random.below(8) as u32, 1 + random.below(8) as u32),
            3 => second += random.below(3) as i64,
            4 => is_whole = !is_whole,
            _ => {}
        }
        let number = with_digits(&mut random, digits);
        let price = Decimal {
            mantissa: with_digits(&mut random, behind) as i64,
            scale: scale as u8,
        };
        let moment = Timestamp(second * 1_000_000_000 + random.below(1_000_000_000) as i64);
        let mut text: Vec<u8> = (0..length).map(|_| b'a' + random.below(26) as u8).collect();
        if let (Some(last), 0) = (text.last_mut(), random.below(40)) {
            *last = 1;
        }
        let writing = encoder.start("D").unsigned(34, number);
        // The slot gets a value of another kind.
        let writing = match is_whole {
            true => writing.timestamp(52, moment),
            false => writing.bytes(52, &moment.to_millis()),
        };
        let right = writing
            .bytes(58, &[b'c'; 100])
            .bytes(55, &text)
            .decimal(44, price)
            .bytes(59, b"0")
            .finish();
        let as_text = moment.to_millis();
        let values = [
            Slot::Unsigned(number),
            match is_whole {
                true => Slot::Time(moment),
                false => Slot::Bytes(&as_text),
            },
            Slot::Bytes(&text),
            Slot::Decimal(price),
        ];
        let what = |error: Error| (error.kind(), error.tag());
        for template in &mut templates {
            let written = template.encode(&values).map_err(what);
            assert_eq!(written, right.map_err(what), "{case}: {values:?}");
        }
    }
}
