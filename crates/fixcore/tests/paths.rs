//! Every instruction set gives the same answer as the oracle, on any message and every prefix.
//!
//! `FIX_CASES` sets how many messages are tested.

#![allow(
    clippy::unwrap_used,
    reason = "a test that unwraps fails with the place in hand"
)]

use crate::common::{cases, framed, oracle};
use crate::messages::{Random, message, mutate};
use fixcore::workload::Sample;
use fixcore::{DataPairs, Decoder, Encoder, ErrorKind, Index, Isa, Scanner, Separators};
use fixcore::{Decimal, Slot, Template};

pub(crate) fn decoders() -> Vec<Decoder> {
    Isa::ALL.into_iter().filter_map(Decoder::with_isa).collect()
}

/// Parses a slice of exactly this length by every instruction set, and compares the results.
pub(crate) fn check(decoders: &mut [Decoder], bytes: &[u8]) -> bool {
    let exact: Box<[u8]> = bytes.into();
    let right = oracle(&exact);
    let mut errors = Vec::new();
    for decoder in decoders.iter_mut() {
        match (decoder.parse(&exact), &right) {
            (Ok(message), Some(right)) => {
                assert_eq!(message.len(), right.len());
                for (field, (tag, value)) in message.fields().zip(right) {
                    assert_eq!((field.tag, field.value), (*tag, value.as_slice()));
                }
                for (at, (tag, value)) in right.iter().enumerate() {
                    assert_eq!(message.field(at).unwrap().value, value);
                    let first = right.iter().position(|other| other.0 == *tag);
                    assert_eq!(message.position(*tag), first);
                }
                assert_eq!(message.get(1_000_000_001), None);
            }
            (Err(error), None) => {
                assert!(error.offset() <= exact.len());
                errors.push(error);
            }
            (found, _) => panic!("{found:?} should be {right:?}: {}", exact.escape_ascii()),
        }
    }
    assert!(
        errors.windows(2).all(|pair| pair[0] == pair[1]),
        "{errors:?}"
    );
    right.is_some()
}

#[test]
fn generated_and_mutated_messages_are_what_the_oracle_says() {
    let mut decoders = decoders();
    let mut random = Random(1);
    let mut valid = 0;
    let count = cases(10_000);
    for _ in 0..count {
        let mut bytes = message(&mut random);
        valid += u64::from(check(&mut decoders, &bytes));
        mutate(&mut random, &mut bytes);
        valid += u64::from(check(&mut decoders, &bytes));
    }
    assert!(valid > count / 4, "only {valid} of {count} were valid");
}

#[test]
fn no_prefix_of_a_message_is_one() {
    let mut decoders = decoders();
    let mut random = Random(2);
    for sample in Sample::ALL {
        let bytes = sample.bytes();
        for end in 0..bytes.len() {
            assert!(!check(&mut decoders, &bytes[..end]));
        }
        assert!(check(&mut decoders, &bytes));
    }
    for _ in 0..cases(10_000) / 200 {
        let bytes = message(&mut random);
        for end in 0..=bytes.len() {
            check(&mut decoders, &bytes[..end]);
        }
    }
}

#[test]
fn separators_of_any_bytes_are_the_same_on_every_path() {
    let mut random = Random(3);
    let scanners: Vec<Scanner> = Isa::ALL.into_iter().filter_map(Scanner::with_isa).collect();
    let (mut right, mut found) = (Separators::new(), Separators::new());
    for case in 0..cases(10_000) / 10 {
        let length = random.below(400);
        let alphabet: &[u8] = match case % 3 {
            0 => b"\x01=",
            1 => b"\x01=12345678",
            _ => b"\x00\x01\x02=<>\xff\x81",
        };
        let bytes: Box<[u8]> = (0..length)
            .map(|_| alphabet[random.below(alphabet.len())])
            .collect();
        naive(&bytes, &mut right);
        for scanner in &scanners {
            scanner.separators(&bytes, &mut found).unwrap();
            let name = scanner.isa();
            assert_eq!(found.soh(), right.soh(), "{name}");
            assert_eq!(found.equals(), right.equals(), "{name}");
            assert_eq!(found.sum(), right.sum(), "{name}");
            assert_eq!(scanner.sum(&bytes), right.sum(), "{name}");
            scanner.positions(&bytes, &mut found).unwrap();
            assert_eq!(found.soh(), right.soh(), "{name}");
            // For bytes that are not a message: no panic, and nothing out of bounds.
            scanner.index(&bytes, &mut Index::new()).unwrap();
        }
    }
}

