//! Validates a message against a dictionary: allowed and required fields, data types, values, groups.

use super::builtin::Version;
use super::dictionary::Dictionary;
use super::pass::Buffers;
use super::rules::Rules;
use crate::decoder::Message;
use crate::error::Result;

/// Validates messages, and reuses its buffers from message to message.
#[derive(Debug)]
pub struct Validator<'v> {
    transport: &'v Dictionary,
    /// For messages that the transport dictionary does not have.
    application: Option<&'v Dictionary>,
    rules: Rules,
    buffers: Buffers,
}

impl<'v> Validator<'v> {
    /// A validator of messages of one dictionary.
    #[must_use]
    pub fn new(dictionary: &'v Dictionary, rules: Rules) -> Self {
        Self::with_application(dictionary, None, rules)
    }

    /// A validator of messages with a transport and an application dictionary: FIXT 1.1 and an
    /// application version. The transport describes header, trailer and its own messages.
    #[must_use]
    pub fn with_application(
        transport: &'v Dictionary,
        application: Option<&'v Dictionary>,
        rules: Rules,
    ) -> Self {
        Self {
            transport,
            application,
            rules,
            buffers: Buffers::default(),
        }
    }

    /// The built-in transport and application versions for a message. `None` if there is none for its
    /// BeginString (8).
    #[must_use]
    pub fn versions(message: &Message<'_, '_>) -> Option<(Version, Option<Version>)> {
        let version = Version::of_begin_string(message.begin_string())?;
        let named = || message.get(1128).and_then(Version::of_appl_ver_id);
        let application =
            (version == Version::Fixt11).then(|| named().unwrap_or(Version::Fix50Sp2));
        Some((version, application))
    }

    /// A validator of messages of built-in versions.
    #[must_use]
    pub fn of_versions((frame, body): (Version, Option<Version>), rules: Rules) -> Option<Self> {
        let body = body.and_then(Version::dictionary);
        Some(Self::with_application(frame.dictionary()?, body, rules))
    }

    /// A validator with the built-in dictionaries for a message. `None` if there are none for its
    /// BeginString (8).
    #[must_use]
    pub fn for_message(message: &Message<'_, '_>, rules: Rules) -> Option<Self> {
        Self::of_versions(Self::versions(message)?, rules)
    }

    /// Validates a message.
    ///
    /// # Errors
    /// The first thing that is wrong, with its tag and place.
    pub fn validate(&mut self, message: &Message<'_, '_>) -> Result<()> {
        let dictionaries = (self.transport, self.application);
        self.buffers.validate(dictionaries, self.rules, message)
    }
}
