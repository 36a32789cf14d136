//! The closing table, and the script that prepares a machine for the checks.

use super::*;

#[test]
fn closing_lines_add_up() {
    let lines = [
        "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; finished in 0.10s",
        "test result: ok. 39 passed; 0 failed; 2 ignored; 0 measured; finished in 1.00s",
    ]
    .map(str::to_owned);
    assert_eq!(add_up(&lines, "passed"), 42);
    assert_eq!(add_up(&lines, "ignored"), 3);
    assert_eq!(add_up(&[], "passed"), 0);
}

#[test]
fn the_table_has_a_line_a_step_and_a_total() {
    let row = |name, result| Row {
        name,
        result,
        elapsed: Duration::from_millis(1500),
        note: String::new(),
    };
    let text = table(
        &[row("format", "ok"), row("test", "FAILED")],
        Duration::from_secs(3),
    );
    assert_eq!(text.lines().count(), 5);
    assert!(
        text.contains("test                 FAILED       1.5\n"),
        "{text}"
    );
    assert!(
        text.contains("total                             3.0\n"),
        "{text}"
    );
}

#[test]
fn the_fast_steps_are_some_of_all() {
    assert!(STEPS.iter().any(|step| step.fast) && STEPS.iter().any(|step| !step.fast));
}

/// `.ci/run` with nothing but these programs, where `apt-get` ends with an error.
#[cfg(unix)]
fn run_script_on_a_bare_machine() -> std::process::Output {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    for program in ["bash", "dirname", "id"] {
        let found = sh::find(program).unwrap();
        symlink(found, folder.path().join(program)).unwrap();
    }
    for (program, script) in [
        ("apt-get", "echo no network >&2; exit 100"),
        ("cargo", "echo the checks begin"),
    ] {
        let file = folder.path().join(program);
        std::fs::write(
            &file,
            format!("#!{}\n{script}\n", sh::find("bash").unwrap().display()),
        )
        .unwrap();
        std::fs::set_permissions(&file, PermissionsExt::from_mode(0o755)).unwrap();
    }
    let mut command = sh::command(sh::find("bash").unwrap());
    command.arg(sh::root().join(".ci/run"));
    command.env("PATH", folder.path()).env("CI", "true");
    command.output().unwrap()
}

#[test]
#[cfg(unix)]
fn a_machine_for_checks_that_lacks_a_program_fails_before_any_check() {
    let output = run_script_on_a_bare_machine();
    let [said, errors] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes));
    assert!(!output.status.success(), "{said}{errors}");
    assert!(!said.contains("the checks begin"), "{said}{errors}");
    // As root it tries to install; what apt-get says is shown. Else what is missing is named.
    assert!(
        errors.contains("no network") || errors.contains("is not installed"),
        "{errors}"
    );
}

#[test]
fn each_test_program_is_run_once_and_long_tests_by_the_usual_harness() {
    let packages = metadata::workspace().unwrap().packages;
    let programs = TestPrograms::of(&packages).unwrap();
    let names = |args: &[String]| -> Vec<String> {
        let pairs = args.windows(2).filter(|pair| pair[0] == "--test");
        pairs.map(|pair| pair[1].clone()).collect()
    };
    let long = programs.with_long_tests(&packages);
    let own = programs.with_own_harness(&packages);
    assert!(long.contains(&"--include-ignored".to_owned()), "{long:?}");
    assert!(!own.contains(&"--include-ignored".to_owned()), "{own:?}");
    let (long, own) = (names(&long), names(&own));
    assert!(long.contains(&"main".to_owned()), "{long:?}");
    assert!(
        own.contains(&"peers".to_owned()) && own.contains(&"services".to_owned()),
        "{own:?}"
    );
    let mut run: Vec<&str> = long.iter().chain(&own).map(String::as_str).collect();
    run.sort_unstable();
    let all: BTreeSet<&str> = packages
        .iter()
        .flat_map(|p| p.integration_tests())
        .collect();
    assert_eq!(run, all.into_iter().collect::<Vec<_>>());
}

#[test]
fn all_features_are_those_of_every_package_but_libfuzzer() {
    let packages = metadata::workspace().unwrap().packages;
    let args = all_features(&packages).join(" ");
    for feature in [
        "perfkit/kafka-tls",
        "perfkit-files/remote",
        "zipstream/object_store",
        "xtask/generate",
    ] {
        assert!(args.contains(feature), "{args}");
    }
    assert!(!args.contains("libfuzzer"), "{args}");
}

/// A dependency for tests that adds a feature to what the tool is built from has README's second command build it again,
/// with all that depends on it.
#[test]
fn tests_of_the_tool_change_no_feature_of_what_it_is_built_from() {
    let packages = |edges| -> BTreeSet<String> {
        let tree = [
            "tree",
            "--locked",
            "--package",
            "perfkit",
            "--prefix",
            "none",
        ];
        let mut command = sh::cargo(&tree);
        command.args(["--format", "{p} {f}", "--edges", edges]);
        let text = sh::text(&mut command).unwrap();
        let lines = text.lines().map(|line| line.trim_end_matches(" (*)"));
        lines.map(str::to_owned).collect()
    };
    let (built, tested) = (packages("normal,build"), packages("normal,build,dev"));
    assert!(built.len() > 100, "{built:?}");
    let changed: Vec<&String> = built.difference(&tested).collect();
    assert!(changed.is_empty(), "{changed:#?}");
}

/// An ignored test that nothing runs is one that nobody runs.
#[test]
fn every_ignored_test_is_long_or_by_hand() {
    let mut by_hand = Vec::new();
    let mut long = 0;
    let files = sh::text(sh::command("git").args(["ls-files", "*.rs"])).unwrap();
    for file in files.lines().filter(|file| !file.starts_with("xtask/")) {
        let Ok(text) = std::fs::read_to_string(sh::root().join(file)) else {
            continue;
        };
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let Some(reason) = line.trim_start().strip_prefix("#[ignore = \"") else {
                continue;
            };
            if reason.starts_with("long") {
                long += 1;
                continue;
            }
            let name = lines.find_map(|line| line.trim_start().strip_prefix("fn "));
            let name = name
                .and_then(|rest| rest.split('(').next())
                .unwrap_or_default();
            by_hand.push(name.to_owned());
        }
    }
    by_hand.sort();
    assert_eq!(by_hand, BY_HAND);
    assert!(long > 0);
}
