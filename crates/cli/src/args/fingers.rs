//! Spellings that zstd users type and the argument parser does not know: `-19`, `-qf3`, `-19T0`.
//!
//! Arguments are rewritten before parsing (`-19T0` becomes `--level=19 --threads=0`), so that every
//! later stage sees one spelling. Arguments after `--` are data and stay unchanged.

use std::ffi::OsString;

use crate::args::Color;
use crate::args::limit;

/// Subcommands whose numeric flags are compression levels, each with those of its short flags that
/// take no value and can therefore share an argument with a level.
const WITH_LEVELS: [(&str, &str); 2] = [("compress", "cfkqrvC"), ("zip", "defjmqruvzDX")];

/// Rewrites clusters of levels, thread counts and letters where the subcommand has levels.
pub(crate) fn normalise(argv: &[OsString]) -> Vec<OsString> {
    let mut out = Vec::with_capacity(argv.len() + 1);
    let mut bare_flags = None;
    let mut seen_command = false;
    let mut only_data = false;
    for (index, word) in argv.iter().enumerate() {
        let text = word.to_str();
        let after = |flag: &str| index > 0 && argv[index - 1] == flag;
        // `--color` is the one flag before the command whose value is a word of its own.
        let command = index > 0 && !seen_command && !after("--color");
        if command && text.is_some_and(|t| !t.starts_with('-')) {
            seen_command = true;
            let known = WITH_LEVELS.iter().find(|(name, _)| text == Some(name));
            bare_flags = known.map(|(_, flags)| *flags);
        }
        only_data |= text == Some("--");
        // `--level` is the one flag whose value may look like a cluster.
        let cluster = bare_flags.filter(|_| !only_data && !after("--level"));
        match cluster
            .zip(text)
            .and_then(|(flags, text)| split(text, flags))
        {
            Some(words) => out.extend(words.into_iter().map(OsString::from)),
            None => out.push(word.clone()),
        }
    }
    with_percentage(out)
}

/// Joins `--fail-on-regression` and a limit that follows it as a word of its own. The flag may also
/// stand alone, so the parser takes a value only behind `=`.
fn with_percentage(words: Vec<OsString>) -> Vec<OsString> {
    const FLAG: &str = "--fail-on-regression";
    let mut out: Vec<OsString> = Vec::with_capacity(words.len());
    let mut only_data = false;
    for word in words {
        only_data |= word == "--";
        let limit = !only_data && word.to_str().is_some_and(limit::is_meant);
        match out.last_mut().filter(|last| *last == FLAG) {
            Some(last) if limit => {
                last.push("=");
                last.push(word);
            }
            _ => out.push(word),
        }
    }
    out
}

/// The last `--color` that makes sense, for what is printed before or instead of parsing.
pub(crate) fn color(argv: &[OsString]) -> Color {
    let words = argv.iter().map(|word| word.to_str().unwrap_or_default());
    let mut chosen = Color::Auto;
    let mut value_follows = false;
    for word in words.take_while(|word| *word != "--") {
        let value = match word.strip_prefix("--color=") {
            Some(value) => Some(value),
            None => value_follows.then_some(word),
        };
        chosen = match value {
            Some("auto") => Color::Auto,
            Some("always") => Color::Always,
            Some("never") => Color::Never,
            _ => chosen,
        };
        value_follows = word == "--color";
    }
    chosen
}

/// Takes a cluster apart as the zstd command reads it: digits are a level, `T` and `B` take the
/// number behind them, `o` and `D` may end the word and take the next one, unless the subcommand has
/// them among its `bare_flags`. `None` for any other word.
fn split(word: &str, bare_flags: &str) -> Option<Vec<String>> {
    let mut rest = word.strip_prefix('-')?;
    let mut words = Vec::new();
    let mut letters = String::new();
    let mut last = None;
    while let Some(letter) = rest.chars().next() {
        if letter.is_ascii_digit() {
            words.push(format!("--level={}", digits(&mut rest)));
            continue;
        }
        rest = &rest[letter.len_utf8()..];
        match letter {
            'T' if rest.starts_with(|c: char| c.is_ascii_digit()) => {
                words.push(format!("--threads={}", digits(&mut rest)));
            }
            'B' if rest.starts_with(|c: char| c.is_ascii_digit()) => {
                words.push(format!(
                    "--job-size={}{}",
                    digits(&mut rest),
                    unit(&mut rest)
                ));
            }
            _ if bare_flags.contains(letter) => letters.push(letter),
            'o' | 'D' | 'T' | 'B' if rest.is_empty() => last = Some(letter),
            _ => return None,
        }
    }
    if words.is_empty() {
        // The parser reads letters alone well enough.
        return None;
    }
    if !letters.is_empty() {
        words.push(format!("-{letters}"));
    }
    words.extend(last.map(|letter| format!("-{letter}")));
    Some(words)
}

/// The unit of a size that `rest` starts with, taken off it.
fn unit<'a>(rest: &mut &'a str) -> &'a str {
    let found = ["KiB", "KB", "K", "MiB", "MB", "M"]
        .into_iter()
        .find(|unit| rest.starts_with(unit));
    let (unit, after) = rest.split_at(found.map_or(0, str::len));
    *rest = after;
    unit
}

