//! From values to words of one command line, and from values to a table of them all.

use std::ffi::{OsStr, OsString};

use clap::builder::ArgAction;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches};
use toml::{Table, Value};

use super::{Config, PREFIX};

/// Flags without a default: they delete or replace files, say what to do, or name what it is done to. Each is typed
/// where it is meant.
const TYPED_ONLY: [&str; 36] = [
    "append",
    "delete",
    "dry-run",
    "encrypt",
    "export-csv",
    "export-hgrm",
    "export-hlog",
    "export-html",
    "export-json",
    "export-junit",
    "export-markdown",
    "filesync",
    "force",
    "freshen",
    "from-file",
    "help",
    "list",
    "merge",
    "move",
    "output",
    "overwrite",
    "patch-from",
    "patch-segment",
    "print",
    "range",
    "repair",
    "rm",
    "split",
    "stdout",
    "test",
    "to-stdout",
    "train",
    "trust",
    "unverified",
    "update",
    "version",
];

/// Variables with the prefix that are read elsewhere.
pub(crate) const RESERVED: [&str; 3] = ["CONFIG", "IO", "ISA"];

/// Variables that begin like those of a command, and set how much the tests of it do.
const OF_TESTS: [&str; 7] = [
    "BETREE_PAIRS",
    "BETREE_SEED",
    "FIX_HOSTILE_ONLY",
    "FIX_HOSTILE_SECONDS",
    "FIX_RUNS",
    "FIX_SEED",
    "FIX_TAKEOVERS",
];

/// A default that one command line takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Default {
    /// The flag, without dashes.
    pub(crate) flag: String,
    /// What is put in front of the words that were typed.
    pub(crate) words: Vec<OsString>,
    /// Where it is set.
    pub(crate) place: Place,
}

/// Where a default is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// In the environment, by this name.
    Variable(String),
    /// In the file, under this key with its tables: `fix.parse.threads`.
    Key(String),
}

/// Why a value cannot be a default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Where it is set.
    pub(crate) place: Place,
    /// What is wrong with it.
    pub(crate) reason: String,
    /// What to do.
    pub(crate) help: String,
}

/// The command that a parsed command line names: its description, what was typed for it, and its names.
pub(crate) struct Leaf<'a> {
    pub(crate) command: &'a clap::Command,
    pub(crate) matches: &'a ArgMatches,
    pub(crate) path: Vec<&'a str>,
}

impl<'a> Leaf<'a> {
    /// The innermost command of what was parsed.
    pub(crate) fn of(root: &'a clap::Command, matches: &'a ArgMatches) -> Self {
        let mut leaf = Self {
            command: root,
            matches,
            path: Vec::new(),
        };
        while let Some((name, matches)) = leaf.matches.subcommand() {
            let Some(command) = leaf.command.find_subcommand(name) else {
                break;
            };
            leaf.command = command;
            leaf.matches = matches;
            leaf.path.push(name);
        }
        leaf
    }

    fn was_typed(&self, arg: &Arg) -> bool {
        self.matches.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine)
    }

    /// Whether a flag was typed that this one cannot stand beside.
    fn is_excluded(&self, arg: &Arg) -> bool {
        let conflicts = self.command.get_arg_conflicts_with(arg);
        let one_way = conflicts.into_iter().any(|other| self.was_typed(other));
        // The parser keeps a conflict with the flag that states it.
        one_way
            || self.command.get_arguments().any(|other| {
                self.was_typed(other)
                    && self
                        .command
                        .get_arg_conflicts_with(other)
                        .iter()
                        .any(|stated| stated.get_id() == arg.get_id())
            })
    }
}

