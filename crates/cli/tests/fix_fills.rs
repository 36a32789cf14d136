//! `perfkit fix fills`: what was traded, as text, CSV and JSON.

use serde_json::{Value, json};

use crate::common::fix::message;
use crate::common::{directory, file, run, words};

/// An execution of a session: sender and target, symbol, and other fields.
fn execution(number: u32, [from, to]: [&str; 2], symbol: &str, fields: &str) -> Vec<u8> {
    message(&format!(
        "35=8|49={from}|56={to}|34={number}|52=20260305-14:15:16.000|37=o|55={symbol}|{fields}|"
    ))
}

/// Two symbols and sides, a correction, a cancel, a resend and an execution without a price.
fn log() -> Vec<Vec<u8>> {
    let of = ["MARKET", "DESK"];
    vec![
        execution(1, of, "MSFT", "54=1|17=a|150=F|32=100|31=10.25|1=FUND"),
        execution(2, of, "MSFT", "54=1|17=b|150=F|32=50|31=10.5|1=FUND"),
        execution(3, of, "MSFT", "54=5|17=c|150=F|32=7|31=10.30"),
        execution(4, of, "IBM", "54=2|17=d|150=F|32=0.5|31=-3"),
        execution(5, of, "IBM", "54=2|17=e|150=F|32=9|31=1"),
        execution(6, of, "MSFT", "54=1|17=f|19=b|150=G|32=50|31=10.4|1=FUND"),
        execution(7, of, "IBM", "54=2|17=g|19=e|150=H"),
        execution(2, of, "MSFT", "43=Y|54=1|17=b|150=F|32=50|31=10.5|1=FUND"),
        execution(8, of, "IBM", "54=2|17=h|150=F|32=9"),
        execution(9, of, "IBM", "54=2|17=i|150=0|39=0"),
    ]
}

const ROWS: &str = "\
session,Symbol,Side,executions,quantity,average_price,least_price,greatest_price,notional,corrected,busted
MARKET → DESK,IBM,sell,1,0.5,-3,-3,-3,-1.5,0,1
MARKET → DESK,MSFT,buy,2,150,10.30,10.25,10.4,1545,1,0
MARKET → DESK,MSFT,sell short,1,7,10.30,10.30,10.30,72.1,0,0
";

#[test]
fn fills_are_a_table_in_every_form() {
    let dir = directory();
    let log = log();
    file(dir.path(), "log", &log.concat());
    for threads in [1, 3] {
        let line = format!("fix fills -T{threads} --report csv log");
        let csv = run(dir.path(), words(&line)).expect(3);
        assert_eq!(csv.text(), ROWS);
    }
    let text = run(dir.path(), words("fix fills log")).expect(3);
    for words in ["sell short", "10.30", "LastPx (31): missing in a trade"] {
        assert!(text.text().contains(words), "{}", text.text());
    }
    let report = run(dir.path(), words("fix fills --report json log"))
        .expect(3)
        .json();
    let params = &report["workload"]["params"];
    let counts = [
        "fills",
        "duplicates",
        "corrections",
        "busts",
        "unknown",
        "contradictions",
        "not_counted",
    ];
    assert_eq!(
        json!(counts.map(|name| params[name].clone())),
        json!([4, 1, 1, 1, 0, 0, 1])
    );
    let table = |name: &str| {
        let mut tables = report["tables"].as_array().expect("tables").iter();
        let found = tables.find(|table| table["name"] == name);
        found.map_or(Value::Null, |table| table["records"].clone())
    };
    let row = &table("fills")[1];
    assert_eq!(row["average_price"], "10.30");
    assert_eq!(row["executions"], 2);
    assert_eq!(
        table("executions"),
        json!([
            {"which": "sent again, or in several logs", "executions": 1},
            {"which": "corrections", "executions": 1},
            {"which": "cancels", "executions": 1},
            {"which": "not counted", "executions": 1},
        ])
    );
    let offset: usize = log[..8].iter().map(Vec::len).sum();
    assert_eq!(
        table("bad messages"),
        json!([{"file": "log", "offset": offset, "error": "LastPx (31): missing in a trade"}])
    );
}

