//! The flags that the command of this process has, for advice: an error names no flag of another command.

use std::ffi::OsString;
use std::sync::OnceLock;

use clap::CommandFactory as _;

use super::Cli;

/// The command line of this process, if it is one of perfkit's own.
static COMMAND_LINE: OnceLock<Vec<OsString>> = OnceLock::new();

/// Flags that errors advise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Advised {
    /// What overwrites files.
    pub(crate) force: Option<&'static str>,
    /// Whether `-o` names the target.
    pub(crate) output: bool,
}

/// Those of `zstd`, by whose name the binary may be called, and of `perfkit compress`.
const COMPRESS: Advised = Advised {
    force: Some("-f"),
    output: true,
};

/// Remembers the command line; flags are looked up when an error needs them.
pub(crate) fn speak_for(argv: &[OsString]) {
    // A process has one command line.
    let _ = COMMAND_LINE.set(argv.to_vec());
}

/// The flags of the command of this process.
pub(crate) fn advised() -> Advised {
    COMMAND_LINE.get().map_or(COMPRESS, |argv| of(argv))
}

/// The flags of the command that a command line names.
fn of(argv: &[OsString]) -> Advised {
    let root = Cli::command();
    let mut command = &root;
    for word in argv.iter().skip(1).filter_map(|word| word.to_str()) {
        // Words that are no command are flags, their values, or files.
        command = command.find_subcommand(word).unwrap_or(command);
    }
    let force = command.get_arguments().find(|arg| arg.get_id() == "force");
    let named = |arg: &clap::Arg| arg.get_short() == Some('o') && arg.get_action().takes_values();
    Advised {
        force: force.map(|arg| match arg.get_short() {
            Some('f') => "-f",
            _ => "--force",
        }),
        output: command.get_arguments().any(named),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_flags_of_its_own() {
        let of = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let found = of(&words);
            (found.force, found.output)
        };
        assert_eq!(of("perfkit compress a"), (Some("-f"), true));
        assert_eq!(of("perfkit zip a.zip a"), (Some("--force"), false));
        assert_eq!(
            of("perfkit --color never unzip a.zip"),
            (Some("--force"), false)
        );
        assert_eq!(of("perfkit completions bash"), (None, false));
        assert_eq!(of("perfkit fix store export a b").0, Some("-f"));
    }
}
