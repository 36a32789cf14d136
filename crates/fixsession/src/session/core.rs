//! The state of a session, and the steps that all parts of it use.

use std::time::Duration;

use fixcore::Message;
use fixcore::dict::{Dictionary, Rules, SessionValidator};

use crate::application::{Application, Outbox};
use crate::dictionaries::{Dictionaries, appl_ver_id};
use crate::event::Event;
use crate::gap::{Asked, Queue};
use crate::now::Now;
use crate::options::SessionOptions;
use crate::replay::Replay;
use crate::session::output::Output;
use crate::store::{Store, StoreFailure};
use crate::times::{Reader, Stamp};
use crate::version::Protocol;
use crate::writer::Writer;

/// The connection ends: nothing more of it is handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stop;

/// Whether to go on.
pub(super) type Flow<T = ()> = Result<T, Stop>;

/// What every call brings.
pub(super) struct Context<'a, A> {
    pub(super) now: Now,
    pub(super) app: &'a mut A,
}

/// What a connection knows, from `connected` to `disconnected`.
#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Link {
    pub(super) connected: bool,
    pub(super) received_logon: bool,
    pub(super) sent_logon: bool,
    pub(super) sent_logout: bool,
    /// Our Logon resets the numbers.
    pub(super) sent_reset: bool,
    /// Nothing more is read; the connection ends when the output is written.
    pub(super) closing: bool,
    /// The connection ends because of an error.
    pub(super) is_error: bool,
    /// HeartBtInt (108); 0 for none.
    pub(super) interval: Duration,
    /// How long after the last receipt the first TestRequest is due, and when the connection is dead.
    pub(super) silences: (Duration, Duration),
    pub(super) last_sent: Duration,
    pub(super) last_received: Duration,
    /// TestRequests since the last receipt.
    pub(super) tests: u32,
    pub(super) logon_due: Option<Duration>,
    pub(super) logout_due: Option<Duration>,
    /// DefaultApplVerID (1137) of the counterparty.
    pub(super) version: Option<&'static str>,
    /// MaxMessageSize (383) of the counterparty.
    pub(super) size_max: Option<u64>,
    /// The last ResendRequest that came, and how often it came in a row.
    pub(super) last_request: Option<(u64, u64, u32)>,
}

/// A replay, and the messages that were sent behind it.
#[derive(Debug)]
pub(super) struct Resending {
    pub(super) replay: Replay,
    /// The first number that was stored but not written, because the replay comes first.
    pub(super) live: u64,
    /// The replay is over: the messages from `live` on come next.
    pub(super) is_live: bool,
}

#[derive(Debug)]
pub(super) struct Core<S> {
    pub(super) options: SessionOptions,
    pub(super) protocol: Protocol,
    pub(super) dictionaries: Dictionaries,
    pub(super) rules: Rules,
    pub(super) store: S,
    pub(super) link: Link,
    pub(super) queue: Queue,
    pub(super) asked: Option<Asked>,
    pub(super) resending: Option<Resending>,
    /// The current message waited behind a gap.
    pub(super) is_queued: bool,
    /// The number to expect once the current message is handled, stored together with its answer.
    pub(super) commit: Option<u64>,
    pub(super) validator: SessionValidator,
    pub(super) writer: Writer,
    pub(super) outbox: Outbox,
    /// Times as they are read and written.
    pub(super) reader: Reader,
    pub(super) time: Stamp,
    /// The body and the bytes of the message that is being written.
    pub(super) body: Vec<u8>,
    pub(super) message: Vec<u8>,
    /// What is to be written to the connection.
    pub(super) output: Output,
}

impl<S: Store> Core<S> {
    pub(super) fn new(options: SessionOptions, dictionaries: Dictionaries, store: S) -> Self {
        let protocol = Protocol::of(&options.id.begin_string);
        let rules = Rules::default()
            .user_tags(options.validate_user_defined_fields)
            .order(options.validate_fields_out_of_order)
            .empty(!options.validate_fields_have_values)
            .unexpected(!options.allow_unknown_msg_fields)
            .counts(protocol.checks_counts())
            .group_order(options.validate_unordered_group_fields);
        Self {
            protocol,
            dictionaries,
            rules,
            store,
            link: Link::default(),
            queue: Queue::new(options.queue_bytes_max),
            asked: None,
            resending: None,
            is_queued: false,
            commit: None,
            validator: SessionValidator::new(),
            writer: Writer::new(&options.id),
            outbox: Outbox::default(),
            reader: Reader::default(),
            time: Stamp::default(),
            body: Vec::new(),
            message: Vec::new(),
            output: Output::default(),
            options,
        }
    }

    pub(super) fn is_logged_on(&self) -> bool {
        self.link.received_logon && self.link.sent_logon
    }

    pub(super) fn event<A: Application>(&self, event: Event<'_>, cx: &mut Context<'_, A>) {
        cx.app.event(&self.options.id, &event);
    }

