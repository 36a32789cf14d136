//! What all workers of a consumer have to have in common. Not here: what streams promise (`settings`).

use std::collections::{BTreeMap, HashMap};

use crate::error::Error;

/// What all workers of a consumer have in common, as names of flags without dashes and their values. Each block goes to
/// one of them, so one that answers otherwise would leave the answers of both incomplete.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Common(BTreeMap<&'static str, String>);

/// What the names start with where a broker keeps them.
const COMMON: &str = "perfkit-";

impl Common {
    /// These flags; `None` is one that was not given.
    pub fn new(flags: impl IntoIterator<Item = (&'static str, Option<String>)>) -> Self {
        let value = |value: Option<String>| value.unwrap_or_else(|| UNSET.to_owned());
        Self(
            flags
                .into_iter()
                .map(|(name, flag)| (name, value(flag)))
                .collect(),
        )
    }

    /// Adds a value.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.0.insert(name, value.to_owned());
        self
    }

    /// As a broker keeps it.
    #[cfg(any(feature = "nats", feature = "kafka", test))]
    pub(crate) fn kept(&self) -> HashMap<String, String> {
        let kept = |(name, value): (&&str, &String)| (key(name), value.clone());
        self.0.iter().map(kept).collect()
    }

    /// The same, with the worker that takes over from those before it, if this one does.
    #[cfg(any(feature = "nats", feature = "kafka", test))]
    pub(crate) fn kept_by(&self, takes_over: Option<&str>) -> HashMap<String, String> {
        let by = takes_over.map(|name| (key(TAKEN_BY), name.to_owned()));
        self.kept().into_iter().chain(by).collect()
    }

    /// Whether all of it is among what a broker keeps of a consumer. A worker that `takes_over` from those before it may differ
    /// in what decides how an answer looks, and not in where it goes and for which shard.
    ///
    /// # Errors
    ///
    /// If something there is different.
    pub fn check(
        &self,
        consumer: &str,
        kept: &HashMap<String, String>,
        takes_over: bool,
    ) -> Result<bool, Error> {
        for (name, value, found) in self.differences(kept) {
            if !takes_over || FIXED.contains(&name) {
                return Err(differs(consumer, name, value, found));
            }
        }
        let is_kept = |(name, value): (&&str, &String)| kept.get(&key(name)) == Some(value);
        Ok(self.0.iter().all(is_kept))
    }

    /// Whether what a broker keeps of a consumer is still that of this worker, which was among its workers.
    ///
    /// # Errors
    ///
    /// If another worker has taken over.
    #[cfg(any(feature = "nats", feature = "kafka", test))]
    pub(crate) fn check_still(
        &self,
        consumer: &str,
        kept: &HashMap<String, String>,
    ) -> Result<(), Error> {
        let Some((name, value, found)) = self.differences(kept).next() else {
            return Ok(());
        };
        let (value, found) = (shown(name, value), shown(name, found));
        let by = kept
            .get(&key(TAKEN_BY))
            .map_or("another worker", String::as_str);
        Err(Error::refused(
            format!(
                "{by} has taken over the consumer {consumer} (--take-over): its workers have {found} from now on, and this one \
                 has {value}"
            ),
            "start it with theirs, or with another consumer (--consumer NAME), which answers the stream from its first block",
        ))
    }

    /// What a broker keeps that is different: name, own value, and the value there.
    fn differences<'a>(
        &'a self,
        kept: &'a HashMap<String, String>,
    ) -> impl Iterator<Item = (&'static str, &'a str, &'a str)> {
        let found = |name: &str| kept.get(&key(name)).map(String::as_str);
        let pairs = self
            .0
            .iter()
            .filter_map(move |(name, value)| Some((*name, value.as_str(), found(name)?)));
        pairs.filter(|(_, value, found)| value != found)
    }
}

/// Who took a consumer over last.
#[cfg(any(feature = "nats", feature = "kafka", test))]
const TAKEN_BY: &str = "taken-over-by";

/// What a broker calls a value.
fn key(name: &str) -> String {
    format!("{COMMON}{name}")
}

/// What no worker of a consumer may change: the answers before would be lacking.
const FIXED: [&str; 2] = ["shard", "to"];

/// What stands for a flag that was not given.
const UNSET: &str = "no";
/// What stands for a switch that was given.
const SET: &str = "yes";

/// The value of a switch.
#[must_use]
pub fn switch(is_on: bool) -> Option<String> {
    is_on.then(|| SET.to_owned())
}

fn shown(name: &str, value: &str) -> String {
    match (name, value) {
        ("to", stream) => format!("--to the stream {stream}"),
        ("snapshot" | "priorities", hash) if hash != UNSET && hash != SET => {
            format!("--{name} of the hash {hash}")
        }
        ("snapshot", SET) => "--follow".to_owned(),
        (_, UNSET) => format!("no --{name}"),
        (_, SET) => format!("--{name}"),
        _ => format!("--{name} {value}"),
    }
}

fn differs(consumer: &str, name: &str, value: &str, found: &str) -> Error {
    let help = match (FIXED.contains(&name), name) {
        (true, _) => {
            "start it with theirs, or with another consumer (--consumer NAME), which answers the stream from its first block"
        }
        (false, "snapshot") => {
            "start it with theirs; to replace expressions while workers go on, start all of them with --follow; once all of them \
             are stopped, --take-over lets this worker replace what they had; another consumer (--consumer NAME) answers the \
             stream from its first block"
        }
        (false, _) => {
            "start it with theirs; once all of them are stopped, --take-over lets this worker replace what they had; another \
             consumer (--consumer NAME) answers the stream from its first block"
        }
    };
    let (value, found) = (shown(name, value), shown(name, found));
    Error::Settings {
        what: format!("consumer {consumer}"),
        reason: format!(
            "its workers have {found}, this one has {value}, and each block goes to one of them only: answers of both kinds \
             would be mixed"
        ),
        help: help.to_owned(),
    }
}
