//! Checks of records, each with a message that says what to do.

use std::collections::BTreeMap;

use super::head::Known;
use super::*;

/// A build for tests of results.
pub(crate) fn made() -> Made {
    Made {
        part: None,
        date: "2026-01-02".to_owned(),
        program: Some("perfkit 1".to_owned()),
        commit: "0123abc".to_owned(),
        dirty: false,
        known: Known::Run,
        compilers: Vec::new(),
    }
}

const FIX_LOG: &str = r#"{"schema": "perfkit.record/1", "title": "A log", "commands": ["cargo xtask peers fix-log LOG"],
    "made": [{"date": "2026-01-02", "commit": "0123abc", "known": "run"}],
    "machine": {"cpu_model": "some", "logical_cpus": 2},
    "findings": ["What it says. It is fast."],
    "results": {"kind": "fix-log", "bytes": 4000000000, "rounds": 2, "rows": [
        {"command": "fix stats", "seconds": 2.0, "processor_s": 1.0, "peak_mib": 9.0}]}}"#;

fn folder(files: &[(&str, &str)]) -> Vec<(String, String)> {
    let files = files
        .iter()
        .map(|(name, text)| (format!("{FOLDER}/{name}"), (*text).to_owned()));
    check(&files.collect::<BTreeMap<_, _>>())
}

#[test]
fn a_record_is_rendered_whole_from_its_json() {
    let record = Record::parse(FIX_LOG).unwrap();
    let text = record.markdown().unwrap();
    let head = "# A log\n\n- made by `cargo xtask peers fix-log LOG`\n- 2026-01-02, commit 0123abc\n\
                - machine: some, 2 processors\n\n";
    assert!(text.starts_with(head), "{text}");
    assert!(text.contains("| fix stats | 2.00 | 2.00 |"), "{text}");
    assert!(text.ends_with("\n\nWhat it says. It is fast.\n"), "{text}");
    let again = Record::parse(&layout::json(&record).unwrap()).unwrap();
    assert_eq!(again.markdown().unwrap(), text);
}

#[test]
fn a_changed_figure_changes_the_page() {
    let changed = FIX_LOG.replace("\"seconds\": 2.0", "\"seconds\": 2.5");
    let [old, new] =
        [FIX_LOG, &changed].map(|text| Record::parse(text).unwrap().markdown().unwrap());
    assert!(old != new && new.contains("| fix stats | 2.50 |"), "{new}");
}

#[test]
fn a_record_without_json_is_named() {
    assert!(folder(&[("a.json", FIX_LOG), ("a.md", "any")]).is_empty());
    let found = folder(&[("a.md", "any")]);
    assert_eq!(found[0].0, "bench-peers/record/a.md");
    assert!(found[0].1.contains("there is no a.json"), "{}", found[0].1);
    assert!(
        found[0].1.contains("`cargo xtask codegen`"),
        "{}",
        found[0].1
    );
}

#[test]
fn a_record_without_a_commit_or_with_a_wrong_one_is_named() {
    let none = FIX_LOG.replace(
        r#"{"date": "2026-01-02", "commit": "0123abc", "known": "run"}"#,
        "",
    );
    for (text, wanted) in [
        (none, "it names no commit"),
        (
            FIX_LOG.replace("0123abc", "HEAD"),
            "commit 'HEAD' is not 7 to 40 hexadecimal digits",
        ),
        (
            FIX_LOG.replace("2026-01-02", "20260102"),
            "date '20260102' is not YYYY-MM-DD",
        ),
        (
            FIX_LOG.replace("perfkit.record/1", "perfkit.record/7"),
            "schema is 'perfkit.record/7'",
        ),
        ("{}".to_owned(), "no record"),
    ] {
        let found = folder(&[("a.json", &text)]);
        assert_eq!(found.len(), 1, "{wanted}: {found:?}");
        assert_eq!(found[0].0, "bench-peers/record/a.json");
        assert!(found[0].1.contains(wanted), "{}", found[0].1);
        assert!(
            found[0].1.contains("`cargo xtask codegen`"),
            "{}",
            found[0].1
        );
    }
}

#[test]
fn a_commit_that_nobody_wrote_down_says_so() {
    let found = Made {
        known: Known::History,
        program: None,
        ..made()
    };
    assert_eq!(
        found.line(),
        "2026-01-02, commit 0123abc (found by history)"
    );
}

#[test]
fn a_part_measured_anew_keeps_the_builds_of_the_others() {
    let part = |name: &str| made().replaced(Vec::new(), Some(name));
    let old = [part("ours"), part("theirs")].concat();
    let new = Made {
        commit: "7654321".to_owned(),
        ..made()
    };
    let all = new.clone().replaced(old.clone(), Some("ours"));
    let shown: Vec<_> = all.iter().map(Made::line).collect();
    assert_eq!(
        shown,
        [
            "theirs: 2026-01-02, perfkit 1 (0123abc)",
            "ours: 2026-01-02, perfkit 1 (7654321)"
        ]
    );
    assert_eq!(new.replaced(old, None).len(), 1);
}

#[test]
fn rows_of_the_json_stand_in_a_line_each() {
    let value = serde_json::json!({"a": [], "results": {"rows": [{"x": [1, 2]}, {"x": [0.1]}]}});
    assert_eq!(
        layout::json(&value).unwrap(),
        "{\n  \"a\": [],\n  \"results\": {\n    \"rows\": [\n      {\"x\": [1, 2]},\n      \
         {\"x\": [0.1]}\n    ]\n  }\n}\n"
    );
}

#[test]
fn every_record_of_this_repository_names_its_commit() {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(sh::root().join(FOLDER)).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().to_string_lossy().into_owned();
        let text = fs::read_to_string(entry.path()).unwrap();
        files.insert(format!("{FOLDER}/{name}"), text);
    }
    assert!(files.len() > 30, "{} files", files.len());
    assert_eq!(check(&files), []);
}