/// The defaults of one command line, in the order of the command's flags.
///
/// # Errors
///
/// A key of the command's own table or a variable of the command that names no flag of it, a flag that has no default,
/// and a value of the wrong kind. Whether the value is one that the flag takes, the parser says.
pub(crate) fn of(
    config: &Config,
    leaf: &Leaf<'_>,
    every_command: fn() -> clap::Command,
) -> Result<Vec<Default>, Refusal> {
    check_own_table(config, leaf)?;
    check_own_variables(config, leaf, every_command)?;
    let mut found = Vec::new();
    for arg in leaf.command.get_arguments() {
        let Some(flag) = arg.get_long().filter(|_| may_be_set(arg)) else {
            continue;
        };
        let Some((value, place)) = look_up(config, &leaf.path, flag) else {
            continue;
        };
        if leaf.was_typed(arg) || leaf.is_excluded(arg) {
            continue;
        }
        let negative = format!("no-{flag}");
        let negative = leaf
            .command
            .get_arguments()
            .any(|arg| arg.get_long() == Some(&negative));
        match words(arg, flag, &value, negative) {
            Ok(words) => found.push(Default {
                flag: flag.to_owned(),
                words,
                place,
            }),
            Err(reason) => {
                let help = format!("see `perfkit {} --help`", leaf.path.join(" "));
                return Err(Refusal {
                    place,
                    reason,
                    help,
                });
            }
        }
    }
    Ok(found)
}

/// Puts the words of defaults behind the names of the commands, where flags that were typed later win.
pub(crate) fn insert(argv: &[OsString], names: usize, defaults: &[Default]) -> Vec<OsString> {
    let mut at = 1;
    let mut left = names;
    while left > 0 && at < argv.len() {
        match argv[at].to_str() {
            Some("--color") => at += 1,
            Some(word) if word.starts_with('-') => {}
            _ => left -= 1,
        }
        at += 1;
    }
    let at = at.min(argv.len());
    let words = defaults.iter().flat_map(|one| one.words.iter().cloned());
    let mut out = argv[..at].to_vec();
    out.extend(words);
    out.extend_from_slice(&argv[at..]);
    out
}

/// A value as it was found.
#[derive(Debug, Clone, PartialEq)]
enum Found<'a> {
    Text(&'a OsStr),
    Value(&'a Value),
}

/// The value of a flag: of the environment before the file, of the innermost command first.
fn look_up<'a>(config: &'a Config, path: &[&str], flag: &str) -> Option<(Found<'a>, Place)> {
    for len in (0..=path.len()).rev() {
        let name = variable_of(&path[..len], flag);
        let value = config.variables.iter().find(|(known, _)| *known == name);
        if let Some((name, value)) = value {
            let place = Place::Variable(format!("{PREFIX}{name}"));
            return Some((Found::Text(value), place));
        }
    }
    let mut tables = vec![&config.file.as_ref()?.table];
    for name in path {
        match tables.last().and_then(|table| table.get(*name)) {
            Some(Value::Table(table)) => tables.push(table),
            _ => break,
        }
    }
    let (depth, value) = tables.iter().enumerate().rev().find_map(|(depth, table)| {
        let value = table.get(flag)?;
        // A table of the same name is about a command.
        (!value.is_table()).then_some((depth, value))
    })?;
    let key = key(&path[..depth], flag);
    Some((Found::Value(value), Place::Key(key)))
}

/// A command or a flag as variables name it.
fn variable(name: &str) -> String {
    name.replace('-', "_").to_ascii_uppercase()
}

/// The variable of a command's flag, without [`PREFIX`].
fn variable_of(path: &[&str], flag: &str) -> String {
    let words = path.iter().copied().chain([flag]);
    variable(&words.collect::<Vec<_>>().join("_"))
}

fn key(tables: &[&str], name: &str) -> String {
    tables
        .iter()
        .copied()
        .chain([name])
        .collect::<Vec<_>>()
        .join(".")
}

/// Whether a flag can have a default at all.
fn may_be_set(arg: &Arg) -> bool {
    arg.get_long()
        .is_some_and(|long| !TYPED_ONLY.contains(&long))
        && !arg.is_hide_set()
        && !arg.is_required_set()
}

