//! Separators within data of logs whose separators are text: where the length of data is known, it is used, by every
//! command that reads logs, for the data fields of the standard and of dictionaries.

use serde_json::Value;

use crate::common::fix::{message, order};
use crate::common::{Run, directory, file, run, words};

/// What logs write between fields.
const SEPARATORS: [&str; 9] = [
    "|", " | ", "^A", "\\x01", ";", "~", "\t", "\u{2401}", "<SOH>",
];

/// A dictionary with a data field of its own, 5002, whose length is 5001.
fn dictionary() -> String {
    let field = |number: u32, name: &str, kind: &str| {
        format!("<field number='{number}' name='{name}' type='{kind}'/>")
    };
    let fields = [
        field(8, "BeginString", "STRING"),
        field(9, "BodyLength", "LENGTH"),
        field(35, "MsgType", "STRING"),
        field(49, "SenderCompID", "STRING"),
        field(56, "TargetCompID", "STRING"),
        field(34, "MsgSeqNum", "SEQNUM"),
        field(52, "SendingTime", "UTCTIMESTAMP"),
        field(5001, "BlobLen", "LENGTH"),
        field(5002, "Blob", "DATA"),
        field(10, "CheckSum", "STRING"),
    ];
    let named = |names: &[&str]| -> String {
        let names = names
            .iter()
            .map(|name| format!("<field name='{name}' required='Y'/>"));
        names.collect()
    };
    let header = [
        "BeginString",
        "BodyLength",
        "MsgType",
        "SenderCompID",
        "TargetCompID",
        "MsgSeqNum",
        "SendingTime",
    ];
    format!(
        "<fix type='FIX' major='4' minor='4'><header>{}</header><messages><message name='Own' msgtype='U1' \
         msgcat='app'>{}</message></messages><trailer>{}</trailer><components/><fields>{}</fields></fix>",
        named(&header),
        named(&["BlobLen", "Blob"]),
        named(&["CheckSum"]),
        fields.concat()
    )
}

/// A message with a data field whose value has the separator of its log, with tags and the start of a message
/// behind it.
fn with_data(msg_type: &str, [length, data]: [u32; 2], value: &str) -> Vec<u8> {
    let head = format!("35={msg_type}|49=A|56=B|34=2|52=20260305-14:15:16|").replace('|', "\x01");
    let more = match msg_type {
        "B" => "148=head\x0133=1\x0158=text\x01",
        _ => "",
    };
    let body = format!("{head}{more}{length}={}\x01{data}={value}\x01", value.len());
    let mut out = Vec::new();
    fixcore::frame::write(b"FIX.4.4", body.as_bytes(), &mut out);
    out
}

/// Lines with a separator in place of each byte 1.
fn logged(messages: &[Vec<u8>], separator: &str) -> Vec<u8> {
    let mut log = Vec::new();
    for message in messages {
        for byte in message {
            match byte {
                1 => log.extend_from_slice(separator.as_bytes()),
                byte => log.push(*byte),
            }
        }
        log.push(b'\n');
    }
    log
}

/// The fields of each message.
fn fields(found: &Run) -> Vec<Value> {
    let lines = found.text().lines();
    lines
        .map(|line| {
            let line: Value = serde_json::from_str(line).expect("JSON");
            assert!(line.get("error").is_none(), "{line}");
            line["fields"].clone()
        })
        .collect()
}

