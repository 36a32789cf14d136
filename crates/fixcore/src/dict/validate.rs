//! Validates a message against a dictionary: allowed and required fields, data types, values, groups.

use super::builtin::Version;
use super::dictionary::Dictionary;
use super::pass::Buffers;
use super::rules::Rules;
use crate::decoder::Message;
use crate::error::{Error, Result};

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

    /// Adds all faults of a message to `found`, in the order of its fields, with those of missing fields and
    /// conditions at the end; at most so many that `found` has `most`. The first is that of
    /// [`validate`](Self::validate). A message of an unknown type has this fault, and those of its header, its
    /// trailer and its values.
    ///
    /// ```
    /// use fixcore::Decoder;
    /// use fixcore::dict::{Rules, Validator, Version};
    ///
    /// let dictionary = Version::Fix44.dictionary().expect("built in");
    /// let mut validator = Validator::new(dictionary, Rules::default());
    /// let mut decoder = Decoder::new();
    /// let message = decoder.parse(b"8=FIX.4.4\x019=15\x0135=0\x0138=5\x0134=x\x0110=207\x01")?;
    /// let mut found = Vec::new();
    /// validator.faults(&message, &mut found, 100);
    /// let tags: Vec<_> = found.iter().filter_map(|error| error.tag()).collect();
    /// assert_eq!(tags, [38, 34, 49, 52, 56], "not allowed, no number, and three are missing");
    /// # Ok::<(), fixcore::Error>(())
    /// ```
    pub fn faults(&mut self, message: &Message<'_, '_>, found: &mut Vec<Error>, most: usize) {
        let dictionaries = (self.transport, self.application);
        self.buffers
            .faults(dictionaries, self.rules, message, (found, most));
    }
}
