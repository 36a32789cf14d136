//! What each line of a settings file does, which sessions it concerns, and which defaults hold.

use std::collections::BTreeMap;
use std::path::Path;

use crate::options::Role;

use super::error::SettingsError;
use super::key::{Group, Key, Service};
use super::keys;
use super::lines::{Line, lines};
use super::sections::{File, Name, short};
use super::session::{self, SessionSettings};

/// A settings file, read line by line: also one with errors.
#[derive(Debug)]
#[non_exhaustive]
pub struct Check {
    /// The sessions and templates; where something is wrong, with its default.
    pub sessions: Vec<SessionSettings>,
    /// What is wrong, by line: the first 1,000.
    pub errors: Vec<SettingsError>,
    /// What needs attention, by line: the first 1,000.
    pub warnings: Vec<SettingsError>,
    /// The keys and sections of the file, by line.
    pub lines: Vec<CheckedLine>,
    /// Keys that some session does not state, with the default that holds for it.
    pub holds: Vec<Holds>,
}

/// A line with a section or a key.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckedLine {
    /// The line, from 1.
    pub line: u32,
    /// What it is.
    pub kind: LineKind,
}

/// What a line is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineKind {
    /// `[DEFAULT]`, `[SESSION]` or another name.
    Section {
        /// Its name.
        name: String,
        /// The number of the session in [`Check::sessions`].
        session: Option<usize>,
    },
    /// A key with a value.
    Key {
        /// The key as it is written.
        stated: String,
        /// Its value; `…` for a secret.
        value: String,
        /// What the key is; `None` if it is not known.
        key: Option<&'static Key>,
        /// How many sessions its value holds for; 0 if it has no effect.
        sessions: usize,
    },
}

/// A key that is not stated.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holds {
    /// The key.
    pub key: &'static Key,
    /// How many sessions its default holds for.
    pub sessions: usize,
}

/// How many sessions there are of each role.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    acceptors: usize,
    initiators: usize,
}

impl Counts {
    fn add(&mut self, role: Role) {
        match role {
            Role::Acceptor => self.acceptors += 1,
            Role::Initiator => self.initiators += 1,
        }
    }

    /// How many a key can concern.
    fn of(self, key: &Key) -> usize {
        match key.group {
            Group::Acceptor => self.acceptors,
            Group::Initiator => self.initiators,
            _ if key.name == "HeartBtInt" => self.initiators,
            _ => self.acceptors + self.initiators,
        }
    }

    fn less(self, other: Self) -> Self {
        Self {
            acceptors: self.acceptors.saturating_sub(other.acceptors),
            initiators: self.initiators.saturating_sub(other.initiators),
        }
    }
}

impl Check {
    /// Reads a settings file, with the environment variables of this process.
    #[must_use]
    pub fn read(path: &Path) -> Self {
        match session::content(path) {
            Ok(text) => Self::new(&text, path, &|name| std::env::var(name).ok()),
            Err(problem) => Self {
                sessions: Vec::new(),
                errors: vec![SettingsError {
                    file: path.to_owned(),
                    line: 0,
                    problem,
                }],
                warnings: Vec::new(),
                lines: Vec::new(),
                holds: Vec::new(),
            },
        }
    }

    /// The same from the content of a file. `file` is its name in errors, `env` gives environment variables.
    #[must_use]
    pub fn new(text: &[u8], file: &Path, env: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut file = File::new(text, file);
        let sessions = session::sessions(&mut file, env);
        let lines = match file.is_unread() {
            true => Vec::new(),
            false => checked(text, &file, &sessions),
        };
        let holds = holds(&file, &sessions);
        let (errors, warnings) = file.findings();
        Self {
            sessions,
            errors,
            warnings,
            lines,
            holds,
        }
    }
}

/// How many sessions state each key themselves, and how many there are.
fn counts(file: &File, sessions: &[SessionSettings]) -> (Counts, BTreeMap<Name, Counts>) {
    let mut all = Counts::default();
    let mut own: BTreeMap<Name, Counts> = BTreeMap::new();
    for (section, settings) in file.sessions.iter().zip(sessions) {
        let role = settings.session.role;
        all.add(role);
        for name in section.entries.keys() {
            own.entry(name.clone()).or_default().add(role);
        }
    }
    (all, own)
}

