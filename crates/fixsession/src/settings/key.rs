//! What a key of settings is. All of them are in `keys`.

/// A key, or a family of keys.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Key {
    /// Its name, as the engines document it. Case does not count.
    pub name: &'static str,
    /// Other names of the same.
    pub aliases: &'static [&'static str],
    /// What it is about.
    pub group: Group,
    /// Whether perfkit serves it.
    pub service: Service,
    /// What it takes.
    pub takes: &'static str,
    /// What holds where it is not stated; empty if it is required or nothing holds.
    pub default: &'static str,
    /// What it does; for a key that is not served: why, or what to do.
    pub what: &'static str,
}

/// What a key is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Which session it is.
    Identity,
    /// When it is open.
    Schedule,
    /// Numbers, resets and resends.
    Recovery,
    /// What is checked.
    Validation,
    /// Timers and times.
    Times,
    /// Dictionaries.
    Dictionaries,
    /// Connections of an initiator.
    Initiator,
    /// Connections of an acceptor.
    Acceptor,
    /// Options of sockets.
    Sockets,
    /// TLS.
    Tls,
    /// The store.
    Storage,
    /// Logs.
    Logs,
}

impl Group {
    /// Its title.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Identity => "Identity",
            Self::Schedule => "Schedule",
            Self::Recovery => "Numbers and recovery",
            Self::Validation => "Validation",
            Self::Times => "Timers and times",
            Self::Dictionaries => "Dictionaries",
            Self::Initiator => "Initiator",
            Self::Acceptor => "Acceptor",
            Self::Sockets => "Sockets",
            Self::Tls => "TLS",
            Self::Storage => "Store",
            Self::Logs => "Logs",
        }
    }
}

/// Whether perfkit serves a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// It does what it says.
    Served,
    /// It is known and changes nothing: a warning.
    NoEffect,
    /// It asks for something that perfkit does not have: an error.
    Refused,
}

/// Whether names of a family differ by what follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// One key.
    Single,
    /// `Name`, `Name1`, `Name2` …
    Numbered,
    /// `Name`, `Name.FIX.5.0SP2` …
    Versioned,
    /// Every key that begins like this.
    Prefix,
}

const NUMBERED: [&str; 5] = [
    "SocketConnectHost",
    "SocketConnectPort",
    "SocketConnectSourceHost",
    "SocketConnectSourcePort",
    "LogonTag",
];
const VERSIONED: [&str; 1] = ["AppDataDictionary"];

impl Key {
    pub(super) const fn new(name: &'static str, group: Group, takes: &'static str) -> Self {
        Self {
            name,
            aliases: &[],
            group,
            service: Service::Served,
            takes,
            default: "",
            what: "",
        }
    }

    pub(super) const fn aliases(mut self, aliases: &'static [&'static str]) -> Self {
        self.aliases = aliases;
        self
    }

    pub(super) const fn default(mut self, default: &'static str) -> Self {
        self.default = default;
        self
    }

    pub(super) const fn what(mut self, what: &'static str) -> Self {
        self.what = what;
        self
    }

    pub(super) const fn no_effect(name: &'static str, group: Group, why: &'static str) -> Self {
        let mut key = Self::new(name, group, "");
        key.service = Service::NoEffect;
        key.what = why;
        key
    }

    pub(super) const fn refused(name: &'static str, group: Group, instead: &'static str) -> Self {
        let mut key = Self::new(name, group, "");
        key.service = Service::Refused;
        key.what = instead;
        key
    }

    /// Whether its value is a secret that is never shown.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        // A LogonTag can be Password (554).
        self.name.contains("Password") || self.name == "LogonTag"
    }

    pub(super) fn family(&self) -> Family {
        if self.name.ends_with('*') {
            Family::Prefix
        } else if NUMBERED.contains(&self.name) {
            Family::Numbered
        } else if VERSIONED.contains(&self.name) {
            Family::Versioned
        } else {
            Family::Single
        }
    }

    /// What follows a name of this key in a stated one: `""`, `1`, `FIX.4.4`.
    pub(super) fn rest<'k>(&self, stated: &'k str) -> Option<&'k str> {
        let names = self.aliases.iter().chain([&self.name]);
        names
            .filter_map(|name| after(stated, name.trim_end_matches('*')))
            .find(|rest| match self.family() {
                Family::Single => rest.is_empty(),
                Family::Prefix => true,
                Family::Numbered => {
                    rest.bytes().all(|byte| byte.is_ascii_digit())
                        && !rest.starts_with('0')
                        && rest.len() < 8
                }
                Family::Versioned => rest.is_empty() || rest.starts_with('.'),
            })
    }
}

/// What follows `name` in `stated`, whatever the case.
fn after<'k>(stated: &'k str, name: &str) -> Option<&'k str> {
    let (head, rest) = stated.split_at_checked(name.len())?;
    head.eq_ignore_ascii_case(name).then_some(rest)
}
