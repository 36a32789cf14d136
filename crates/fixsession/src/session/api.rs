//! A session as its callers see it.

use std::time::Duration;

use fixcore::{DataPairs, Decoder};

use crate::application::Application;
use crate::dictionaries::Dictionaries;
use crate::event::Event;
use crate::framing::{Framed, SessionFramer};
use crate::gap::Next;
use crate::id::SessionId;
use crate::now::Now;
use crate::options::{Role, SessionOptions};
use crate::session::core::{Context, Core, Link};
use crate::store::{Store, StoreFailure};

/// The longest message that is read unless `MaxMessageSize` (383) of this side says otherwise.
const MESSAGE_BYTES_MAX: usize = 4 << 20;

/// What a session is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// There is no connection.
    Disconnected,
    /// An acceptor waits for a Logon.
    AwaitingLogon,
    /// An initiator waits for the answer to its Logon.
    LogonSent,
    /// The Logons are exchanged.
    LoggedOn,
    /// A Logout was sent, and its answer has not come yet.
    LogoutSent,
    /// The connection ends as soon as the output is written.
    Closing,
}

/// What a call did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// How many messages were handled.
    pub handled: usize,
    /// There may be more to handle: call again, with no bytes.
    pub more: bool,
    /// Write the output and then close the connection.
    pub close: bool,
}

/// A message that was numbered and stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sent {
    /// Its MsgSeqNum (34).
    pub number: u64,
    /// Whether it is in the output. Otherwise the session is logged out, and the counterparty asks for the
    /// message when it logs on, or it comes behind a replay that runs.
    pub on_wire: bool,
}

/// Why a message was not sent. No number was used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SendError {
    /// [`Application::to_app`] said so.
    #[error("the application declined to send the message")]
    Declined,
    /// The session is logged out, and a Logon will reset it: the message would be lost.
    #[error("the session is logged out, and its numbers are reset when it logs on")]
    LoggedOut,
    /// The counterparty stated a smaller MaxMessageSize (383).
    #[error(
        "the message has {bytes} bytes, the counterparty takes {limit} (MaxMessageSize, 383): \
         send less in one message"
    )]
    TooLarge {
        /// The bytes of the message.
        bytes: u64,
        /// MaxMessageSize (383) of the counterparty.
        limit: u64,
    },
    /// The body is not made of fields: `tag=value` and the byte 1.
    #[error("the body has no field of the form tag=value at byte {offset}")]
    Field {
        /// The byte of the body.
        offset: usize,
    },
    /// The store could not keep the message.
    #[error(transparent)]
    Store(StoreFailure),
}

/// A FIX session: bytes, times and messages to send in; bytes, call-backs and the next deadline out.
///
/// It opens no socket and reads no clock. The caller passes what a connection brought to
/// [`bytes`](Self::bytes), writes [`output`](Self::output), and calls [`tick`](Self::tick) when
/// [`deadline`](Self::deadline) has passed.
///
/// ```
/// use std::time::Duration;
/// use fixsession::{Dictionaries, MemoryStore, Now, Role, Session, SessionId, SessionOptions, Status};
///
/// let now = Now {
///     monotonic: Duration::ZERO,
///     utc: "20260102-03:04:05".parse().expect("a time"),
/// };
/// let session = |from: &str, to: &str, role| {
///     let mut options = SessionOptions::new(SessionId::new("FIX.4.4", from, to));
///     options.role = role;
///     Session::new(options, Dictionaries::built_in("FIX.4.4"), MemoryStore::new(now.utc))
/// };
/// let mut buyer = session("BUYER", "SELLER", Role::Initiator);
/// let mut seller = session("SELLER", "BUYER", Role::Acceptor);
/// buyer.connected(now, &mut ());
/// seller.connected(now, &mut ());
/// seller.bytes(buyer.output(), 10, now, &mut ());
/// buyer.bytes(seller.output(), 10, now, &mut ());
/// assert_eq!(buyer.status(), Status::LoggedOn);
/// assert_eq!(seller.status(), Status::LoggedOn);
/// ```
#[derive(Debug)]
pub struct Session<S> {
    framer: SessionFramer,
    decoder: Decoder,
    core: Core<S>,
}

