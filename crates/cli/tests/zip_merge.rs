//! Archives merged and split: what is in them stays what it is, and nothing is replaced unasked.

use std::path::Path;

use crate::common::{directory, file, names, run, samples, words};

/// `src/0` to `src/9`, each in an archive of its own with the directory: `0.zip` to `9.zip`.
fn packed(dir: &Path) {
    std::fs::create_dir(dir.join("src")).expect("made");
    for (number, (_, content)) in samples(30_000).iter().cycle().take(10).enumerate() {
        file(dir, &format!("src/{number}"), content);
        let alone = dir.join(format!("alone{number}"));
        std::fs::create_dir_all(alone.join("src")).expect("made");
        file(&alone, &format!("src/{number}"), content);
        let line = format!("zip -qqr ../{number}.zip src");
        run(&alone, words(&line)).expect(0);
    }
}

const SOURCES: &str = "0.zip 1.zip 2.zip 3.zip 4.zip 5.zip 6.zip 7.zip 8.zip 9.zip";

fn same(dir: &Path, archives: &[&str]) {
    for archive in archives {
        run(dir, words(&format!("unzip -qq -t --strict {archive}"))).expect(0);
        run(dir, words(&format!("unzip -qq {archive} -d out"))).expect(0);
    }
    assert_eq!(names(&dir.join("out/src")), names(&dir.join("src")));
    for name in names(&dir.join("src")) {
        let read = |from: &str| std::fs::read(dir.join(from).join(&name)).expect("read");
        assert!(read("out/src") == read("src"), "{name}");
    }
    std::fs::remove_dir_all(dir.join("out")).expect("removed");
}

#[test]
fn archives_become_one_and_one_becomes_several() {
    let dir = directory();
    let dir = dir.path();
    packed(dir);
    let line = format!("zip -q --merge all.zip {SOURCES} --report json");
    let report = run(dir, words(&line)).expect(0);
    let report: serde_json::Value = serde_json::from_str(&report.stderr).expect("JSON");
    let row = &report["tables"][0]["rows"][0];
    let bytes = std::fs::metadata(dir.join("all.zip")).expect("there").len();
    // The directory that all have is there once; all bytes went through this machine.
    assert_eq!(
        (&row[0], &row[1], &row[2]),
        (&1.into(), &11.into(), &9.into())
    );
    assert_eq!(
        (&row[3], &row[4], &row[5]),
        (&bytes.into(), &bytes.into(), &0.into())
    );
    same(dir, &["all.zip"]);

    run(
        dir,
        words("zip -qq --merge --split-entries 4 part.zip all.zip"),
    )
    .expect(0);
    same(dir, &["part-1.zip", "part-2.zip", "part-3.zip"]);
    run(dir, words("zip -qq --merge --split 60K small.zip all.zip")).expect(0);
    let parts: Vec<String> = names(dir)
        .into_iter()
        .filter(|name| name.starts_with("small-"))
        .collect();
    assert!(parts.len() > 1);
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    for part in &parts {
        assert!(std::fs::metadata(dir.join(part)).expect("there").len() <= 60 << 10);
    }
    same(dir, &parts);
    let line = format!("zip -qq --merge again.zip {}", parts.join(" "));
    run(dir, words(&line)).expect(0);
    same(dir, &["again.zip"]);
}

#[test]
fn names_that_several_have_are_refused_or_chosen() {
    let dir = directory();
    let dir = dir.path();
    for (archive, content) in [("a.zip", "first"), ("b.zip", "second")] {
        file(dir, "same", content.as_bytes());
        run(dir, words(&format!("zip -qq {archive} same"))).expect(0);
    }
    let refused = run(dir, words("zip -q --merge out.zip a.zip b.zip")).expect(1);
    let said = "entry 'same': archives 1 and 2 have it";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
    assert!(!dir.join("out.zip").exists());
    for (which, content) in [("first", "first"), ("last", "second")] {
        let line = format!("zip -qq --merge --duplicates {which} {which}.zip a.zip b.zip");
        run(dir, words(&line)).expect(0);
        let printed = run(dir, words(&format!("unzip -qqp {which}.zip same"))).expect(0);
        assert_eq!(printed.text(), content);
    }
}

#[test]
fn what_cannot_be_done_is_said_and_leaves_everything_as_it_was() {
    let dir = directory();
    let dir = dir.path();
    file(dir, "a", b"first");
    run(dir, words("zip -qq a.zip a")).expect(0);
    file(dir, "old.zip", b"old");
    for (line, status, said) in [
        ("zip -q --merge old.zip a.zip", 1, "exists already"),
        ("zip -q --merge new.zip a", 1, "not a ZIP archive"),
        ("zip -q --merge new.zip none.zip", 1, "none.zip"),
        ("zip -q --merge new.zip -", 2, "standard input"),
        ("zip -q --merge --split 1K - a.zip", 2, "standard output"),
        ("zip -q --merge --split 100 new.zip a.zip", 1, "do not fit"),
        ("zip -q --split 100 new.zip a.zip", 2, "--merge"),
        ("zip -q --merge -r new.zip a.zip", 2, "cannot be used with"),
        ("zip -q --merge a.zip a.zip", 2, "a.zip"),
    ] {
        let ended = run(dir, words(line)).expect(status);
        assert!(ended.stderr.contains(said), "{line}: {}", ended.stderr);
    }
    assert_eq!(names(dir), ["a", "a.zip", "old.zip"]);
    assert_eq!(std::fs::read(dir.join("old.zip")).expect("read"), b"old");
    run(dir, words("zip -qq --merge --force old.zip a.zip")).expect(0);
    run(dir, words("unzip -qq -t old.zip")).expect(0);
    let out = run(dir, words("zip -qq --merge - a.zip")).expect(0).stdout;
    assert!(out == std::fs::read(dir.join("old.zip")).expect("read"));
}
