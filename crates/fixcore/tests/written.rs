//! Messages written field by field, compared with text that this file puts together: tags of every width, texts of
//! every length up to that of a few registers.

use fixcore::{Encoder, ErrorKind, Isa};
use proptest::prelude::*;

fn encoders() -> impl Iterator<Item = Encoder> {
    let encoders = Isa::ALL.into_iter();
    encoders.filter_map(|isa| Encoder::new("FIX.4.4").with_isa(isa))
}

/// The message of these fields.
fn expected(fields: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut body = b"35=D\x01".to_vec();
    for (tag, value) in fields {
        body.extend(
            format!("{tag}=")
                .bytes()
                .chain(value.iter().copied())
                .chain([1]),
        );
    }
    let mut bytes = format!("8=FIX.4.4\x019={}\x01", body.len()).into_bytes();
    bytes.extend(body);
    let sum = bytes.iter().map(|byte| u32::from(*byte)).sum::<u32>() % 256;
    bytes.extend(format!("10={sum:03}\x01").bytes());
    bytes
}

/// Tags that no header has, at both ends of each width and between.
fn tags() -> impl Strategy<Value = u32> {
    let ends = (3..9).map(|digits| 10_u32.pow(digits));
    let near: Vec<u32> = ends
        .flat_map(|power| [power - 1, power, power + 1])
        .collect();
    prop_oneof![
        prop::sample::select([near, vec![1, 11, 58, 2_047, 2_048, 999_999_999]].concat()),
        2_000..10_000_u32,
        10_000..1_000_000_u32,
        1_000_000..=999_999_999_u32,
    ]
}

/// Bytes of a value: any but the separator, often its neighbours.
fn texts() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![2..=255_u8, Just(0), Just(2), Just(0x81), Just(b'=')];
    prop::collection::vec(byte, 1..100)
}

proptest! {
    #[test]
    fn fields_are_written_as_they_are(fields in prop::collection::vec((tags(), texts()), 1..20)) {
        let expected = expected(&fields);
        for mut encoder in encoders() {
            let mut writing = encoder.start("D");
            for (tag, value) in &fields {
                writing = writing.bytes(*tag, value);
            }
            prop_assert_eq!(writing.finish().unwrap().escape_ascii().to_string(), expected.escape_ascii().to_string());
        }
    }
}

#[test]
fn a_separator_in_a_value_is_refused_wherever_it_is() {
    for mut encoder in encoders() {
        for length in 0..=70 {
            for at in 0..length {
                let mut value = vec![0_u8; length];
                value[at] = 1;
                let written = encoder.start("D").bytes(123_456_789, &value).finish();
                let error = written.unwrap_err();
                assert_eq!(
                    (error.kind(), error.tag()),
                    (ErrorKind::Value, Some(123_456_789))
                );
            }
            let value = vec![0_u8; length];
            let written = encoder.start("D").bytes(58, &value).finish();
            assert_eq!(written.is_ok(), length > 0, "{length}");
        }
    }
}

#[test]
fn tags_beyond_nine_digits_are_refused() {
    for mut encoder in encoders() {
        for tag in [0, 1_000_000_000, 4_294_967_295] {
            let error = encoder.start("D").unsigned(tag, 7).finish().unwrap_err();
            assert_eq!((error.kind(), error.tag()), (ErrorKind::Tag, Some(tag)));
        }
        let written = encoder
            .start("D")
            .unsigned(999_999_999, 7)
            .finish()
            .unwrap();
        assert_eq!(written, expected(&[(999_999_999, b"7".to_vec())]));
    }
}
