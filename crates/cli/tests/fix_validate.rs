//! `perfkit fix validate`: all faults of a message with their reasons, conditions, custom tags, two dictionaries,
//! and warnings.

use serde_json::{Value, json};

use crate::common::fix::{changed, message, order};
use crate::common::{Run, directory, file, pipe, words};

const HEAD: &str = "49=A|56=B|34=7|52=20260305-14:15:16|";
const ORDER: &str = "11=x|55=A|54=1|60=20260305-14:15:16|38=5|";

/// The lines that a command writes of a log.
fn lines(flags: &str, log: &[u8], code: i32) -> Vec<Value> {
    let found: Run = pipe(
        directory().path(),
        words(&format!("fix validate -qq {flags}")),
        log,
    );
    let found = found.expect(code);
    let lines = found.text().lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

/// Tag and reason of each fault of the only line: reasons of a BusinessMessageReject are negative.
fn faults(flags: &str, log: &[u8]) -> Vec<[i64; 2]> {
    let lines = lines(flags, log, 3);
    assert_eq!(lines.len(), 1, "{lines:?}");
    let faults = lines[0]["faults"].as_array().expect("faults");
    let of = |fault: &Value| {
        let session = fault["session_reject_reason"].as_i64();
        let business = fault["business_reject_reason"]
            .as_i64()
            .map(|reason| -reason);
        [
            fault["tag"].as_i64().unwrap_or(0),
            session.or(business).unwrap_or(99),
        ]
    };
    faults.iter().map(of).collect()
}

#[test]
fn a_line_has_all_faults_of_a_message_with_their_reasons() {
    let wrong = message(&format!(
        "35=D|{HEAD}11=x|11=y|55=A|54=@|60=now|40=2|38=1e5|59=6|4999=1|150=0|453=2|448=p|447=D|452=1|"
    ));
    let found = lines("", &wrong, 3);
    let line = &found[0];
    assert_eq!(found.len(), 1, "a line per message");
    // What a line always had, of the first fault.
    assert_eq!(line["tag"], 11);
    assert_eq!((&line["offset"], &line["line"]), (&json!(0), &json!(1)));
    let first = line["error"].as_str().expect("text");
    assert!(
        first.starts_with("tag 11: tag appears twice, at byte "),
        "{first}"
    );
    assert_eq!(line["msg_type"], "D");
    let faults = line["faults"].as_array().expect("faults");
    assert_eq!(faults[0]["error"], line["error"]);
    assert_eq!(faults[0]["field"], "ClOrdID");
    let found: Vec<(u64, i64)> = faults
        .iter()
        .map(|fault| {
            let reason = &fault["session_reject_reason"];
            let reason = reason
                .as_i64()
                .or_else(|| Some(-fault["business_reject_reason"].as_i64()?));
            (
                fault["tag"].as_u64().expect("a tag"),
                reason.expect("a reason"),
            )
        })
        .collect();
    let wanted = [
        (11, 13),
        (54, 5),
        (60, 6),
        (38, 6),
        (4999, 0),
        (150, 2),
        (453, 16),
        (44, -5),
        (432, -5),
    ];
    assert_eq!(found, wanted);
    let words = |at: usize| faults[at]["error"].as_str().expect("text").to_owned();
    assert!(
        words(6).starts_with("tag 453: stated 2 entries, found 1"),
        "{}",
        words(6)
    );
    assert!(
        words(7).starts_with("tag 44: missing, required by 40=2"),
        "{}",
        words(7)
    );
}

#[test]
fn a_garbled_message_has_its_other_faults_too() {
    let good = message(&format!("35=D|{HEAD}{ORDER}40=2|"));
    let sum = good.len() - 2;
    let mut wrong = good;
    wrong[sum] = if wrong[sum] == b'0' { b'1' } else { b'0' };
    for separator in ["\x01", "|", "^A"] {
        let text = String::from_utf8(wrong.clone()).expect("text");
        let log = format!("{}\n", text.replace('\x01', separator));
        // A session does not answer a wrong sum.
        assert_eq!(
            faults("", log.as_bytes()),
            [[10, 99], [44, -5]],
            "{separator}"
        );
    }
    let both = changed(
        &message(&format!("35=D|{HEAD}55=|")),
        "\x0134=7",
        "\x0134=x",
    );
    let found = faults("", &both);
    assert_eq!(found[..2], [[55, 4], [10, 99]]);
    assert!(found.contains(&[34, 6]), "{found:?}");
    // Every field that is missing has a line of its own.
    assert!(
        [11, 54, 60, 40]
            .iter()
            .all(|tag| found.contains(&[*tag, 1])),
        "{found:?}"
    );
}

#[test]
fn conditions_of_the_standard_hold() {
    let valid: &[String] = &[
        format!("35=D|{HEAD}{ORDER}40=1|"),
        format!("35=D|{HEAD}{ORDER}40=2|44=1|"),
        format!("35=D|{HEAD}{ORDER}40=4|44=1|99=1|59=6|126=20260305-14:15:16|"),
        "35=0|49=A|56=B|34=7|43=Y|52=20260305-14:15:16|122=20260305-14:15:16|".to_owned(),
        // What fills a gap was never sent before.
        "35=4|49=A|56=B|34=7|43=Y|52=20260305-14:15:16|123=Y|36=9|".to_owned(),
        "35=4|49=A|56=B|34=7|52=20260305-14:15:16|36=2|".to_owned(),
        format!("35=2|{HEAD}7=5|16=0|"),
        format!("35=2|{HEAD}7=5|16=5|"),
        "35=A|49=A|56=B|34=1|52=20260305-14:15:16|98=0|108=30|141=Y|".to_owned(),
        format!("35=A|{HEAD}98=0|108=30|141=N|"),
    ];
    for body in valid {
        // The second one is of a shape that is known.
        let log = [message(body), message(body)].concat();
        assert_eq!(lines("", &log, 0), Vec::<Value>::new(), "{body}");
    }
    let execution =
        |more: &str| format!("35=8|{HEAD}37=o|17=e|39=1|55=A|54=1|38=5|151=3|14=2|6=1|{more}");
    let wrong: &[(String, &[[i64; 2]])] = &[
        (format!("35=D|{HEAD}{ORDER}40=4|"), &[[44, -5], [99, -5]]),
        (format!("35=D|{HEAD}{ORDER}40=3|"), &[[99, -5]]),
        (format!("35=D|{HEAD}{ORDER}40=1|59=6|"), &[[432, -5]]),
        (execution("150=F|"), &[[32, -5], [31, -5]]),
        (execution("150=D|"), &[[378, -5]]),
        (
            "35=0|49=A|56=B|34=7|43=Y|52=20260305-14:15:16|".to_owned(),
            &[[122, 1]],
        ),
        (format!("35=4|{HEAD}123=Y|36=7|"), &[[36, 5]]),
        (format!("35=2|{HEAD}7=5|16=4|"), &[[16, 5]]),
        (format!("35=A|{HEAD}98=0|108=30|141=Y|"), &[[34, 5]]),
    ];
    for (body, wanted) in wrong {
        assert_eq!(faults("", &message(body)), *wanted, "{body}");
        let log = [message(body), message(body), message(body)].concat();
        assert_eq!(lines("", &log, 3).len(), 3, "{body}");
    }
    let log = message("35=A|49=A|56=B|34=7|52=20260305-14:15:16|98=0|108=30|141=Y|");
    let error = lines("", &log, 3)[0]["error"].clone();
    let error = error.as_str().expect("text").to_owned();
    assert!(
        error.starts_with("tag 34: value contradicts 141=Y"),
        "{error}"
    );
}

#[test]
fn custom_tags_are_allowed_or_refused() {
    let log = message(&format!(
        "35=D|{HEAD}{ORDER}40=1|5001=a|9999=b|20000=c|39999=d|"
    ));
    assert!(lines("", &log, 0).is_empty());
    assert!(lines("--custom-tags allow", &log, 0).is_empty());
    let found = faults("--custom-tags refuse", &log);
    assert_eq!(found, [[5001, 0], [9999, 0], [20000, 0], [39999, 0]]);
}

#[test]
fn warnings_are_written_on_request_and_change_no_exit_code() {
    let log = message(&format!(
        "35=8|{HEAD}37=o|17=e|150=0|39=8|55=A|54=1|38=5|151=3|14=1|6=1|"
    ));
    let wrong = message(&format!(
        "35=8|{HEAD}37=o|17=e|150=0|39=0|55=A|54=1|38=5|151=3|14=1|6=1|"
    ));
    let log = [log, wrong].concat();
    assert!(lines("", &log, 0).is_empty());
    let found = lines("--warnings", &log, 0);
    assert_eq!(found.len(), 2);
    assert!(found[0].get("error").is_none() && found[0].get("faults").is_none());
    let words = |line: usize| found[line]["warnings"][0]["warning"].clone();
    assert_eq!(
        words(0),
        "OrdStatus (39) is 8, which ExecType (150) 0 excludes"
    );
    assert_eq!(
        words(1),
        "LeavesQty (151) is 3, OrderQty (38) less CumQty (14) is 4"
    );
}

#[test]
fn the_report_says_how_many_messages_were_checked_and_why_they_would_be_rejected() {
    let dir = directory();
    let log = [
        order(1, "one", 1),
        message(&format!("35=D|{HEAD}{ORDER}40=2|")),
    ]
    .concat();
    file(dir.path(), "log", &log);
    let found = pipe(dir.path(), words("fix validate --report json log"), b"").expect(3);
    let report: Value = serde_json::from_str(&found.stderr).expect("a report");
    let params = &report["workload"]["params"];
    assert_eq!(params["messages_checked"], 2);
    assert_eq!(params["messages_bad"], 1);
    let tables = report["tables"].as_array().expect("tables");
    let table = tables
        .iter()
        .find(|table| table["name"] == "reasons of rejects");
    let rows = table.expect("the table")["rows"].clone();
    let name = "CONDITIONALLY_REQUIRED_FIELD_MISSING";
    assert_eq!(rows, json!([["BusinessRejectReason (380)", 5, name, 1]]));
}

/// A message of FIXT 1.1.
fn fixt(body: &str) -> Vec<u8> {
    let body = body.replace('|', "\x01");
    let head = format!("8=FIXT.1.1\x019={}\x01{body}", body.len());
    let sum = head.bytes().fold(0_u8, u8::wrapping_add);
    format!("{head}10={sum:03}\x01").into_bytes()
}

#[test]
fn messages_of_fixt_are_held_to_the_version_that_they_have() {
    // 1151 (SecurityGroup) came after 5.0.
    let plain = fixt(&format!("35=D|{HEAD}{ORDER}40=1|1151=grp|"));
    let stated = fixt(&format!("35=D|1128=7|{HEAD}{ORDER}40=1|1151=grp|"));
    assert!(lines("", &plain, 0).is_empty());
    for version in ["7", "5.0", "FIX.5.0"] {
        let found = faults(&format!("--default-appl-ver-id {version}"), &plain);
        assert_eq!(found, [[1151, 0]], "{version}");
    }
    assert_eq!(faults("--default-appl-ver-id 9", &stated), [[1151, 0]]);
    let unknown = fixt(&format!("35=D|1128=99|{HEAD}{ORDER}40=1|"));
    assert_eq!(faults("", &unknown), [[1128, 18]]);
}

#[test]
fn transport_and_application_have_a_dictionary_each() {
    let dir = directory();
    let field = |number: u32, name: &str, kind: &str| {
        format!("<field number='{number}' name='{name}' type='{kind}'/>")
    };
    let frame = [
        field(8, "BeginString", "STRING"),
        field(9, "BodyLength", "LENGTH"),
        field(35, "MsgType", "STRING"),
        field(49, "Sender", "STRING"),
        field(10, "CheckSum", "STRING"),
    ];
    let transport = format!(
        "<fix type='FIXT' major='1' minor='1'><header><field name='BeginString' required='Y'/>\
         <field name='BodyLength' required='Y'/><field name='MsgType' required='Y'/>\
         <field name='Sender' required='Y'/></header><messages/><trailer><field name='CheckSum' required='Y'/>\
         </trailer><components/><fields>{}</fields></fix>",
        frame.concat()
    );
    let application = format!(
        "<fix type='FIX' major='5' minor='0'><header/><messages><message name='Own' msgtype='U1' msgcat='app'>\
         <field name='Sign' required='Y'/></message></messages><trailer/><components/><fields>{}</fields></fix>",
        field(20_001, "Sign", "INT")
    );
    file(dir.path(), "t.xml", transport.as_bytes());
    file(dir.path(), "a.xml", application.as_bytes());
    let both = "fix validate -qq --transport-dictionary t.xml --application-dictionary a.xml";
    let by = |line: &str, bytes: &[u8], code: i32| {
        let found = pipe(dir.path(), words(line), bytes).expect(code);
        found.text().to_owned()
    };
    assert_eq!(by(both, &fixt("35=U1|49=A|20001=5|"), 0), "");
    let found = by(both, &fixt("35=U1|20001=x|"), 3);
    let line: Value = serde_json::from_str(&found).expect("JSON");
    assert_eq!(line["faults"][0]["field"], "Sign");
    assert_eq!(line["faults"][1]["field"], "Sender");
    // One of them goes with the built-in other.
    let one = "fix validate -qq --application-dictionary a.xml";
    assert_eq!(by(one, &fixt(&format!("35=U1|{HEAD}20001=5|")), 0), "");
    assert_eq!(by(one, &fixt(&format!("35=0|{HEAD}")), 0), "");
    // Messages of one dictionary have theirs.
    assert_eq!(by(both, &order(1, "one", 1), 0), "");
    let line = words("fix validate --dictionary a.xml --transport-dictionary t.xml");
    pipe(dir.path(), line, b"").expect(2);
}
