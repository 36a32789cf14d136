//! The keys of one session as typed values: its own, or those of `[DEFAULT]`. What is wrong is gathered, so that
//! one run shows all of it.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use super::error::Problem;
use super::expand::expand;
use super::key::Key;
use super::keys;
use super::sections::{Entry, Section, short};

/// Reads the keys of a session.
pub(super) struct Reader<'a> {
    session: &'a Section,
    defaults: &'a Section,
    env: &'a dyn Fn(&str) -> Option<String>,
    found: RefCell<Findings>,
}

/// What was wrong, and which keys were asked for.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) errors: Vec<(u32, Problem)>,
    pub(super) warnings: Vec<(u32, Problem)>,
    pub(super) asked: BTreeSet<&'static str>,
}

/// A value, and where it is stated.
#[derive(Debug, Clone)]
pub(super) struct Stated {
    pub(super) line: u32,
    /// The key as it is written.
    pub(super) key: String,
    pub(super) value: String,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        session: &'a Section,
        defaults: &'a Section,
        env: &'a dyn Fn(&str) -> Option<String>,
    ) -> Self {
        let found = RefCell::default();
        Self {
            session,
            defaults,
            env,
            found,
        }
    }

    pub(super) fn findings(self) -> Findings {
        self.found.into_inner()
    }

    pub(super) fn error(&self, line: u32, problem: Problem) {
        self.found.borrow_mut().errors.push((line, problem));
    }

    pub(super) fn warn(&self, line: u32, problem: Problem) {
        self.found.borrow_mut().warnings.push((line, problem));
    }

    /// A value that contradicts another.
    pub(super) fn conflict(&self, stated: &Stated, conflict: &str) {
        let (key, conflict) = (stated.key.clone(), conflict.to_owned());
        self.error(stated.line, Problem::Conflict { key, conflict });
    }

    /// A key that changes nothing in this session.
    pub(super) fn no_effect(&self, stated: &Stated, why: &str) {
        let (key, why) = (stated.key.clone(), why.to_owned());
        self.warn(stated.line, Problem::NoEffect { key, why });
    }

    /// A value that perfkit cannot serve.
    pub(super) fn refuse(&self, stated: &Stated, instead: &str) {
        let key = format!("{}={}", stated.key, stated.value);
        let instead = instead.to_owned();
        self.error(stated.line, Problem::Refused { key, instead });
    }

    /// What the section of the session itself states.
    pub(super) fn own(&self, name: &'static str, rest: &str) -> Option<Stated> {
        let name = (name, rest.to_owned());
        self.session.entries.get(&name)?;
        self.suffixed(name.0, rest)
    }

    /// A key that is stated without a value.
    pub(super) fn empty(&self, name: &'static str) -> Option<Stated> {
        let stated = self.read(self.entry(name, "")?)?;
        stated.value.is_empty().then_some(stated)
    }

    /// A value that is not what its key takes.
    pub(super) fn wrong(&self, stated: &Stated, expected: &str) {
        let known = keys::key(&stated.key).map(|(key, _)| key);
        let value = match known.is_some_and(Key::is_secret) {
            true => "…".to_owned(),
            false => short(&stated.value),
        };
        let problem = Problem::Value {
            key: stated.key.clone(),
            stated: value,
            expected: expected.to_owned(),
        };
        self.error(stated.line, problem);
    }

    /// A key that the session needs, unless it is stated and wrong.
    pub(super) fn missing(&self, name: &'static str) {
        if self
            .entry(name, "")
            .is_some_and(|entry| !entry.value.is_empty())
        {
            return;
        }
        let expected = takes(name).to_owned();
        let problem = Problem::Missing {
            key: name,
            expected,
        };
        self.error(self.session.line, problem);
    }

    fn entry(&self, name: &'static str, rest: &str) -> Option<&'a Entry> {
        self.found.borrow_mut().asked.insert(name);
        let name = (name, rest.to_owned());
        let own = self.session.entries.get(&name);
        own.or_else(|| self.defaults.entries.get(&name))
    }

    fn read(&self, entry: &Entry) -> Option<Stated> {
        let key = entry.stated.clone();
        match expand(&entry.value, self.env) {
            Ok(value) => Some(Stated {
                line: entry.line,
                key,
                value,
            }),
            Err(name) => {
                let name = short(&name);
                self.error(entry.line, Problem::Variable { key, name });
                None
            }
        }
    }

    /// What is stated, if it is not empty.
    pub(super) fn stated(&self, name: &'static str) -> Option<Stated> {
        self.suffixed(name, "")
    }

    /// What is stated for a key of a family.
    pub(super) fn suffixed(&self, name: &'static str, rest: &str) -> Option<Stated> {
        let stated = self.read(self.entry(name, rest)?)?;
        (!stated.value.is_empty()).then_some(stated)
    }

    /// All keys of a family that has what follows a point, with what follows, in lower case.
    pub(super) fn versions(&self, name: &'static str) -> Vec<(String, Stated)> {
        let family = (name, ".".to_owned())..(name, "/".to_owned());
        let all = self.defaults.entries.range(family.clone());
        let mut rests: BTreeSet<&str> = all.map(|((_, rest), _)| rest.as_str()).collect();
        rests.extend(
            self.session
                .entries
                .range(family)
                .map(|((_, rest), _)| rest.as_str()),
        );
        let rests = rests.into_iter();
        rests
            .filter_map(|rest| Some((rest[1..].to_owned(), self.suffixed(name, rest)?)))
            .collect()
    }

    /// The numbers of a family that are stated, ascending, without the name alone.
    pub(super) fn numbers(&self, name: &'static str) -> BTreeSet<u32> {
        let family = (name, "0".to_owned())..(name, ":".to_owned());
        let all = self.defaults.entries.range(family.clone());
        let all = all.chain(self.session.entries.range(family));
        all.filter_map(|((_, rest), _)| rest.parse().ok()).collect()
    }

    pub(super) fn text(&self, name: &'static str) -> Option<String> {
        self.stated(name).map(|stated| stated.value)
    }

    pub(super) fn path(&self, name: &'static str) -> Option<PathBuf> {
        self.text(name).map(PathBuf::from)
    }

    /// `Y` or `N`, if it is stated.
    pub(super) fn flag(&self, name: &'static str) -> Option<bool> {
        let stated = self.stated(name)?;
        match stated.value.as_str() {
            "Y" | "y" => Some(true),
            "N" | "n" => Some(false),
            _ => {
                self.wrong(&stated, takes(name));
                None
            }
        }
    }

    /// A number of at least `least`, if it is stated.
    pub(super) fn number<T: FromStr + PartialOrd>(
        &self,
        name: &'static str,
        least: T,
    ) -> Option<T> {
        let stated = self.stated(name)?;
        self.as_number(&stated, takes(name), least)
    }

    /// The same of a value that was read.
    pub(super) fn as_number<T: FromStr + PartialOrd>(
        &self,
        stated: &Stated,
        expected: &str,
        least: T,
    ) -> Option<T> {
        let digits = stated.value.bytes().all(|byte| byte.is_ascii_digit());
        let number = stated.value.parse().ok();
        let number = number.filter(|number| digits && *number >= least);
        if number.is_none() {
            self.wrong(stated, expected);
        }
        number
    }

    /// Seconds of at least `least`, if they are stated.
    pub(super) fn seconds(&self, name: &'static str, least: u32) -> Option<Duration> {
        let seconds = self.number(name, least)?;
        Some(Duration::from_secs(seconds.into()))
    }
}

/// What a key takes.
pub(super) fn takes(name: &str) -> &'static str {
    keys::key(name).map_or("", |(key, _)| key.takes)
}
