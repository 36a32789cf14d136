//! Results of both programs, and the record that they give.

use serde_json::json;

use super::*;
use crate::peers::stress::subjects::SUBJECTS;

#[test]
fn results_of_both_programs_are_read() {
    let go = json!({"content_bytes": 3_000_000, "ratio": 1.5, "cpu_ns": 2_000_000_000_u64,
        "wall_ns": 1_000_000_000, "rss_max_bytes": 1 << 20, "threads": 9, "goroutines": 201});
    let run = Run::of_go(&go).unwrap();
    assert_eq!((run.cpu_bytes_per_s, run.wall_bytes_per_s), (1.5e6, 3e6));
    let keys = [
        "ratio",
        "cpu_bytes_per_s",
        "bytes_per_s",
        "compress_p50_ns",
        "rss_bytes_max",
    ];
    let columns: Vec<Value> = keys.iter().map(|key| json!({ "key": key })).collect();
    let table = json!({"name": "codecs and pools", "columns": columns,
        "rows": [[1.8, 4e6, 5e6, 6_000, 3 << 20]]});
    let own = Run::of_perfkit(&json!({ "tables": [table] })).unwrap();
    assert_eq!((own.ratio, own.cpu_bytes_per_s), (1.8, 4e6));
    assert_eq!(own.compress_ns, [Some(6e3), None, None]);
    assert!(Run::of_perfkit(&json!({})).is_err() && Run::of_go(&json!({})).is_err());
    let figures = Figures::of(&SUBJECTS[0], &["words".to_owned()], &[own, run]);
    assert_eq!(figures.cpu_bytes_per_s_range, [1.5e6, 4e6]);
    let row = figures.row();
    assert!(
        row.contains("| 3.0 |") && row.contains("| 6.0, —, — |"),
        "{row}"
    );
}

#[test]
fn a_section_measured_again_takes_its_old_place() {
    let section = |row: &str| Section {
        title: "soak".to_owned(),
        made: crate::record::tests::made(),
        commands: vec!["perfkit".to_owned()],
        note: "So it was.".to_owned(),
        columns: vec!["a".to_owned()],
        rows: vec![vec![row.to_owned()]],
    };
    let mut record = Stress::default();
    record.add(section("1"));
    record.add(section("2"));
    let mut text = String::new();
    record.write(&mut text).unwrap();
    assert!(text.contains("| 2 |") && !text.contains("| 1 |"), "{text}");
}
