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
    met: bool,
}

impl Pattern {
    fn matches(&self, name: &str, within: bool) -> bool {
        match within {
            true => self.glob.matches_within(name),
            false => self.glob.matches(name),
        }
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
        let shown = match self.any_case {
            true => text.to_lowercase(),
            false => text.clone(),
        };
        let glob = shown.parse::<Glob>().map_err(|error| {
            Failure::new(format!("'{text}' is not a pattern: {error}"))
                .help("write \\[ for the character itself")
        })?;
        let met = false;
        self.list.push(Pattern { text, glob, met });
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether one of them matches.
    pub(super) fn matches(&mut self, name: &str) -> bool {
        let name = match self.any_case {
            true => Cow::Owned(name.to_lowercase()),
            false => Cow::Borrowed(name),
        };
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
    fn without_case() {
        let mut patterns = Patterns {
            any_case: true,
            ..Patterns::default()
        };
        patterns.add(OsStr::new("SRC/A")).unwrap();
        assert!(patterns.matches("src/a"));
    }
}
