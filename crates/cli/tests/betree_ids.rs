//! Expressions with ids of their own, as lines and as JSON: what `perfkit betree` says of them, also when the
//! ids were made to do harm.

use std::path::Path;

use serde_json::{Value, json};

use crate::common::{Run, directory, file, pipe, run, words};

const DOMAINS: &str = "country|string|false\nage|integer|true|0|120\n";
const EVENTS: &str = "{\"country\":\"FR\",\"age\":30}\n{\"country\":\"DE\"}\n";
const TREE: &str = "--domains domains --expressions expressions";

fn files(dir: &Path, expressions: &[u8]) {
    file(dir, "domains", DOMAINS.as_bytes());
    file(dir, "expressions", expressions);
}

fn betree(dir: &Path, line: &str) -> Run {
    pipe(dir, words(&format!("betree {line}")), EVENTS.as_bytes())
}

#[test]
fn ids_of_people_come_out_of_files_and_of_snapshots() {
    let dir = directory();
    let tabbed = "camp-7\tcountry = 'FR'\n\n70018\tage >= 18 and\tcountry = 'FR'\ntwo words\tnot (country = 'FR')\n";
    let objects = "{\"id\":\"camp-7\",\"expr\":\"country = 'FR'\"}\n\n\
                   {\"expr\":\"age >= 18 and country = \\\"FR\\\"\",\"id\":70018,\"note\":[1]}\n\
                   {\"id\":\"two words\",\"expr\":\"not (country = 'FR')\"}\n";
    for content in [tabbed, objects] {
        files(dir.path(), content.as_bytes());
        let build = betree(dir.path(), &format!("build {TREE} -f -o snap"));
        build.expect(0);
        for tree in [TREE, "--snapshot snap"] {
            for (output, expected) in [
                (
                    "json",
                    "{\"event\":1,\"ids\":[\"camp-7\",70018]}\n{\"event\":2,\"ids\":[\"two words\"]}\n",
                ),
                ("ids", "camp-7 70018\n\"two words\"\n"),
                ("count", "2\n1\n"),
                ("bitmap", "1010\n0001\n"),
            ] {
                let line = format!("match {tree} -qq --format {output}");
                assert_eq!(betree(dir.path(), &line).expect(0).text(), expected);
            }
            let told = betree(dir.path(), &format!("explain {tree} --id 70018")).expect(0);
            assert!(told.text().contains("event 1: expression 70018 matches"));
            let told = betree(dir.path(), &format!("explain {tree} --id 1")).expect(1);
            assert!(
                told.stderr.contains("no expression with id '1'"),
                "{}",
                told.stderr
            );
        }
    }
}

#[test]
fn the_flag_says_the_form_where_a_file_is_unclear() {
    let dir = directory();
    // An expression as a whole, and an id with an expression.
    files(dir.path(), b"not\tcountry = 'FR'\n");
    let ids = |flags: &str| {
        let line = format!("match {TREE} -qq --format ids {flags}");
        betree(dir.path(), &line)
    };
    assert_eq!(ids("").expect(0).text(), "\n1\n");
    assert_eq!(ids("--expressions-form plain").expect(0).text(), "\n1\n");
    assert_eq!(ids("--expressions-form tab").expect(0).text(), "not\n\n");
    ids("--expressions-form json").expect(1);
    ids("--expressions-form erlang").expect(1);
    ids("--expressions-form lines").expect(2);
    betree(dir.path(), "match --snapshot snap --expressions-form tab").expect(2);
}