/// Checks the keys of the table that is about just this command.
fn check_own_table(config: &Config, leaf: &Leaf<'_>) -> Result<(), Refusal> {
    let Some(file) = &config.file else {
        return Ok(());
    };
    let mut table = &file.table;
    for name in &leaf.path {
        match table.get(*name) {
            Some(Value::Table(inner)) => table = inner,
            _ => return Ok(()),
        }
    }
    check_table(table, &leaf.path, leaf.command)
}

fn check_table(table: &Table, path: &[&str], command: &clap::Command) -> Result<(), Refusal> {
    for (name, value) in table {
        if value.is_table() && command.find_subcommand(name).is_some() {
            continue;
        }
        let arg = command
            .get_arguments()
            .find(|arg| arg.get_long() == Some(name));
        if arg.is_some_and(may_be_set) && !value.is_table() {
            continue;
        }
        return Err(refusal(
            Place::Key(key(path, name)),
            path,
            name,
            arg.is_some(),
            command.get_arguments().filter(|arg| may_be_set(arg)),
        ));
    }
    Ok(())
}

/// Checks the variables that are about this command, or about one that it is a command of.
fn check_own_variables(
    config: &Config,
    leaf: &Leaf<'_>,
    every_command: fn() -> clap::Command,
) -> Result<(), Refusal> {
    let Some(first) = leaf.path.first() else {
        return Ok(());
    };
    let prefix = variable(first) + "_";
    let mut of_it = config
        .variables
        .iter()
        .filter(|(name, _)| name.starts_with(&prefix))
        .peekable();
    if of_it.peek().is_none() {
        return Ok(());
    }
    // The parsed command line may know only its own command, and `COMPRESS_BENCH_` is not of `compress`.
    let root = every_command();
    let commands = commands(&root);
    of_it.try_for_each(|(name, _)| match stray(&commands, name) {
        Some((path, refusal)) if leaf.path.starts_with(&path) && !path.is_empty() => Err(refusal),
        _ => Ok(()),
    })
}

/// A command with its names.
type Named<'a> = (Vec<&'a str>, &'a clap::Command);

/// A command and all below it.
fn commands(root: &clap::Command) -> Vec<Named<'_>> {
    let mut found = vec![(Vec::new(), root)];
    let mut at = 0;
    while let Some((path, command)) = found.get(at).cloned() {
        found.extend(command.get_subcommands().map(|inner| {
            let names = path.iter().copied().chain([inner.get_name()]);
            (names.collect(), inner)
        }));
        at += 1;
    }
    found
}

