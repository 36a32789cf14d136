//! Defaults of flags, in a file and in the environment, seen from outside.

use std::path::Path;

use crate::common::perfkit;

fn run(config: &Path, variables: &[(&str, &str)], words: &[&str]) -> (Option<i32>, String, String) {
    let mut command = perfkit();
    command
        .env("PERFKIT_CONFIG", config)
        .envs(variables.iter().copied())
        .args(words);
    let output = command.output().expect("a run");
    (
        output.status.code(),
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

fn argv_of_report(stderr: &str) -> Vec<String> {
    let report: serde_json::Value = serde_json::from_str(stderr).expect("a report");
    let argv = report.pointer("/command/argv").expect("a command line");
    serde_json::from_value(argv.clone()).expect("words")
}

#[test]
fn a_default_is_used_and_stands_in_the_report() {
    let dir = tempfile::tempdir().expect("a directory");
    let config = dir.path().join("config.toml");
    let data = dir.path().join("data");
    std::fs::write(
        &config,
        "threads = 1\nreport = 'json'\n[compress]\nlevel = 7\n",
    )
    .expect("written");
    let text = "a line of words that compress\n";
    std::fs::write(&data, text.repeat(20_000)).expect("written");
    let data = data.to_str().expect("a name");
    let (code, _, stderr) = run(&config, &[], &["compress", "-c", data]);
    assert_eq!(code, Some(0), "{stderr}");
    let argv = argv_of_report(&stderr);
    for word in ["--level=7", "--threads=1", "--report=json"] {
        assert!(argv.iter().any(|known| known == word), "{word}: {argv:?}");
    }
    // The environment is before the file, and what was typed before both.
    let variables = [("PERFKIT_COMPRESS_LEVEL", "5"), ("PERFKIT_LEVEL", "4")];
    let (_, _, stderr) = run(&config, &variables, &["compress", "-c", data]);
    let argv = argv_of_report(&stderr);
    assert!(argv.iter().any(|known| known == "--level=5"), "{argv:?}");
    let (_, _, stderr) = run(&config, &variables, &["compress", "-c2", data]);
    let argv = argv_of_report(&stderr);
    assert!(
        !argv.iter().any(|known| known.starts_with("--level")),
        "{argv:?}"
    );
    // The names of other programs know nothing of it.
    let (code, _, stderr) = run(Path::new(""), &variables[1..], &["compress", "-qqc", data]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
}

#[test]
fn what_is_wrong_is_named_and_nothing_is_done() {
    let dir = tempfile::tempdir().expect("a directory");
    let config = dir.path().join("config.toml");
    let data = dir.path().join("data");
    std::fs::write(&data, b"abc").expect("written");
    let data = data.to_str().expect("a name");
    for (text, expected) in [
        ("[compress]\nlevel = 99", "defaults come from '"),
        (
            "[compress]\nlevle = 3",
            "compress.levle: `perfkit compress` has no flag --levle",
        ),
        ("[compress]\nrm = true", "compress.rm: --rm has no default"),
        ("a = 1\nlevel = = 3", "config.toml', line 2: "),
    ] {
        std::fs::write(&config, text).expect("written");
        let (code, _, stderr) = run(&config, &[], &["compress", data]);
        assert_eq!(code, Some(2), "{text}: {stderr}");
        assert!(stderr.contains(expected), "{text}: {stderr}");
        assert!(stderr.contains("help: "), "{stderr}");
        assert!(!Path::new(&format!("{data}.zst")).exists());
    }
    let absent = dir.path().join("absent");
    let (code, _, stderr) = run(&absent, &[], &["compress", data]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("is not there"), "{stderr}");
    let variables = [("PERFKIT_COMPRESS_THREADS", "many")];
    let (code, _, stderr) = run(Path::new(""), &variables, &["compress", data]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(
        stderr.contains("PERFKIT_COMPRESS_THREADS: invalid value"),
        "{stderr}"
    );
}

#[test]
fn env_shows_and_checks_all_of_them() {
    let dir = tempfile::tempdir().expect("a directory");
    let config = dir.path().join("config.toml");
    std::fs::write(&config, "threads = 2\n[fix.parse]\nlimit = 10\n").expect("written");
    let variables = [("PERFKIT_ZIP_LEVEL", "3")];
    let (code, stdout, stderr) = run(&config, &variables, &["env"]);
    assert_eq!(code, Some(0), "{stderr}");
    for text in [
        "fix.parse.limit",
        "PERFKIT_ZIP_LEVEL",
        "environment",
        "config.toml",
    ] {
        assert!(stdout.contains(text), "{text}: {stdout}");
    }
    std::fs::write(&config, "[fix.prase]\nlimit = 10\n").expect("written");
    let (code, _, stderr) = run(&config, &[], &["env"]);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(stderr.contains("fix.prase"), "{stderr}");
}

#[test]
fn a_mistyped_variable_removes_no_gate() {
    let gate = [("PERFKIT_COMPARE_SLOO", "p50<=1ms")];
    let words = ["compare", "-qq", "--interleave", "6x1", "true", "true"];
    for words in [&words[..], &["env"]] {
        let (code, _, stderr) = run(Path::new(""), &gate, words);
        assert_eq!(
            (code, stderr.as_str()),
            (
                Some(2),
                "perfkit: PERFKIT_COMPARE_SLOO: `perfkit compare` has no flag --sloo\n\
                 help: a similar one is PERFKIT_COMPARE_SLO\n"
            )
        );
    }
    // Nothing says of this one that it is meant for perfkit.
    let words = ["env", "--report", "json"];
    let (code, stdout, stderr) = run(Path::new(""), &[("PERFKIT_SLOO", "1")], &words);
    assert_eq!(code, Some(0), "{stderr}");
    assert!(stdout.contains("no flag has this name"), "{stdout}");
}

#[test]
fn the_usual_place_is_that_of_the_desktop_specification() {
    let dir = tempfile::tempdir().expect("a directory");
    let folder = dir.path().join("perfkit");
    std::fs::create_dir(&folder).expect("a folder");
    std::fs::write(folder.join("config.toml"), "[env]\nreport = 'jsonl'\n").expect("written");
    let home = dir.path().to_str().expect("a name");
    let run = |name: &str, value: &str| {
        let mut command = perfkit();
        command
            .env_remove("PERFKIT_CONFIG")
            .env_remove("XDG_CONFIG_HOME")
            .env("HOME", "/nonexistent")
            .env(name, value)
            .arg("env");
        let output = command.output().expect("a run");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(run("XDG_CONFIG_HOME", home).starts_with('{'));
    assert!(
        !run("HOME", home).starts_with('{'),
        "HOME is not the configuration's folder"
    );
    std::fs::rename(&folder, dir.path().join("aside")).expect("moved");
    std::fs::create_dir(dir.path().join(".config")).expect("a folder");
    std::fs::rename(dir.path().join("aside"), dir.path().join(".config/perfkit")).expect("moved");
    assert!(run("HOME", home).starts_with('{'));
}
