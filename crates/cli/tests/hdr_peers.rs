//! HdrHistogram's own libraries for Java and Python read the histograms and logs that perfkit writes, and the reverse.
//!
//! Java's needs `java`, `javac` and the archive that `PERFKIT_HDRHISTOGRAM` names; Python's the package `hdrhistogram`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use libtest_mimic::Trial;

use crate::common::{directory, feed, file, run, words};
use crate::peer::{self, works};

/// The tests, each with whether what it needs is here.
pub(crate) fn trials() -> Vec<Trial> {
    peer::trials![
        has_python() => [python_logs_come_back, python_distributions_are_read],
        has_java() => [java_logs_come_back, java_distributions_are_read],
    ]
}

fn has_python() -> bool {
    works(Command::new("python3").args(["-c", "import hdrh.histogram"]))
}

fn archive() -> Option<PathBuf> {
    std::env::var_os("PERFKIT_HDRHISTOGRAM").map(PathBuf::from)
}

fn has_java() -> bool {
    archive().is_some_and(|archive| archive.exists())
        && works(Command::new("javac").arg("-version"))
        && works(Command::new("java").arg("-version"))
}

fn source(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/peer")
        .join(name)
}

/// A library to compare with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Library {
    Python,
    Java,
}

impl Library {
    /// Runs its program in `dir`, and gives what it prints.
    fn run(self, dir: &Path, line: &str, input: &[u8]) -> String {
        let mut command = match self {
            Self::Python => {
                let mut command = Command::new("python3");
                command.arg(source("hdr.py"));
                command
            }
            Self::Java => {
                let mut command = Command::new("java");
                command.args(["-XX:TieredStopAtLevel=1", "-cp", classes(), "Hdr"]);
                command
            }
        };
        command.args(words(line)).current_dir(dir);
        let output = feed(command, input);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {stderr}");
        String::from_utf8(output.stdout).expect("text")
    }
}

/// The class path with the compiled program, made once.
fn classes() -> &'static str {
    static CLASSES: OnceLock<(tempfile::TempDir, String)> = OnceLock::new();
    let (_, path) = CLASSES.get_or_init(|| {
        let dir = directory();
        let archive = archive().expect("checked");
        let made = Command::new("javac")
            .arg("-cp")
            .arg(&archive)
            .arg("-d")
            .arg(dir.path())
            .arg(source("Hdr.java"))
            .status();
        assert!(made.expect("javac runs").success());
        let path = format!("{}:{}", dir.path().display(), archive.display());
        (dir, path)
    });
    path
}

/// A log of the library becomes JSON and a log again, and the library finds all of it in there.
fn logs_come_back(library: Library) {
    let dir = directory();
    library.run(dir.path(), "write-log theirs.hlog", b"");
    let theirs = library.run(dir.path(), "read-log theirs.hlog", b"");
    run(dir.path(), words("report theirs.hlog -o ours.json")).expect(0);
    let report = run(dir.path(), words("report ours.json --report json"))
        .expect(0)
        .json();
    assert!(
        report["started_at"]
            .as_str()
            .is_some_and(|at| at.contains(":20.25")),
        "{report}"
    );
    let rows = report["latencies"].as_array().expect("rows");
    let tags = if library == Library::Java { 2 } else { 1 };
    assert_eq!(rows.len(), tags);
    for row in rows {
        assert_eq!(row["n"], 5_000);
        assert_eq!(row["intervals"].as_array().map(Vec::len), Some(5));
        let payload = row["histogram_v2_deflate_b64"].as_str().expect("text");
        let decoded = library.run(dir.path(), "decode", payload.as_bytes());
        let p99 = &row["percentiles"][2]["value_ns"];
        assert_eq!(decoded.trim(), format!("5000 {} {p99}", row["max_ns"]));
    }
    run(dir.path(), words("report ours.json -o back.hlog")).expect(0);
    let back = library.run(dir.path(), "read-log back.hlog", b"");
    // Python cannot write a tag; perfkit gives a row without one the tag `service`.
    let plain = |text: &str| text.replace("service ", "None ");
    match library {
        Library::Java => assert_eq!(back, theirs),
        Library::Python => assert_eq!(plain(&back), plain(&theirs)),
    }
    assert_eq!(theirs.lines().count(), 5 * tags + 1, "{theirs}");
    assert!(theirs.ends_with("start 1700000000.250\n"), "{theirs}");
}

/// A distribution that the library writes has the numbers that the library knows.
fn distributions_are_read(library: Library) {
    let dir = directory();
    let said = library.run(dir.path(), "write-hgrm theirs.hgrm", b"");
    let said: Vec<f64> = said
        .split_whitespace()
        .map(|word| word.parse().expect("a number"))
        .collect();
    let read = |name: &str| {
        let line = format!("report {name} -q --report json");
        run(dir.path(), words(&line)).expect(0).json()["latencies"][0].clone()
    };
    let row = read("theirs.hgrm");
    assert_eq!(row["n"].as_f64(), Some(said[0]));
    let near = |value: &serde_json::Value, known: f64| {
        let value = value.as_f64().expect("a number");
        assert!((value / known - 1.0).abs() < 0.01, "{value}, {known}");
    };
    near(&row["max_ns"], said[1]);
    near(&row["percentiles"][2]["value_ns"], said[2]);
    // What is written of it says the same, and comes back as it was.
    for name in ["a.hgrm", "b.hlog", "c.json"] {
        run(
            dir.path(),
            words(&format!("report -qq theirs.hgrm -o {name}")),
        )
        .expect(0);
        let again = read(name);
        for key in [
            "n",
            "name",
            "min_ns",
            "mean_ns",
            "stdev_ns",
            "max_ns",
            "percentiles",
        ] {
            assert_eq!(again[key], row[key], "{name}: {key}");
        }
    }
    let logged = library.run(dir.path(), "read-log b.hlog", b"");
    assert!(logged.contains(" 5000 "), "{logged}");
    // A file without any value is a distribution, too.
    file(
        dir.path(),
        "empty.hgrm",
        b"       Value     Percentile TotalCount 1/(1-Percentile)\n\n0.000 1.0 0 inf\n",
    );
    assert_eq!(read("empty.hgrm")["n"], 0);
}

fn python_logs_come_back() {
    logs_come_back(Library::Python);
}

fn python_distributions_are_read() {
    distributions_are_read(Library::Python);
}

fn java_logs_come_back() {
    logs_come_back(Library::Java);
}

fn java_distributions_are_read() {
    distributions_are_read(Library::Java);
}
