//! Whether every command declares its files, and what the guard makes of them: see
//! [`files::conflicts`].

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use report::ExitStatus;

use crate::args::{every_command, parse};
use crate::failure::Failure;

fn words(line: &str) -> Vec<OsString> {
    line.split_whitespace().map(OsString::from).collect()
}

/// The shortest command line of each command, and which words of it name a file. `@` stands for the file.
const LINES: &[&str] = &[
    "compress @",
    "compress --train @ -o out",
    "compress-bench @",
    "decompress @",
    "zip out.zip @",
    "zip @ in",
    "zip --delete out.zip x",
    "unzip @",
    "unzip -p a.zip x --index @",
    "unzip -t a.zip x --write-index @",
    #[cfg(feature = "async")]
    "zip-bench @",
    "advise @",
    "betree generate bool -o dir",
    "betree generate --list",
    "betree match --expressions @",
    "betree match --snapshot @",
    "betree match --expressions a --top 1 --priorities @",
    "betree build --expressions @ -o out",
    "betree build --snapshot @ -o out",
    "betree check --expressions @",
    "betree lint --expressions @",
    "betree lint --snapshot @",
    "betree explain --id 1 --expressions @",
    "betree explain --id 1 --snapshot @",
    "betree explain --expressions @",
    #[cfg(feature = "serve")]
    "betree serve --listen 127.0.0.1:0 --expressions @",
    #[cfg(feature = "serve")]
    "betree serve --listen 127.0.0.1:0 --snapshot @",
    #[cfg(feature = "workers")]
    "betree match --from nats://a/I --to nats://a/O --snapshot @",
    #[cfg(feature = "workers")]
    "betree feed --to nats://a/I @",
    #[cfg(feature = "workers")]
    "betree join --events nats://a/I --from nats://a/O",
    #[cfg(feature = "workers")]
    "betree roll-out --to nats://a/B @",
    "betree-bench",
    "betree-bench --expression-file @ --event-file events",
    "betree-bench shapes",
    #[cfg(feature = "serve")]
    "betree-bench serve",
    "fix parse @",
    "fix validate @",
    "fix print @",
    "fix stats @",
    "fix orders @",
    "fix orders --list all @",
    "fix fills @",
    "fix health @",
    "fix health --list all @",
    "fix diff @ other",
    "fix diff other @",
    "fix replay @",
    "fix anonymize @",
    "fix generate",
    "fix generate --day dir",
    "fix store dump @",
    "fix store verify @",
    "fix store stats @",
    #[cfg(target_os = "linux")]
    "fix acceptor --settings @",
    #[cfg(target_os = "linux")]
    "fix acceptor --settings in --users @",
    #[cfg(target_os = "linux")]
    "fix initiator --settings @",
    #[cfg(target_os = "linux")]
    "fix initiator --settings in --send @",
    "fix store import @ new",
    "fix store export --format quickfixj @ new",
    "fix settings check @",
    "fix settings keys",
    "fix certify 127.0.0.1:1",
    "fix-bench",
    "fix-bench shapes",
    "fix-bench session",
    "stress @",
    "compare @ other",
    "report @",
    "rerun @",
    "env",
    "tour",
    "explain",
    "completions bash",
    "man",
];

/// Flags that name a directory in which only new files are made, or which the jobs look after.
const ELSEWHERE: &[&str] = &[
    // Of generated data: new files, or all replaced with -f.
    "betree generate --output",
    "fix generate --day",
    "man --dir",
    // Files of its own names, which a lock keeps to one process.
    "betree serve --log",
    // A store in a new directory below it.
    "fix-bench --store-dir",
    "fix-bench session --store-dir",
    // What is extracted is kept from the archive's place where files get their names.
    "unzip --directory",
    // Targets are held against sources as jobs.
    "compress --output",
    "compress --output-dir-flat",
    "compress --output-dir-mirror",
    "decompress --output",
    "decompress --output-dir-flat",
    "decompress --output-dir-mirror",
];

fn declared(line: &str) -> Vec<PathBuf> {
    let cli = parse(&words(&format!("perfkit {line}")))
        .unwrap_or_else(|answer| panic!("{line}: {answer:?}"));
    cli.command
        .files()
        .paths()
        .iter()
        .map(|path| path.to_path_buf())
        .collect()
}

/// Commands and the parts of commands that do something without a part of their own, by their names.
fn leaves(command: &clap::Command, name: &str, found: &mut Vec<(String, clap::Command)>) {
    let parts: Vec<_> = command
        .get_subcommands()
        .filter(|c| c.get_name() != "help")
        .collect();
    if parts.is_empty() || command.is_args_conflicts_with_subcommands_set() {
        found.push((name.to_owned(), command.clone()));
    }
    for part in parts {
        leaves(
            part,
            format!("{name} {}", part.get_name()).trim_start(),
            found,
        );
    }
}