/// A variable that sets nothing, with the command that it begins with. `None` for one that sets a flag, and for one
/// that begins with no command and names no flag: many programs may have such.
fn stray<'a>(commands: &[Named<'a>], name: &str) -> Option<(Vec<&'a str>, Refusal)> {
    if OF_TESTS.contains(&name) {
        return None;
    }
    let mut owner: Option<(usize, &Named<'a>, &str, bool)> = None;
    for named @ (path, command) in commands {
        let prefix = variable_of(path, "");
        let Some(rest) = name.strip_prefix(&prefix) else {
            continue;
        };
        let mut args = Vec::new();
        arguments(command, &mut args);
        let mut of_name = args
            .into_iter()
            .filter(|arg| arg.get_long().is_some_and(|long| variable(long) == rest))
            .peekable();
        let is_flag = of_name.peek().is_some();
        if of_name.any(may_be_set) {
            return None;
        }
        let counts = is_flag || !path.is_empty();
        if counts && owner.is_none_or(|(len, ..)| prefix.len() >= len) {
            owner = Some((prefix.len(), named, rest, is_flag));
        }
    }
    let (len, (path, command), rest, is_flag) = owner?;
    let mut known = Vec::new();
    arguments(command, &mut known);
    let known = known.into_iter().filter(|arg| may_be_set(arg));
    let flag = rest.replace('_', "-").to_ascii_lowercase();
    let place = Place::Variable(format!("{PREFIX}{name}"));
    let mut refusal = refusal(place, path, &flag, is_flag, known);
    if let Some(long) = refusal.help.strip_prefix(SIMILAR) {
        let similar = variable(long);
        refusal.help = format!("{SIMILAR}{PREFIX}{}{similar}", &name[..len]);
    }
    Some((path.clone(), refusal))
}

/// What the help of a mistyped name begins with.
const SIMILAR: &str = "a similar one is ";

fn refusal<'a>(
    place: Place,
    path: &[&str],
    name: &str,
    is_flag: bool,
    known: impl Iterator<Item = &'a Arg>,
) -> Refusal {
    let remove = match place {
        Place::Key(_) => "remove the line",
        Place::Variable(_) => "unset it",
    };
    let command = match path {
        [] => "any command".to_owned(),
        path => format!("`perfkit {}`", path.join(" ")),
    };
    if is_flag {
        return Refusal {
            place,
            reason: format!("--{name} has no default: it deletes, replaces, or says what to do"),
            help: format!("{remove}, and type the flag where it is meant"),
        };
    }
    let near = known
        .filter_map(Arg::get_long)
        .map(|long| (strsim::damerau_levenshtein(long, name), long))
        .min()
        .filter(|(distance, _)| *distance <= 2);
    Refusal {
        place,
        reason: format!("{command} has no flag --{name}"),
        help: match near {
            Some((_, long)) => format!("{SIMILAR}{long}"),
            None => format!("{remove}; `--help` lists the flags"),
        },
    }
}

/// Checks a whole file and the environment against all commands: each table names a command, and each key a flag of it
/// or of a command below it; and so does each variable that begins with a command.
///
/// # Errors
///
/// The first key or variable that names nothing.
pub(crate) fn check(config: &Config, root: &clap::Command) -> Result<(), Refusal> {
    if let Some(file) = &config.file {
        check_below(&file.table, &mut Vec::new(), root)?;
    }
    let commands = commands(root);
    let mut names = config.variables.iter().map(|(name, _)| name);
    match names.find_map(|name| stray(&commands, name)) {
        Some((_, refusal)) => Err(refusal),
        None => Ok(()),
    }
}

/// Whether a variable that [`check`] lets pass is a default of some flag.
pub(crate) fn is_default(name: &str, root: &clap::Command) -> bool {
    let name = name.strip_prefix(PREFIX).unwrap_or(name);
    commands(root).iter().any(|(path, command)| {
        command.get_arguments().any(|arg| {
            let flag = arg.get_long().unwrap_or_default();
            may_be_set(arg) && (0..=path.len()).any(|len| variable_of(&path[..len], flag) == name)
        })
    })
}

fn check_below<'a>(
    table: &'a Table,
    path: &mut Vec<&'a str>,
    command: &clap::Command,
) -> Result<(), Refusal> {
    let mut args = Vec::new();
    arguments(command, &mut args);
    for (name, value) in table {
        let inner = command.find_subcommand(name);
        match (value, inner) {
            (Value::Table(inner_table), Some(inner)) => {
                path.push(name);
                check_below(inner_table, path, inner)?;
                path.pop();
            }
            (value, _) => {
                let mut named = args.iter().filter(|arg| arg.get_long() == Some(name));
                let is_flag = named.clone().next().is_some();
                if value.is_table() || !named.any(|arg| may_be_set(arg)) {
                    let known = args.iter().copied().filter(|arg| may_be_set(arg));
                    let place = Place::Key(key(path, name));
                    return Err(refusal(place, path, name, is_flag, known));
                }
            }
        }
    }
    Ok(())
}

fn arguments<'a>(command: &'a clap::Command, into: &mut Vec<&'a Arg>) {
    into.extend(command.get_arguments());
    for inner in command.get_subcommands() {
        arguments(inner, into);
    }
}