#[test]
fn wrong_lines_name_their_id_and_a_repeated_id_both_lines() {
    let dir = directory();
    let mut content =
        "camp-7\tcountry = 'FR'\nno tab here\n\tage > 1\ncamp-7\tage > 2\n".to_owned();
    content.push_str("bad\tcuontry = 'FR'\n7\tage > 200\n");
    content.push_str(&format!("{}\tage > 3\n", "x".repeat(1_000_000)));
    files(dir.path(), content.as_bytes());
    let checked = run(dir.path(), words(&format!("betree check {TREE}"))).expect(3);
    let text = checked.text();
    for part in [
        "line 2: expected an id, a tab and an expression; found no tab\n",
        "line 3 (id ): the id is empty\n",
        "line 4 (id camp-7): line 1 has the same id\n",
        "line 5 (id bad): unknown attribute 'cuontry' at column 1\n    cuontry = 'FR'\n    ^\n    did you mean 'country'?",
        "line 6 (id 7): 200 is outside the bounds of attribute 'age', 0 to 120 at column 7\n",
        "the id has 1000000 bytes: at most 1024 are allowed\n",
    ] {
        assert!(text.contains(part), "{part}\n---\n{text}");
    }
    assert!(text.len() < 3_000, "long ids are cut: {}", text.len());
    assert_eq!(checked.stderr, "7 expressions: 1 right, 6 wrong\n");
    let build = run(dir.path(), words(&format!("betree build {TREE} -o snap"))).expect(1);
    assert!(
        build.stderr.contains("line 2: expected an id, a tab"),
        "{}",
        build.stderr
    );
    let twice = b"{\"id\":7,\"expr\":\"age > 1\"}\n{\"id\":\"7\",\"expr\":\"age > 2\"}\n";
    files(dir.path(), twice);
    let build = run(dir.path(), words(&format!("betree build {TREE} -o snap"))).expect(1);
    assert!(
        build
            .stderr
            .contains("line 2 (id 7): line 1 has the same id"),
        "{}",
        build.stderr
    );
    files(dir.path(), b"{\"id\":1.5,\"expr\":\"age > 1\"}\n[\n");
    let checked = run(dir.path(), words(&format!("betree check {TREE}"))).expect(3);
    assert!(
        checked.text().contains("line 1: \"id\" is 1.5: "),
        "{}",
        checked.text()
    );
    assert!(
        checked.text().contains("line 2: expected a JSON object"),
        "{}",
        checked.text()
    );
}

#[test]
fn hostile_ids_stay_one_line_of_json_each_and_no_terminal_obeys_them() {
    let dir = directory();
    let ids = [
        "\u{0}",
        "\"",
        "\\",
        "a\nb\r",
        "\t",
        "\u{1b}[31m",
        "\u{7f}",
        "é\u{202e}",
        "[1,2]",
        "-",
    ];
    let long = "y".repeat(1024);
    let lines = ids.iter().copied().chain([&*long]).map(|id| {
        let line = json!({"id": id, "expr": "country = 'FR'"});
        format!("{line}\n")
    });
    files(dir.path(), lines.collect::<String>().as_bytes());
    betree(dir.path(), &format!("build {TREE} -o snap")).expect(0);
    for tree in [TREE, "--snapshot snap"] {
        let found = betree(dir.path(), &format!("match {tree} -qq")).expect(0);
        let text = found.text();
        let first = text.lines().next().expect("a line").to_owned();
        let read: Value = serde_json::from_str(&first).expect("JSON");
        let read: Vec<_> = read["ids"]
            .as_array()
            .expect("ids")
            .iter()
            .map(|id| id.as_str())
            .collect();
        assert_eq!(read[..ids.len()], ids.map(Some));
        assert_eq!(read[ids.len()].map(str::len), Some(1024));
        assert!(!first.contains(|c: char| c.is_control()), "{first:?}");
        let found = betree(dir.path(), &format!("match {tree} -qq --format ids")).expect(0);
        assert_eq!(found.text().lines().count(), 2);
        let mut told = words(&format!("betree explain {tree} --id"));
        told.push("\u{1b}[31m".to_owned());
        let told = pipe(dir.path(), told, EVENTS.as_bytes()).expect(0);
        assert!(
            told.text().contains("expression \\u{1b}[31m matches"),
            "{}",
            told.text()
        );
    }
}

#[test]
fn constants_are_found_by_the_ids_of_people() {
    let dir = directory();
    file(
        dir.path(),
        "domains",
        b"a|boolean|true\nfrequency_caps|frequency|true\nnow|integer|true\n",
    );
    let cap = "within_frequency_cap('flight', 'ns', 1, 0)";
    file(
        dir.path(),
        "expressions",
        format!("x 1\t{cap}\n8\t{cap}\n").as_bytes(),
    );
    file(dir.path(), "constants", b"id,flight_id\n8,20\nx 1,10\n");
    let event = "{\"now\":100,\"frequency_caps\":[[\"flight\",10,\"ns\",5,0]]}\n";
    let line = format!("betree match {TREE} --constants constants -qq --format ids");
    let found = pipe(dir.path(), words(&line), event.as_bytes()).expect(0);
    assert_eq!(found.text(), "8\n", "the cap of flight 10 is reached");
    file(dir.path(), "constants", b"id,flight_id\n8,20\n");
    let failed = pipe(dir.path(), words(&line), event.as_bytes()).expect(1);
    assert!(
        failed.stderr.contains("line 1 (id x 1): "),
        "{}",
        failed.stderr
    );
}
