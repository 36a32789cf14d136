//! What people read and type: clusters of flags, help, manual pages, colour, and names that a
//! terminal would obey.

use crate::common::{Run, directory, file, names, perfkit, run, words};

const COMMANDS: [&str; 9] = [
    "compress",
    "decompress",
    "compare",
    "report",
    "env",
    "tour",
    "explain",
    "completions",
    "man",
];

#[test]
fn levels_and_threads_cluster_as_with_the_zstd_command() {
    let dir = directory();
    file(dir.path(), "a", b"content");
    for (cluster, level, threads) in [
        ("-19T2", 19, 2),
        ("-3T1", 3, 1),
        ("-vf7", 7, 1),
        ("-T2qk5f", 5, 2),
    ] {
        let report = run(
            dir.path(),
            words(&format!("compress {cluster} -f a --report json")),
        );
        let report: serde_json::Value =
            serde_json::from_str(&report.expect(0).stderr).expect("JSON");
        assert_eq!(report["workload"]["params"]["level"], level, "{cluster}");
        assert_eq!(
            report["workload"]["params"]["threads"], threads,
            "{cluster}"
        );
    }
    run(dir.path(), words("compress -qq19T0fo b.zst a")).expect(0);
    assert_eq!(names(dir.path()), ["a", "a.zst", "b.zst"]);
}

