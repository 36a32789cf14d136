//! What a session answers to a message that a dictionary does not allow: SessionRejectReason (373) and
//! RefTagID (371), for the fault that counterparties expect to be named first.

use super::dictionary::Dictionary;
use super::layout::Layout;
use super::pass::{Buffers, body_layout};
use super::rules::Rules;
use crate::decoder::Message;
use crate::error::{Error, ErrorKind};

/// A fault of a message, as a Reject (35=3) names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// SessionRejectReason (373): 0 to 16.
    pub reason: u32,
    /// RefTagID (371). `None` for an unknown message type.
    pub tag: Option<u32>,
}

impl Fault {
    fn new(reason: u32, error: &Error) -> Self {
        Self {
            reason,
            tag: error.tag(),
        }
    }
}

/// Validates the messages of a session. The dictionaries are passed with each call, because a session
/// may have several application versions; its buffers are reused.
#[derive(Debug, Default)]
pub struct SessionValidator {
    buffers: Buffers,
}

impl SessionValidator {
    /// A validator without buffers yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Validates a message by its transport dictionary, and for message types that it does not have by
    /// the application dictionary.
    ///
    /// # Errors
    /// A message in the right order with one fault: this fault. Of several, the first misplaced header
    /// or trailer field, then an unknown message type, then a required field that is missing, then the
    /// first other fault in the order of the message, where a wrong count of entries comes before what is
    /// wrong inside of them.
    pub fn validate(
        &mut self,
        transport: &Dictionary,
        application: Option<&Dictionary>,
        rules: Rules,
        message: &Message<'_, '_>,
    ) -> Result<(), Fault> {
        let dictionaries = (transport, application);
        let valid = self.buffers.validate(dictionaries, rules, message);
        valid.map_err(|error| self.first_fault(dictionaries, rules, message, &error))
    }

    #[cold]
    fn first_fault(
        &mut self,
        dictionaries: (&Dictionary, Option<&Dictionary>),
        rules: Rules,
        message: &Message<'_, '_>,
        error: &Error,
    ) -> Fault {
        let transport = dictionaries.0;
        let body = body_layout(dictionaries, message);
        if rules.order
            && let Some(tag) = misplaced(transport, body.as_ref().ok().copied(), message)
        {
            return Fault {
                reason: 14,
                tag: Some(tag),
            };
        }
        let Ok((dictionary, layout)) = body else {
            return Fault {
                reason: 11,
                tag: None,
            };
        };
        if let Err(missing) = self
            .buffers
            .missing((transport, dictionary, layout), message)
        {
            return Fault::new(1, &missing);
        }
        // A wrong count comes before what is wrong inside the group.
        let without_values = rules.values(false);
        if let Err(count) = self.buffers.validate(dictionaries, without_values, message)
            && count.kind() == ErrorKind::GroupCount
            && count.offset() < error.offset()
        {
            return Fault::new(16, &count);
        }
        let reason = error.kind().session_reject_reason().unwrap_or(6);
        Fault::new(reason, error)
    }
}

/// The first field in a section that has ended: header fields come first, trailer fields last.
fn misplaced(
    transport: &Dictionary,
    body: Option<(&Dictionary, &Layout)>,
    message: &Message<'_, '_>,
) -> Option<u32> {
    let belongs = |dictionary: &Dictionary, layout: &Layout, tag: u32| {
        let Some(number) = dictionary.number(tag) else {
            return false;
        };
        let inside = |group: u32| {
            let group = dictionary.groups.get(group as usize);
            group.is_some_and(|group| group.all.has(number))
        };
        layout.allowed.has(number) || layout.groups.iter().any(|(_, group)| inside(*group))
    };
    let section = |tag: u32| {
        let header = belongs(transport, &transport.header, tag);
        let trailer = belongs(transport, &transport.trailer, tag);
        let body = body.is_some_and(|(dictionary, layout)| belongs(dictionary, layout, tag));
        match (header, trailer) {
            // A field of two sections is where it may be.
            _ if body && (header || trailer) => None,
            (true, _) => Some(0),
            (_, true) => Some(2),
            _ => Some(1),
        }
    };
    let mut last = 0;
    message.tags().iter().copied().find(|tag| {
        let Some(section) = section(*tag) else {
            return false;
        };
        let is_before = section < last;
        last = last.max(section);
        is_before
    })
}
