//! What logs have in place of the byte 1, and strings of JSON.

use serde_json::Value;

use crate::common::fix::message;
use crate::common::{directory, file, pipe, run, words};

/// News with a text.
fn news(number: u32, text: &str) -> Vec<u8> {
    message(&format!(
        "35=B|34={number}|49=A|52=20260305-09:00:00.000|56=B|148=h|33=1|58={text}|"
    ))
}

/// The texts (58) that are read of a log.
fn texts(log: &[u8], flags: &str, code: i32) -> Vec<String> {
    let line = format!("fix parse -qq --fields 58 {flags}");
    let found = pipe(directory().path(), words(&line), log).expect(code);
    let lines = found.text().lines();
    let lines = lines.map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    lines
        .filter_map(|line| Some(line["fields"][0][1].as_str()?.to_owned()))
        .collect()
}

#[test]
fn every_spelling_of_the_separator_is_read() {
    let spellings = [
        "|",
        "||",
        " | ",
        ";",
        ",",
        "~",
        "\t",
        "^A",
        "\\x01",
        "\\u0001",
        "\\\\u0001",
        "\\001",
        "\\01",
        "#001",
        "%01",
        "<SOH>",
        "[SOH]",
        "&#1;",
        "&#x01;",
        "␁",
        ", ",
        "; ",
        "^",
        "!",
        "#",
        "*",
        "¦",
        "^A|",
        "<^A>",
        "<soh>",
        "{SOH}",
        "(SOH)",
        "<01>",
        "[01]",
        "<0x01>",
        "[0x01]",
        "<U+0001>",
        "&#x1;",
        "☺",
    ];
    for spelling in spellings {
        let log: String = (1..4)
            .map(|number| {
                let text = String::from_utf8(news(number, "hello, world")).expect("text");
                format!("out: {}\n", text.replace('\x01', spelling))
            })
            .collect();
        assert_eq!(
            texts(log.as_bytes(), "", 0),
            ["hello, world"; 3],
            "{spelling}"
        );
    }
}

/// The lines of a log around a message.
type Shape<'s> = &'s dyn Fn(&str) -> String;

