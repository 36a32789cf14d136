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
    /// The name that it is, without `/` at its end, if it has no wildcards.
    literal: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// This character.
    One(char),
    /// Any character.
    Any,
    /// Any number of any characters, by `*`.
    Star,
    /// The same by `**`.
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
            let token = match letter {
                '*' => match tokens.pop_if(|last| matches!(last, Token::Star | Token::Many)) {
                    Some(_) => Token::Many,
                    None => Token::Star,
                },
                '?' => Token::Any,
                '\\' => Token::One(letters.next().unwrap_or('\\')),
                '[' => class(&mut letters).ok_or_else(|| {
                    format!("'{text}': '[' without ']' (write \\[ for the character itself)")
                })?,
                other => Token::One(other),
            };
            tokens.push(token);
        }
        let letters = tokens.iter().map(|token| match token {
            Token::One(letter) => Some(*letter),
            _ => None,
        });
        let literal = letters.collect::<Option<String>>();
        let literal = literal.map(|name| name.trim_end_matches('/').to_owned());
        Ok(Self {
            text: text.to_owned(),
            tokens,
            literal: literal.filter(|name| !name.is_empty()),
        })
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
    /// Whether it matches the name, or is the name of a directory that the name is in.
    fn covers(&self, name: &str) -> bool {
        let inside = |directory: &String| {
            let rest = name.strip_prefix(directory.as_str());
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        self.literal.as_ref().is_some_and(inside) || self.matches(name)
    }

    /// Whether it matches the whole name, in at most name length × pattern length steps.
    pub(crate) fn matches(&self, name: &str) -> bool {
        if let Some(literal) = &self.literal
            && !name.starts_with(literal.as_str())
        {
            return false;
        }
        let (mut at, mut token) = (0, 0);
        // Where to resume if the rest after the last `*` does not match: one character later.
        let mut retry = None;
        loop {
            let letter = letter_at(name, at);
            match (self.tokens.get(token), letter) {
                (Some(Token::Star | Token::Many), _) => {
                    retry = Some((token + 1, at));
                    token += 1;
                    continue;
                }
                (Some(one), Some(letter)) if one.takes(letter) => {
                    (at, token) = (at + letter.len_utf8(), token + 1);
                    continue;
                }
                (None, None) => return true,
                _ => {}
            }
            match retry.and_then(|(after, from)| Some((after, from, letter_at(name, from)?))) {
                Some((after, from, letter)) => {
                    let from = from + letter.len_utf8();
                    retry = Some((after, from));
                    (token, at) = (after, from);
                }
                None => return false,
            }
        }
    }
}

impl Glob {
    /// The same where only `**`, and a `/` itself, match `/`.
    pub(crate) fn matches_within(&self, name: &str) -> bool {
        // The tokens that may be next: a star may match nothing.
        let mut next = vec![false; self.tokens.len() + 1];
        let mut after = next.clone();
        next[0] = true;
        self.skip_stars(&mut next);
        for letter in name.chars() {
            after.fill(false);
            for (at, token) in self.tokens.iter().enumerate().filter(|(at, _)| next[*at]) {
                match token {
                    Token::Many => after[at] = true,
                    Token::Star => after[at] |= letter != '/',
                    Token::One(_) => after[at + 1] |= token.takes(letter),
                    Token::Any | Token::Class { .. } => {
                        after[at + 1] |= letter != '/' && token.takes(letter);
                    }
                }
            }
            std::mem::swap(&mut next, &mut after);
            self.skip_stars(&mut next);
        }
        next[self.tokens.len()]
    }

    fn skip_stars(&self, next: &mut [bool]) {
        for (at, token) in self.tokens.iter().enumerate() {
            next[at + 1] |= next[at] && matches!(token, Token::Star | Token::Many);
        }
    }
}

/// The character at this byte of a name.
fn letter_at(name: &str, at: usize) -> Option<char> {
    match name.as_bytes().get(at) {
        Some(byte) if byte.is_ascii() => Some(char::from(*byte)),
        _ => name.get(at..)?.chars().next(),
    }
}

impl Token {
    fn takes(&self, letter: char) -> bool {
        match self {
            Self::One(own) => *own == letter,
            Self::Any => true,
            Self::Star | Self::Many => false,
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
        self.takes_as(|glob| glob.covers(name))
    }

    /// The same of a directory, whose entry has `/` behind the name: a pattern may be about either.
    pub(crate) fn takes_directory(&self, name: &str) -> bool {
        let slashed = format!("{name}/");
        self.takes_as(|glob| glob.covers(name) || glob.covers(&slashed))
    }

    fn takes_as(&self, meets: impl Fn(&Glob) -> bool) -> bool {
        let matches = |globs: &[Glob]| globs.iter().any(&meets);
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
        let Selection { include, exclude } = self.selection;
        let before = self.unmet.len();
        self.unmet.retain(|glob| !glob.covers(name));
        // Each pattern is tried once on a name, not twice: archives have many.
        let is_included = match before - self.unmet.len() {
            0 if before == include.len() => include.is_empty(),
            0 => include.iter().any(|glob| glob.covers(name)),
            _ => true,
        };
        is_included && !exclude.iter().any(|glob| glob.covers(name))
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
        // Met or not, what a pattern says stays the same.
        for name in ["a", "ab", "b", "bc", "c", "cd", "ab", "b"] {
            assert_eq!(asked.takes(name), selection.takes(name), "{name}");
        }
        assert_eq!(asked.unmet().count(), 0);
        let mut asked = Asked::new(&selection);
        assert!(!asked.takes("x") && asked.takes("cd") && !asked.takes("d"));
        assert_eq!(asked.unmet().collect::<Vec<_>>(), ["a*", "b"]);
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
            ("*é?", "aééß"),
            ("é[à-ü]*", "éé"),
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
    fn the_name_of_a_directory_means_what_is_in_it() {
        let takes = |pattern: &str, name: &str| {
            let selection = Selection {
                include: vec![pattern.parse().unwrap()],
                exclude: Vec::new(),
            };
            selection.takes(name)
        };
        for name in ["src/sub", "src/sub/", "src/sub/a", "src/sub/deep/b"] {
            assert!(takes("src/sub", name) && takes("src/sub/", "src/sub/a"));
        }
        assert!(!takes("src/sub", "src/subway") && !takes("src/su?", "src/sub/a"));
    }

    #[test]
    fn a_pattern_for_what_is_in_a_directory_leaves_out_the_directory() {
        let without = |pattern: &str| Selection {
            include: Vec::new(),
            exclude: vec![pattern.parse().unwrap()],
        };
        for pattern in ["src/lib/*", "src/lib", "src/lib/", "*lib", "*/"] {
            assert!(!without(pattern).takes_directory("src/lib"), "{pattern}");
        }
        for pattern in ["src/lib/?", "src/lib/*.c", "lib"] {
            assert!(without(pattern).takes_directory("src/lib"), "{pattern}");
        }
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
