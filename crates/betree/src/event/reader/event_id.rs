//! The id that an event brings along: a member by which others know it. It need not be an attribute.

use super::{EventReader, describe};
use crate::error::{Error, ErrorKind, Result, quoted};
use crate::event::json::Token;

/// The id of an event: a string or a number, as the event has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventId<'j>(&'j str);

impl<'j> EventId<'j> {
    /// The string with its quotes and escapes, or the number: a value of JSON without control characters.
    #[must_use]
    pub fn as_json(&self) -> &'j str {
        self.0
    }
}

/// Which member is the id, and what it was.
#[derive(Debug, Default)]
pub(super) struct TakesId<'j> {
    name: Option<&'j str>,
    /// The attribute of that name.
    attribute: Option<u16>,
    /// Whether the next value is the id.
    pub(super) is_next: bool,
    is_met: bool,
    found: Option<EventId<'j>>,
}

impl<'j> EventReader<'j> {
    /// Keeps the value of this member as the id of the event. If it is no attribute, it is skipped otherwise.
    ///
    /// ```
    /// use betree::{BeTree, Budget, Domain, Undefined};
    ///
    /// let mut tree = BeTree::new(Domain::parse("a|boolean|false\n")?, Undefined::False);
    /// let snapshot = tree.snapshot();
    /// let mut reader = snapshot.event_reader(br#"{"a": true, "request": "r-1"}"#, false);
    /// reader.take_id("request");
    /// reader.step(Budget::UNLIMITED)?;
    /// assert_eq!(reader.id().map(|id| id.as_json()), Some("\"r-1\""));
    /// # Ok::<(), betree::Error>(())
    /// ```
    pub fn take_id(&mut self, name: &'j str) {
        self.event_id.name = Some(name);
        self.event_id.attribute = self.domain.attribute(name).map(|found| found.0);
    }

    /// The id of the event, as far as it was read; `None` if the event has none or `null`.
    #[must_use]
    pub fn id(&self) -> Option<EventId<'j>> {
        self.event_id.found
    }
}

impl<'j> TakesId<'j> {
    /// Whether an attribute is the id too.
    #[inline]
    pub(super) fn is_attribute(&self, attribute: u16) -> bool {
        self.attribute == Some(attribute)
    }

    /// Whether a member of this name is the id.
    pub(super) fn meet(&mut self, name: &str) -> Result<bool> {
        self.is_next = self.name == Some(name);
        if self.is_next && std::mem::replace(&mut self.is_met, true) {
            let message = format!("the event's id {} appears twice", quoted(name));
            return Err(Error::new(ErrorKind::Json, message));
        }
        Ok(self.is_next)
    }

    /// Takes a token as the id.
    pub(super) fn take(&mut self, token: &Token<'_>, json: &'j [u8], offset: usize) -> Result<()> {
        self.is_next = false;
        match token {
            Token::Text(_) | Token::Integer(_) | Token::Wide(_) | Token::Float(_) => {
                self.found = std::str::from_utf8(json).ok().map(EventId);
                Ok(())
            }
            Token::Null => Ok(()),
            token => {
                let name = quoted(self.name.unwrap_or_default());
                let found = describe(token);
                let message =
                    format!("the event's id {name}: expected a string or a number, found {found}");
                Err(Error::new(ErrorKind::Type, message).byte(offset))
            }
        }
    }
}
