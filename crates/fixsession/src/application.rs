//! What a session calls: the application's six call-backs, and three for logs.

use fixcore::Message;
use fixcore::dict::Dictionary;

use crate::event::Event;
use crate::id::SessionId;

/// The call-backs of a session, as QuickFIX has them. Each has a default that does nothing.
#[expect(
    clippy::wrong_self_convention,
    reason = "QuickFIX's names, which users know"
)]
pub trait Application {
    /// The Logons are exchanged.
    fn on_logon(&mut self, _id: &SessionId, _out: &mut Outbox) {}

    /// A session that was logged on, or tried to, ended.
    fn on_logout(&mut self, _id: &SessionId) {}

    /// An administrative message is about to be sent; its body may be changed.
    fn to_admin(&mut self, _id: &SessionId, _message: &mut Outgoing<'_>) {}

    /// An application message is about to be sent, or to be sent again; its body may be changed.
    ///
    /// # Errors
    /// [`DoNotSend`]: it is not sent. A message that is not sent again becomes part of a gap fill.
    fn to_app(&mut self, _id: &SessionId, _message: &mut Outgoing<'_>) -> Result<(), DoNotSend> {
        Ok(())
    }

    /// An administrative message came, checked and in order. A Logon comes here before anything is
    /// reset or stored.
    ///
    /// # Errors
    /// What the session shall answer instead of handling it.
    fn from_admin(
        &mut self,
        _id: &SessionId,
        _message: &Received<'_>,
        _out: &mut Outbox,
    ) -> Result<(), Refusal> {
        Ok(())
    }

    /// An application message came, checked and in order.
    ///
    /// # Errors
    /// What the session shall answer.
    fn from_app(
        &mut self,
        _id: &SessionId,
        _message: &Received<'_>,
        _out: &mut Outbox,
    ) -> Result<(), Refusal> {
        Ok(())
    }

    /// Something for the event log.
    fn event(&mut self, _id: &SessionId, _event: &Event<'_>) {}

    /// A message came, whatever is in it: for the message log.
    fn incoming(&mut self, _id: &SessionId, _bytes: &[u8]) {}

    /// A message goes out: for the message log.
    fn outgoing(&mut self, _id: &SessionId, _bytes: &[u8]) {}
}

/// An application that does nothing.
impl Application for () {}

/// A message that came.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Received<'a> {
    /// The message.
    pub message: &'a Message<'a, 'a>,
    /// Its MsgSeqNum (34).
    pub number: u64,
    /// PossDupFlag (43) is `Y`.
    pub poss_dup: bool,
    /// PossResend (97) is `Y`.
    pub poss_resend: bool,
    /// The dictionary of its body, if the session has one.
    pub dictionary: Option<&'a Dictionary>,
    /// `PreserveMessageFieldsOrder`: an answer made of this message keeps the order of its fields.
    pub preserves_order: bool,
}

/// A message that is about to be sent.
#[derive(Debug)]
#[non_exhaustive]
pub struct Outgoing<'a> {
    /// Its MsgType (35).
    pub msg_type: &'a [u8],
    /// Its MsgSeqNum (34).
    pub number: u64,
    /// Whether it was sent before and is sent again because the counterparty asked for it.
    pub resend: bool,
    /// Its fields, as [`Session::send`](crate::Session::send) takes them.
    pub body: &'a mut Vec<u8>,
}

/// The answer of [`Application::to_app`] that keeps a message from being sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DoNotSend;

/// Why an application does not take a message, and so what the session answers.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refusal {
    /// A Reject (35=3).
    Reject {
        /// SessionRejectReason (373).
        reason: u32,
        /// RefTagID (371).
        tag: Option<u32>,
        /// Text (58); `None` for the usual one of the reason.
        text: Option<String>,
    },
    /// A BusinessMessageReject (35=j); a Reject before FIX 4.2.
    Business {
        /// BusinessRejectReason (380).
        reason: u32,
        /// Text (58); `None` for the usual one of the reason.
        text: Option<String>,
        /// BusinessRejectRefID (379).
        reference: Option<String>,
    },
    /// The type is known but not handled here.
    UnsupportedType,
    /// Only for a Logon: Logout with this text.
    Logon(String),
    /// The application failed. With `RejectMessageOnUnhandledException` the message is rejected;
    /// otherwise it counts as received.
    Failed(String),
}

impl Refusal {
    /// A field that the message must have is missing.
    pub(crate) fn missing(tag: u32) -> Self {
        Self::Reject {
            reason: 1,
            tag: Some(tag),
            text: None,
        }
    }
}

/// Messages that an application sends from a call-back. They are sent in this order after it.
#[derive(Debug, Default)]
pub struct Outbox {
    bytes: Vec<u8>,
    /// Where the type and the body of each message end.
    messages: Vec<(usize, usize)>,
    pub(crate) logout: Option<String>,
}

impl Outbox {
    /// Sends a message; see [`Session::send`](crate::Session::send) for its body.
    pub fn send(&mut self, msg_type: &[u8], body: &[u8]) {
        self.with(msg_type, |bytes| bytes.extend_from_slice(body));
    }

    /// Sends a message whose body this function appends to the bytes that it is given.
    pub fn with(&mut self, msg_type: &[u8], write: impl FnOnce(&mut Vec<u8>)) {
        self.bytes.extend_from_slice(msg_type);
        let body = self.bytes.len();
        write(&mut self.bytes);
        self.messages.push((body, self.bytes.len()));
    }

    /// Ends the session with a Logout, after the messages.
    pub fn logout(&mut self, text: &str) {
        self.logout = Some(text.to_owned());
    }

    pub(crate) fn len(&self) -> usize {
        self.messages.len()
    }

    /// The type and the body of a message.
    pub(crate) fn get(&self, at: usize) -> Option<(&[u8], &[u8])> {
        let (body, end) = *self.messages.get(at)?;
        let start = match at.checked_sub(1) {
            Some(before) => self.messages.get(before)?.1,
            None => 0,
        };
        Some((self.bytes.get(start..body)?, self.bytes.get(body..end)?))
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.messages.clear();
        self.logout = None;
    }
}