fn checked(text: &[u8], file: &File, sessions: &[SessionSettings]) -> Vec<CheckedLine> {
    let (all, own) = counts(file, sessions);
    let mut checked = Vec::new();
    // The next session, and whose lines these are.
    let mut next = 0;
    let mut place = None;
    for (line, content) in lines(text) {
        let kind = match content {
            Line::Section(name) => {
                let is_session = name.eq_ignore_ascii_case("SESSION") && next < sessions.len();
                place = is_session.then_some(next);
                next += usize::from(is_session);
                LineKind::Section {
                    name: short(name),
                    session: place,
                }
            }
            Line::Pair { key: stated, value } => {
                let known = keys::key(stated);
                let count = known.map_or(0, |(key, rest)| {
                    let name = (key.name, rest.to_ascii_lowercase());
                    let section = match place {
                        Some(at) => file.sessions.get(at),
                        None => Some(&file.defaults),
                    };
                    let entry = section.and_then(|section| section.entries.get(&name));
                    let holds = entry.is_some_and(|entry| entry.line == line);
                    match place {
                        _ if !holds || key.service != Service::Served => 0,
                        Some(at) => {
                            let mut one = Counts::default();
                            one.add(sessions.get(at).map_or(Role::Acceptor, |s| s.session.role));
                            one.of(key)
                        }
                        None => all
                            .less(own.get(&name).copied().unwrap_or_default())
                            .of(key),
                    }
                });
                let is_secret = known.is_some_and(|(key, _)| key.is_secret());
                LineKind::Key {
                    stated: short(stated),
                    value: if is_secret {
                        "…".to_owned()
                    } else {
                        short(value)
                    },
                    key: known.map(|(key, _)| key),
                    sessions: count,
                }
            }
            Line::Blank | Line::Comment | Line::Other(_) | Line::Bytes => continue,
        };
        checked.push(CheckedLine { line, kind });
    }
    checked
}

fn holds(file: &File, sessions: &[SessionSettings]) -> Vec<Holds> {
    let (all, own) = counts(file, sessions);
    let keys = keys::keys().filter(|key| key.service == Service::Served && !key.default.is_empty());
    keys.filter_map(|key| {
        let name = (key.name, String::new());
        if file.defaults.entries.contains_key(&name) {
            return None;
        }
        let stated = own.get(&name).copied().unwrap_or_default();
        let sessions = all.less(stated).of(key);
        (sessions > 0).then_some(Holds { key, sessions })
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::error::Problem;
    use super::*;

    #[test]
    fn lines_say_how_many_sessions_they_concern() {
        let text = b"[DEFAULT]\nConnectionType=acceptor\nSenderCompID=A\nHeartBtInt=3\nColour=red\n\
                     StartTime=00:00:00\nEndTime=00:00:00\nBeginString=FIX.4.4\nSocketAcceptPort=1\n\
                     ProxyPassword=x\n[SESSION]\nTargetCompID=B\n[SESSION]\nTargetCompID=C\nSenderCompID=D\n";
        let check = Check::new(text, Path::new("f"), &|_| None);
        assert_eq!(check.errors, []);
        let count = |line: u32| {
            let found = check.lines.iter().find(|checked| checked.line == line);
            match &found.unwrap().kind {
                LineKind::Key { sessions, .. } => *sessions,
                LineKind::Section { .. } => usize::MAX,
            }
        };
        assert_eq!((count(2), count(3), count(4), count(5)), (2, 1, 0, 0));
        assert_eq!((count(10), count(12), count(15)), (0, 1, 1));
        let secret = check.lines.iter().find(|checked| checked.line == 10);
        assert!(!format!("{secret:?}").contains("\"x\""));
        let hold = |name| check.holds.iter().find(|holds| holds.key.name == name);
        assert_eq!(hold("ResetOnLogon").unwrap().sessions, 2);
        assert!(hold("ReconnectInterval").is_none());
        assert!(matches!(check.warnings[0].problem, Problem::Unknown { .. }));
    }

    #[test]
    fn every_key_that_is_served_is_read() {
        let text = b"[SESSION]\nConnectionType=initiator\nProxyType=http\nSocketUseSSL=Y\nSocketConnectHost=h\nSocketConnectPort=1\nLogonTime=01:00:00\nStartTime=00:00:00\nEndTime=23:00:00\n";
        let file = File::new(text, Path::new("f"));
        let (_, found) = session::session(&file.sessions[0], &file.defaults, &|_| None);
        let asked = found.asked;
        for key in keys::keys().filter(|key| key.service == Service::Served) {
            assert!(asked.contains(key.name), "{} is not read", key.name);
        }
        for name in asked {
            assert!(
                keys::keys().any(|key| key.name == name),
                "{name} is in no table"
            );
        }
    }
}
