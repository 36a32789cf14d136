//! The command line, in two stages: this module parses it to plain data, and the `flags` of each
//! command turn that data into a plan.
//!
//! Nothing in this module opens a file or reads anything about the machine. Flags that several commands
//! share are in [`output`] and [`settings`].

pub(crate) mod advanced;
mod advice;
#[cfg(feature = "workers")]
pub(crate) mod broker;
mod command;
pub(crate) mod expressions;
pub(crate) mod files;
mod fingers;
pub(crate) mod glob;
mod globs;
mod letters;
pub(crate) mod levels;
pub(crate) mod limit;
pub(crate) mod live;
pub(crate) mod metrics;
#[cfg(feature = "workers")]
pub(crate) mod nats;
pub(crate) mod output;
pub(crate) mod password;
pub(crate) mod settings;
pub(crate) mod units;

use std::ffi::OsString;

use clap::{ArgMatches, CommandFactory as _, FromArgMatches as _, Parser, Subcommand, ValueEnum};
use report::ExitStatus;

pub(crate) use advice::{advised, speak_for};
pub(crate) use command::Command;
use command::NoCommand;
pub(crate) use fingers::color;
pub(crate) use levels::threads;

use crate::config::Config;
use crate::config::words::{self, Leaf, Place, Refusal};
use crate::failure::Failure;
use crate::term::plain;

/// Compress, archive, match and parse, with a latency report.
///
/// Each command does its real job on your data and reports two times: service, how long the work
/// took, and hold, how long one call kept its thread. Percentiles appear only when there are enough
/// samples, and the clock's resolution is shown.
#[derive(Debug, Clone, Parser)]
#[command(
    name = "perfkit",
    bin_name = "perfkit",
    version,
    long_version = crate::built::long_version(),
    max_term_width = 100,
    propagate_version = true,
    args_override_self = true,
    after_help = exit_help(),
    after_long_help = format!("{ROOT_EXAMPLES}\n\n{}", exit_help())
)]
pub(crate) struct Root<C: Subcommand> {
    /// Colour: auto, always or never
    ///
    /// auto colours output to a terminal, unless NO_COLOR is set or TERM is dumb; always colours output
    /// to files and pipes as well.
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t = Color::Auto,
        value_name = "WHEN",
        hide_possible_values = true
    )]
    pub(crate) color: Color,
    /// What to do
    #[command(subcommand)]
    pub(crate) command: C,
}

/// The command line with all commands.
pub(crate) type Cli = Root<Command>;

const ROOT_EXAMPLES: &str = "Examples:
  perfkit tour
  perfkit compress -3 access.log
  perfkit compare --interleave 20x1 -- zstd -qf3 data -- perfkit compress -qqf3 data";

/// When to use colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set or TERM is dumb
    Auto,
    /// Also into files and pipes
    Always,
    /// Nowhere
    Never,
}

/// What the parser returns in place of a command line. The text is coloured; printing may strip that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Help or a version, for standard output.
    Asked(String),
    /// What is wrong, for standard error.
    Mistake(String),
}

/// A command line, understood.
#[derive(Debug, Clone)]
pub(crate) struct Parsed {
    /// What it says.
    pub(crate) cli: Cli,
    /// Its words, with those that are defaults of the user.
    pub(crate) argv: Vec<OsString>,
    /// Where those defaults are set, for errors of the command line that the parser does not see.
    pub(crate) defaults: Vec<String>,
}

/// Parses the command line, or returns the help or the error to print.
pub(crate) fn parse(argv: &[OsString]) -> Result<Cli, Answer> {
    let argv = without_help_of_help(fingers::normalise(argv));
    match try_parse(&argv) {
        Ok((_, _, cli)) => Ok(cli),
        Err(error) => Err(answer(&argv, &error)),
    }
}

/// Like [`parse`], with the defaults that the user keeps.
///
/// # Errors
///
/// A default that the command cannot take.
pub(crate) fn parse_with(
    argv: &[OsString],
    config: &Config,
) -> Result<Result<Parsed, Answer>, Failure> {
    let typed = without_help_of_help(fingers::normalise(argv));
    let (command, matches, cli) = match try_parse(&typed) {
        Ok(parsed) => parsed,
        Err(error) => return Ok(Err(answer(&typed, &error))),
    };
    let leaf = Leaf::of(&command, &matches);
    let defaults = match config.is_empty() {
        true => Vec::new(),
        false => {
            words::of(config, &leaf, every_command).map_err(|refusal| refused(config, &refusal))?
        }
    };
    if !defaults.is_empty() {
        return with_defaults(argv, &typed, leaf.path.len(), &defaults, config).map(Ok);
    }
    Ok(Ok(Parsed {
        cli,
        argv: argv.to_vec(),
        defaults: Vec::new(),
    }))
}

