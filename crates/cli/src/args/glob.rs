//! Patterns for names, with the rules of Info-ZIP: `*`, `?` and `[a-z]` also match `/`.
//!
//! `globset` gives `{a,b}` a meaning, which Info-ZIP does not; this matcher needs no compilation, and
//! its time is bounded by the length of the name times that of the pattern.

use std::str::FromStr;

/// A pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Glob {
    /// The original text.
    text: String,
    tokens: Vec<Token>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// This character.
    One(char),
    /// Any character.
    Any,
    /// Any number of any characters.
    Many,
    /// One character out of these ranges, or out of all others.
    Class {
        ranges: Vec<(char, char)>,
        negated: bool,
    },
}

impl FromStr for Glob {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut tokens = Vec::new();
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            tokens.push(match letter {
                '*' if tokens.last() == Some(&Token::Many) => continue,
                '*' => Token::Many,
                '?' => Token::Any,
                '\\' => Token::One(letters.next().unwrap_or('\\')),
                '[' => class(&mut letters).ok_or_else(|| {
                    format!("'{text}': '[' without ']' (write \\[ for the character itself)")
                })?,
                other => Token::One(other),
            });
        }
        let text = text.to_owned();
        Ok(Self { text, tokens })
    }
}

fn class(letters: &mut std::str::Chars<'_>) -> Option<Token> {
    let mut ranges = Vec::new();
    let mut negated = false;
    let mut first = true;
    loop {
        let letter = letters.next()?;
        match letter {
            '!' | '^' if first && !negated => {
                negated = true;
                continue;
            }
            ']' if !first => return Some(Token::Class { ranges, negated }),
            low => {
                let mut ahead = letters.clone();
                let range = (ahead.next() == Some('-'))
                    .then(|| ahead.next().filter(|high| *high != ']'))
                    .flatten();
                if range.is_some() {
                    *letters = ahead;
                }
                ranges.push((low, range.unwrap_or(low)));
            }
        }
        first = false;
    }
}

impl Glob {
    /// Whether it matches the whole name, in at most name length × pattern length steps.
    pub(crate) fn matches(&self, name: &str) -> bool {
        let name: Vec<char> = name.chars().collect();
        let (mut at, mut token) = (0, 0);
        // Where to resume if the rest after the last `*` does not match: one character later.
        let mut retry = None;
        loop {
            match self.tokens.get(token) {
                Some(Token::Many) => {
                    retry = Some((token + 1, at));
                    token += 1;
                    continue;
                }
                Some(one) if name.get(at).is_some_and(|letter| one.takes(*letter)) => {
                    (at, token) = (at + 1, token + 1);
                    continue;
                }
                None if at == name.len() => return true,
                _ => {}
            }
            match retry {
                Some((after, from)) if from < name.len() => {
                    retry = Some((after, from + 1));
                    (token, at) = (after, from + 1);
                }
                _ => return false,
            }
        }
    }
}

impl Token {
    fn takes(&self, letter: char) -> bool {
        match self {
            Self::One(own) => *own == letter,
            Self::Any => true,
            Self::Many => false,
            Self::Class { ranges, negated } => {
                let inside = |(low, high): &(char, char)| (*low..=*high).contains(&letter);
                ranges.iter().any(inside) != *negated
            }
        }
    }
}

/// Which names to take.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    /// If there are any, one of these must match.
    pub(crate) include: Vec<Glob>,
    /// None of these may match.
    pub(crate) exclude: Vec<Glob>,
}

impl Selection {
    /// Whether to take `name`.
    pub(crate) fn takes(&self, name: &str) -> bool {
        let matches = |globs: &[Glob]| globs.iter().any(|glob| glob.matches(name));
        (self.include.is_empty() || matches(&self.include)) && !matches(&self.exclude)
    }
}

/// A selection that remembers which of its patterns no name has matched.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    selection: &'a Selection,
    /// Patterns that no name has matched yet.
    unmet: Vec<&'a Glob>,
}

impl<'a> Asked<'a> {
    /// Starts with all patterns unmatched.
    pub(crate) fn new(selection: &'a Selection) -> Self {
        Self {
            unmet: selection.include.iter().collect(),
            selection,
        }
    }

    /// Whether to take `name`.
    pub(crate) fn takes(&mut self, name: &str) -> bool {
        self.unmet.retain(|glob| !glob.matches(name));
        self.selection.takes(name)
    }

    /// The patterns that no name has matched.
    pub(crate) fn unmet(&self) -> impl Iterator<Item = &str> {
        self.unmet.iter().map(|glob| glob.text.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_match_nothing_are_reported() {
        let glob = |text: &str| text.parse::<Glob>().unwrap();
        let selection = Selection {
            include: vec![glob("a*"), glob("b"), glob("c?")],
            exclude: vec![glob("ab")],
        };
        let mut asked = Asked::new(&selection);
        // A name that is excluded has been matched all the same.
        assert!(!asked.takes("ab") && asked.takes("cd") && !asked.takes("d"));
        assert_eq!(asked.unmet().collect::<Vec<_>>(), ["b"]);
    }

    fn matches(pattern: &str, name: &str) -> bool {
        pattern.parse::<Glob>().unwrap().matches(name)
    }

    #[test]
    fn patterns_match_whole_names_over_slashes() {
        for (pattern, name) in [
            ("", ""),
            ("*", ""),
            ("*.rs", "src/lib.rs"),
            ("src/*", "src/a/b"),
            ("s?c/[l-n]*.r[!a]", "src/lib.rs"),
            ("[]]", "]"),
            ("a\\*", "a*"),
            ("*a*b*c", "xaxbxcxc"),
        ] {
            assert!(matches(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in [
            ("", "a"),
            ("*.rs", "lib.rs.bak"),
            ("?", ""),
            ("[a-c]", "d"),
            ("[!a-c]", "b"),
            ("a\\*", "ab"),
        ] {
            assert!(!matches(pattern, name), "{pattern} {name}");
        }
        assert!("[a".parse::<Glob>().is_err());
    }

    #[test]
    fn many_stars_take_no_exponential_time() {
        let pattern = "*a".repeat(50) + "b";
        assert!(!matches(&pattern, &"a".repeat(20_000)));
    }

    #[test]
    fn what_is_excluded_is_out_even_if_included() {
        let globs = |text: &str| vec![text.parse().unwrap()];
        let selection = Selection {
            include: globs("*.rs"),
            exclude: globs("target/*"),
        };
        assert!(selection.takes("a.rs"));
        assert!(!selection.takes("a.c") && !selection.takes("target/a.rs"));
    }
}
