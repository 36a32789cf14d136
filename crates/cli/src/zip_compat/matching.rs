//! Patterns of these programs: `*` and `?` match `/` too, unless that is asked for, and names may be compared without
//! case.

use std::borrow::Cow;
use std::ffi::OsStr;

use zipstream::name;

use crate::args::glob::Glob;
use crate::failure::Failure;

/// Patterns, each with whether it has matched.
#[derive(Debug, Default)]
pub(super) struct Patterns {
    list: Vec<Pattern>,
    /// Whether names are compared without case.
    pub(super) any_case: bool,
    /// Whether only `**` matches `/`.
    pub(super) within: bool,
}

#[derive(Debug)]
struct Pattern {
    text: String,
    glob: Glob,
    /// It is this name to the letter, and means nothing else.
    name: Option<String>,
    met: bool,
}

impl Pattern {
    fn matches(&self, name: &str, within: bool) -> bool {
        match (&self.name, within) {
            (Some(own), _) => own == name,
            (None, true) => self.glob.matches_within(name),
            (None, false) => self.glob.matches(name),
        }
    }
}

/// A name or a pattern as it is compared.
fn shown(name: &str, any_case: bool) -> Cow<'_, str> {
    match any_case {
        true => Cow::Owned(name.to_lowercase()),
        false => Cow::Borrowed(name),
    }
}

/// A pattern, in which a `[` without `]` is the character itself.
fn lenient(text: &str) -> Result<Glob, Failure> {
    let mut text = text.to_owned();
    let mut end = text.len();
    loop {
        let refused = match text.parse::<Glob>() {
            Ok(glob) => return Ok(glob),
            Err(refused) => refused,
        };
        end = text[..end].rfind('[').ok_or_else(|| {
            Failure::new(format!("'{text}' is not a pattern: {refused}"))
                .help("write \\[ for the character itself")
        })?;
        text.insert(end, '\\');
    }
}

impl Patterns {
    /// None yet, of which `*` matches what it matches in these.
    pub(super) fn alike(&self) -> Self {
        Self {
            within: self.within,
            ..Self::default()
        }
    }

    /// Adds a pattern.
    pub(super) fn add(&mut self, word: &OsStr) -> Result<(), Failure> {
        let text = name::of_bytes(word.as_encoded_bytes()).into_owned();
        let glob = lenient(&shown(&text, self.any_case))?;
        self.list.push(Pattern {
            text,
            glob,
            name: None,
            met: false,
        });
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// There is something of this name: a pattern that is it to the letter means it alone.
    pub(super) fn meet(&mut self, name: &str) {
        let name = shown(name, self.any_case);
        for pattern in &mut self.list {
            if shown(&pattern.text, self.any_case) == name {
                pattern.name = Some(name.clone().into_owned());
            }
        }
    }

    /// Whether one of them matches.
    pub(super) fn matches(&mut self, name: &str) -> bool {
        let name = shown(name, self.any_case);
        let mut found = false;
        for pattern in &mut self.list {
            let matches = pattern.matches(&name, self.within);
            pattern.met |= matches;
            found |= matches;
        }
        found
    }

    /// Whether one of them matches the name, or its last parts where the pattern has as many.
    pub(super) fn matches_end(&mut self, name: &str) -> bool {
        let mut found = false;
        for pattern in &mut self.list {
            let slashes = pattern.text.matches('/').count();
            let start = name.rmatch_indices('/').nth(slashes);
            let end = start.map_or(name, |(at, _)| &name[at + 1..]);
            let matches = pattern.matches(end, self.within) || pattern.matches(name, self.within);
            pattern.met |= matches;
            found |= matches;
        }
        found
    }

    /// Begins anew, with nothing that was matched.
    pub(super) fn forget(&mut self) {
        for pattern in &mut self.list {
            pattern.met = false;
        }
    }

    /// Those that have matched nothing.
    pub(super) fn unmet(&self) -> impl Iterator<Item = &str> {
        let unmet = self.list.iter().filter(|pattern| !pattern.met);
        unmet.map(|pattern| pattern.text.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_remember_what_they_met() {
        let mut patterns = Patterns::default();
        for text in ["src/*", "nope"] {
            patterns.add(OsStr::new(text)).unwrap();
        }
        assert!(patterns.matches("src/") && patterns.matches("src/a/b"));
        assert!(!patterns.matches("src"));
        assert_eq!(patterns.unmet().collect::<Vec<_>>(), ["nope"]);
        patterns.forget();
        assert_eq!(patterns.unmet().count(), 2);
    }

    #[test]
    fn the_end_of_a_name_is_compared_by_as_many_parts() {
        let mut patterns = Patterns::default();
        patterns.add(OsStr::new("c.c")).unwrap();
        assert!(patterns.matches_end("src/sub/c.c"));
        patterns.add(OsStr::new("sub/d.c")).unwrap();
        assert!(patterns.matches_end("src/sub/d.c"));
        assert!(!patterns.matches_end("src/other/d.c"));
    }

    #[test]
    fn patterns_may_stay_within_a_directory() {
        for (pattern, name, matches) in [
            ("d/*", "d/", true),
            ("d/*", "d/a", true),
            ("d/*", "d/s/", false),
            ("d/*", "d/s/x", false),
            ("d/**", "d/s/x", true),
            ("d/***x", "d/s/x", true),
            ("**/x", "d/s/x", true),
            ("*/x", "d/s/x", false),
            ("*/*/x", "d/s/x", true),
            ("**b*c", "a/b/bc", true),
            ("d?a", "d/a", false),
            ("d[!b]a", "d/a", false),
            ("d/a", "d/a", true),
            ("*", "", true),
        ] {
            let mut patterns = Patterns {
                within: true,
                ..Patterns::default()
            };
            patterns.add(OsStr::new(pattern)).unwrap();
            assert_eq!(patterns.matches(name), matches, "{pattern} {name}");
        }
    }

    #[test]
    fn what_is_a_name_to_the_letter_is_no_pattern() {
        for (any_case, text) in [(false, "a[1].txt"), (true, "A[1].TXT")] {
            let mut patterns = Patterns {
                any_case,
                ..Patterns::default()
            };
            patterns.add(OsStr::new(text)).unwrap();
            assert!(patterns.matches("a1.txt"));
            patterns.meet("b");
            assert!(patterns.matches("a1.txt"));
            patterns.meet("a[1].txt");
            assert!(!patterns.matches("a1.txt"));
            assert!(patterns.matches("a[1].txt"));
        }
    }

    #[test]
    fn a_bracket_that_nothing_closes_is_itself() {
        for (pattern, name, matches) in [
            ("a[1", "a[1", true),
            ("a[1", "a1", false),
            ("[ab]*[", "bx[", true),
            ("[ab]*[", "cx[", false),
            ("[[", "[[", true),
            ("[]", "[]", true),
        ] {
            let mut patterns = Patterns::default();
            patterns.add(OsStr::new(pattern)).unwrap();
            assert_eq!(patterns.matches(name), matches, "{pattern} {name}");
        }
    }

    #[test]
    fn without_case() {
        let mut patterns = Patterns {
            any_case: true,
            ..Patterns::default()
        };
        patterns.add(OsStr::new("SRC/A")).unwrap();
        assert!(patterns.matches("src/a"));
    }
}