#[test]
fn rows_are_by_what_is_named_and_logs_of_both_parties_count_once() {
    let dir = directory();
    let log = log()[..8].concat();
    file(dir.path(), "a.log", &log);
    file(dir.path(), "b.log", &log);
    let rows = |flags: &str| {
        let line = format!("fix fills -q --report csv --csv-table fills {flags} a.log b.log");
        run(dir.path(), words(&line)).expect(0).text().to_owned()
    };
    assert_eq!(rows(""), ROWS);
    let by = rows("--group-by Account,hour");
    let lines: Vec<_> = by.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            ",20260305-14,2,7.5,9.41333333,-3,10.30,70.6,0,1",
            "FUND,20260305-14,2,150,10.30,10.25,10.4,1545,1,0",
        ]
    );
    let by = rows("--group-by 55 --where Side=BUY");
    assert_eq!(
        by.lines().nth(1),
        Some("MSFT,2,150,10.30,10.25,10.4,1545,1,0")
    );
    let none = run(dir.path(), words("fix fills --type D a.log")).expect(0);
    assert!(none.stderr.contains("no message passes"), "{}", none.stderr);
    let wrong = run(dir.path(), words("fix fills --group-by Nonsense a.log")).expect(2);
    assert!(
        wrong.stderr.contains("no dictionary has the field"),
        "{}",
        wrong.stderr
    );
}

#[test]
fn what_a_reader_of_the_sums_should_know_is_a_note() {
    let dir = directory();
    let trade = |number, of, fields: &str| execution(number, of, "X", &format!("54=1|{fields}"));
    let (near, far) = (["GATE", "DESK"], ["MARKET", "GATE"]);
    let log = [
        trade(1, far, "17=a|150=F|32=1|31=2"),
        trade(1, near, "17=a|150=F|32=1|31=2"),
        trade(2, far, "17=a|150=F|32=3|31=2"),
        trade(3, far, "17=c|19=z|150=G|32=1|31=2"),
    ];
    file(dir.path(), "log", &log.concat());
    let found = run(dir.path(), words("fix fills log")).expect(0);
    for text in [
        "1 trades that were corrected or cancelled are not in the logs",
        "have the ExecID (17) of another one",
    ] {
        assert!(found.stderr.contains(text), "{}", found.stderr);
    }
    assert!(
        !found.stderr.contains("in the same rows"),
        "{}",
        found.stderr
    );
    let found = run(dir.path(), words("fix fills --group-by Symbol log")).expect(0);
    let text = "fills of MARKET → GATE and GATE → DESK are in the same rows";
    assert!(found.stderr.contains(text), "{}", found.stderr);
    let one = run(
        dir.path(),
        words("fix fills --group-by Symbol --session GATE,DESK log"),
    )
    .expect(0);
    assert!(!one.stderr.contains("in the same rows"), "{}", one.stderr);
    file(
        dir.path(),
        "empty",
        &message("35=0|49=A|56=B|34=1|52=20260305-14:15:16.000|"),
    );
    let none = run(dir.path(), words("fix fills empty")).expect(0);
    assert!(
        none.stderr.contains("there are no fills"),
        "{}",
        none.stderr
    );
}

#[test]
fn every_table_of_a_report_can_be_csv() {
    let dir = directory();
    file(dir.path(), "log", &log()[..8].concat());
    for command in [
        "fix fills",
        "fix stats --group-by Symbol",
        "fix stats",
        "fix health",
        "fix orders",
        "fix validate",
    ] {
        run(
            dir.path(),
            words(&format!("{command} -qqf log --export-json r.json")),
        );
        let text = std::fs::read_to_string(dir.path().join("r.json")).expect("a report");
        let report: Value = serde_json::from_str(&text).expect("JSON");
        for table in report["tables"].as_array().expect("tables") {
            let name = table["name"].as_str().expect("a name");
            let mut line: Vec<_> = words(&format!(
                "{command} -qqf log --export-csv r.csv --csv-table"
            ));
            line.push(name.to_owned());
            run(dir.path(), line);
            let csv = std::fs::read_to_string(dir.path().join("r.csv")).expect("a table");
            let keys = table["columns"].as_array().expect("columns").iter();
            let keys: Vec<_> = keys
                .map(|column| column["key"].as_str().expect("a key"))
                .collect();
            assert_eq!(
                csv.lines().next(),
                Some(&keys.join(",")[..]),
                "{command}: {name}"
            );
            let rows = table["rows"].as_array().expect("rows").len();
            assert_eq!(csv.lines().count(), rows + 1, "{command}: {name}");
        }
    }
    // That of --group-by is what was asked for.
    let groups = run(
        dir.path(),
        words("fix stats -q --group-by Symbol --report csv log"),
    )
    .expect(0);
    assert_eq!(groups.text().lines().next(), Some("Symbol,messages,bytes"));
    let none = run(
        dir.path(),
        words("fix stats --report csv --csv-table nonsense log"),
    )
    .expect(0);
    assert_eq!(none.text(), "");
    assert!(
        none.stderr.contains("the report has no table 'nonsense'"),
        "{}",
        none.stderr
    );
    assert!(none.stderr.contains("sessions"), "{}", none.stderr);
}