    /// Ends the connection once the output is written.
    pub(super) fn close<A: Application>(&mut self, why: &str, cx: &mut Context<'_, A>) -> Stop {
        if !self.link.closing {
            self.link.closing = true;
            self.link.is_error = !why.is_empty();
            self.event(Event::Disconnecting(why), cx);
        }
        Stop
    }

    /// Ends a connection whose Logon cannot be accepted, without an answer.
    pub(super) fn refuse<A: Application>(&mut self, why: &str, cx: &mut Context<'_, A>) -> Stop {
        self.event(Event::LogonRefused(why), cx);
        self.close("", cx)
    }

    /// Ends the connection because the store failed: nothing can be promised any more. A Logout says so if there is
    /// room for it; what came and was not stored, the counterparty sends again.
    pub(super) fn failed<A: Application>(
        &mut self,
        failure: &StoreFailure,
        cx: &mut Context<'_, A>,
    ) -> Stop {
        self.event(Event::Store(failure), cx);
        // The Logout must not say that the message is handled.
        self.commit = None;
        if self.is_logged_on() && !self.link.sent_logout && !self.link.closing {
            self.last_logout("Message store failed", cx);
        }
        self.close(&format!("the store failed: {failure}"), cx)
    }

    /// Ends the connection if what follows from a message could not be kept.
    pub(super) fn ensure_room<A: Application>(&mut self, cx: &mut Context<'_, A>) -> Flow {
        match self.store.ensure_room() {
            Ok(()) => Ok(()),
            Err(failure) => Err(self.failed(&failure, cx)),
        }
    }

    /// Both numbers become 1, and everything that refers to the old ones goes.
    pub(super) fn reset(&mut self, now: Now) -> Result<(), StoreFailure> {
        self.store.reset(now.utc)?;
        self.forget_numbers();
        Ok(())
    }

    /// Forgets what refers to numbers: queue, request, replay.
    pub(super) fn forget_numbers(&mut self) {
        self.queue.clear();
        self.asked = None;
        self.resending = None;
        self.commit = None;
        self.link.last_request = None;
    }

    pub(super) fn reset_or_stop<A: Application>(&mut self, cx: &mut Context<'_, A>) -> Flow {
        match self.reset(cx.now) {
            Ok(()) => {
                self.event(Event::Reset, cx);
                Ok(())
            }
            Err(failure) => Err(self.failed(&failure, cx)),
        }
    }

    /// The next number is expected from now on, if `number` was the expected one.
    pub(super) fn advance_past<A: Application>(
        &mut self,
        number: u64,
        cx: &mut Context<'_, A>,
    ) -> Flow {
        if number != self.store.next_target() {
            return Ok(());
        }
        self.expect(number.saturating_add(1), cx)
    }

    /// This number is expected from now on.
    pub(super) fn expect<A: Application>(&mut self, number: u64, cx: &mut Context<'_, A>) -> Flow {
        if let Err(failure) = self.store.set_next_target(number) {
            return Err(self.failed(&failure, cx));
        }
        self.after_advance(cx)
    }

    /// Stores the number that the current message leads to, unless an answer did.
    pub(super) fn settle<A: Application>(&mut self, cx: &mut Context<'_, A>) -> Flow {
        match self.commit.take() {
            Some(number) => self.expect(number, cx),
            None => self.after_advance(cx),
        }
    }

    /// The application version of a message: its own, or the counterparty's default.
    pub(super) fn application_version<'m>(
        version: Option<&'static str>,
        message: &Message<'_, 'm>,
    ) -> Option<&'m [u8]> {
        let own = message.get(1128).filter(|own| !own.is_empty());
        own.or(version.map(str::as_bytes))
    }

    /// The dictionary of a message's body.
    pub(super) fn body_dictionary<'d>(
        dictionaries: &'d Dictionaries,
        version: Option<&'static str>,
        message: &Message<'_, '_>,
    ) -> Option<&'d Dictionary> {
        let transport = dictionaries.transport()?;
        if transport.message(message.msg_type()).is_some() {
            return Some(transport);
        }
        dictionaries.application(Self::application_version(version, message)?)
    }

    /// DefaultApplVerID (1137) as this side sends it: an acceptor speaks the version that it was asked for
    /// if it can.
    pub(super) fn own_version(&self) -> &'static str {
        let stated = self.options.default_appl_ver_id.as_deref();
        let stated = stated.and_then(appl_ver_id);
        let asked = self.link.version.filter(|asked| {
            !self.dictionaries.has_applications()
                || self.dictionaries.application(asked.as_bytes()).is_some()
        });
        match self.options.role {
            crate::options::Role::Acceptor => asked.or(stated),
            crate::options::Role::Initiator => stated.or(asked),
        }
        .unwrap_or("9")
    }
}

/// Whether this is one of the session's own messages.
pub(super) fn is_admin(msg_type: &[u8]) -> bool {
    matches!(msg_type, [b'0'..=b'5' | b'A'])
}

/// Whether a flag of a message is set.
pub(super) fn is_set(message: &Message<'_, '_>, tag: u32) -> bool {
    message.get(tag) == Some(b"Y")
}