#[test]
fn every_command_declares_every_path_of_its_command_line() {
    let root = every_command();
    let mut commands = Vec::new();
    leaves(&root, "", &mut commands);
    let mut seen = BTreeSet::new();
    for (name, command) in &commands {
        let lines: Vec<_> = LINES
            .iter()
            .filter(|line| **line == *name || line.starts_with(&format!("{name} ")))
            .collect();
        assert!(!lines.is_empty(), "'{name}' has no line in LINES");
        for line in lines.iter().filter(|line| line.contains('@')) {
            let paths = declared(&line.replace('@', "the-file"));
            assert!(paths.contains(&"the-file".into()), "{line}: {paths:?}");
            seen.insert(name.clone());
        }
        for arg in command.get_arguments() {
            let is_path = arg.get_value_parser().type_id() == std::any::TypeId::of::<PathBuf>();
            let Some(long) = arg.get_long().filter(|_| is_path) else {
                continue;
            };
            let full = format!("{name} --{long}");
            if ELSEWHERE.contains(&full.as_str()) {
                continue;
            }
            // Any line of the command that takes the flag.
            let taken = lines.iter().any(|line| {
                let line = line.replace('@', "other-file");
                let line = match line
                    .split_whitespace()
                    .any(|word| word == format!("--{long}"))
                {
                    true => line.replace("other-file", "the-file"),
                    false => format!("{line} --{long} the-file"),
                };
                parse(&words(&format!("perfkit {line}")))
                    .is_ok_and(|cli| cli.command.files().paths().contains(&Path::new("the-file")))
            });
            assert!(taken, "{full} is not declared by its command's files()");
        }
    }
    assert!(seen.len() > 20);
}

/// A directory with `data` in it.
fn directory() -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let data = directory.path().join("data");
    std::fs::write(&data, "data").expect("written");
    (directory, data)
}

#[test]
fn an_export_over_what_is_read_is_refused_by_every_command_and_every_export() {
    let (directory, data) = directory();
    let link = directory.path().join("link");
    #[cfg(unix)]
    std::os::unix::fs::symlink("data", &link).expect("linked");
    let spelled = directory.path().join(".").join("data");
    let mut refused = 0;
    for line in LINES.iter().filter(|line| line.contains('@')) {
        for flag in ["json", "csv", "markdown", "hgrm", "hlog", "html"] {
            for name in [&data, &link, &spelled] {
                if !name.exists() {
                    continue;
                }
                let line = line.replace('@', data.to_str().expect("text"));
                let line = format!("perfkit {line} --export-{flag} {}", name.display());
                let Ok(cli) = parse(&words(&line)) else {
                    continue;
                };
                let failure = match cli.command.files().check() {
                    Err(conflict) => Failure::from(conflict),
                    // A store is a directory, which this is not.
                    Ok(()) if line.contains("fix store") => continue,
                    Ok(()) => panic!("{line}"),
                };
                assert_eq!(failure.exit_status(), ExitStatus::Usage, "{line}");
                assert!(failure.help_text().is_some(), "{line}");
                refused += 1;
            }
        }
    }
    assert!(refused > 300, "{refused}");
    assert_eq!(std::fs::read(&data).expect("read"), b"data");
}

#[test]
fn a_file_of_a_directory_that_is_read_is_not_replaced_and_a_new_one_is_made() {
    let (directory, data) = directory();
    let dir = directory.path();
    let new = dir.join("new");
    let check = |line: String| {
        let cli = parse(&words(&line)).unwrap_or_else(|answer| panic!("{line}: {answer:?}"));
        cli.command.files().check()
    };
    for command in [
        format!("perfkit fix store dump {}", dir.display()),
        format!("perfkit compress-bench -r {}", dir.display()),
        format!(
            "perfkit zip -r {} {}",
            dir.join("x.zip").display(),
            dir.display()
        ),
        format!(
            "perfkit compress --train -r {} -o {}",
            dir.display(),
            new.display()
        ),
    ] {
        let export = |path: &Path| check(format!("{command} --export-json {}", path.display()));
        assert!(export(&data).is_err(), "{command}");
        assert_eq!(export(&dir.join("report")), Ok(()), "{command}");
    }
    // An archive in the tree that it is made of is left out of itself.
    std::fs::write(dir.join("x.zip"), "old").expect("written");
    let x = dir.join("x.zip");
    let packs = format!("perfkit zip -r {} {}", x.display(), dir.display());
    assert_eq!(check(packs.clone()), Ok(()));
    assert!(check(format!("{packs} --password-file {}", x.display())).is_err());
    assert!(check(format!("{packs} --export-json {}", x.display())).is_err());
}
