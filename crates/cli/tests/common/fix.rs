//! FIX messages of the tests.

#![allow(dead_code, reason = "each test binary uses its own part of this")]

/// A message around fields that are separated by `|`, with the byte 1 in their place.
pub(crate) fn message(body: &str) -> Vec<u8> {
    let body = body.replace('|', "\x01");
    let mut bytes = format!("8=FIX.4.4\x019={}\x01{body}", body.len()).into_bytes();
    let sum = bytes.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    bytes.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
    bytes
}

pub(crate) fn order(seq: u32, id: &str, ms: u32) -> Vec<u8> {
    message(&format!(
        "35=D|49=A|56=B|34={seq}|52=20260305-14:15:16.{ms:03}|11={id}|55=X|54=1|60=20260305-14:15:16|40=1|38=5|"
    ))
}

pub(crate) fn execution(seq: u32, id: &str, ms: u32) -> Vec<u8> {
    message(&format!(
        "35=8|49=B|56=A|34={seq}|52=20260305-14:15:16.{ms:03}|37=o|11={id}|17=e|150=0|39=0|55=X|54=1|151=5|14=0|6=0|"
    ))
}

/// A fault: its name, the bytes, the tag that is named, words of the reason, and its class.
pub(crate) struct Fault {
    pub(crate) name: &'static str,
    pub(crate) bytes: Vec<u8>,
    pub(crate) tag: Option<u32>,
    pub(crate) reason: &'static str,
    pub(crate) class: &'static str,
}

/// The same message with other bytes in place of some.
pub(crate) fn changed(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let text = String::from_utf8(bytes.to_vec()).expect("text");
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1).into_bytes()
}

pub(crate) fn faults() -> Vec<Fault> {
    let good = order(2, "two", 200);
    let fault = |name, bytes, tag, reason, class| Fault {
        name,
        bytes,
        tag,
        reason,
        class,
    };
    let sum = good[good.len() - 2];
    let other = if sum == b'0' { b'1' } else { b'0' };
    let mut wrong_sum = good.clone();
    let at = good.len() - 2;
    wrong_sum[at] = other;
    // CheckSum in any other form is wrong as a sum, and as nothing else.
    let stated = |sum: &str| [&good[..good.len() - 4], sum.as_bytes(), b"\x01"].concat();
    let check_sum = |name, sum| fault(name, stated(sum), Some(10), "CheckSum (10)", "checksum");
    let wrong_length = |name, to| {
        let bytes = changed(&good, "\x019=", to);
        fault(name, bytes, None, "BodyLength (9)", "length")
    };
    vec![
        fault(
            "check sum",
            wrong_sum,
            Some(10),
            "CheckSum (10)",
            "checksum",
        ),
        check_sum("check sum over 255", "256"),
        check_sum("check sum of two digits", "16"),
        check_sum("check sum of four digits", "0163"),
        check_sum("check sum of letters", "abc"),
        check_sum("empty check sum", ""),
        fault(
            "length",
            changed(&good, "\x019=9", "\x019=1"),
            None,
            "BodyLength (9)",
            "length",
        ),
        wrong_length("no length", "\x019=x"),
        wrong_length("negative length", "\x019=-"),
        wrong_length("length of many digits", "\x019=1234567890"),
        fault(
            "order",
            changed(&good, "\x019=", "\x0199="),
            None,
            "does not begin with",
            "order of 8, 9 and 35",
        ),
        fault("tag", message("35=D|049=A|"), None, "tag", "tag"),
        fault(
            "empty value",
            message("35=D|55=|"),
            Some(55),
            "empty",
            "empty value",
        ),
        fault(
            "data",
            message("35=D|95=9|96=abc|"),
            Some(96),
            "length",
            "length of data",
        ),
        fault(
            "truncated",
            good[..good.len() - 30].to_vec(),
            None,
            "truncated",
            "truncated",
        ),
        fault(
            "noise",
            b"8=FIX\xff\x00\x02".to_vec(),
            None,
            "does not begin with",
            "order of 8, 9 and 35",
        ),
    ]
}