fn naive(bytes: &[u8], out: &mut Separators) {
    // The scalar code is a loop over bytes; one example by hand shows that it is correct.
    Scanner::with_isa(Isa::Scalar)
        .unwrap()
        .separators(bytes, out)
        .unwrap();
    let soh = (0..)
        .zip(bytes)
        .filter(|(_, byte)| **byte == 1)
        .map(|(at, _)| at);
    assert!(soh.eq(out.soh().iter().copied()));
    let mut from = 0;
    let mut equals = Vec::new();
    for field in bytes.split(|byte| *byte == 1) {
        let first = field.iter().position(|byte| *byte == b'=');
        equals.extend(first.map(|at| (from + at) as u32));
        from += field.len() + 1;
    }
    assert_eq!(out.equals(), equals);
}

#[test]
fn the_samples_have_the_sizes_that_figures_are_given_for() {
    let sizes = Sample::ALL.map(|sample| sample.bytes().len());
    assert_eq!(sizes, [83, 197, 303, 1920]);
    let fields = Sample::ALL.map(|sample| oracle(&sample.bytes()).unwrap().len());
    assert_eq!(fields, [8, 19, 29, 202]);
}

#[test]
fn nothing_in_data_is_a_field() {
    let mut decoders = decoders();
    let bytes = framed(b"35=B\x0195=9\x0196=ab\x0138=999\x0158=x\x01");
    assert!(check(&mut decoders, &bytes));
    for decoder in &mut decoders {
        let message = decoder.parse(&bytes).unwrap();
        assert_eq!(message.get(96), Some(&b"ab\x0138=999"[..]));
        assert_eq!(message.get(38), None);
    }
    // A length that is too short, a length without data, and data without a length.
    for (body, kind) in [
        (&b"35=B\x0195=2\x0196=abc\x01"[..], ErrorKind::DataLength),
        (b"35=B\x0195=2\x0158=ab\x01", ErrorKind::DataPair),
        (b"35=B\x0196=abc\x01", ErrorKind::DataPair),
        (b"35=B\x0195=x\x0196=abc\x01", ErrorKind::DataLength),
        (b"35=B\x0195=900\x0196=abc\x01", ErrorKind::Truncated),
    ] {
        let bytes = framed(body);
        assert!(!check(&mut decoders, &bytes));
        let error = decoders[0].parse(&bytes).unwrap_err();
        assert_eq!(error.kind(), kind, "{}", body.escape_ascii());
    }
    // A pair of another dictionary.
    let mut decoder = Decoder::new().with_pairs(DataPairs::new(&[(20_001, 20_002)]));
    let bytes = framed(b"35=B\x0120001=3\x0120002=\x01\x01\x01\x0195=1\x01");
    assert_eq!(
        decoder.parse(&bytes).unwrap().get(20_002),
        Some(&b"\x01\x01\x01"[..])
    );
}

#[test]
fn a_hundred_thousand_fields_are_read_and_found() {
    let mut body = b"35=D\x01".to_vec();
    for tag in (1..100_000).map(|at| at * 7 % 100_003 + 2_000) {
        body.extend_from_slice(format!("{tag}=v{tag}\x01").as_bytes());
    }
    let bytes = framed(&body);
    for decoder in &mut decoders() {
        let message = decoder.parse(&bytes).unwrap();
        assert_eq!(message.len(), 100_003);
        for tag in [2_007, 2_014, 99_999, 102_002] {
            let value = format!("v{tag}").into_bytes();
            assert_eq!(message.get(tag), Some(value.as_slice()));
        }
        assert_eq!(message.get(2_000_000), None);
        // The next message has its own table.
        let short = Sample::Heartbeat.bytes();
        assert_eq!(decoder.parse(&short).unwrap().get(2_007), None);
    }
}

#[test]
fn errors_name_the_tag_and_the_byte() {
    let mut decoder = Decoder::new();
    let good = framed(b"35=D\x0155=A\x01");
    let at = |text: &[u8]| {
        good.windows(text.len())
            .position(|bytes| bytes == text)
            .unwrap()
    };
    let mut cases = Vec::new();
    let mut sum = good.clone();
    let last = sum.len() - 2;
    sum[last] = if sum[last] == b'0' { b'1' } else { b'0' };
    cases.push((sum, ErrorKind::CheckSum, Some(10), good.len() - 4));
    // Its BodyLength has one digit less.
    cases.push((
        framed(b"35=D\x0155=\x01"),
        ErrorKind::EmptyValue,
        Some(55),
        at(b"A\x01") - 1,
    ));
    cases.push((
        framed(b"35=D\x015x=A\x01"),
        ErrorKind::Tag,
        None,
        at(b"55="),
    ));
    cases.push((
        framed(b"55=A\x0135=D\x01"),
        ErrorKind::HeaderOrder,
        Some(55),
        at(b"35="),
    ));
    let longer = [good.as_slice(), b"8"].concat();
    cases.push((longer, ErrorKind::BodyLength, Some(9), at(b"9=") + 2));
    for (bytes, kind, tag, offset) in cases {
        let error = decoder.parse(&bytes).unwrap_err();
        let found = (error.kind(), error.tag(), error.offset());
        assert_eq!(found, (kind, tag, offset), "{}", bytes.escape_ascii());
    }
}

