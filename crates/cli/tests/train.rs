//! `compress --train`: dictionaries out of samples, and what is refused.

use crate::common::{directory, file, names, run, words};

fn samples(dir: &std::path::Path, count: u32) {
    std::fs::create_dir(dir.join("s")).expect("made");
    for n in 0..count {
        let text = format!(
            "{{\"id\":{n},\"user\":\"user{}\",\"action\":\"login\",\"ok\":true,\"at\":{}}}",
            n * 7919 % 1000,
            n * n
        );
        file(dir, &format!("s/{n}"), text.as_bytes());
    }
}

#[test]
fn a_dictionary_is_made_of_samples_and_serves_both_ways() {
    let dir = directory();
    samples(dir.path(), 300);
    let line = "compress --train -r s -o dict --maxdict 2K --report json";
    let made = run(dir.path(), words(line)).expect(0);
    let report: serde_json::Value = serde_json::from_str(&made.stderr).expect("JSON");
    let rows = report["tables"][0]["rows"].as_array().expect("rows");
    let last = rows.last().expect("a row");
    let ratio = |index: usize| last[index].as_f64().expect("a ratio");
    assert!(ratio(4) > 1.5 * ratio(3), "{last}");
    assert!(
        std::fs::metadata(dir.path().join("dict"))
            .expect("there")
            .len()
            <= 2048
    );
    run(dir.path(), words("compress -D dict s/5 -o five.zst")).expect(0);
    run(dir.path(), words("decompress -D dict five.zst")).expect(0);
    let read = |name: &str| std::fs::read(dir.path().join(name)).expect("read");
    assert_eq!(read("five"), read("s/5"));
}

#[test]
fn a_number_makes_for_a_dictionary_that_has_one() {
    let dir = directory();
    samples(dir.path(), 300);
    let line = "compress --train -qq -r s -o dict --maxdict 2K --dict-id 77";
    run(dir.path(), words(line)).expect(0);
    run(dir.path(), words("compress -qq -D dict s/5 -o five.zst")).expect(0);
    let failed = run(dir.path(), words("decompress five.zst")).expect(1);
    assert!(failed.stderr.contains("dictionary 77"), "{}", failed.stderr);
}

#[test]
fn what_cannot_be_trained_leaves_nothing() {
    let dir = directory();
    samples(dir.path(), 5);
    let before = names(dir.path());
    for (line, code, told) in [
        ("compress --train -r s -o dict", 1, "samples"),
        ("compress --train s -o dict", 1, "samples"),
        ("compress --train missing -o dict", 1, "no such file"),
        ("compress --train -r s", 2, "--output"),
        ("compress --train -o dict", 2, "needs files"),
        (
            "compress --train -r s -o dict --maxdict 1",
            2,
            "out of range",
        ),
        (
            "compress --train s/1 -o s/1",
            2,
            "is read (a source) and would be overwritten (the dictionary)",
        ),
        ("compress -r s --maxdict 1K", 2, "--train"),
    ] {
        let failed = run(dir.path(), words(line)).expect(code);
        assert!(failed.stderr.contains(told), "{line}: {}", failed.stderr);
        assert_eq!(names(dir.path()), before, "{line}");
    }
    file(dir.path(), "dict", b"mine");
    let failed = run(dir.path(), words("compress --train -r s -o dict")).expect(1);
    assert!(
        failed.stderr.contains("exists already"),
        "{}",
        failed.stderr
    );
}
