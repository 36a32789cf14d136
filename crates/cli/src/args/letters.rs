//! Letters that stand for a flag of one command and not for that of another: a letter means one thing in all of perfkit's own
//! commands. Under the names of other programs, their letters count.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};

/// Letters that other programs have, and the flag that a command has instead. Each of them means something harmless in other
/// commands here, and would delete or replace something in this one.
const INSTEAD: [(&str, &str, &str); 3] = [
    ("zip", "-d", "--delete deletes entries"),
    (
        "zip",
        "-f",
        "--freshen replaces older entries, --force overwrites the archive",
    ),
    (
        "unzip",
        "-o",
        "--overwrite replaces files, --directory says where to extract",
    ),
];

/// An error of the parser, with what it does not know: the flag or the command that is meant.
pub(super) fn explained(
    error: clap::Error,
    argv: &[OsString],
    root: &clap::Command,
) -> clap::Error {
    match error.kind() {
        ErrorKind::UnknownArgument => with_flag(error, argv),
        ErrorKind::InvalidValue => with_command(error, ContextKind::InvalidValue, argv, root),
        // The parser lists all that are like it, the nearest last, and for a short word often none.
        ErrorKind::InvalidSubcommand => {
            with_command(error, ContextKind::InvalidSubcommand, argv, root)
        }
        _ => error,
    }
}

/// Says which flag is meant by a letter that a command does not take.
fn with_flag(mut error: clap::Error, argv: &[OsString]) -> clap::Error {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let is_named = |word: &&OsString| INSTEAD.iter().any(|(own, ..)| word.as_os_str() == *own);
    let command = argv.iter().skip(1).find(is_named);
    let meant = INSTEAD
        .iter()
        .find(|(own, letter, _)| command.is_some_and(|command| command == own) && letter == typed);
    if let Some((_, _, flag)) = meant {
        let hint = ContextValue::StyledStrs(vec![(*flag).into()]);
        error.insert(ContextKind::Suggested, hint);
    }
    error
}