/// The digits that `rest` starts with, taken off it.
fn digits<'a>(rest: &mut &'a str) -> &'a str {
    let end = rest.find(|c: char| !c.is_ascii_digit());
    let (digits, after) = rest.split_at(end.unwrap_or(rest.len()));
    *rest = after;
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rewrite(line: &str) -> String {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let words = normalise(&words);
        words
            .iter()
            .map(|w| w.to_str().unwrap_or("?"))
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn levels_are_rewritten_only_where_they_are_levels() {
        for (typed, read) in [
            ("compress -19 f", "compress --level=19 f"),
            ("compress -3kf f", "compress --level=3 -kf f"),
            ("compress -qf3k f", "compress --level=3 -qfk f"),
            ("-q compress -1 -", "-q compress --level=1 -"),
            ("compress -- -19", "compress -- -19"),
            ("decompress -19", "decompress -19"),
            ("zip -r9 out in", "zip --level=9 -r out in"),
            ("zip -9XD out in", "zip --level=9 -XD out in"),
            ("zip -0T2 out in", "zip --level=0 --threads=2 out in"),
            ("zip -9c out in", "zip -9c out in"),
            ("compress --fast=3 -", "compress --fast=3 -"),
            ("compress --level -5 f", "compress --level -5 f"),
            (
                "--color always compress -5",
                "--color always compress --level=5",
            ),
        ] {
            assert_eq!(
                rewrite(&format!("perfkit {typed}")),
                format!("perfkit {read}")
            );
        }
    }

    #[test]
    fn clusters_with_threads_read_as_the_zstd_command_reads_them() {
        for (typed, read) in [
            ("-19T0", "--level=19 --threads=0"),
            ("-3T2", "--level=3 --threads=2"),
            ("-T0", "--threads=0"),
            ("-T2k19f", "--threads=2 --level=19 -kf"),
            ("-vf19", "--level=19 -vf"),
            ("-1f9", "--level=1 --level=9 -f"),
            ("-19fo x", "--level=19 -f -o x"),
            ("-19T 2", "--level=19 -T 2"),
            ("-B4MT2f", "--job-size=4M --threads=2 -f"),
            ("-B65536", "--job-size=65536"),
            ("-19fD dict", "--level=19 -f -D dict"),
            ("-kT 2", "-kT 2"),
            ("-ofile19", "-ofile19"),
            ("-19x", "-19x"),
            ("-é1", "-é1"),
        ] {
            let line = rewrite(&format!("perfkit compress {typed}"));
            assert_eq!(line, format!("perfkit compress {read}"));
        }
    }

    #[test]
    fn a_percentage_behind_its_flag_is_its_value() {
        let flag = "--fail-on-regression";
        for (line, expected) in [
            ("perfkit compare a b F 5%", "perfkit compare a b F=5%"),
            ("perfkit compare F 0.5 a b", "perfkit compare F=0.5 a b"),
            ("perfkit compare F p99:5% a", "perfkit compare F=p99:5% a"),
            ("perfkit compare F cpu:5% a", "perfkit compare F=cpu:5% a"),
            ("perfkit compare F rss:10 a", "perfkit compare F=rss:10 a"),
            (
                "perfkit compare F cpu.p99:5% a",
                "perfkit compare F=cpu.p99:5% a",
            ),
            (
                "perfkit compare F [a/b].p99:5% a",
                "perfkit compare F=[a/b].p99:5% a",
            ),
            (
                "perfkit compare F cpu:worse a",
                "perfkit compare F=cpu:worse a",
            ),
            // What is misspelt is no file: the parser says what is wrong.
            (
                "perfkit compare F cpu:five a",
                "perfkit compare F=cpu:five a",
            ),
            ("perfkit compare F px:5 a", "perfkit compare F=px:5 a"),
            ("perfkit compare F cpu5% a", "perfkit compare F=cpu5% a"),
            (
                "perfkit compare F ./cpu:5% b",
                "perfkit compare F ./cpu:5% b",
            ),
            ("perfkit compare F a b", "perfkit compare F a b"),
            ("perfkit compare F ./5 b", "perfkit compare F ./5 b"),
            ("perfkit compare F=3 5 b", "perfkit compare F=3 5 b"),
            ("perfkit compare -- F 5 -- b", "perfkit compare -- F 5 -- b"),
        ] {
            let line = rewrite(&line.replace('F', flag));
            assert_eq!(line, expected.replace('F', flag));
        }
    }

    #[test]
    fn the_last_color_counts_and_data_does_not() {
        let chosen = |line: &str| {
            let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            color(&words)
        };
        assert_eq!(chosen("perfkit compress f"), Color::Auto);
        assert_eq!(chosen("perfkit --color never x --bad"), Color::Never);
        assert_eq!(
            chosen("perfkit --color=never x --color always"),
            Color::Always
        );
        assert_eq!(chosen("perfkit --color never --color=odd"), Color::Never);
        assert_eq!(chosen("perfkit compare -- x --color never"), Color::Auto);
    }
}