#[test]
fn what_is_encoded_is_decoded() {
    let mut random = Random(4);
    let mut decoders = decoders();
    let mut encoder = Encoder::new("FIXT.1.1");
    let mut template = Template::builder("FIX.4.2", "8")
        .constant(49, b"A sender with a name that is longer than one piece")
        .slot(34)
        .slot(55)
        .constant(1, b"x")
        .slot(44)
        .build();
    for case in 0..2_000 {
        let content: Vec<u8> = (0..1 + random.below(40))
            .map(|_| random.next() as u8)
            .collect();
        let number = random.next() >> random.below(64);
        let mantissa = (random.next() as i64) >> random.below(64);
        let price = Decimal {
            mantissa,
            scale: random.below(19) as u8,
        };
        let bytes = encoder
            .start("D")
            .unsigned(34, number)
            .decimal(44, price)
            .data(95, 96, &content)
            .finish()
            .unwrap();
        assert!(check(&mut decoders, bytes));
        let message = decoders[0].parse(bytes).unwrap();
        assert_eq!(message.get_u64(34), Ok(Some(number)));
        assert_eq!(message.get_decimal(44), Ok(Some(price)));
        assert_eq!(message.get(96), Some(content.as_slice()));

        let content: Vec<u8> = content.iter().map(|byte| byte | 2).collect();
        let values = [
            Slot::Unsigned(number),
            Slot::Bytes(&content),
            Slot::Decimal(price),
        ];
        let bytes = template.encode(&values).unwrap();
        assert!(check(&mut decoders, bytes), "case {case}");
        let message = decoders[0].parse(bytes).unwrap();
        assert_eq!(message.get_u64(34), Ok(Some(number)));
        assert_eq!(message.get(55), Some(content.as_slice()));
        assert_eq!(message.get_decimal(44), Ok(Some(price)));
    }
}

#[test]
fn what_would_break_a_message_is_not_encoded() {
    let mut encoder = Encoder::new("FIX.4.4");
    let mut template = Template::builder("FIX.4.4", "D").slot(55).build();
    for length in 0..40 {
        for at in 0..length {
            let mut value = vec![b'x'; length];
            value[at] = 1;
            let error = encoder.start("D").bytes(55, &value).finish().unwrap_err();
            assert_eq!((error.kind(), error.tag()), (ErrorKind::Value, Some(55)));
            let error = template.encode(&[Slot::Bytes(&value)]).unwrap_err();
            assert_eq!((error.kind(), error.tag()), (ErrorKind::Value, Some(55)));
        }
    }
    let empty = encoder.start("D").bytes(55, b"").bytes(0, b"1").finish();
    assert_eq!(empty.unwrap_err().kind(), ErrorKind::EmptyValue);
    let empty = template.encode(&[Slot::Bytes(b"")]).unwrap_err();
    assert_eq!(empty.kind(), ErrorKind::EmptyValue);
    assert!(encoder.start("D").unsigned(0, 1).finish().is_err());
    assert!(template.encode(&[]).is_err());
}

#[test]
fn groups_in_groups_are_entries_in_entries() {
    let body = b"35=X\x01268=2\x01279=0\x0155=A\x01453=2\x01448=p\x01452=1\x01448=q\x01\
        279=1\x0155=B\x0158=end\x01";
    let bytes = framed(body);
    let mut decoder = Decoder::new();
    let message = decoder.parse(&bytes).unwrap();
    let inner = |tag| matches!(tag, 448 | 452);
    let outer = |tag| matches!(tag, 279 | 55 | 453) || inner(tag);
    let entries: Vec<_> = message.whole().group(268, 279, outer).unwrap().collect();
    assert_eq!(entries.len(), 2);
    assert_eq!(entries[1].get(55), Some(&b"B"[..]));
    let parties = entries[0].group(453, 448, inner).unwrap();
    let parties: Vec<_> = parties.map(|entry| entry.get(448).unwrap()).collect();
    assert_eq!(parties, [b"p", b"q"]);
    assert_eq!(entries[1].group(453, 448, inner).unwrap().count(), 0);
    let wrong = message.whole().group(268, 55, outer).unwrap_err();
    assert_eq!(
        (wrong.kind(), wrong.tag()),
        (ErrorKind::GroupCount, Some(268))
    );
}
