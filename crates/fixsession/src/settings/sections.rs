//! The sections of a file and their keys, by name: what is known, what is not, and what replaces what.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use memchr::memchr;

use super::error::{Problem, SettingsError};
use super::key::{Key, Service};
use super::keys;
use super::lines::{Line, lines};

/// The largest file, in bytes.
pub(super) const FILE_BYTES_MAX: usize = 16 << 20;
/// The most sessions.
const SESSIONS_MAX: usize = 1 << 16;
/// The most errors, and the most warnings.
const FINDINGS_MAX: usize = 1000;

/// A key with its value, as a line states it.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) line: u32,
    /// The key as it is written.
    pub(super) stated: String,
    pub(super) value: String,
}

/// The name of a key, and what follows it, in lower case.
pub(super) type Name = (&'static str, String);

/// The keys of a section.
#[derive(Debug, Clone, Default)]
pub(super) struct Section {
    pub(super) line: u32,
    pub(super) entries: BTreeMap<Name, Entry>,
}

/// A file in sections, with what is wrong so far.
#[derive(Debug)]
pub(super) struct File {
    pub(super) path: PathBuf,
    /// All `[DEFAULT]` sections as one.
    pub(super) defaults: Section,
    pub(super) sessions: Vec<Section>,
    errors: BTreeSet<(u32, Problem)>,
    warnings: BTreeSet<(u32, Problem)>,
    is_unread: bool,
}

/// Where the lines belong that are being read.
#[derive(Clone, Copy)]
enum Place {
    Before,
    Default,
    Session,
    Other,
}

impl File {
    /// The sections of a file.
    pub(super) fn new(text: &[u8], path: &Path) -> Self {
        let mut file = Self {
            path: path.to_owned(),
            defaults: Section::default(),
            sessions: Vec::new(),
            errors: BTreeSet::new(),
            warnings: BTreeSet::new(),
            is_unread: text.len() > FILE_BYTES_MAX,
        };
        if file.is_unread {
            let limit = FILE_BYTES_MAX as u64;
            file.error(
                0,
                Problem::Limit {
                    what: "bytes of the file",
                    limit,
                },
            );
            return file;
        }
        if memchr(0, text).is_some() {
            file.is_unread = true;
            file.error(0, Problem::NotText);
            return file;
        }
        let mut place = Place::Before;
        for (number, line) in lines(text) {
            match line {
                Line::Blank | Line::Comment => {}
                Line::Bytes => file.error(number, Problem::Encoding),
                Line::Other(stated) => file.error(
                    number,
                    Problem::Line {
                        stated: short(stated),
                    },
                ),
                Line::Section(name) => place = file.section(number, name),
                Line::Pair { key, value } => file.pair(number, key, value, place),
            }
        }
        if file.sessions.is_empty() {
            file.error(0, Problem::NoSession);
        }
        file
    }

    pub(super) fn error(&mut self, line: u32, problem: Problem) {
        if self.errors.len() < FINDINGS_MAX {
            self.errors.insert((line, problem));
        }
    }

    pub(super) fn warn(&mut self, line: u32, problem: Problem) {
        if self.warnings.len() < FINDINGS_MAX {
            self.warnings.insert((line, problem));
        }
    }

    /// Whether its lines were not looked at.
    pub(super) fn is_unread(&self) -> bool {
        self.is_unread
    }

    /// Errors and warnings, by line.
    pub(super) fn findings(self) -> (Vec<SettingsError>, Vec<SettingsError>) {
        let place = |(line, problem)| SettingsError {
            file: self.path.clone(),
            line,
            problem,
        };
        let errors = self.errors.into_iter().map(place).collect();
        (errors, self.warnings.into_iter().map(place).collect())
    }

    fn section(&mut self, line: u32, name: &str) -> Place {
        if name.eq_ignore_ascii_case("DEFAULT") {
            return Place::Default;
        }
        if !name.eq_ignore_ascii_case("SESSION") {
            self.warn(
                line,
                Problem::Section {
                    stated: short(name),
                },
            );
            return Place::Other;
        }
        if self.sessions.len() == SESSIONS_MAX {
            let limit = SESSIONS_MAX as u64;
            self.error(
                line,
                Problem::Limit {
                    what: "sessions of a file",
                    limit,
                },
            );
            return Place::Other;
        }
        let entries = BTreeMap::new();
        self.sessions.push(Section { line, entries });
        Place::Session
    }

    fn pair(&mut self, line: u32, stated: &str, value: &str, place: Place) {
        let stated = short(stated);
        if matches!(place, Place::Before) {
            return self.warn(line, Problem::Outside { key: stated });
        }
        let Some((key, rest)) = keys::key(&stated) else {
            let is_full = self.warnings.len() == FINDINGS_MAX;
            let like = if is_full { None } else { keys::like(&stated) };
            return self.warn(line, Problem::Unknown { key: stated, like });
        };
        let name = (key.name, rest.to_ascii_lowercase());
        if !self.is_served(line, key, &stated) {
            return;
        }
        if value.contains(" #") && !key.is_secret() {
            let conflict =
                "a # within a line begins no comment: it is part of the value".to_owned();
            let key = stated.clone();
            self.warn(line, Problem::Conflict { key, conflict });
        }
        let section = match place {
            Place::Before | Place::Other => return,
            Place::Default => Some(&mut self.defaults),
            Place::Session => self.sessions.last_mut(),
        };
        let Some(section) = section else { return };
        let value = value.to_owned();
        let key = stated.clone();
        let entry = Entry {
            line,
            stated,
            value,
        };
        if let Some(before) = section.entries.insert(name, entry) {
            let first = before.line;
            self.warn(line, Problem::Repeated { key, first });
        }
    }

    /// Whether a key has an effect; says so if not.
    fn is_served(&mut self, line: u32, key: &Key, stated: &str) -> bool {
        let stated = stated.to_owned();
        let why = key.what.to_owned();
        match key.service {
            Service::Served => return true,
            Service::NoEffect => self.warn(line, Problem::NoEffect { key: stated, why }),
            Service::Refused => self.error(
                line,
                Problem::Refused {
                    key: stated,
                    instead: why,
                },
            ),
        }
        false
    }
}

/// What a message may quote of a line.
pub(super) fn short(text: &str) -> String {
    const CHARS_MAX: usize = 80;
    let clean = text.chars().map(|c| if c.is_control() { '?' } else { c });
    let mut short: String = clean.clone().take(CHARS_MAX).collect();
    if clean.count() > CHARS_MAX {
        short.push('…');
    }
    short
}