/// All that a file and the environment set, as key, value and place, for people.
pub(crate) fn all(config: &Config) -> Vec<(String, String, Place)> {
    let variables = config.variables.iter().map(|(name, value)| {
        let name = format!("{PREFIX}{name}");
        let value = value.to_string_lossy().into_owned();
        (name.clone(), value, Place::Variable(name))
    });
    let mut out: Vec<_> = variables.collect();
    if let Some(file) = &config.file {
        flatten(&file.table, "", &mut out);
    }
    out
}

fn flatten(table: &Table, prefix: &str, out: &mut Vec<(String, String, Place)>) {
    for (name, value) in table {
        let key = match prefix {
            "" => name.clone(),
            prefix => format!("{prefix}.{name}"),
        };
        match value {
            Value::Table(inner) => flatten(inner, &key, out),
            value => out.push((key.clone(), value.to_string(), Place::Key(key))),
        }
    }
}

/// The words of one flag with this value.
fn words(
    arg: &Arg,
    flag: &str,
    value: &Found<'_>,
    negative: bool,
) -> Result<Vec<OsString>, String> {
    let alone = || OsString::from(format!("--{flag}"));
    match arg.get_action() {
        ArgAction::SetTrue => Ok(match (switch(value)?, negative) {
            (true, _) => vec![alone()],
            (false, true) => vec![OsString::from(format!("--no-{flag}"))],
            (false, false) => Vec::new(),
        }),
        ArgAction::Count => Ok(vec![alone(); usize::from(count(value)?)]),
        _ => {
            let optional = arg
                .get_num_args()
                .is_some_and(|range| range.min_values() == 0);
            if let (true, Found::Value(Value::Boolean(is))) = (optional, value) {
                return Ok(if *is { vec![alone()] } else { Vec::new() });
            }
            let values = texts(value)?;
            if values.len() > 1 && !matches!(arg.get_action(), ArgAction::Append) {
                return Err("it takes one value, not a list".to_owned());
            }
            let with = |text: OsString| {
                let mut word = OsString::from(format!("--{flag}="));
                word.push(text);
                word
            };
            Ok(values.into_iter().map(with).collect())
        }
    }
}

fn switch(value: &Found<'_>) -> Result<bool, String> {
    match value {
        Found::Value(Value::Boolean(is)) => Ok(*is),
        Found::Value(value) => Err(format!("it is true or false, not {value}")),
        Found::Text(text) => match text.to_str() {
            Some("1" | "true" | "yes" | "on") => Ok(true),
            Some("" | "0" | "false" | "no" | "off") => Ok(false),
            _ => Err(format!("it is true or false, not '{}'", text.display())),
        },
    }
}

fn count(value: &Found<'_>) -> Result<u8, String> {
    /// More than any flag that is counted means something for.
    const MOST: u8 = 9;
    let number = match value {
        Found::Value(Value::Boolean(is)) => Some(u8::from(*is)),
        Found::Value(Value::Integer(number)) => u8::try_from(*number).ok(),
        Found::Value(_) => None,
        Found::Text(text) => text.to_str().and_then(|text| text.parse().ok()),
    };
    number
        .filter(|number| *number <= MOST)
        .ok_or_else(|| format!("it is how often the flag is given, 0 to {MOST}"))
}

fn texts(value: &Found<'_>) -> Result<Vec<OsString>, String> {
    match value {
        Found::Text(text) => Ok(vec![(*text).to_owned()]),
        Found::Value(Value::Array(values)) => values.iter().map(text).collect(),
        Found::Value(value) => Ok(vec![text(value)?]),
    }
}

