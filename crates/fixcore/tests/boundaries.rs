//! Values, texts and messages at the boundaries of registers and number ranges, with each instruction
//! set: the inputs for which an unchecked load or store would fail first.

#![allow(
    clippy::unwrap_used,
    reason = "a test that unwraps fails with the place in hand"
)]

use fixcore::{
    Decimal, Encoder, Error, ErrorKind, Index, Isa, MESSAGE_BYTES_MAX, Scanner, Separators, Slot,
    Template, Timestamp,
};

const NS_PER_SECOND: i64 = 1_000_000_000;

/// Lengths around a word, each vector register and a cache line.
const LENGTHS: [usize; 22] = [
    1, 2, 7, 8, 9, 15, 16, 17, 21, 24, 31, 32, 33, 63, 64, 65, 95, 96, 97, 127, 128, 129,
];

fn templates(template: &Template) -> Vec<(Isa, Template)> {
    let by = |isa| Some((isa, template.clone().with_isa(isa)?));
    Isa::ALL.into_iter().filter_map(by).collect()
}

/// The result of the field-by-field encoder for two values.
fn by_field(
    encoder: &mut Encoder,
    values: [Slot<'_>; 2],
) -> Result<Vec<u8>, (ErrorKind, Option<u32>)> {
    let mut writing = encoder.start("D");
    for (tag, value) in [58, 354].into_iter().zip(values) {
        writing = match value {
            Slot::Bytes(bytes) => writing.bytes(tag, bytes),
            Slot::Unsigned(number) => writing.unsigned(tag, number),
            Slot::Decimal(number) => writing.decimal(tag, number),
            Slot::Time(moment) => writing.timestamp(tag, moment),
        };
    }
    let written = writing.bytes(59, b"0").finish();
    written.map(<[u8]>::to_vec).map_err(what)
}

fn what(error: Error) -> (ErrorKind, Option<u32>) {
    (error.kind(), error.tag())
}

#[test]
fn a_value_of_any_kind_follows_any_other_in_its_slot() {
    let texts: Vec<Vec<u8>> = LENGTHS.map(|length| vec![b'x'; length]).into();
    let numbers = [
        0,
        9,
        10,
        99_999_999,
        100_000_000,
        u64::from(u32::MAX),
        u64::MAX,
    ];
    let mantissas = [0, 5, 10, 99_999_999, 100_000_000, -1, i64::MIN, i64::MAX];
    let decimals = mantissas.into_iter().flat_map(|mantissa| {
        [0, 1, 7, 8, u8::MAX].map(|scale| Slot::Decimal(Decimal { mantissa, scale }))
    });
    let first_whole = (i64::MIN / NS_PER_SECOND) * NS_PER_SECOND;
    let moments = [
        i64::MIN,
        i64::MIN + 1,
        first_whole - 1,
        first_whole,
        -1,
        0,
        i64::MAX / NS_PER_SECOND * NS_PER_SECOND,
        i64::MAX,
    ];
    let bytes = texts.iter().map(|text| Slot::Bytes(text));
    let values: Vec<Slot<'_>> = bytes
        .chain([Slot::Bytes(b""), Slot::Bytes(b"a\x01"), Slot::Bytes(b"7")])
        .chain(numbers.map(Slot::Unsigned))
        .chain(decimals)
        .chain(moments.map(|moment| Slot::Time(Timestamp(moment))))
        .collect();
    let template = Template::builder("FIX.4.4", "D").slot(58).slot(354);
    let mut templates = templates(&template.constant(59, b"0").build());
    let mut encoder = Encoder::new("FIX.4.4");
    for first in &values {
        for second in &values {
            // The first value was written over a previous one; then the other takes its place, before a
            // value that stays.
            let stays = Slot::Unsigned(7);
            for values in [
                [*first, stays],
                [*first, stays],
                [*second, stays],
                [stays, *first],
            ] {
                let right = by_field(&mut encoder, values);
                for (isa, template) in &mut templates {
                    let written = template.encode(&values).map(<[u8]>::to_vec);
                    assert_eq!(
                        written.map_err(what),
                        right,
                        "{isa}: {values:?} of {first:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_message_without_values_is_written_as_often_as_asked() {
    let template = Template::builder("FIX.4.4", "0")
        .constant(112, b"x")
        .build();
    let mut encoder = Encoder::new("FIX.4.4");
    let right = encoder.start("0").bytes(112, b"x").finish().unwrap();
    for (isa, mut template) in templates(&template) {
        for _ in 0..3 {
            assert_eq!(template.encode(&[]), Ok(right), "{isa}");
        }
    }
}

/// BodyLength has at most eight digits, and sums of any size are taken modulo 256.
#[test]
fn a_body_is_refused_from_nine_digits_on() {
    let text = vec![0xff_u8; 100_000_000];
    let mut encoder = Encoder::new("FIX.4.4");
    let template = Template::builder("FIX.4.4", "D").slot(58).slot(354).build();
    for (isa, mut template) in templates(&template) {
        // Allocates the largest buffer; what fits into it is tested elsewhere.
        let most = &text[..99_999_000];
        let right = encoder.start("D").bytes(58, most).unsigned(354, 1).finish();
        let written = template.encode(&[Slot::Bytes(most), Slot::Unsigned(1)]);
        assert!(written == right, "{isa}");
        assert!(written.unwrap().starts_with(b"8=FIX.4.4\x019=99999015\x01"));
        for (first, second) in [(&text[..], &text[..1]), (most, &text[..20_000_000])] {
            let written = template.encode(&[Slot::Bytes(first), Slot::Bytes(second)]);
            assert_eq!(written.unwrap_err().kind(), ErrorKind::TooLong, "{isa}");
        }
        let written = template.encode(&[Slot::Unsigned(5), Slot::Unsigned(6)]);
        let right = encoder.start("D").unsigned(58, 5).unsigned(354, 6).finish();
        assert_eq!(written, right, "{isa}: after a text that was refused");
    }
}

/// More bytes than 32 bits count: reserved addresses without memory, which nothing may read.
#[cfg(target_pointer_width = "64")]
fn endless() -> memmap2::MmapMut {
    let mut options = memmap2::MmapOptions::new();
    options.len(BEYOND_U32 + 64).no_reserve_swap();
    options.map_anon().unwrap()
}

#[cfg(target_pointer_width = "64")]
const BEYOND_U32: usize = 1 << 32;

/// A text of 2^32 - 1 bytes was once mistaken for "no text" and written over a number.
#[cfg(target_pointer_width = "64")]
#[test]
fn a_text_longer_than_any_message_is_refused_whatever_was_in_its_slot() {
    let zeros = endless();
    let small = [
        Slot::Unsigned(5),
        Slot::Decimal(Decimal {
            mantissa: 5,
            scale: 1,
        }),
        Slot::Time(Timestamp(0)),
        Slot::Bytes(b"text"),
    ];
    let template = Template::builder("FIX.4.4", "D").slot(58).build();
    for (isa, mut template) in templates(&template) {
        for value in small {
            let right = template.encode(&[value]).unwrap().to_vec();
            for beyond in [0, 1, 4, 32, 33] {
                for length in [
                    BEYOND_U32 - 1,
                    BEYOND_U32 + beyond,
                    MESSAGE_BYTES_MAX + beyond,
                ] {
                    assert_eq!(template.encode(&[value]), Ok(&right[..]));
                    let written = template.encode(&[Slot::Bytes(&zeros[..length])]);
                    let kind = written.unwrap_err().kind();
                    assert_eq!(kind, ErrorKind::TooLong, "{isa}: {length} after {value:?}");
                }
            }
            assert_eq!(template.encode(&[value]), Ok(&right[..]), "{isa}");
        }
        // Once for each slot, the total length overflows.
        let many = (0..64).fold(Template::builder("FIX.4.4", "D"), |many, _| many.slot(58));
        let mut many = many.build().with_isa(isa).unwrap();
        let written = many.encode(&[Slot::Bytes(&zeros); 64]);
        assert_eq!(written.unwrap_err().kind(), ErrorKind::TooLong, "{isa}");
    }
}

#[cfg(target_pointer_width = "64")]
#[test]
fn bytes_that_positions_cannot_count_are_refused() {
    let zeros = endless();
    let (mut found, mut index) = (Separators::new(), Index::new());
    for scanner in Isa::ALL.into_iter().filter_map(Scanner::with_isa) {
        for length in [
            MESSAGE_BYTES_MAX,
            BEYOND_U32 - 1,
            BEYOND_U32,
            BEYOND_U32 + 5,
        ] {
            let bytes = &zeros[..length];
            let too_long = |done: Result<(), Error>| done.unwrap_err().kind() == ErrorKind::TooLong;
            assert!(too_long(scanner.positions(bytes, &mut found)));
            assert!(too_long(scanner.separators(bytes, &mut found)));
            assert!(too_long(scanner.index(bytes, &mut index)));
            let mut decoder = fixcore::Decoder::with_isa(scanner.isa()).unwrap();
            let kind = decoder.parse(bytes).unwrap_err().kind();
            assert_eq!(kind, ErrorKind::TooLong, "{} of {length}", scanner.isa());
        }
    }
}

/// A shorter message sees nothing of a longer one before it in reused buffers, and a longer message has
/// room after a shorter one.
#[test]
fn buffers_fit_messages_of_any_length_one_after_the_other() {
    let (mut found, mut right) = (Separators::new(), Separators::new());
    let plain = Scanner::with_isa(Isa::Scalar).unwrap();
    let lengths = || [0].into_iter().chain(LENGTHS).chain([191, 192, 193, 4_096]);
    // Only separators, fields of one byte, and long fields.
    let kinds: [fn(usize) -> u8; 4] = [
        |_| 1,
        |_| b'=',
        |at| [b'1', b'=', b'2', 1][at % 4],
        |at| [b'1', b'=', b'2', 1][(at % 90).min(3)],
    ];
    for scanner in Isa::ALL.into_iter().filter_map(Scanner::with_isa) {
        for kind in kinds {
            for first in lengths() {
                for second in lengths() {
                    let (mut found_fresh, mut index) = (Separators::new(), Index::new());
                    for length in [first, second] {
                        let bytes: Vec<u8> = (0..length).map(kind).collect();
                        plain.separators(&bytes, &mut right).unwrap();
                        for out in [&mut found, &mut found_fresh] {
                            scanner.separators(&bytes, out).unwrap();
                            assert_eq!((out.soh(), out.equals()), (right.soh(), right.equals()));
                            assert_eq!(out.sum(), right.sum());
                            scanner.positions(&bytes, out).unwrap();
                            assert_eq!(out.soh(), right.soh());
                        }
                        scanner.index(&bytes, &mut index).unwrap();
                        assert!(index.ends().iter().all(|end| (*end as usize) < length));
                        assert_eq!(scanner.sum(&bytes), right.sum());
                    }
                }
            }
        }
    }
}