fn answer(argv: &[OsString], error: &clap::Error) -> Answer {
    let text = error.render().ansi().to_string();
    if error.use_stderr() {
        Answer::Mistake(quotable(argv).unwrap_or(text))
    } else {
        Answer::Asked(text)
    }
}

/// Parses a command line again, with defaults. It was right without them, so an error is about one of them: the first
/// that is wrong by itself, or else the first without which the others are right.
fn with_defaults(
    argv: &[OsString],
    typed: &[OsString],
    names: usize,
    defaults: &[words::Default],
    config: &Config,
) -> Result<Parsed, Failure> {
    match try_parse(&words::insert(typed, names, defaults)) {
        Ok((_, _, cli)) => Ok(Parsed {
            cli,
            argv: words::insert(argv, names, defaults),
            defaults: defaults
                .iter()
                .map(|one| place(config, &one.place))
                .collect(),
        }),
        Err(error) => {
            let is_wrong = |one: &words::Default| {
                try_parse(&words::insert(typed, names, std::slice::from_ref(one))).is_err()
            };
            let is_clash = |one: &&words::Default| {
                let others = defaults.iter().filter(|other| other.flag != one.flag);
                let others: Vec<_> = others.cloned().collect();
                try_parse(&words::insert(typed, names, &others)).is_ok()
            };
            let one = defaults.iter().find(|one| is_wrong(one));
            let one = one.or_else(|| defaults.iter().find(is_clash));
            let text = error.render().to_string();
            // What is wrong, and which values are possible.
            let lines = text.lines().map(str::trim);
            let lines: Vec<_> = lines.take_while(|line| !line.is_empty()).collect();
            let text = lines.join(" ");
            let reason = text.strip_prefix("error: ").unwrap_or(&text).to_owned();
            Err(match one.or(defaults.first()) {
                Some(one) => refused(
                    config,
                    &Refusal {
                        place: one.place.clone(),
                        reason,
                        help: format!("see --{} in the command's --help", one.flag),
                    },
                ),
                None => Failure::usage(reason),
            })
        }
    }
}

/// What is printed of a default that cannot be one.
pub(crate) fn refused(config: &Config, refusal: &Refusal) -> Failure {
    let place = place(config, &refusal.place);
    Failure::usage(format!("{place}: {}", refusal.reason)).help(refusal.help.clone())
}

fn place(config: &Config, place: &Place) -> String {
    match (place, &config.file) {
        (Place::Key(key), Some(file)) => format!("'{}', {key}", file.path.display()),
        (Place::Key(name) | Place::Variable(name), _) => name.clone(),
    }
}

/// The matches of a command line without defaults, for tests of these.
#[cfg(test)]
pub(crate) fn parse_plain(argv: &[OsString]) -> Result<(clap::Command, ArgMatches), clap::Error> {
    let argv = fingers::normalise(argv);
    try_parse(&argv).map(|(command, matches, _)| (command, matches))
}

/// The description of every command, built.
pub(crate) fn every_command() -> clap::Command {
    let mut root = <Cli as clap::CommandFactory>::command();
    root.build();
    root
}

fn try_parse(argv: &[OsString]) -> Result<(clap::Command, ArgMatches, Cli), clap::Error> {
    let mut command = asked(argv);
    let matches = command.try_get_matches_from_mut(argv);
    let matches = matches.map_err(|error| letters::explained(error, argv, &command))?;
    globs::refuse_lists(&matches, &mut command)?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    Ok((command, matches, cli))
}

/// The command line with the one command that it starts with, or with all of them.
fn asked(argv: &[OsString]) -> clap::Command {
    let name = argv.get(1).and_then(|word| word.to_str());
    match name.and_then(Command::alone) {
        Some(one) => Root::<NoCommand>::command().subcommand(one),
        None => Cli::command(),
    }
}