fn text(value: &Value) -> Result<OsString, String> {
    match value {
        Value::String(text) => Ok(text.into()),
        Value::Integer(number) => Ok(number.to_string().into()),
        Value::Float(number) => Ok(number.to_string().into()),
        Value::Boolean(_) => Err("it takes a value, not true or false".to_owned()),
        other => Err(format!("it takes a text or a number, not {other}")),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::ConfigFile;
    use super::*;
    use crate::args::{every_command, parse_plain};

    fn config(text: &str, variables: &[(&str, &str)]) -> Config {
        Config {
            file: Some(ConfigFile {
                path: PathBuf::from("config.toml"),
                table: text.parse().expect("TOML"),
            }),
            variables: variables
                .iter()
                .map(|(name, value)| ((*name).to_owned(), OsString::from(value)))
                .collect(),
        }
    }

    fn with(text: &str, variables: &[(&str, &str)], line: &str) -> Result<String, Refusal> {
        let argv: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let (command, matches) = parse_plain(&argv).expect("a valid command line");
        let leaf = Leaf::of(&command, &matches);
        let defaults = of(&config(text, variables), &leaf, every_command)?;
        let words = insert(&argv, leaf.path.len(), &defaults);
        let words: Vec<_> = words.iter().map(|word| word.to_string_lossy()).collect();
        Ok(words.join(" "))
    }

    #[test]
    fn values_become_words_in_front_of_what_was_typed() {
        let text = "threads = 2\n[compress]\nlevel = 5\ncheck = false\nquiet = 2\n\
                    [fix]\nthreads = 3\n[fix.parse]\nseparator = \"|\"";
        let cases = [
            (
                "perfkit compress a",
                "perfkit compress --level=5 --threads=2 --no-check --quiet --quiet a",
            ),
            // The innermost table wins, and what a command lacks is left out.
            (
                "perfkit --color never fix parse a",
                "perfkit --color never fix parse --separator=| --threads=3 a",
            ),
            ("perfkit explain p99", "perfkit explain p99"),
            // What was typed wins.
            (
                "perfkit compress -vqT4 --level=1 a",
                "perfkit compress --no-check -vqT4 --level=1 a",
            ),
        ];
        for (line, expected) in cases {
            let mut words: Vec<_> = with(text, &[], line)
                .expect(line)
                .split(' ')
                .map(str::to_owned)
                .collect();
            let mut expected: Vec<_> = expected.split(' ').map(str::to_owned).collect();
            // In the order of the command's flags, whatever that is.
            words.sort();
            expected.sort();
            assert_eq!(words, expected, "{line}");
        }
    }

    #[test]
    fn the_environment_wins_over_the_file_and_the_command_over_all() {
        let text = "[compress]\nlevel = 5";
        let line = "perfkit compress a";
        let level = |variables: &[(&str, &str)]| with(text, variables, line).expect("valid");
        assert_eq!(level(&[]), "perfkit compress --level=5 a");
        assert_eq!(level(&[("LEVEL", "7")]), "perfkit compress --level=7 a");
        let both = [("COMPRESS_LEVEL", "9"), ("LEVEL", "7")];
        assert_eq!(level(&both), "perfkit compress --level=9 a");
        let typed = with(text, &both, "perfkit compress --level=1 a");
        assert_eq!(typed.expect("valid"), "perfkit compress --level=1 a");
    }

    #[test]
    fn what_cannot_stand_beside_a_typed_flag_is_left_out() {
        let text = "[decompress]\nquiet = 1";
        let line = "perfkit decompress --list --json a";
        let words = with(text, &[], line).expect("valid");
        let argv: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        assert!(parse_plain(&argv).is_ok(), "{words}");
    }

    #[test]
    fn what_is_no_default_is_refused_with_its_key() {
        let refused = |text: &str, line: &str| with(text, &[], line).expect_err(text);
        let line = "perfkit compress a";
        let one = refused("[compress]\nlevle = 3", line);
        assert_eq!(one.place, Place::Key("compress.levle".to_owned()));
        assert_eq!(one.help, "a similar one is level");
        for flag in ["rm", "force", "output"] {
            let one = refused(&format!("[compress]\n{flag} = true"), line);
            assert!(one.reason.contains("has no default"), "{one:?}");
        }
        for (value, reason) in [
            ("check = 1", "true or false"),
            ("quiet = -1", "0 to 9"),
            ("level = true", "takes a value"),
            ("level = [1, 2]", "not a list"),
            ("level = 1979-05-27", "a text or a number"),
        ] {
            let one = refused(&format!("[compress]\n{value}"), line);
            assert!(one.reason.contains(reason), "{value}: {one:?}");
        }
    }

    #[test]
    fn a_whole_file_is_checked_against_all_commands() {
        let check = |text: &str| check(&config(text, &[]), &every_command());
        assert_eq!(check(""), Ok(()));
        assert_eq!(
            check("threads = 2\n[fix]\nseparator = '|'\n[fix.parse]\nlimit = 3"),
            Ok(())
        );
        for (text, key) in [
            ("thraeds = 2", "thraeds"),
            ("[comprss]\nlevel = 3", "comprss"),
            ("[fix.prase]\nlimit = 3", "fix.prase"),
            ("force = true", "force"),
            ("[zip]\nsnapshot = 'a'", "zip.snapshot"),
        ] {
            let refused = check(text).expect_err(text);
            assert_eq!(refused.place, Place::Key(key.to_owned()));
        }
    }

    #[test]
    fn a_variable_of_a_command_that_names_no_flag_is_refused() {
        for (name, line, help) in [
            (
                "COMPARE_SLOO",
                "perfkit compare a b",
                "a similar one is PERFKIT_COMPARE_SLO",
            ),
            (
                "FIX_PARSE_SEPERATOR",
                "perfkit fix parse a",
                "a similar one is PERFKIT_FIX_PARSE_SEPARATOR",
            ),
            (
                "FIX_THRAEDS",
                "perfkit fix parse a",
                "a similar one is PERFKIT_FIX_THREADS",
            ),
            (
                "COMPRESS_FORCE",
                "perfkit compress a",
                "unset it, and type the flag where it is meant",
            ),
            (
                "COMPRESS_QQQQQQ",
                "perfkit compress a",
                "unset it; `--help` lists the flags",
            ),
        ] {
            let refused = with("", &[(name, "1")], line).expect_err(name);
            assert_eq!(refused.place, Place::Variable(format!("PERFKIT_{name}")));
            assert_eq!(refused.help, help);
            let everywhere = check(&config("", &[(name, "1")]), &every_command()).expect_err(name);
            assert_eq!(everywhere, refused);
            // It is not of this command.
            assert_eq!(
                with("", &[(name, "1")], "perfkit explain p99").as_deref(),
                Ok("perfkit explain p99")
            );
        }
    }

    #[test]
    fn a_variable_that_may_be_of_something_else_is_let_pass() {
        let others = [
            ("COMPRESS_BENCH_LEVEL", "1"),
            ("BUILT", "1"),
            ("KAFKA", "/opt"),
            ("FUZZ_SECONDS", "1"),
            ("OBJECTS", "1"),
        ];
        let tests = OF_TESTS.map(|name| (name, "1"));
        let all: Vec<_> = others.into_iter().chain(tests).collect();
        assert_eq!(check(&config("", &all), &every_command()), Ok(()));
        let line = "perfkit compress a";
        assert_eq!(with("", &all, line).as_deref(), Ok(line));
        let root = every_command();
        assert!(is_default("PERFKIT_FIX_PARSE_SEPARATOR", &root));
        assert!(is_default("PERFKIT_FIX_SEPARATOR", &root));
        assert!(is_default("PERFKIT_SEPARATOR", &root));
        assert!(!is_default("PERFKIT_SLOO", &root));
    }

    #[test]
    fn flags_without_a_default_are_flags() {
        let root = every_command();
        let mut args = Vec::new();
        arguments(&root, &mut args);
        for flag in TYPED_ONLY {
            let known = args.iter().any(|arg| {
                arg.get_long() == Some(flag)
                    || arg
                        .get_all_aliases()
                        .is_some_and(|aliases| aliases.contains(&flag))
            });
            assert!(known, "no command has --{flag}");
        }
    }
}
