//! `-x A B` in `zip` and `unzip`: one pattern and a name here, two patterns to Info-ZIP's users. The
//! opposite of what they mean would happen to B, so it is refused.

use clap::error::ErrorKind;
use clap::{ArgMatches, Command};

/// The commands with their first name, their other names, and the flags that take one pattern.
const COMMANDS: [(&str, &str, &str, &[&str]); 2] = [
    ("zip", "output", "paths", &["exclude", "include"]),
    ("unzip", "input", "include", &["exclude"]),
];

/// Refuses a name that directly follows the pattern of a flag, unless the first name comes behind them: then
/// all names do.
pub(super) fn refuse_lists(matches: &ArgMatches, command: &mut Command) -> Result<(), clap::Error> {
    let Some((name, matches)) = matches.subcommand() else {
        return Ok(());
    };
    let Some((_, first, names, flags)) = COMMANDS.iter().find(|(own, ..)| *own == name) else {
        return Ok(());
    };
    let starts = matches.index_of(first).unwrap_or(usize::MAX);
    for flag in *flags {
        for (at, pattern) in placed(matches, flag) {
            let mut names = placed(matches, names);
            let follows = names.find(|(place, _)| *place == at + 1 && starts < at);
            if let Some((_, follows)) = follows {
                let letter = &flag[..1];
                let letter = if *flag == "exclude" { "x" } else { letter };
                return Err(command.error(
                    ErrorKind::ArgumentConflict,
                    format!(
                        "'{follows}' follows -{letter} '{pattern}', which takes one pattern: write -{letter} \
                         '{follows}' for a further pattern, or put '{follows}' before -{letter}"
                    ),
                ));
            }
        }
    }
    Ok(())
}

/// The values of an argument, with their places on the command line.
fn placed<'a>(matches: &'a ArgMatches, id: &str) -> impl Iterator<Item = (usize, String)> + 'a {
    let values = matches.get_raw(id).into_iter().flatten();
    let values = values.map(|value| value.to_string_lossy().into_owned());
    let places: Vec<usize> = matches.indices_of(id).into_iter().flatten().collect();
    places.into_iter().zip(values)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use crate::args::{Answer, parse};

    fn answer(line: &str) -> Option<String> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        match parse(&words) {
            Err(Answer::Mistake(text)) => Some(text),
            _ => None,
        }
    }

    #[test]
    fn a_name_after_a_pattern_is_refused_and_both_ways_to_say_it_are_not() {
        for line in [
            "zip -r out.zip src -x a.o b.o",
            "zip out.zip src -r -x a.o b.o -q",
            "zip -r out.zip -x a.o src",
            "zip out.zip src -xa.o b.o",
            "zip out.zip src --exclude=a.o b.o",
            "zip out.zip src -x a.o -i c.o d.o",
            "zip out.zip src -x a.o @",
            "zip --delete out.zip a -x b c",
            "unzip in.zip -x a b",
            "unzip in.zip src -qx a b",
        ] {
            let text = answer(&format!("perfkit {line}")).unwrap_or_default();
            assert!(text.contains("takes one pattern"), "{line}: {text}");
        }
        for line in [
            "zip -r out.zip src -x a.o -x b.o",
            "zip -x a.o -r out.zip src",
            "zip -x a.o out.zip src",
            "zip -r out.zip -x a.o -q src",
            "zip out.zip src -x a.o -i c.o",
            "unzip -x a in.zip b",
            "unzip in.zip b -x a",
        ] {
            assert_eq!(answer(&format!("perfkit {line}")), None, "{line}");
        }
    }
}