/// `perfkit help --help` is `perfkit help`: the parser takes what follows `help` for names of commands.
fn without_help_of_help(mut argv: Vec<OsString>) -> Vec<OsString> {
    if !argv.iter().any(|word| word == "help") {
        return argv;
    }
    let root = Cli::command();
    let mut command = &root;
    let mut at = 1;
    while let Some(word) = argv.get(at).and_then(|word| word.to_str()) {
        at += 1;
        if word == "--color" {
            at += 1;
        } else if word == "help" && command.has_subcommands() {
            let rest = argv.split_off(at);
            let asks = |word: &OsString| word == "--help" || word == "-h";
            argv.extend(rest.into_iter().filter(|word| !asks(word)));
            return argv;
        } else if !word.starts_with("--color=") {
            match command.find_subcommand(word) {
                Some(found) => command = found,
                None => break,
            }
        }
    }
    argv
}

/// The error of a command line that has words with control characters or words too long to repeat:
/// those words are shown escaped or shortened.
///
/// The parser repeats words unchanged, between its own colour codes, so they cannot be escaped
/// afterwards.
fn quotable(argv: &[OsString]) -> Option<String> {
    let words: Vec<_> = argv.iter().map(|word| word.to_string_lossy()).collect();
    let shown: Vec<_> = words.iter().map(|word| plain::message(word)).collect();
    if words == shown {
        return None;
    }
    let shown: Vec<_> = shown.iter().map(OsString::from).collect();
    Some(match try_parse(&shown) {
        Err(error) if error.use_stderr() => error.render().ansi().to_string(),
        _ => "error: an argument is too long, or contains control characters\n".to_owned(),
    })
}

