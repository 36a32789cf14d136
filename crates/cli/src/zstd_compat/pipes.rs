//! `zstdgrep` and `zstdless`: grep and less over what is compressed, which perfkit decompresses for them.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::config;
use crate::failure::Failure;
use crate::term::message::{self, Voice};

/// Flags of grep whose value is the next argument.
const VALUED: [&str; 15] = [
    "-e",
    "-f",
    "-m",
    "-A",
    "-B",
    "-C",
    "-d",
    "-D",
    "--regexp",
    "--file",
    "--max-count",
    "--after-context",
    "--before-context",
    "--context",
    "--label",
];
/// grep's exit code for trouble.
const TROUBLE: u8 = 2;

/// A command line of grep.
#[derive(Debug, Default, PartialEq, Eq)]
struct Asked {
    /// Flags, and the pattern if no flag has it.
    flags: Vec<OsString>,
    files: Vec<OsString>,
    /// Whether names are printed; `None`: where there are several files.
    names: Option<bool>,
}

/// Parses the arguments after the name.
fn asked(argv: &[OsString]) -> Result<Asked, Failure> {
    let mut asked = Asked::default();
    let mut pattern = None;
    let mut has_pattern = false;
    let mut line = argv.iter().skip(1);
    while let Some(word) = line.next() {
        let text = word.to_str().unwrap_or_default();
        if text == "--" {
            let mut rest = line.by_ref().cloned();
            if !has_pattern && pattern.is_none() {
                pattern = rest.next();
            }
            asked.files.extend(rest);
        } else if text.len() > 1 && text.starts_with('-') {
            match text {
                "-h" | "--no-filename" => asked.names = Some(false),
                "-H" | "--with-filename" => asked.names = Some(true),
                _ => {
                    has_pattern |= ["-e", "-f", "--regexp", "--file"]
                        .iter()
                        .any(|flag| text.starts_with(flag) && !text.starts_with("--files"));
                    asked.flags.push(word.clone());
                    if VALUED.contains(&text) {
                        asked.flags.extend(line.next().cloned());
                    }
                }
            }
        } else if !has_pattern && pattern.is_none() {
            pattern = Some(word.clone());
        } else {
            asked.files.push(word.clone());
        }
    }
    match pattern {
        Some(pattern) if !has_pattern => {
            asked.flags.extend(["-e".into(), pattern]);
        }
        // A flag that came later has the pattern.
        Some(first) => asked.files.insert(0, first),
        None if !has_pattern => {
            return Err(
                Failure::new("there is no pattern").help("usage: zstdgrep [FLAG]… PATTERN [FILE]…")
            );
        }
        None => {}
    }
    Ok(asked)
}

/// Runs grep over each file; returns its exit code: 0 if anything matched.
pub(super) fn grep(argv: &[OsString]) -> u8 {
    message::set_voice(Voice {
        name: "zstdgrep",
        failures: true,
    });
    let asked = match asked(argv) {
        Ok(asked) => asked,
        Err(failure) => {
            message::failure(&failure);
            return TROUBLE;
        }
    };
    let stdin = [OsString::from("-")];
    let files = match asked.files.is_empty() {
        true => &stdin[..],
        false => &asked.files,
    };
    let names = asked.names.unwrap_or(files.len() > 1);
    let mut matched = false;
    let mut trouble = false;
    for file in files {
        match grep_one(&asked.flags, file, names) {
            Ok((0, _)) => matched = true,
            Ok((1, true)) => {}
            Ok(_) => trouble = true,
            Err(failure) => {
                message::failure(&failure);
                trouble = true;
            }
        }
    }
    match (trouble, matched) {
        (true, _) => TROUBLE,
        (_, true) => 0,
        _ => 1,
    }
}

/// Runs grep over a file; its exit code, and whether the file was decompressed.
fn grep_one(flags: &[OsString], file: &OsStr, names: bool) -> Result<(u8, bool), Failure> {
    let failed =
        |program: &str, error: &io::Error| Failure::program("program", Path::new(program), error);
    let own = std::env::current_exe().map_err(|error| failed("perfkit", &error))?;
    let mut child = decompressor(own.as_os_str(), file)
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed("perfkit", &error))?;
    let mut grep = Command::new("grep");
    grep.args(flags);
    // Also for flags that print names of their own, such as -l.
    let mut label = OsString::from("--label=");
    label.push(match file == "-" {
        true => OsStr::new("(standard input)"),
        false => file,
    });
    grep.arg(label);
    if names {
        grep.arg("-H");
    }
    grep.arg("-");
    if let Some(output) = child.stdout.take() {
        grep.stdin(output);
    }
    let status = grep.status().map_err(|error| failed("grep", &error));
    // It holds our end of the pipe: while that is open, a decompressor whose reader has gone waits for ever.
    drop(grep);
    let decompressed = child.wait().map_err(|error| failed("perfkit", &error))?;
    let code = status?.code().and_then(|code| u8::try_from(code).ok());
    Ok((code.unwrap_or(TROUBLE), decompressed.success()))
}

/// This program, to decompress a file to standard output and copy what is not compressed.
fn decompressor(own: &OsStr, file: &OsStr) -> Command {
    let mut command = Command::new(own);
    // The user's defaults are not for what this name does.
    command
        .env(config::FILE_VARIABLE, "")
        .args(["decompress", "-qqcf", "--pass-through", "--"])
        .arg(file);
    command
}

/// Runs less, which has this program open what it shows.
pub(super) fn less(argv: &[OsString]) -> u8 {
    message::set_voice(Voice {
        name: "zstdless",
        failures: true,
    });
    let status = std::env::current_exe().and_then(|own| {
        let own = own.display().to_string().replace('\'', r"'\''");
        Command::new("less")
            .args(argv.iter().skip(1))
            .env(
                "LESSOPEN",
                format!("||-'{own}' decompress -qqcf --pass-through -- %s"),
            )
            .status()
    });
    match status {
        Ok(status) => status
            .code()
            .and_then(|code| u8::try_from(code).ok())
            .unwrap_or(1),
        Err(error) => {
            message::failure(&Failure::program("program", Path::new("less"), &error));
            1
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn patterns_are_told_from_files() {
        for (line, flags, files, names) in [
            ("zstdgrep x", "-e x", "", None),
            ("zstdgrep -i x a b", "-i -e x", "a b", None),
            ("zstdgrep -e x a", "-e x", "a", None),
            ("zstdgrep a -e x", "-e x", "a", None),
            ("zstdgrep -A 2 -h x a", "-A 2 -e x", "a", Some(false)),
            ("zstdgrep -H -- -x -a", "-e -x", "-a", Some(true)),
            ("zstdgrep -f list - a", "-f list", "- a", None),
        ] {
            let found = asked(&words(line)).expect(line);
            let expected = Asked {
                flags: words(flags),
                files: words(files),
                names,
            };
            assert_eq!(found, expected, "{line}");
        }
        assert!(asked(&words("zstdgrep -i")).is_err());
    }
}