impl<S: Store> Session<S> {
    /// A session that is not connected yet, with its dictionaries and the store of its numbers.
    #[must_use]
    pub fn new(options: SessionOptions, dictionaries: Dictionaries, store: S) -> Self {
        let limit = options
            .max_message_size
            .and_then(|max| usize::try_from(max).ok());
        let transport = dictionaries.transport();
        let standard = DataPairs::standard();
        let mut pairs = standard.pairs().to_vec();
        pairs.extend(
            transport
                .into_iter()
                .flat_map(fixcore::dict::Dictionary::data_tags),
        );
        pairs.sort_unstable();
        pairs.dedup_by_key(|pair| pair.0);
        let pairs = match pairs == standard.pairs() {
            true => standard,
            false => DataPairs::new(&pairs),
        };
        Self {
            framer: SessionFramer::new(limit.unwrap_or(MESSAGE_BYTES_MAX)),
            decoder: Decoder::new().with_pairs(pairs),
            core: Core::new(options, dictionaries, store),
        }
    }

    /// Which session this is.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        &self.core.options.id
    }

    /// What it does and checks.
    #[must_use]
    pub fn options(&self) -> &SessionOptions {
        &self.core.options
    }

    /// Its numbers and sent messages.
    #[must_use]
    pub fn store(&self) -> &S {
        &self.core.store
    }

    /// Its numbers and sent messages, for maintenance while no connection is there.
    pub fn store_mut(&mut self) -> &mut S {
        &mut self.core.store
    }

    /// Its numbers and sent messages, of a session that ends.
    #[must_use]
    pub fn into_store(self) -> S {
        self.core.store
    }

    /// What it is doing.
    #[must_use]
    pub fn status(&self) -> Status {
        let link = &self.core.link;
        match link {
            Link {
                connected: false, ..
            } => Status::Disconnected,
            Link { closing: true, .. } => Status::Closing,
            Link {
                sent_logout: true, ..
            } => Status::LogoutSent,
            _ if self.core.is_logged_on() => Status::LoggedOn,
            Link {
                sent_logon: true, ..
            } => Status::LogonSent,
            _ => Status::AwaitingLogon,
        }
    }

    /// The number of the next message to send.
    #[must_use]
    pub fn next_sender(&self) -> u64 {
        self.core.store.next_sender()
    }

    /// The number of the next message to receive.
    #[must_use]
    pub fn next_target(&self) -> u64 {
        self.core.store.next_target()
    }

    /// A connection is there. The Logon of an initiator is in the output then.
    pub fn connected<A: Application>(&mut self, now: Now, app: &mut A) {
        let core = &mut self.core;
        let logon_timeout = core.options.logon_timeout;
        self.framer.clear();
        core.output.clear();
        core.link = Link {
            connected: true,
            logon_due: Some(now.monotonic.saturating_add(logon_timeout)),
            last_sent: now.monotonic,
            last_received: now.monotonic,
            ..Link::default()
        };
        if core.options.role == Role::Initiator {
            // A failure closes the connection, which the caller sees.
            let _ = core.send_logon(&mut Context { now, app });
        }
    }

    /// Takes all of `input` and handles at most `budget` messages. With a budget of 0 a replay does not go on
    /// either.
    pub fn bytes<A: Application>(
        &mut self,
        input: &[u8],
        budget: usize,
        now: Now,
        app: &mut A,
    ) -> Progress {
        let Self {
            framer,
            decoder,
            core,
        } = self;
        let mut cx = Context { now, app };
        let mut progress = Progress::default();
        if core.link.connected && !core.link.closing {
            framer.push(input);
            progress.more = handle(
                framer,
                decoder,
                core,
                (budget, &mut progress.handled),
                &mut cx,
            );
        }
        if core.link.closing {
            framer.clear();
            progress.more = false;
        }
        progress.close = self.close();
        progress
    }

    /// Sends an application message.
    ///
    /// `body` has the fields between MsgType (35) and CheckSum (10), each with the byte 1 after it. Header
    /// fields in it go to their place; what only a session writes (8, 9, 10, 34, 35, 43, 49, 52, 56, 122,
    /// 369) is left out. A logged-out session stores the message, and the counterparty asks for it when it
    /// logs on.
    ///
    /// # Errors
    /// It was not sent, and no number was used.
    pub fn send<A: Application>(
        &mut self,
        msg_type: &[u8],
        body: &[u8],
        now: Now,
        app: &mut A,
    ) -> Result<Sent, SendError> {
        let core = &mut self.core;
        let mut cx = Context { now, app };
        if let Err(failure) = core.store.ensure_room() {
            if core.link.connected {
                let _ = core.failed(&failure, &mut cx);
            }
            return Err(SendError::Store(failure));
        }
        core.body.clear();
        core.body.extend_from_slice(body);
        core.send_app(msg_type, &mut cx)
    }

    /// Does what is due: call it when the deadline has passed. It may be called at any time.
    pub fn tick<A: Application>(&mut self, now: Now, app: &mut A) -> Progress {
        let mut cx = Context { now, app };
        let _ = self.core.tick(&mut cx);
        self.bytes(&[], 0, now, app)
    }

    /// Ends the session with a Logout. Without a Logon the connection is closed.
    pub fn logout<A: Application>(&mut self, text: &str, now: Now, app: &mut A) {
        let mut cx = Context { now, app };
        if !self.core.link.connected || self.core.link.closing {
            return;
        }
        // A failure closes the connection, which the caller sees.
        let _ = match self.core.is_logged_on() {
            true => self.core.send_logout_once(text, &mut cx),
            false => Err(self.core.close(text, &mut cx)),
        };
    }

    /// The connection ended, by either side.
    pub fn disconnected<A: Application>(&mut self, now: Now, app: &mut A) {
        let core = &mut self.core;
        let mut cx = Context { now, app };
        if !core.link.connected {
            return;
        }
        let was_up = core.link.received_logon || core.link.sent_logon;
        // Without a close of ours the counterparty, or the line, ended it.
        let is_error = core.link.is_error || !core.link.closing;
        let resets =
            core.options.reset_on_disconnect || (core.options.reset_on_error && is_error && was_up);
        core.event(Event::Disconnected, &mut cx);
        core.link = Link::default();
        core.forget_numbers();
        core.output.clear();
        self.framer.clear();
        if resets {
            let _ = core.reset_or_stop(&mut cx);
            core.link = Link::default();
        }
        if was_up {
            cx.app.on_logout(&core.options.id);
        }
    }

    /// Both numbers become 1: a new interval of the schedule begins. Log out and disconnect first.
    ///
    /// # Errors
    /// Nothing was changed.
    pub fn reset(&mut self, now: Now) -> Result<(), StoreFailure> {
        self.core.reset(now)
    }

    /// The bytes to write to the connection.
    #[must_use]
    pub fn output(&self) -> &[u8] {
        self.core.output.waiting()
    }

    /// This many bytes of the output were written. If the session then [has work](Self::has_work), call
    /// [`bytes`](Self::bytes) with no bytes: a replay goes on.
    pub fn sent(&mut self, bytes: usize) {
        self.core.output.wrote(bytes);
    }

    /// Whether [`bytes`](Self::bytes) would do something without more bytes.
    #[must_use]
    pub fn has_work(&self) -> bool {
        self.core.can_pump() || self.core.queue.reaches(self.core.store.next_target())
    }

    /// Whether to write the output and then close the connection. Give the writing a limit of time, then
    /// call [`disconnected`](Self::disconnected).
    #[must_use]
    pub fn close(&self) -> bool {
        self.core.link.closing
    }

    /// When to call [`tick`](Self::tick), on the monotonic clock. `None` if nothing is due.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        self.core.deadline()
    }
}

