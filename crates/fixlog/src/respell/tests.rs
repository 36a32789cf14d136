//! Messages whose values have the separator of their log, spelled and read back.

use fixcore::separator::{SPELLINGS, from_soh};
use fixcore::{Decoder, Encoder, SOH};

use crate::random::Random;
use crate::{Found, Separator, split};

/// The messages of a log, and how many more places begin like one.
fn found(log: &[u8]) -> (Vec<Vec<u8>>, usize) {
    let (mut messages, mut bad) = (Vec::new(), 0);
    split(log, Separator::Auto, |_, what| match what {
        Found::Message(bytes, _) => messages.push(bytes.to_vec()),
        Found::Bad(_) => bad += 1,
        _ => {}
    })
    .expect("a slice is read");
    (messages, bad)
}

/// A log of one line.
fn line(message: &[u8], spelling: &[u8], last: bool) -> Vec<u8> {
    let mut log = b"14:15:16.1 out: ".to_vec();
    from_soh(message, spelling, &mut log);
    if !last {
        log.truncate(log.len() - spelling.len());
    }
    log.push(b'\n');
    log
}

fn text(parts: &[&str], separator: &[u8]) -> Vec<u8> {
    let text = parts.join(std::str::from_utf8(separator).expect("text"));
    text.into_bytes()
}

#[test]
fn a_value_may_have_the_separator_and_the_start_of_a_message() {
    let mut encoder = Encoder::new("FIX.4.4");
    for spelling in SPELLINGS {
        let values: [&[&str]; 8] = [
            &["a", "b"],
            &["", "a", "", ""],
            &["8=FIX.4.4", "x9=5", "=", "10"],
            &["8=FIX", "tail"],
            &["a 10=123", " b", "c=7"],
            &["-1", "+2=", "1234567890=x"],
            &["say 8=FIX.4.2 9=12 35=A"],
            &["", ""],
        ];
        for parts in values {
            let value = text(parts, spelling);
            let message = encoder.start("B").bytes(58, &value).bytes(354, b"4");
            let message = message.bytes(355, b"a=bc").bytes(55, b"X");
            let message = message.finish().expect("a message").to_vec();
            for last in [true, false] {
                let log = [
                    line(&message, spelling, last),
                    line(&message, spelling, last),
                ];
                let (messages, bad) = found(&log.concat());
                let what = String::from_utf8_lossy(&log[0]).into_owned();
                assert_eq!(messages, [&message[..], &message], "{what}");
                assert_eq!(bad, 0, "{what}");
                assert!(Decoder::new().parse(&messages[0]).is_ok(), "{what}");
            }
        }
    }
}

#[test]
fn data_may_have_the_separator_or_the_byte_1_as_its_length_says() {
    let mut encoder = Encoder::new("FIX.4.4");
    for spelling in SPELLINGS {
        let tags = text(&["a", "1=b", "35=D", "10=123", ""], spelling);
        let soh = b"a\x011=b\x0135=D\x0110=123\x01";
        for data in [&tags[..], soh, b"8=FIX.4.4", spelling] {
            let message = encoder.start("B").bytes(58, b"x").data(95, 96, data);
            let message = message
                .bytes(55, b"X")
                .finish()
                .expect("a message")
                .to_vec();
            let (messages, bad) = found(&line(&message, spelling, true));
            let what = message.escape_ascii().to_string();
            assert_eq!((messages, bad), (vec![message], 0), "{what}");
        }
    }
}

/// Of `1|||54=2`, the last `||` ends the field.
#[test]
fn a_value_may_end_as_its_separator_begins() {
    let mut encoder = Encoder::new("FIX.4.4");
    for spelling in SPELLINGS {
        for part in (1..spelling.len()).filter_map(|length| spelling.get(..length)) {
            let message = encoder.start("B").bytes(58, &[b"22", part].concat());
            let message = message
                .bytes(55, b"X")
                .finish()
                .expect("a message")
                .to_vec();
            let log = line(&message, spelling, true);
            let what = log.escape_ascii().to_string();
            assert_eq!(found(&log), (vec![message], 0), "{what}");
        }
    }
}

/// A block of lines ends behind any of them, as the log is read.
#[test]
fn a_message_of_a_text_log_does_not_go_on_in_the_next_line() {
    let mut encoder = Encoder::new("FIX.4.4");
    for spelling in SPELLINGS {
        let message = encoder.start("B").bytes(58, b"one\ntwo").bytes(55, b"X");
        let message = message.finish().expect("a message").to_vec();
        let (messages, bad) = found(&line(&message, spelling, true));
        let name = spelling.escape_ascii();
        assert_eq!((messages.len(), bad), (0, 1), "{name}");
    }
}

#[test]
fn a_line_of_many_wrong_lengths_is_read_in_proportion_to_its_length() {
    let head = b"8=FIX.4.4^A9=999999^A35=0^A";
    let log = head.repeat((3 << 20) / head.len());
    let start = std::time::Instant::now();
    let (messages, bad) = found(&log);
    assert_eq!((messages.len(), bad), (0, log.len() / head.len()));
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
}

