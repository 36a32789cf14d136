//! perfkit under the name `hyperfine`: its command line, its texts and its exit codes; and as
//! `perfkit hyperfine`. What is run, and how often, is in [`bench::programs`].

mod flags;
mod launch;
mod page;
mod plan;
mod run;
mod text;

use std::ffi::OsString;
use std::path::Path;

use report::ExitStatus;

pub(crate) use flags::HyperfineArgs;
pub(crate) use launch::Children;

/// The name that the binary may be called by, and the word that stands for it.
const NAME: &str = "hyperfine";

/// The command line after the program's name, if it is one of hyperfine: called by that name, or with that
/// word first.
pub(crate) fn asked(argv: &[OsString]) -> Option<&[OsString]> {
    let name = Path::new(argv.first()?).file_name()?.to_str()?;
    if name.strip_suffix(".exe").unwrap_or(name) == NAME {
        return argv.get(1..);
    }
    (argv.get(1)? == NAME).then(|| argv.get(2..)).flatten()
}

/// Runs such a command line.
pub(crate) fn run(words: &[OsString]) -> ExitStatus {
    run::run(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_asked_for_by_name_or_by_word() {
        let words = |line: &str| {
            let argv: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            asked(&argv).map(|words| words.len())
        };
        assert_eq!(words("/usr/bin/hyperfine -N a"), Some(2));
        assert_eq!(words("hyperfine.exe"), Some(0));
        assert_eq!(words("perfkit hyperfine -N a"), Some(2));
        assert_eq!(words("perfkit compare hyperfine"), None);
        assert_eq!(words("perfkit"), None);
        assert_eq!(asked(&[]), None);
    }
}