/// Handles what waits, up to a budget. Returns whether there may be more.
fn handle<S: Store, A: Application>(
    framer: &mut SessionFramer,
    decoder: &mut Decoder,
    core: &mut Core<S>,
    (budget, handled): (usize, &mut usize),
    cx: &mut Context<'_, A>,
) -> bool {
    if budget == 0 {
        // Nothing is done now, a replay included.
        let is_waiting = core.queue.reaches(core.store.next_target());
        return is_waiting || framer.has_bytes() || core.can_pump();
    }
    loop {
        if core.pump(cx).is_err() {
            return false;
        }
        let expected = core.store.next_target();
        let is_waiting = core.queue.reaches(expected);
        if *handled >= budget {
            return is_waiting || framer.has_bytes() || core.can_pump();
        }
        let done = if is_waiting {
            match core.queue.take(expected) {
                Some(Next::Message(bytes)) => {
                    core.event(Event::Unqueued(expected), cx);
                    core.queued(decoder, &bytes, cx)
                }
                Some(Next::Handled) => core.expect(expected.saturating_add(1), cx),
                None => Ok(()),
            }
        } else {
            match framer.next() {
                Framed::Message(bytes) => core.frame(decoder, bytes, cx),
                Framed::NeedMore => return core.can_pump(),
                Framed::TooLong => {
                    let limit = framer.limit();
                    core.event(Event::TooLong(limit), cx);
                    match core.is_logged_on() {
                        true => {
                            let text = format!("Message longer than {limit} bytes");
                            Err(core.logout_and_close(&text, cx))
                        }
                        false => Err(core.refuse("the message is too long", cx)),
                    }
                }
            }
        };
        if done.is_err() {
            return false;
        }
        *handled += 1;
    }
}