/// Values of any parts: what comes back and is valid is what was written, and it comes back unless a
/// separator in a text is followed by what looks like a tag, or data have both the byte 1 and a separator.
/// Where a message has such a text and data with either, the one may pass for the other.
#[test]
fn what_is_found_and_valid_is_what_was_written() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    let (mut encoder, mut decoder) = (Encoder::new("FIX.4.4"), Decoder::new());
    let mut back = 0;
    for case in 0..2500 {
        let spelling = SPELLINGS[case % SPELLINGS.len()];
        let parts: [&[u8]; 14] = [
            b"a",
            b"=",
            b"7",
            b"12=",
            b"8=FIX",
            b"8=FIX.4.4",
            b"9=5",
            b"10=",
            b"10=163",
            b" ",
            b"|",
            b"^A",
            spelling,
            b"\xfc",
        ];
        let mut value = |most: usize, with_soh: bool| {
            let mut value = vec![b'v'];
            for _ in 0..random.below(most) {
                match random.below(8) {
                    0 if with_soh => value.push(SOH),
                    _ => value.extend_from_slice(parts[random.below(parts.len())]),
                }
            }
            value
        };
        let (one, data, other) = (value(4, false), value(9, case % 3 == 0), value(4, false));
        let message = encoder.start("B").bytes(58, &one).data(354, 355, &data);
        let message = message.bytes(147, &other);
        let message = message.finish().expect("a message").to_vec();
        let (messages, _) = found(&line(&message, spelling, case % 2 == 0));
        let valid: Vec<_> = messages
            .iter()
            .filter(|found| decoder.parse(found).is_ok())
            .collect();
        let what = || {
            let text = line(&message, spelling, true);
            let found = messages.concat();
            format!(
                "{case}: {}\nwritten: {}\nfound:   {}",
                text.escape_ascii(),
                message.escape_ascii(),
                found.escape_ascii()
            )
        };
        back += usize::from(!valid.is_empty());
        let tag_follows = |value: &[u8]| {
            let mut behind = (0..value.len()).filter_map(|at| value[at..].strip_prefix(spelling));
            behind.any(|rest| super::tag(rest).is_some())
        };
        let is_text_plain = !tag_follows(&one) && !tag_follows(&other);
        let soh = data.contains(&SOH);
        let spelled = memchr::memmem::find(&data, spelling).is_some();
        // The end of a value may pass for the start of the separator behind it: ` |` before ` | `.
        let overlaps = |value: &[u8]| {
            let mut parts = value.split(|byte| *byte == SOH);
            parts.any(|part| {
                let text = [part, spelling].concat();
                memchr::memmem::find(&text, spelling)
                    .is_some_and(|at| at < part.len() && at + spelling.len() > part.len())
            })
        };
        let is_apart = !overlaps(&data);
        if is_apart && (is_text_plain || !(soh || spelled)) {
            assert!(valid.iter().all(|found| **found == message), "{}", what());
        }
        if is_text_plain && is_apart && !(soh && spelled) {
            assert_eq!(valid.len(), 1, "{}", what());
        }
    }
    assert!(back > 1700, "{back}");
}

/// A text as a string of JSON, of which each letter has any of the forms that it may have.
fn quoted(text: &str, random: &mut Random) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        let short = match letter {
            '"' => Some("\\\""),
            '\\' => Some("\\\\"),
            '/' => Some("\\/"),
            '\n' => Some("\\n"),
            '\t' => Some("\\t"),
            _ => None,
        };
        let needs = matches!(letter, '"' | '\\' | '\0'..=' ') && letter != ' ';
        match short {
            Some(short) if letter == '\\' || random.below(3) > 0 => out.push_str(short),
            // What a message begins with is looked for as it is.
            _ if needs
                || (!letter.is_ascii_alphanumeric()
                    && !"=. ".contains(letter)
                    && random.below(2) == 0) =>
            {
                let mut units = [0; 2];
                for unit in letter.encode_utf16(&mut units) {
                    out.push_str(&format!("\\u{unit:04x}"));
                }
            }
            _ => out.push(letter),
        }
    }
    out + "\""
}

#[test]
fn strings_of_json_are_read_whatever_escapes_they_have() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut encoder = Encoder::new("FIX.4.4");
    let parts = [
        "a",
        "\"",
        "\\",
        "/",
        "\n",
        "\t",
        "\u{fc}",
        "\u{2603}",
        "\u{1d11e}",
        "\\u0041",
        "10=1",
        "|",
        "{}",
        " ",
    ];
    for case in 0..1500 {
        let mut value = String::from("v");
        for _ in 0..random.below(8) {
            value.push_str(parts[random.below(parts.len())]);
        }
        let message = encoder
            .start("B")
            .bytes(58, value.as_bytes())
            .bytes(55, b"X");
        let message = message.finish().expect("a message").to_vec();
        let mut text = String::from_utf8(message.clone()).expect("text");
        for _ in 0..=case % 2 {
            text = format!("{{\"m\":{}}}", quoted(&text, &mut random));
        }
        let log = format!("{text}\n{text}\n").into_bytes();
        let (messages, bad) = found(&log);
        assert_eq!((messages.len(), bad), (2, 0), "{text}");
        assert!(messages.iter().all(|found| *found == message), "{text}");
        // Other bytes in it are something else, and no panic.
        let mut hostile = log;
        for _ in 0..3 {
            let at = random.below(hostile.len());
            hostile[at] = b"\\\"u{0\xff\n1"[random.below(8)];
        }
        let (messages, _) = found(&hostile);
        assert!(messages.iter().all(|found| found.len() < hostile.len()));
    }
}
