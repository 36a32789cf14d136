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
    #[cfg(any(feature = "nats", test))]
    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.0.insert(name, value.to_owned());
        self
    }

    /// As a broker keeps it.
    #[cfg(any(feature = "nats", test))]
    pub(crate) fn kept(&self) -> HashMap<String, String> {
        let kept = |(name, value): (&&str, &String)| (format!("{COMMON}{name}"), value.clone());
        self.0.iter().map(kept).collect()
    }

    /// Whether all of it is among what a broker keeps of a consumer.
    ///
    /// # Errors
    ///
    /// If something there is different.
    pub fn check(&self, consumer: &str, kept: &HashMap<String, String>) -> Result<bool, Error> {
        let mut is_whole = true;
        for (name, value) in &self.0 {
            match kept.get(&format!("{COMMON}{name}")) {
                Some(found) if found == value => {}
                None => is_whole = false,
                Some(found) => return Err(differs(consumer, name, value, found)),
            }
        }
        Ok(is_whole)
    }
}

/// What stands for a flag that was not given.
const UNSET: &str = "no";

fn differs(consumer: &str, name: &str, value: &str, found: &str) -> Error {
    let shown = |value: &str| match (name, value) {
        ("to", stream) => format!("--to the stream {stream}"),
        (_, UNSET) => format!("no --{name}"),
        _ => format!("--{name} {value}"),
    };
    let (value, found) = (shown(value), shown(found));
    Error::Settings {
        what: format!("consumer {consumer}"),
        reason: format!(
            "its workers have {found}, this one has {value}, and each block goes to one of them only: the answers of \
             both would be incomplete"
        ),
        help: format!(
            "use another consumer for this worker (--consumer NAME), or {found}; if the others are to be no more, remove \
             theirs with `nats consumer rm`: a new one begins with the first block"
        ),
    }
}