#[test]
fn logs_of_engines_and_of_what_collects_them_are_read_without_a_flag() {
    let json = |text: &str| serde_json::to_string(text).expect("JSON");
    let shapes: [(&str, Shape<'_>); 20] = [
        ("QuickFIX/J, file", &|m| {
            format!("20260305-14:15:16.123: {m}\n")
        }),
        ("QuickFIX/J, SLF4J", &|m| {
            format!(
                "2026-03-05 14:15:16,123 [QFJ Timer] INFO  quickfixj.msg.incoming - FIX.4.4:A->B: {m}\r\n"
            )
        }),
        ("QuickFIX/J, screen", &|m| {
            format!("<20260305-14:15:16, FIX.4.4:A->B, incoming> ({m})\n")
        }),
        ("QuickFIX/J, events", &|m| {
            format!(
                "20260305-14:15:16: Session FIX.4.4:A->B schedule is daily\n20260305-14:15:16: Invalid message: {m}\n"
            )
        }),
        ("QuickFIX, file", &|m| {
            format!("20260305-14:15:16.123456789 : {m}\n")
        }),
        ("QuickFIX, screen", &|m| {
            format!("<20260305-14:15:16.123, FIX.4.4:A->B, incoming>\n  ({m})\n")
        }),
        ("QuickFIX/Go, file", &|m| {
            format!("2026/03/05 14:15:16.123456 {m}\n")
        }),
        ("QuickFIX/Go, screen", &|m| {
            format!("<2026-03-05 14:15:16.123 +0000 UTC, FIX.4.4:A->B, incoming>\n  ({m})\n")
        }),
        ("Fix8", &|m| format!("00000002 14:15:16.123456789 {m}\n")),
        ("rsyslog", &|m| {
            format!(
                "Mar  5 14:15:16 host fix[7]: {}\n",
                m.replace('\x01', "#001")
            )
        }),
        ("syslog", &|m| {
            format!(
                "<134>1 2026-03-05T14:15:16.123Z host fix 7 - - {}\n",
                m.replace('\x01', "^A")
            )
        }),
        ("JSON", &|m| {
            format!("{{\"ts\":\"14:15\",\"msg\":{}}}\n", json(m))
        }),
        ("Docker", &|m| {
            format!(
                "{{\"log\":{},\"stream\":\"stdout\"}}\n",
                json(&format!("14:15: {m}\n"))
            )
        }),
        ("JSON within JSON", &|m| {
            format!("{{\"log\":{}}}\n", json(&format!("{{\"m\":{}}}", json(m))))
        }),
        ("Kubernetes", &|m| {
            format!("2026-03-05T14:15:16.123456789Z stdout F {m}\n")
        }),
        ("Python", &|m| {
            format!("got b'{}'\n", m.replace('\x01', "\\x01"))
        }),
        ("colours", &|m| {
            format!(
                "\x1b[33m{}\x1b[0m\n",
                m.trim_end_matches('\x01').replace('\x01', "|")
            )
        }),
        ("XML", &|m| {
            format!(
                "<msg>{}</msg>\n",
                m.trim_end_matches('\x01').replace('\x01', "|")
            )
        }),
        ("a sentence", &|m| {
            format!(
                "Received {}. Next.\n",
                m.trim_end_matches('\x01').replace('\x01', ";")
            )
        }),
        ("columns", &|m| {
            format!("14:15|in|{}|3 ms\n", m.trim_end_matches('\x01'))
        }),
    ];
    for (name, shape) in shapes {
        let log: String = (1..4)
            .map(|number| {
                let text = String::from_utf8(news(number, "hello, (world)")).expect("text");
                shape(&text)
            })
            .collect();
        assert_eq!(
            texts(log.as_bytes(), "", 0),
            ["hello, (world)"; 3],
            "{name}"
        );
    }
    // What ends a message does not end a CheckSum.
    for end in ["4", "x", "=", "-"] {
        let text = String::from_utf8(news(1, "hello")).expect("text");
        let text = text.trim_end_matches('\x01').replace('\x01', "|");
        let log = format!("{text}{end}\n");
        assert_eq!(texts(log.as_bytes(), "", 3).len(), 0, "{end}");
    }
}

#[test]
fn a_separator_of_ones_own_is_stated_and_one_that_is_not_known_is_named() {
    let text = String::from_utf8(news(1, "hello")).expect("text");
    let log = format!("{}\n", text.replace('\x01', "##"));
    assert_eq!(texts(log.as_bytes(), "--separator ##", 0), ["hello"]);
    let dir = directory();
    file(dir.path(), "log", log.as_bytes());
    let found = run(dir.path(), words("fix stats log")).expect(3);
    assert!(found.stderr.contains("--separator"), "{}", found.stderr);
    let found = run(dir.path(), words("fix parse -qq log")).expect(3);
    let wanted = "behind 8=FIX.4.4 stands '##', which is not known as a separator";
    assert!(found.text().contains(wanted), "{}", found.text());
    for wrong in ["ab", "0", "=", "#########"] {
        let found = run(
            dir.path(),
            words(&format!("fix stats --separator {wrong} log")),
        )
        .expect(2);
        assert!(
            found.stderr.contains("what stands between fields"),
            "{}",
            found.stderr
        );
    }
}

#[test]
fn a_file_of_utf_16_is_named_so() {
    let dir = directory();
    let text = String::from_utf8(news(1, "hello"))
        .expect("text")
        .replace('\x01', "|");
    let wide = |order: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(order).collect::<Vec<u8>>();
    for (name, bytes) in [
        (
            "le",
            [b"\xff\xfe".to_vec(), wide(u16::to_le_bytes)].concat(),
        ),
        (
            "be",
            [b"\xfe\xff".to_vec(), wide(u16::to_be_bytes)].concat(),
        ),
        ("bare", wide(u16::to_le_bytes)),
    ] {
        file(dir.path(), name, &bytes);
        let found = run(dir.path(), words(&format!("fix stats {name}"))).expect(3);
        assert!(
            found.stderr.contains("it is UTF-16: iconv -f UTF-16"),
            "{}",
            found.stderr
        );
    }
}

#[test]
fn escapes_of_json_are_read_as_what_they_stand_for() {
    let values = [
        "plain",
        "He said \"hi\" to you",
        "C:\\temp\\x",
        "a/b",
        "M\u{fc}ller \u{2603} \u{1d11e}",
        "tab\tbell\u{7}",
        "back\\\\slash and \\u0041",
        "10=000",
    ];
    let quoted = |text: &str| serde_json::to_string(text).expect("JSON");
    let ascii = |text: &str| {
        let units = |letter: char| {
            let mut units = [0; 2];
            let units = letter.encode_utf16(&mut units).iter();
            units
                .map(|unit| format!("\\u{unit:04x}"))
                .collect::<String>()
        };
        let spell = |letter: char| match letter {
            ' '..='~' => letter.to_string(),
            letter => units(letter),
        };
        text.chars()
            .map(spell)
            .collect::<String>()
            .replace('/', "\\/")
    };
    let mut log = String::new();
    let mut offsets = Vec::new();
    for (number, value) in (1..).zip(values) {
        let text = String::from_utf8(news(number, value)).expect("text");
        for line in [
            format!("{{\"m\": {}}}", quoted(&text)),
            format!("{{\"m\": {}}}", ascii(&quoted(&text))),
            format!(
                "{{\"m\": {}}}",
                quoted(&format!("{{\"m\":{}}}", quoted(&text)))
            ),
            format!("{{\"m\": {}}}", quoted(&text.replace('\x01', "|"))),
            format!(
                "{{\"m\": {}, \"n\": {}}}",
                quoted(&text),
                quoted("8=FIX.4.4 \"")
            ),
        ] {
            offsets.push(log.len() + line.find("8=FIX").expect("a message"));
            log.push_str(&line);
            log.push('\n');
        }
    }
    let found = pipe(directory().path(), words("fix parse -qq"), log.as_bytes()).expect(3);
    let lines = found.text().lines();
    let lines = lines.map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let (good, bad): (Vec<_>, Vec<_>) = lines.partition(|line| line["error"].is_null());
    // The text that only mentions a message.
    assert_eq!(bad.len(), values.len(), "{bad:?}");
    let text = |line: &Value| {
        let fields = line["fields"].as_array().expect("fields").iter();
        let mut text = fields.filter(|field| field[0] == "58" || field[0] == 58);
        text.next()
            .map(|field| field[1].as_str().expect("text").to_owned())
    };
    let found: Vec<_> = good.iter().filter_map(text).collect();
    let wanted: Vec<_> = values.iter().flat_map(|value| [*value; 5]).collect();
    assert_eq!(found, wanted);
    let found = good
        .iter()
        .map(|line| line["offset"].as_u64().expect("an offset") as usize);
    assert_eq!(found.collect::<Vec<_>>(), offsets);
}
