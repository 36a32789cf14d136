//! Wrong values of BodyLength and CheckSum, in every form.

#![allow(
    clippy::unwrap_used,
    reason = "a test that unwraps fails with the place in hand"
)]

use fixcore::{Decoder, ErrorKind, Isa};

fn decoders() -> Vec<Decoder> {
    Isa::ALL.into_iter().filter_map(Decoder::with_isa).collect()
}

/// However a stated length or sum is malformed, the error is the same: it is not the correct one.
#[test]
fn a_stated_sum_or_length_of_any_form_is_one_fault_with_both_numbers() {
    let sums = [
        ("256", "stated 256"),
        ("164", "stated 164"),
        ("999", "stated 999"),
        ("16", "stated 16"),
        ("0163", "stated 0163"),
        ("1x3", "stated 1x3"),
        ("-63", "stated -63"),
        (" 63", "stated  63"),
        ("\u{e9}3", "stated \\xc3\\xa93"),
        ("163163163163163", "stated 163163163163… (15 bytes)"),
        ("", "nothing stated"),
    ];
    let lengths = [
        ("6", "stated 6, computed 5"),
        ("4", "stated 4, computed 5"),
        ("0", "stated 0, computed 5"),
        ("500", "stated 500, computed 5"),
        ("x", "stated x, computed 5"),
        ("-5", "stated -5, computed 5"),
        ("5.0", "stated 5.0, computed 5"),
        ("1234567890", "stated 1234567890, computed 5"),
        (
            "18446744073709551621",
            "stated 184467440737… (20 bytes), computed 5",
        ),
        ("", "nothing stated, computed 5"),
    ];
    let sums = sums.map(|(sum, text)| {
        let bytes = format!("8=FIX.4.4\x019=5\x0135=0\x0110={sum}\x01");
        let text = format!("CheckSum (10): {text}, computed 163, at byte 22");
        (bytes, ErrorKind::CheckSum, 10, text)
    });
    let lengths = lengths.map(|(length, text)| {
        let bytes = format!("8=FIX.4.4\x019={length}\x0135=0\x0110=163\x01");
        let text = format!("BodyLength (9): {text}, at byte 12");
        (bytes, ErrorKind::BodyLength, 9, text)
    });
    for (bytes, kind, tag, text) in sums.into_iter().chain(lengths) {
        for decoder in &mut decoders() {
            let error = decoder.parse(bytes.as_bytes()).unwrap_err();
            assert_eq!((error.kind(), error.tag()), (kind, Some(tag)), "{text}");
            assert_eq!(error.to_string(), text);
        }
    }
    // Both are wrong: the length is reported, because it locates CheckSum.
    let both = b"8=FIX.4.4\x019=50\x0135=0\x0110=16\x01";
    let error = Decoder::new().parse(both).unwrap_err();
    assert_eq!(
        error.to_string(),
        "BodyLength (9): stated 50, computed 5, at byte 12"
    );
    // A message that ends without CheckSum is truncated; another last field is not a CheckSum.
    let kind = |bytes: &[u8]| Decoder::new().parse(bytes).unwrap_err().kind();
    assert_eq!(kind(b"8=FIX.4.4\x019=5\x0135=0\x01"), ErrorKind::Truncated);
    assert_eq!(
        kind(b"8=FIX.4.4\x019=5\x0135=0\x0110=16"),
        ErrorKind::Truncated
    );
    assert_eq!(
        kind(b"8=FIX.4.4\x019=5\x0135=0\x0111=163\x01"),
        ErrorKind::Trailer
    );
}