#[test]
fn help_ends_with_examples_and_manual_pages_have_all_of_it() {
    let dir = directory();
    for command in COMMANDS {
        let long = run(dir.path(), [command, "--help"]).expect(0);
        assert!(long.text().contains("\nExamples:\n  perfkit ") || command == "compress");
        let page = run(dir.path(), ["man", command]).expect(0);
        let sections: Vec<&str> = page
            .text()
            .lines()
            .filter_map(|line| line.strip_prefix(".SH "))
            .map(|name| name.trim_matches('"'))
            .collect();
        for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS"] {
            assert!(sections.contains(&section), "{command}: {sections:?}");
        }
        assert_eq!(
            sections[sections.len() - 4..],
            ["EXAMPLES", "EXIT STATUS", "ENVIRONMENT", "SEE ALSO"]
        );
    }
    let page = run(dir.path(), ["man", "compress"]).expect(0);
    for text in [
        "Otherwise compresses each FILE to FILE.zst",
        "Write a checksum of the content into each frame",
        "tar c src | perfkit compress",
        "wrong command line",
    ] {
        assert!(page.text().contains(text), "{text}");
    }
    let failed = run(dir.path(), ["man", "nonsense"]).expect(2);
    assert!(failed.stderr.contains("help: `perfkit --help`"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_fails_what_only_prints_and_a_closed_pipe_does_not() {
    for arguments in [
        "--help",
        "--version",
        "compress -h",
        "man",
        "completions bash",
    ] {
        let full = std::fs::File::options()
            .write(true)
            .open("/dev/full")
            .expect("opened");
        let mut command = perfkit();
        let failed = command.args(words(arguments)).stdout(full).output();
        let failed = Run::from(failed.expect("runs")).expect(1);
        assert!(
            failed
                .stderr
                .starts_with("perfkit: cannot write standard output: no space left on device"),
            "{arguments}: {}",
            failed.stderr
        );
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = perfkit();
        let quiet = command.args(words(arguments)).stdout(writer).output();
        let quiet = Run::from(quiet.expect("runs")).expect(0);
        assert_eq!(quiet.stderr, "", "{arguments}");
    }
}

#[test]
fn mistakes_are_coloured_only_where_colour_is_wanted() {
    let stderr = |arguments: &str, no_color: &str| {
        let mut command = perfkit();
        command.args(words(arguments)).env("CLICOLOR_FORCE", "1");
        match no_color {
            "" => command.env_remove("NO_COLOR"),
            value => command.env("NO_COLOR", value),
        };
        Run::from(command.output().expect("runs")).expect(2).stderr
    };
    for plain in [
        "--color never compress --bad",
        "compress --bad --color=never",
    ] {
        assert!(!stderr(plain, "").contains('\u{1b}'), "{plain}");
    }
    assert!(!stderr("compress --bad", "1").contains('\u{1b}'));
    assert!(stderr("compress --bad --color always", "1").contains('\u{1b}'));
}

#[cfg(unix)]
#[test]
fn names_are_shown_and_not_obeyed() {
    let dir = directory();
    let name = "a\u{1b}[2J\n\u{202e}b";
    let shown = "a\\u{1b}[2J\\n\\u{202e}b";
    let obeyed = |text: &str| text.contains(['\u{1b}', '\u{202e}']) || text.contains("[2J\n");
    let failed = run(dir.path(), ["compress", name]).expect(1);
    assert!(failed.stderr.contains(shown) && !obeyed(&failed.stderr));
    let failed = run(dir.path(), ["compress", &format!("--{name}")]).expect(2);
    assert!(failed.stderr.contains(shown) && !obeyed(&failed.stderr));
    file(dir.path(), name, b"content");
    let done = run(dir.path(), ["compress", "-v", name]).expect(0);
    assert!(done.stderr.contains(shown) && !obeyed(&done.stderr));
    let packed = format!("{name}.zst");
    let listed = run(dir.path(), ["decompress", "-l", &packed]).expect(0);
    assert!(listed.text().contains(shown) && !obeyed(listed.text()));
    let tables = ["decompress", "-l", "--report", "markdown", &packed];
    assert!(!obeyed(run(dir.path(), tables).expect(0).text()));
    let json = run(dir.path(), ["decompress", "-l", "--json", &packed]).expect(0);
    assert_eq!(json.json()["workload"]["inputs"][0]["path"], packed);
}

#[test]
fn advice_fits_what_was_asked() {
    let dir = directory();
    file(dir.path(), "a", b"content");
    let first_and_help = |arguments: &str, code| {
        // A PATH with a directory that may not be read makes a missing program a forbidden one.
        let mut command = perfkit();
        command.current_dir(dir.path()).env("PATH", "/usr/bin:/bin");
        let failed = command.args(words(arguments)).output().expect("runs");
        let failed = Run::from(failed).expect(code).stderr;
        let mut lines = failed.lines().map(str::to_owned);
        (
            lines.next().unwrap_or_default(),
            lines.next().unwrap_or_default(),
        )
    };
    for arguments in ["compare --interleave 2x1 --", "compare --interleave 2x1"] {
        let (message, help) = first_and_help(arguments, 2);
        assert!(message.contains("two commands"), "{message}");
        assert!(
            help.starts_with("help: perfkit compare --interleave "),
            "{help}"
        );
    }
    let (message, help) = first_and_help("compare --interleave 2x1 -- nonesuch -- true", 1);
    assert_eq!(
        message,
        "perfkit: cannot run the baseline 'nonesuch': no such file or directory"
    );
    assert!(help.contains("PATH"), "{help}");
    let (_, help) = first_and_help("compress a -o gone/a.zst", 1);
    assert_eq!(help, "help: create its directory first");
    first_and_help("compare a a -- true", 2);
    let (_, help) = first_and_help("compress -T999 a", 2);
    assert!(help.contains("-T0"), "{help}");
    // A frame of dictionary 5, and one of a window of 1 GiB, both of no content.
    let named = b"\x28\xb5\x2f\xfd\x21\x05\x00\x01\x00\x00";
    let wide = b"\x28\xb5\x2f\xfd\x00\xa0\x01\x00\x00";
    for (frame, flag) in [(&named[..], "-D FILE"), (wide, "--long=31")] {
        file(dir.path(), "x.zst", frame);
        let (_, help) = first_and_help("decompress -t x.zst", 1);
        assert!(help.contains(flag), "{help}");
    }
    file(dir.path(), "full", &[0; 5000]);
    run(dir.path(), words("compress -qq full")).expect(0);
    let (_, help) = first_and_help("decompress --max-output 4000 -t full.zst", 1);
    assert!(help.contains("--max-output"), "{help}");
}

#[test]
fn every_flag_that_a_help_text_names_exists() {
    let dir = directory();
    for command in COMMANDS {
        let help = run(dir.path(), [command, "--help"]).expect(0);
        let defined: Vec<&str> = help
            .text()
            .lines()
            .filter(|l| l.trim().starts_with('-'))
            .collect();
        let flag = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let examples = help.text().split("Examples:").next().unwrap_or_default();
        for word in examples.split(|c| !flag(c)).filter(|word| word.len() > 3) {
            if let Some(name) = word.strip_prefix("--").filter(|name| !name.is_empty()) {
                let alias = help.text().contains(&format!("[alias: --{name}]"));
                let found = defined
                    .iter()
                    .any(|line| line.contains(&format!("--{name}")));
                assert!(found || alias, "{command} --help names --{name}");
            }
        }
    }
}