fn exit_help() -> String {
    use std::fmt::Write as _;
    let mut text = String::from("Exit codes:\n");
    for status in ExitStatus::ALL {
        let _ = writeln!(text, "  {:>3}  {}", status.code(), status.meaning());
    }
    text.push_str(
        "\nTry `perfkit tour`, then `perfkit COMMAND --help`. hyperfine is a COMMAND, too.",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_of_help_is_help() {
        let asked = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            match parse(&words) {
                Err(Answer::Asked(text)) => text,
                other => panic!("{line}: {other:?}"),
            }
        };
        for (line, same) in [
            ("perfkit help --help", "perfkit help"),
            ("perfkit help -h", "perfkit help"),
            (
                "perfkit --color never help compress --help",
                "perfkit help compress",
            ),
            ("perfkit fix help --help", "perfkit fix help"),
            ("perfkit fix help store -h", "perfkit fix help store"),
        ] {
            assert_eq!(asked(line), asked(same), "{line}");
        }
        let compress = asked("perfkit compress help --help");
        assert!(compress.contains("Usage: perfkit compress") || compress.contains("compress"));
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_command_alone_is_the_same() {
        let all = every_command();
        let mut alone = 0;
        for command in all.get_subcommands() {
            let words = ["perfkit", command.get_name()].map(OsString::from);
            let mut root = asked(&words);
            if root.get_subcommands().count() > 1 {
                continue;
            }
            alone += 1;
            root.build();
            let found = root.find_subcommand_mut(command.get_name()).unwrap();
            let help = |command: &mut clap::Command| command.render_long_help().to_string();
            assert_eq!(help(found), help(&mut command.clone()));
            let line = |words: &[&str]| -> Vec<OsString> {
                let words = [&["perfkit", command.get_name()], words].concat();
                words.into_iter().map(OsString::from).collect()
            };
            for words in [
                &["--no-such-flag"][..],
                &["--help"],
                &["-h"],
                &["--version"],
                &["--color"],
            ] {
                let found = asked(&line(words)).try_get_matches_from(line(words));
                let expected = Cli::command().try_get_matches_from(line(words));
                let text = |error: clap::Error| error.render().to_string();
                assert_eq!(found.map_err(text).err(), expected.map_err(text).err());
            }
        }
        assert_eq!(alone, 9);
    }

    /// The lines of a help text that stand under `Examples:`.
    fn examples(command: &clap::Command) -> Vec<String> {
        let text = command.get_after_long_help().map(ToString::to_string);
        let text = text.unwrap_or_default();
        let lines = text.lines().skip_while(|line| *line != "Examples:").skip(1);
        lines
            .take_while(|line| line.starts_with("  "))
            .map(str::to_owned)
            .collect()
    }

    /// The words of the `perfkit` in a line of a shell.
    fn perfkit_words(line: &str) -> Vec<OsString> {
        let words = bench::programs::words(line).expect("a line of a shell");
        let words = words.into_iter().skip_while(|word| word != "perfkit");
        words
            .take_while(|word| !["|", ">", "&&"].contains(&word.as_str()))
            .map(OsString::from)
            .collect()
    }

    #[test]
    fn every_command_has_three_examples_that_parse() {
        let root = every_command();
        let commands: Vec<_> = root.get_subcommands().collect();
        let commands = commands.iter().filter(|c| c.get_name() != "help");
        for command in commands.copied().chain([&root]) {
            let lines = examples(command);
            assert!(lines.len() >= 3, "{}: {lines:?}", command.get_name());
            for line in lines {
                let words = perfkit_words(&line);
                let parsed = parse(&words).map(|cli| cli.command.name());
                let own = parsed
                    .as_ref()
                    .is_ok_and(|name| *name == command.get_name());
                assert!(
                    own || parsed.is_ok() && command.get_name() == "perfkit",
                    "{line}: {parsed:?}"
                );
            }
        }
    }

    #[test]
    fn every_command_takes_the_flags_of_the_terminal() {
        let root = every_command();
        let mut commands: Vec<_> = root.get_subcommands().collect();
        while let Some(command) = commands.pop() {
            if command.get_name() == "help" {
                continue;
            }
            if command.has_subcommands() {
                commands.extend(command.get_subcommands());
                continue;
            }
            for flag in ["quiet", "verbose", "progress", "no-progress"] {
                let takes = |argument: &clap::Arg| argument.get_long() == Some(flag);
                let name = command.get_bin_name().unwrap_or_default();
                assert!(command.get_arguments().any(takes), "{name} --{flag}");
            }
        }
    }

    #[test]
    fn short_help_fits_a_screen_and_long_help_says_more() {
        let mut root = Cli::command().term_width(80);
        root.build();
        let mut commands: Vec<_> = root.get_subcommands().cloned().collect();
        commands.retain(|command| command.get_name() != "help");
        commands.push(root);
        for mut command in commands {
            let name = command.get_name().to_owned();
            let short = command.render_help().to_string();
            // The list of all commands may be a little longer.
            let lines_max = if name == "perfkit" { 44 } else { 40 };
            assert!(short.lines().count() <= lines_max, "{name}:\n{short}");
            for line in short.lines() {
                assert!(line.chars().count() <= 80, "{name}: {line}");
            }
            let long = command.render_long_help().to_string();
            assert!(long.lines().count() > short.lines().count(), "{name}");
            let about = command.get_long_about().map(ToString::to_string);
            assert!(about.is_some_and(|text| text.lines().count() > 1), "{name}");
        }
    }

    #[test]
    fn words_that_a_terminal_would_obey_are_shown_in_mistakes() {
        let words = ["perfkit", "compress", "--a\u{1b}[31m\nb\u{202e}"].map(OsString::from);
        let Err(Answer::Mistake(text)) = parse(&words) else {
            panic!("it parses");
        };
        assert!(text.contains("--a\\u{1b}[31m\\nb\\u{202e}"), "{text}");
        assert!(!text.contains('\u{202e}'));
    }

    #[test]
    fn the_last_of_two_opposite_flags_wins() {
        let parse = |line: &str| {
            let argv: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            match parse(&argv).map(|cli| cli.command) {
                Ok(Command::Compress(args)) => args.plan().ok(),
                _ => None,
            }
        };
        let plan = |line| parse(line).unwrap_or_else(|| panic!("{line} does not parse"));
        assert!(
            !plan("perfkit compress --check --no-check f")
                .encoder
                .checksum
        );
        assert!(
            plan("perfkit compress --no-check --check f")
                .encoder
                .checksum
        );
        assert_eq!(plan("perfkit compress -1 -19 f").encoder.level, 19);
        assert_eq!(plan("perfkit compress -19 --fast=5 f").encoder.level, -5);
        assert_eq!(plan("perfkit compress --fast -7 f").encoder.level, 7);
        assert_eq!(plan("perfkit compress --ultra -22 f").encoder.level, 22);
        assert!(parse("perfkit compress -20 f").is_none());
        assert_eq!(
            plan("perfkit compress --long f").encoder.window_log,
            Some(27)
        );
        assert_eq!(
            plan("perfkit compress --long --no-long f")
                .encoder
                .window_log,
            None
        );
    }
}