/// Says which command is meant by a word that the command above it does not know, or takes for a value of its own.
fn with_command(
    mut error: clap::Error,
    word: ContextKind,
    argv: &[OsString],
    root: &clap::Command,
) -> clap::Error {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let Some(typed) = context(word) else {
        return error;
    };
    // The value of a flag is no command.
    if context(ContextKind::InvalidArg).is_some_and(|place| place.starts_with('-')) {
        return error;
    }
    let mut command = root;
    for word in argv.iter().skip(1).filter_map(|word| word.to_str()) {
        command = command.find_subcommand(word).unwrap_or(command);
    }
    let names = command.get_subcommands().map(clap::Command::get_name);
    let near = names.map(|name| (strsim::damerau_levenshtein(name, typed), name));
    let near: Vec<_> = near
        .filter(|(distance, name)| distance * 2 < name.len())
        .collect();
    if let Some(least) = near.iter().map(|(distance, _)| *distance).min() {
        let nearest = near.iter().filter(|(distance, _)| *distance == least);
        let names = nearest.map(|(_, name)| (*name).to_owned()).collect();
        error.insert(
            ContextKind::SuggestedSubcommand,
            ContextValue::Strings(names),
        );
    }
    error
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::super::{Answer, every_command, parse};
    use super::*;

    /// Letters that a command takes and does not show, for those who know another program: harmless where they mean something
    /// else in other commands.
    const KEPT: [(&str, char, &str); 10] = [
        ("advise", 'd', "duration"),
        ("advise", 'r', "recipe"),
        ("compare", 'i', "ignore-failure"),
        ("compress", 'B', "job-size"),
        ("compress-bench", 'b', "(none)"),
        ("compress-bench", 'e', "(none)"),
        ("compress-bench", 'i', "duration"),
        ("stress", 'd', "duration"),
        ("unzip", 'Z', "(none)"),
        ("zip", 'D', "no-dir-entries"),
    ];

    /// Commands that write files or lines and measure nothing, and `rerun`, whose report is that of the command that it runs.
    const NO_REPORT: [&str; 11] = [
        "betree build",
        "betree explain",
        "betree generate",
        "completions",
        "explain",
        "fix generate",
        "fix settings keys",
        "fix store export",
        "fix store import",
        "man",
        "rerun",
    ];

    /// Long flags whose value is a number in some commands and a file in others: how much to generate, and what to read
    /// instead.
    const GENERATED_OR_READ: [&str; 3] = ["events", "expressions", "messages"];

    /// What values of this name are.
    fn sort(value: &str) -> &str {
        match value {
            "FILE" | "DIR" | "SNAP" | "DICT" => "a path",
            "ADDRESS" | "HOST:PORT" | "ADDR:PORT" | "WHERE" => "an address",
            "N" | "LIST" | "N[-M]" | "N[%]" | "RATE" => "a number",
            "FORMAT" | "FORM" | "ENGINE" | "NAME" | "TEXT" | "NAME,…" | "STATE,…" | "WHAT,…" => {
                "a name"
            }
            other => other,
        }
    }

    /// Every command that does something, with the words that call it.
    fn leaves() -> Vec<(String, clap::Command)> {
        let root = every_command();
        let mut open = vec![(String::new(), root)];
        let mut found = Vec::new();
        while let Some((words, command)) = open.pop() {
            let own = command.get_subcommands();
            let own: Vec<_> = own.filter(|own| own.get_name() != "help").collect();
            let calls = own.is_empty() || !command.is_subcommand_required_set();
            for below in &own {
                let words = format!("{words} {}", below.get_name());
                open.push((words.trim().to_owned(), (*below).clone()));
            }
            if calls && !words.is_empty() {
                found.push((words, command));
            }
        }
        found.sort_by(|(left, _), (right, _)| left.cmp(right));
        found
    }

    #[test]
    fn a_letter_means_one_flag_in_all_commands() {
        let mut shown: BTreeMap<char, BTreeMap<String, Vec<String>>> = BTreeMap::new();
        let mut kept = BTreeSet::new();
        for (words, command) in leaves() {
            for argument in command.get_arguments() {
                let long = argument.get_long().unwrap_or("(none)");
                let letter = argument.get_short();
                let is_shown = !argument.is_hide_set();
                if let Some(letter) = letter.filter(|_| is_shown) {
                    let commands = shown.entry(letter).or_default();
                    commands
                        .entry(long.to_owned())
                        .or_default()
                        .push(words.clone());
                }
                let hidden = letter.filter(|_| !is_shown).into_iter();
                let aliases = argument.get_all_short_aliases().unwrap_or_default();
                for letter in hidden.chain(aliases) {
                    kept.insert((words.clone(), letter, long.to_owned()));
                }
            }
        }
        shown.retain(|_, flags| flags.len() > 1 || flags.contains_key("(none)"));
        assert!(shown.is_empty(), "{shown:#?}");
        let expected =
            KEPT.map(|(words, letter, long)| (words.to_owned(), letter, long.to_owned()));
        assert_eq!(kept, BTreeSet::from(expected));
    }

    #[test]
    fn a_long_flag_takes_values_of_one_sort_in_all_commands() {
        let mut shown: BTreeMap<String, BTreeMap<String, Vec<String>>> = BTreeMap::new();
        for (words, command) in leaves() {
            for argument in command.get_arguments() {
                let takes = argument.get_action().takes_values() && !argument.is_hide_set();
                let Some(long) = argument.get_long().filter(|_| takes) else {
                    continue;
                };
                let names = argument.get_value_names().unwrap_or_default();
                let sorts: Vec<&str> = names.iter().map(|name| sort(name)).collect();
                let commands = shown.entry(long.to_owned()).or_default();
                let commands = commands.entry(sorts.join(" ")).or_default();
                commands.push(words.clone());
            }
        }
        shown.retain(|_, sorts| sorts.len() > 1);
        for long in GENERATED_OR_READ {
            assert!(shown.remove(long).is_some(), "{long}");
        }
        assert!(shown.is_empty(), "{shown:#?}");
    }

    #[test]
    fn every_command_reports_as_json() {
        let mut without = Vec::new();
        for (words, command) in leaves() {
            let report = command
                .get_arguments()
                .find(|argument| argument.get_long() == Some("report"));
            let values = report.map(clap::Arg::get_possible_values);
            if !values.is_some_and(|values| values.iter().any(|value| value.matches("json", false)))
            {
                without.push(words);
            }
        }
        assert_eq!(without, NO_REPORT);
    }

    /// The words of a text, whatever stands between them.
    fn names(text: &str) -> Vec<&str> {
        let apart = |letter: char| !(letter.is_alphanumeric() || "-_.:<>=".contains(letter));
        let words = text.split(apart);
        words.map(|word| word.trim_matches(['.', ':'])).collect()
    }

    #[test]
    fn values_that_help_does_not_list_are_in_its_text() {
        let mut wrong = Vec::new();
        for (words, command) in leaves() {
            for argument in command.get_arguments() {
                if !argument.is_hide_possible_values_set() || argument.is_hide_set() {
                    continue;
                }
                let help = argument.get_long_help().or(argument.get_help());
                let mut text = help.map(ToString::to_string).unwrap_or_default();
                for name in argument.get_value_names().unwrap_or_default() {
                    text.push(' ');
                    text.push_str(name);
                }
                let said = names(&text);
                for value in argument.get_possible_values() {
                    let is_said = value
                        .get_name_and_aliases()
                        .any(|name| said.contains(&name));
                    if !is_said && !value.is_hide_set() {
                        let long = argument.get_id();
                        wrong.push(format!("{words:?} {long}: {}", value.get_name()));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    fn mistake(line: &str) -> String {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        match parse(&words) {
            Err(Answer::Mistake(text)) => text,
            other => panic!("{line}: {other:?}"),
        }
    }

    /// The text without the parser's colours.
    fn plain(text: &str) -> String {
        anstream::adapter::strip_str(text).to_string()
    }

    #[test]
    fn a_letter_that_is_not_taken_names_the_flag() {
        for (line, hint) in [
            ("perfkit zip -d a.zip b", "tip: --delete deletes entries"),
            ("perfkit zip -rf a.zip b", "tip: --freshen replaces older"),
            ("perfkit zip -9d a.zip b", "tip: --delete deletes entries"),
            ("perfkit unzip -o a.zip", "tip: --overwrite replaces files"),
        ] {
            let text = plain(&mistake(line));
            assert!(text.contains(hint), "{line}: {text}");
        }
    }

    #[test]
    fn a_command_with_two_letters_in_turn_is_found_wherever_it_stands() {
        for (words, command) in leaves() {
            let name = command.get_name();
            let above = words.strip_suffix(name).unwrap_or_default().trim();
            // The last two letters in turn.
            let mut typed: Vec<char> = name.chars().collect();
            let last = typed.len() - 1;
            if typed[last] == typed[last - 1] || name == "zip" {
                continue;
            }
            typed.swap(last, last - 1);
            let typed: String = typed.into_iter().collect();
            let line = format!("perfkit {above} {typed}").replace("  ", " ");
            let text = plain(&mistake(&line));
            assert!(text.contains(&format!("'{name}'")), "{line}: {text}");
        }
    }

    #[test]
    fn only_the_nearest_commands_are_named() {
        for (line, nearest) in [
            ("perfkit compres", "'compress'"),
            ("perfkit betree machv", "'match'"),
        ] {
            let text = plain(&mistake(line));
            // The word, the command and `--help`, each between two of them.
            assert_eq!(text.matches('\'').count(), 6, "{text}");
            assert!(text.contains(nearest), "{text}");
        }
    }
}
