//! `perfkit betree` and `perfkit betree-bench`: files and pipes in, lines and reports out, what is
//! wrong with which line.

use std::path::Path;

use crate::common::{self, Run, directory, file, names, pipe, run, words};

const DOMAINS: &str = "country|string|false\nage|integer|true|0|120\ntags|string list|true\n";
const EXPRESSIONS: &str = "\
country = 'FR' and age >= 18
not (country = 'FR')

tags one of ('a', 'b') or age is null
";
const EVENTS: &str = "\
{\"country\":\"FR\",\"age\":30}
{\"country\":\"DE\",\"tags\":[\"b\"]}
";

fn files(dir: &Path) {
    file(dir, "domains", DOMAINS.as_bytes());
    file(dir, "expressions", EXPRESSIONS.as_bytes());
}

fn matches(dir: &Path, flags: &str, events: &str) -> Run {
    let line = format!("betree match --domains domains --expressions expressions {flags}");
    pipe(dir, words(&line), events.as_bytes())
}

#[test]
fn ids_are_the_lines_of_expressions_in_every_form_of_output() {
    let dir = directory();
    files(dir.path());
    for (output, expected) in [
        (
            "json",
            "{\"event\":1,\"ids\":[1]}\n{\"event\":2,\"ids\":[2,4]}\n",
        ),
        ("ids", "1\n2 4\n"),
        ("count", "1\n2\n"),
        ("bitmap", "1000\n0101\n"),
    ] {
        let run = matches(dir.path(), &format!("-qq --format {output}"), EVENTS).expect(0);
        assert_eq!(run.text(), expected, "{output}");
        assert_eq!(run.stderr, "");
    }
}

#[test]
fn the_report_tells_searches_and_steps_apart() {
    let dir = directory();
    files(dir.path());
    let run = matches(dir.path(), "--budget 1 --report json", EVENTS).expect(0);
    let report: serde_json::Value = serde_json::from_str(&run.stderr).expect("JSON");
    assert_eq!(report["workload"]["params"]["expressions"], 3);
    assert_eq!(report["workload"]["params"]["matches"], 3);
    let rows = report["latencies"].as_array().expect("rows");
    let names: Vec<_> = rows
        .iter()
        .map(|row| format!("{} {}", row["name"], row["series"]).replace('"', ""))
        .collect();
    assert_eq!(names, ["service search", "service read", "hold search"]);
    assert_eq!(rows[0]["n"], 2);
    assert!(
        rows[2]["n"].as_u64() > Some(2),
        "steps of one reduction are many"
    );
}

#[test]
fn a_bad_event_is_named_and_passed_over_where_that_is_wanted() {
    let dir = directory();
    files(dir.path());
    let events =
        "{\"country\":\"FR\"}\n\n{\"country\":5}\n{\"x\":1,\"country\":\"DE\"}\n{\"age\":1}\n";
    let stopped = matches(dir.path(), "-qq --format ids", events).expect(1);
    assert_eq!(stopped.text(), "4\n", "what came before is written");
    assert!(
        stopped
            .stderr
            .contains("line 3: attribute 'country': expected string, found an integer at byte 11"),
        "{}",
        stopped.stderr
    );
    let flags = "-qq --format json --keep-going --ignore-unknown";
    let passed = matches(dir.path(), flags, events).expect(3);
    assert_eq!(
        passed.text(),
        "{\"event\":1,\"ids\":[4]}\n{\"event\":4,\"ids\":[2,4]}\n"
    );
    assert!(
        passed
            .stderr
            .contains("line 5: the event lacks the required attribute 'country'")
    );
    matches(dir.path(), "-qq --keep-going", "[]\n").expect(1);
}

#[test]
fn undefined_attributes_are_false_or_unknown() {
    let dir = directory();
    file(dir.path(), "domains", b"a|boolean|true\nb|boolean|true\n");
    file(
        dir.path(),
        "expressions",
        b"not (a and b)\nnot a\na or not a\n",
    );
    let event = "{\"b\":true}\n";
    let lenient = matches(dir.path(), "-qq --format ids", event).expect(0);
    assert_eq!(lenient.text(), "1 2 3\n");
    let strict = matches(
        dir.path(),
        "-qq --format ids --undefined three-valued",
        event,
    );
    assert_eq!(strict.expect(0).text(), "\n");
}

#[test]
fn the_first_and_the_best_matches_are_found_by_any_number_of_threads() {
    let dir = directory();
    file(dir.path(), "domains", b"a|integer|true\n");
    let mut campaigns = String::new();
    let mut bids = String::new();
    for at in 0..300 {
        campaigns += &format!("c{at}\ta >= {}\n", at % 7);
        if at % 3 > 0 {
            bids += &format!("c{at}\t{}\n", (at * 37) % 11 - 5);
        }
    }
    file(dir.path(), "campaigns", campaigns.as_bytes());
    file(dir.path(), "bids", bids.as_bytes());
    let events: String = (0..500)
        .map(|at| format!("{{\"a\":{}}}\n", at % 9 - 1))
        .collect();
    file(dir.path(), "events", events.as_bytes());
    let best = |event: i64, count: usize| {
        let bid = |at: i64| if at % 3 > 0 { (at * 37) % 11 - 5 } else { 0 };
        let mut all: Vec<i64> = (0..300).filter(|at| event >= at % 7).collect();
        all.sort_by_key(|at| (-bid(*at), *at));
        all.truncate(count);
        all.iter()
            .map(|at| format!("c{at}"))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let all =
        "betree match -qq --domains domains --expressions campaigns --events events --format ids";
    for count in [1, 4, 1_000] {
        for threads in [1, 2] {
            let line = format!("{all} --top {count} --priorities bids -T {threads}");
            let found = run(dir.path(), words(&line)).expect(0).text().to_owned();
            let right: String = (0..500).map(|at| best(at % 9 - 1, count) + "\n").collect();
            assert_eq!(found, right, "{line}");
        }
    }
    let whole = run(dir.path(), words(all)).expect(0).text().to_owned();
    let first = run(dir.path(), words(&format!("{all} --first 2 -T 2")))
        .expect(0)
        .text()
        .to_owned();
    for (found, all) in first.lines().zip(whole.lines()) {
        let all: Vec<&str> = all.split(' ').filter(|id| !id.is_empty()).collect();
        let found: Vec<&str> = found.split(' ').filter(|id| !id.is_empty()).collect();
        assert_eq!(found.len(), all.len().min(2));
        assert!(found.iter().all(|id| all.contains(id)));
    }
    for (bids, why, hint) in [
        (
            "c1 5\n",
            "line 1: expected a tab between an id and a priority",
            "write id<TAB>priority, with an integer of 64 bits",
        ),
        (
            "c1\t5\nzz\t5\n",
            "line 2: there is no expression with id 'zz'",
            "ids are those of the expressions file",
        ),
        (
            "c1\t5.5\n",
            "line 1: the priority '5.5' is no integer of 64 bits",
            "write id<TAB>priority, with an integer of 64 bits",
        ),
        (
            "c1\t5\n\nc1\t6\n",
            "line 3: id c1 appears twice",
            "leave one line for each id",
        ),
    ] {
        file(dir.path(), "bids", bids.as_bytes());
        let line = format!("{all} --top 1 --priorities bids");
        let refused = run(dir.path(), words(&line)).expect(1);
        for part in [why, hint] {
            assert!(refused.stderr.contains(part), "{}", refused.stderr);
        }
    }
}

#[test]
fn lint_lists_what_is_odd_by_the_ids_of_people() {
    let dir = directory();
    files(dir.path());
    let lint = || words("betree lint --domains domains --expressions campaigns");
    let sound = b"a\tcountry = 'FR'\nb\tage > 20\n";
    file(dir.path(), "campaigns", sound);
    let found = run(dir.path(), lint()).expect(0);
    assert_eq!(found.text(), "");
    let odd = b"a\tage >= 18\nb\tage > 30 and age < 20\nc\tnot age < 18 and age > 17\nd\tage >= 40\ne\tage > 0 or not age > 0\n";
    file(dir.path(), "campaigns", odd);
    let found = run(dir.path(), lint()).expect(3);
    assert_eq!(
        found.text(),
        "expression b never matches\nexpression c is a duplicate of a\nexpression d matches only when a does\n\
         expression e matches every event\n"
    );
    assert_eq!(
        found.stderr,
        "5 expressions: 1 never matches, 1 matches every event, 1 duplicate, 1 subsumed\n"
    );
    let reported = lint().into_iter().chain(words("--report json"));
    let report = run(dir.path(), reported).expect(3).json();
    let rows = report["tables"][1]["records"].as_array().expect("rows");
    assert_eq!(rows.len(), 4);
    let subsumed = serde_json::json!({"id": "d", "finding": "matches only with", "other": "a"});
    assert_eq!(rows[2], subsumed);
    let chosen = lint().into_iter().chain(words("--only never,subsumed"));
    let chosen = run(dir.path(), chosen).expect(3);
    assert_eq!(
        chosen.text(),
        "expression b never matches\nexpression d matches only when a does\n"
    );
    let none = lint().into_iter().chain(words("--only too-large"));
    assert_eq!(run(dir.path(), none).expect(0).text(), "");
}

#[test]
fn lint_names_what_it_skips_and_the_tightest_of_those_that_subsume() {
    let dir = directory();
    files(dir.path());
    let part = |at: u64| format!("(age = {at} or tags one of ('{at}'))");
    let parts: Vec<String> = (0..10).map(part).collect();
    let content = format!(
        "wide\tage >= 1\nlarge\t{}\nnarrow\tage >= 20\nmiddle\tage >= 10\n",
        parts.join(" and ")
    );
    file(dir.path(), "campaigns", content.as_bytes());
    let line = "betree lint --domains domains --expressions campaigns";
    let found = run(dir.path(), words(line)).expect(3);
    assert_eq!(
        found.text(),
        "expression narrow matches only when middle does\nexpression middle matches only when wide does\n"
    );
    assert_eq!(
        found.stderr,
        "4 expressions: 0 never match, 0 match every event, 0 duplicates, 2 subsumed\n\
         1 expression: too large to look into: large\n"
    );
    let listed = run(dir.path(), words(&format!("{line} --only too-large"))).expect(3);
    assert_eq!(
        listed.text(),
        "expression large is too large to look into\n"
    );
    assert_eq!(listed.stderr.lines().count(), 1);
}

#[test]
fn every_wrong_expression_is_listed_with_its_place_and_a_hint() {
    let dir = directory();
    files(dir.path());
    let check = || words("betree check --domains domains --expressions expressions");
    let sound = run(dir.path(), check()).expect(0);
    assert_eq!(sound.text(), "");
    assert_eq!(sound.stderr, "3 expressions: 3 right, 0 wrong\n");
    let long = "country = 'FR' or ".repeat(20);
    let expressions =
        format!("cuontry = 'FR'\nage >= 18\n\nage >= 18 and\nage > 200\n{long}é = 1\nzzzzzz\n");
    file(dir.path(), "expressions", expressions.as_bytes());
    let found = run(dir.path(), check()).expect(3);
    let text = found.text();
    for part in [
        "line 1: unknown attribute 'cuontry' at column 1\n    cuontry = 'FR'\n    ^\n    did you mean 'country'?",
        "line 4: expected an attribute, a constant, 'not' or '(', found the end at column 14\n    \
         age >= 18 and\n                 ^\n",
        "line 5: 200 is outside the bounds of attribute 'age', 0 to 120 at column 7\n    age > 200\n          ^\n    \
         change the value",
        "line 6: unexpected character 'é' at column 361\n    …",
        "line 7: unknown attribute 'zzzzzz' at column 1\n    zzzzzz\n    ^\n    declare it",
    ] {
        assert!(text.contains(part), "{part}\n---\n{text}");
    }
    assert!(!text.contains("line 2"), "{text}");
    assert_eq!(found.stderr, "6 expressions: 1 right, 5 wrong\n");
    // The same as a report, in place of the lines.
    let reported = check().into_iter().chain(words("--report json"));
    let reported = run(dir.path(), reported).expect(3);
    assert_eq!(reported.stderr, "");
    let tables = &reported.json()["tables"];
    let summary = serde_json::json!({"expressions": 6, "right": 1, "wrong": 5});
    assert_eq!(tables[0]["records"][0], summary);
    let mistakes = tables[1]["records"].as_array().expect("rows");
    assert_eq!(mistakes.len(), 5);
    let first = serde_json::json!({
        "number": 1, "id": null, "row": 1, "column": 1,
        "mistake": "unknown attribute 'cuontry' at column 1",
        "hint": "did you mean 'country'? if not, declare it in --domains",
    });
    assert_eq!(mistakes[0], first);
    assert_eq!(mistakes[3]["column"], 361);
    // A limit counts them, and a file keeps them.
    let limited = check()
        .into_iter()
        .chain(words("--slo tables.summary.wrong<=5 --export-json kept"));
    let limited = run(dir.path(), limited).expect(3);
    assert_eq!(limited.text(), text);
    let kept = std::fs::read_to_string(dir.path().join("kept")).expect("text");
    let kept: serde_json::Value = serde_json::from_str(&kept).expect("JSON");
    assert_eq!(
        kept["tables"][1]["records"].as_array().map(Vec::len),
        Some(5)
    );
}

#[test]
fn a_line_that_is_not_utf_8_is_one_mistake_of_several() {
    let dir = directory();
    files(dir.path());
    let content = b"country = 'FR'\nage = 5 or country = '\xff'\n\nage == 5\r\n";
    file(dir.path(), "expressions", content);
    let check = || words("betree check --domains domains --expressions expressions");
    let found = run(dir.path(), check()).expect(3);
    assert_eq!(
        found.text(),
        "'expressions': line 2: byte 23 of the line is not UTF-8\n\
         'expressions': line 4: expected a constant, found '=' at column 6\n    age == 5\n         ^\n    \
         write '=' once for 'is equal'\n"
    );
    assert_eq!(found.stderr, "3 expressions: 1 right, 2 wrong\n");
    let stopped = matches(dir.path(), "", EVENTS).expect(1);
    assert!(
        stopped
            .stderr
            .contains("line 2: byte 23 of the line is not UTF-8"),
        "{}",
        stopped.stderr
    );
    file(
        dir.path(),
        "domains",
        b"country|string|false\nag\xe9|integer|true\n",
    );
    let stopped = run(dir.path(), check()).expect(1);
    assert!(
        stopped
            .stderr
            .contains("'domains': line 2: byte 3 of the line is not UTF-8"),
        "{}",
        stopped.stderr
    );
}

#[test]
fn constants_of_no_expression_are_refused() {
    let dir = directory();
    file(dir.path(), "domains", b"frequency_caps|frequency|true\n");
    let cap = "within_frequency_cap('flight', 'n', 1, 60)";
    let lines = |constants: &str| {
        file(
            dir.path(),
            "expressions",
            format!("{cap}\n\n{cap}\n").as_bytes(),
        );
        file(
            dir.path(),
            "constants",
            format!("id,flight_id\n{constants}").as_bytes(),
        );
        run(
            dir.path(),
            words("betree check --domains domains --expressions expressions --constants constants"),
        )
    };
    // The expression of line 2 was left out.
    let sound = lines("1,7\n2,8\n3,9\n").expect(0);
    assert_eq!(sound.stderr, "2 expressions: 2 right, 0 wrong\n");
    let refused = lines("1,7\n3,9\n4,9\n").expect(1);
    let why = "cannot read 'constants': there is no expression with id '4'";
    assert!(refused.stderr.contains(why), "{}", refused.stderr);
    file(
        dir.path(),
        "campaigns",
        format!("spring\t{cap}\n").as_bytes(),
    );
    file(
        dir.path(),
        "constants",
        b"id,flight_id\nspring,1\nsprign,2\n",
    );
    let line = "betree check --domains domains --expressions campaigns --constants constants";
    let refused = run(dir.path(), words(line)).expect(1);
    let why = "there is no expression with id 'sprign'";
    assert!(refused.stderr.contains(why), "{}", refused.stderr);
    file(dir.path(), "constants", b"id,fligth_id\nspring,1\n");
    let refused = run(dir.path(), words(line)).expect(1);
    for why in [
        "unknown column 'fligth_id' at line 1, column 4",
        "did you mean 'flight_id'? the columns are id, advertiser_id, ",
    ] {
        assert!(refused.stderr.contains(why), "{}", refused.stderr);
    }
}

#[test]
fn explanations_go_on_after_a_bad_event_where_that_is_wanted() {
    let dir = directory();
    files(dir.path());
    file(dir.path(), "expressions", b"age > 3\n");
    let explain = |flags: &str, events: &[u8]| {
        let line =
            format!("betree explain --domains domains --expressions expressions --id 1 {flags}");
        pipe(dir.path(), words(&line), events)
    };
    let events = b"{\"country\":\"FR\",\"age\":1}\nx\n{\"country\":\"FR\",\"age\":5}\n";
    let one = "event 1: expression 1 does not match\n  last reason: age\n  \
               false      age >= 4  <- fails (the event has 1)\n";
    let stopped = explain("", events).expect(1);
    assert_eq!(stopped.text(), one);
    assert!(
        stopped.stderr.contains("add --keep-going"),
        "{}",
        stopped.stderr
    );
    let passed = explain("--keep-going", events).expect(3);
    let rest = "event 3: expression 1 matches\n  true       age >= 4\n";
    assert_eq!(passed.text(), format!("{one}{rest}"));
    assert!(passed.stderr.contains("line 2: "), "{}", passed.stderr);
    explain("--keep-going", b"x\n").expect(1);
}

#[test]
fn mistakes_in_files_name_line_and_column() {
    let dir = directory();
    files(dir.path());
    file(dir.path(), "expressions", b"country = 'FR'\nage > 'x'\n");
    let run = matches(dir.path(), "", EVENTS).expect(1);
    let message =
        "line 2: attribute 'age' (integer) cannot be compared with this constant at column 7";
    assert!(run.stderr.contains(message), "{}", run.stderr);
    file(dir.path(), "domains", b"country|strange|true\n");
    let run = matches(dir.path(), "", EVENTS).expect(1);
    assert!(
        run.stderr
            .contains("unknown type 'strange' at line 1, column 9")
            && run.stderr.contains("the types are boolean, integer, "),
        "{}",
        run.stderr
    );
    let missing = words("betree match --domains nowhere --expressions expressions");
    let run = common::run(dir.path(), missing).expect(1);
    assert!(
        run.stderr.contains("cannot read 'nowhere'"),
        "{}",
        run.stderr
    );
    matches(dir.path(), "--budget 0", EVENTS).expect(2);
}

#[test]
fn what_is_generated_matches_and_is_explained() {
    let dir = directory();
    for (kind, flags) in [("bool", "--attributes 16 --expressions 300"), ("ad", "")] {
        let line = format!("betree generate {kind} {flags} --events 20 -o {kind}");
        run(dir.path(), words(&line)).expect(0);
        run(dir.path(), words(&line)).expect(1);
        assert_eq!(
            names(&dir.path().join(kind)),
            ["domains", "events", "expressions"]
        );
        let files = format!("--domains {kind}/domains --expressions {kind}/expressions");
        let line = format!("betree match {files} --events {kind}/events -qq --format count");
        let counts = run(dir.path(), words(&line)).expect(0);
        assert_eq!(counts.text().lines().count(), 20);
        let line = format!("betree explain {files} --id 3 --events {kind}/events");
        let told = run(dir.path(), words(&line)).expect(0);
        assert_eq!(told.text().matches("expression 3 ").count(), 20);
        assert!(told.text().contains("<- fails"));
    }
}

#[test]
fn explanations_show_the_structure_and_why_each_match_is_one() {
    let dir = directory();
    files(dir.path());
    let expressions = "country = 'FR' and (age < 18 or not (tags one of ('a', 'b')))\ntrue\nage > 100 or country = 'ES'\n";
    file(dir.path(), "expressions", expressions.as_bytes());
    let events = "{\"country\":\"FR\",\"age\":30}\n\n{\"country\":\"ES\",\"age\":3}\n";
    let explain = |flags: &str| {
        let line = format!("betree explain --domains domains --expressions expressions {flags}");
        let run = pipe(dir.path(), words(&line), events.as_bytes());
        run.expect(0).text().to_owned()
    };
    let one = "\
event 1: expression 1 matches
  true       all of
  true         country = \"FR\"
  true         any of
  undefined      not (tags one of (\"a\", \"b\"))  (counts as true)
  false          age <= 17
event 3: expression 1 does not match
  last reason: country
  false      all of
  false        country = \"FR\"  <- fails (the event has \"ES\")
  true         any of
  undefined      not (tags one of (\"a\", \"b\"))  (counts as true)
  true           age <= 17
";
    assert_eq!(explain("--id 1"), one);
    assert_eq!(
        explain("--id 2"),
        "event 1: expression 2 matches\n  true       true\nevent 3: expression 2 matches\n  true       true\n"
    );
    let all = "\
event 1: expression 1 matches: country = \"FR\" and not (tags one of (\"a\", \"b\"))
event 1: expression 2 matches: always
event 3: expression 2 matches: always
event 3: expression 3 matches: country = \"ES\"
";
    assert_eq!(explain(""), all);
    file(dir.path(), "expressions", b"country = 'IT'\n");
    assert_eq!(
        explain(""),
        "event 1: no expression matches\nevent 3: no expression matches\n"
    );
}

#[test]
fn the_benchmark_compares_ways_and_checks_their_answers() {
    let dir = directory();
    let line = "betree-bench bool --attributes 16 --expressions 200 --buckets 6 --bucket-size 20 \
                --report json";
    let report = run(dir.path(), words(line)).expect(0).json();
    assert_eq!(report["validation"]["ok"], true);
    let targets: Vec<_> = report["comparisons"]
        .as_array()
        .expect("comparisons")
        .iter()
        .map(|comparison| comparison["target"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(targets, ["search_all", "search_next"]);
    let series: Vec<_> = report["latencies"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| row["series"].as_str().unwrap_or_default())
        .collect();
    for name in [
        "search",
        "search_next",
        "ticker alone",
        "ticker during search_next",
    ] {
        let missing = cfg!(not(feature = "async")) && name.starts_with("ticker");
        assert_eq!(series.contains(&name), !missing, "{name}: {series:?}");
    }
}

#[test]
fn a_snapshot_matches_and_explains_as_its_files_do() {
    let dir = directory();
    files(dir.path());
    let build = words("betree build --domains domains --expressions expressions -o snap");
    run(dir.path(), build.clone()).expect(0);
    let again = run(dir.path(), build).expect(1);
    assert!(again.stderr.contains("snap"), "{}", again.stderr);
    let from_files = matches(dir.path(), "-qq", EVENTS).expect(0);
    let line = words("betree match --snapshot snap -qq");
    let from_snapshot = pipe(dir.path(), line, EVENTS.as_bytes()).expect(0);
    assert_eq!(from_snapshot.text(), from_files.text());
    let line = words("betree explain --snapshot snap --id 2");
    let told = pipe(dir.path(), line, EVENTS.as_bytes()).expect(0);
    assert!(told.text().contains("expression 2 matches"));
    let line = words("betree match --snapshot snap --domains domains --expressions expressions");
    run(dir.path(), line).expect(2);
    run(dir.path(), words("betree match --domains domains")).expect(2);
}

#[test]
fn bad_snapshots_are_named_with_their_byte_and_a_bad_build_leaves_nothing() {
    let dir = directory();
    files(dir.path());
    let build = words("betree build --domains domains --expressions expressions -o snap");
    run(dir.path(), build).expect(0);
    let good = std::fs::read(dir.path().join("snap")).expect("it is there");
    let mut flipped = good.clone();
    flipped[good.len() - 10] ^= 4;
    let mut longer = good.clone();
    longer.push(0);
    for (name, bytes, message) in [
        ("torn", &good[..good.len() - 1], "the snapshot is truncated"),
        ("short", &good[..9], "the snapshot is truncated"),
        ("flipped", &flipped, "checksum mismatch in section "),
        ("longer", &longer, "data after the end of the snapshot"),
        (
            "foreign",
            b"country|string|false\n".as_slice(),
            "not a snapshot at byte 0",
        ),
        ("empty", b"".as_slice(), "not a snapshot at byte 0"),
    ] {
        file(dir.path(), name, bytes);
        let line = words(&format!(
            "betree match --snapshot {name} --events expressions"
        ));
        let failed = run(dir.path(), line).expect(1);
        let start = format!("perfkit: cannot read '{name}': {message}");
        assert!(failed.stderr.starts_with(&start), "{}", failed.stderr);
        assert!(failed.stderr.contains(" at byte "), "{}", failed.stderr);
    }
    let line = words("betree match --snapshot nowhere");
    let failed = run(dir.path(), line).expect(1);
    assert!(
        failed.stderr.contains("cannot read 'nowhere'"),
        "{}",
        failed.stderr
    );
    file(dir.path(), "expressions", b"nope\n");
    let build = words("betree build --domains domains --expressions expressions -f -o snap");
    let failed = run(dir.path(), build).expect(1);
    assert!(
        failed.stderr.contains("line 1: unknown attribute 'nope'"),
        "{}",
        failed.stderr
    );
    let kept = std::fs::read(dir.path().join("snap")).expect("it is there");
    assert!(kept == good, "the snapshot before was touched");
}

#[test]
fn events_of_a_file_are_searched_in_batches_and_give_the_same_lines() {
    let dir = directory();
    let line = "betree generate bool --attributes 24 --expressions 150 --events 2500 -o bool";
    run(dir.path(), words(line)).expect(0);
    let events = std::fs::read(dir.path().join("bool/events")).expect("generated");
    let files = "--domains bool/domains --expressions bool/expressions";
    let line = format!("betree match {files} --events bool/events -q --report json");
    let batches = run(dir.path(), words(&line)).expect(0);
    let line = format!("betree match {files} -q --report json");
    let singles = pipe(dir.path(), words(&line), &events).expect(0);
    assert!(batches.text() == singles.text(), "the lines differ");
    assert_eq!(batches.text().lines().count(), 2500);
    let rows = |run: &Run| {
        let report: serde_json::Value = serde_json::from_str(&run.stderr).expect("JSON");
        let row = &report["latencies"][0];
        (row["operation"].clone(), row["n"].clone())
    };
    assert_eq!(rows(&batches), ("batch".into(), 2.into()));
    assert_eq!(rows(&singles), ("event".into(), 2500.into()));
    // What came before a bad line is searched and written.
    file(
        dir.path(),
        "bad",
        &[&events[..events.len() / 2], b"\nx\n"].concat(),
    );
    let line = format!("betree match {files} --events bad -qq --format count");
    let stopped = run(dir.path(), words(&line)).expect(1);
    assert!(stopped.text().lines().count() > 1_000);
}

#[test]
fn erlang_terms_are_generated_matched_and_measured() {
    let dir = directory();
    let flags = "bool --attributes 16 --expressions 200 --events 30 --seed 3";
    run(
        dir.path(),
        words(&format!("betree generate {flags} -o lines")),
    )
    .expect(0);
    run(
        dir.path(),
        words(&format!("betree generate {flags} --form erlang -o terms")),
    )
    .expect(0);
    assert_eq!(names(&dir.path().join("terms")), ["events", "expressions"]);
    let text = std::fs::read_to_string(dir.path().join("terms/expressions")).expect("terms");
    assert!(
        text.starts_with("[{par1,bool,disallow_undefined},\n"),
        "{text}"
    );
    let line = "betree match --domains lines/domains --expressions lines/expressions \
                --events lines/events -qq";
    let lines = run(dir.path(), words(line)).expect(0);
    let line = "betree match --expressions terms/expressions --events terms/events -qq";
    let terms = run(dir.path(), words(line)).expect(0);
    assert_eq!(terms.text(), lines.text());
    let line = "betree match --expressions terms/expressions -qq --format count";
    let bits = pipe(dir.path(), words(line), b"0110011001100110\n").expect(0);
    assert_eq!(bits.text().lines().count(), 1);
    let short = pipe(dir.path(), words(line), b"[0,1].\n").expect(1);
    assert!(
        short
            .stderr
            .contains("line 1: expected ',', found ']' at byte 4"),
        "{}",
        short.stderr
    );
    let line = "betree-bench --expression-file terms/expressions --event-file terms/events \
                --buckets 2 --bucket-size 10 --report json";
    let report = run(dir.path(), words(line)).expect(0).json();
    assert_eq!(report["validation"]["ok"], true);
    run(dir.path(), words("betree-bench --event-file terms/events")).expect(2);
    run(dir.path(), words("betree generate ad --form erlang -o ad")).expect(2);
    let line = "betree match --expressions lines/expressions --events lines/events";
    let run = run(dir.path(), words(line)).expect(2);
    assert!(run.stderr.contains("brings no domain"), "{}", run.stderr);
}

#[test]
fn shapes_are_listed_generated_matched_and_measured() {
    let dir = directory();
    let list = run(dir.path(), words("betree generate --list")).expect(0);
    assert!(list.text().lines().count() > 50);
    let radius = list
        .text()
        .lines()
        .find(|line| line.starts_with("radius  "));
    assert!(radius.is_some_and(|line| line.ends_with("1 integer, at most 100 values, radius")));
    for (flags, name, has_constants) in [
        ("drawn 17", "drawn", false),
        ("shape radius", "radius", false),
        ("shape", "caps", true),
    ] {
        let text = format!("betree generate {flags} --expressions 300 --events 40 -o {name}");
        let mut line: Vec<&str> = text.split(' ').collect();
        // A name with a blank.
        if has_constants {
            line.insert(3, "frequency caps");
        }
        run(dir.path(), line.clone()).expect(0);
        let folder = dir.path().join(name);
        let events = std::fs::read(folder.join("events")).expect("events");
        let mut found = vec!["domains", "events", "expressions"];
        let mut flags = format!("--domains {name}/domains --expressions {name}/expressions");
        if has_constants {
            found.insert(0, "constants");
            flags.push_str(&format!(" --constants {name}/constants"));
        }
        assert_eq!(names(&folder), found);
        let matching = format!("betree match {flags} --events {name}/events -qq --format count");
        let matched = run(dir.path(), words(&matching)).expect(0);
        let counts = matched.text().lines().map(|line| line.parse::<u32>());
        assert!(counts.map(|count| count.expect("a number")).sum::<u32>() > 0);
        // The same bytes again.
        line.push("-f");
        run(dir.path(), line).expect(0);
        assert_eq!(
            std::fs::read(folder.join("events")).expect("events"),
            events
        );
    }
    let refused = |line: &str, message: &str| {
        let refused = run(dir.path(), words(line)).expect(2);
        assert!(refused.stderr.contains(message), "{}", refused.stderr);
    };
    refused(
        "betree generate shape nothing -o x",
        "no shape is called 'nothing'",
    );
    refused(
        "betree generate drawn x -o x",
        "no number to draw a shape from",
    );
    refused("betree generate ad radius -o x", "only shapes have a name");
    refused(
        "betree-bench shapes --shape nothing",
        "no shape has 'nothing' in its name",
    );
    let line = "betree-bench shapes --shape radius --shape integers --draws 3 --expressions 30,20 \
                --events 5 --rounds 2 --report json";
    let report = run(dir.path(), words(line)).expect(0).json();
    assert_eq!(report["validation"]["ok"], true);
    let tables = report["tables"].as_array().expect("tables");
    let rows = |name: &str| {
        let table = tables.iter().find(|table| table["name"] == name);
        table
            .and_then(|table| table["rows"].as_array())
            .expect(name)
    };
    assert_eq!(rows("sizes").len(), 2);
    assert_eq!(rows("shapes").len(), 2 * (2 + 1 + 12 + 3));
    assert_eq!(rows("neighbours").len(), 2 * 11);
    let ratios: Vec<f64> = rows("shapes")
        .iter()
        .filter_map(|row| row[9].as_f64())
        .collect();
    assert_eq!(ratios.len(), 36);
    assert!(ratios.is_sorted_by(|a, b| a >= b), "{ratios:?}");
    let line = "betree-bench shapes --shape radius --expressions 10 --max-time 1ns -qq";
    let late = run(dir.path(), words(line)).expect(3);
    assert!(
        late.stderr.contains("the time is up: 2 of 2 cases"),
        "{}",
        late.stderr
    );
}