#[test]
#[ignore = "long: cargo xtask ci runs it"]
fn data_with_the_separator_of_its_log_is_read_by_its_length() {
    for separator in SEPARATORS {
        let value = format!(
            "a{separator}1=x{separator}10=000{separator}8=FIX.4.4{separator}9=5{separator}35=0 z"
        );
        // RawData, XmlData, EncodedText, and one of a dictionary.
        for (msg_type, pair) in [
            ("B", [95, 96]),
            ("n", [212, 213]),
            ("B", [354, 355]),
            ("U1", [5001, 5002]),
        ] {
            let dir = directory();
            let what = format!("{separator:?} {pair:?}");
            let own = match msg_type {
                "U1" => " --dictionary own.xml",
                _ => "",
            };
            file(dir.path(), "own.xml", dictionary().as_bytes());
            let messages = [
                order(1, "one", 1),
                with_data(msg_type, pair, &value),
                order(3, "two", 2),
            ];
            file(dir.path(), "soh", &messages.concat());
            file(dir.path(), "log", &logged(&messages, separator));
            let by =
                |line: &str, code| run(dir.path(), words(&format!("{line}{own}"))).expect(code);
            let wanted = fields(&by("fix parse -qq soh", 0));
            assert!(
                wanted[1]
                    .as_array()
                    .is_some_and(|all| all.iter().any(|field| field[1] == value)),
                "{what}"
            );
            assert_eq!(fields(&by("fix parse -qq log", 0)), wanted, "{what}");
            // The order of tags of a dictionary is another matter: what matters here is that data are whole.
            let [soh, log] = ["soh", "log"].map(|name| {
                let found = run(dir.path(), words(&format!("fix validate -qq{own} {name}")));
                let code = found
                    .code
                    .filter(|code| [0, 3].contains(code))
                    .expect("0 or 3");
                let found = found.expect(code);
                let errors = found.text().lines().map(|line| {
                    let line: Value = serde_json::from_str(line).expect("JSON");
                    let faults = line["faults"].as_array().expect("faults").clone();
                    faults
                        .into_iter()
                        .map(|fault| fault["tag"].clone())
                        .collect::<Vec<_>>()
                });
                errors.collect::<Vec<_>>()
            });
            assert_eq!(log, soh, "{what}");
            for part in ["stats", "orders", "health"] {
                let found = by(&format!("fix {part} --report json log"), 0);
                let report: Value = serde_json::from_str(found.text()).expect("a report");
                assert_eq!(report["workload"]["params"]["messages"], 3, "{part} {what}");
            }
            let chained = by("fix parse -qq --format raw log", 0);
            file(dir.path(), "again", chained.text().as_bytes());
            assert_eq!(fields(&by("fix parse -qq again", 0)), wanted, "{what}");
            let [soh, log] = ["soh", "log"].map(|name| {
                let printed = by(&format!("fix print -qq {name}"), 0);
                let text = printed.text().lines().filter(|line| line.starts_with(' '));
                text.map(str::to_owned).collect::<Vec<_>>()
            });
            assert_eq!(log, soh, "{what}");
            let hidden = by("fix anonymize -qq log", 0);
            file(dir.path(), "hidden", hidden.text().as_bytes());
            let shape = |all: Vec<Value>| -> Vec<Vec<Value>> {
                let tags = all.iter().map(|one| {
                    let fields = one.as_array().expect("fields");
                    fields.iter().map(|field| field[0].clone()).collect()
                });
                tags.collect()
            };
            let found = shape(fields(&by("fix parse -qq hidden", 0)));
            assert_eq!(found, shape(wanted), "{what}");
            assert!(!hidden.text().contains("8=FIX.4.4\u{1}9=5"), "{what}");
        }
    }
}

#[test]
fn text_with_the_separator_goes_on_unless_a_tag_follows() {
    let dir = directory();
    for separator in ["|", "^A", ";"] {
        let text = format!("not{separator}a tag{separator}");
        let body = "35=B|49=A|56=B|34=2|52=20260305-14:15:16|148=h|33=1|58=@|";
        let text_message = {
            let body = body.replace('|', "\x01").replace('@', &text);
            let mut out = Vec::new();
            fixcore::frame::write(b"FIX.4.4", body.as_bytes(), &mut out);
            out
        };
        let messages = [
            message("35=0|49=A|56=B|34=1|52=20260305-14:15:16|"),
            text_message,
        ];
        file(dir.path(), "log", &logged(&messages, separator));
        let found = fields(&run(dir.path(), words("fix parse -qq log")).expect(0));
        let value = found[1]
            .as_array()
            .and_then(|all| all.iter().find(|field| field[0] == 58).cloned());
        assert_eq!(
            value.map(|field| field[1].clone()),
            Some(Value::from(text)),
            "{separator}"
        );
    }
}
