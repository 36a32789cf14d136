//! One side of a simulation: a session, a store that outlives it, and an application that counts.

use fixcore::Timestamp;

use crate::application::{Application, Outbox, Received, Refusal};
use crate::dictionaries::Dictionaries;
use crate::id::SessionId;
use crate::memory_store::MemoryStore;
use crate::now::Now;
use crate::options::SessionOptions;
use crate::session::Session;
use crate::store::{Store, StoreFailure};

/// A store that notes when a number is used twice, and that may be full.
#[derive(Debug)]
pub(super) struct Watched {
    inner: MemoryStore,
    /// There is room only for what is written without asking.
    pub(super) is_full: bool,
    wrong: Option<String>,
}

impl Watched {
    fn new(now: Timestamp) -> Self {
        Self {
            inner: MemoryStore::new(now),
            is_full: false,
            wrong: None,
        }
    }
}

impl Store for Watched {
    fn created(&self) -> Timestamp {
        self.inner.created()
    }

    fn next_sender(&self) -> u64 {
        self.inner.next_sender()
    }

    fn next_target(&self) -> u64 {
        self.inner.next_target()
    }

    fn ensure_room(&mut self) -> Result<(), StoreFailure> {
        match self.is_full {
            true => Err(StoreFailure("no room".to_owned())),
            false => Ok(()),
        }
    }

    fn append(&mut self, number: u64, message: &[u8]) -> Result<(), StoreFailure> {
        if number != self.inner.next_sender() || matches!(self.inner.sent(number), Ok(Some(_))) {
            let next = self.inner.next_sender();
            self.wrong
                .get_or_insert(format!("number {number} used where {next} is next"));
        }
        self.inner.append(number, message)
    }

    fn set_next_sender(&mut self, number: u64) -> Result<(), StoreFailure> {
        self.inner.set_next_sender(number)
    }

    fn set_next_target(&mut self, number: u64) -> Result<(), StoreFailure> {
        let before = self.inner.next_target();
        if number < before {
            self.wrong.get_or_insert(format!(
                "expected number goes back from {before} to {number}"
            ));
        }
        self.inner.set_next_target(number)
    }

    fn sent(&self, number: u64) -> Result<Option<&[u8]>, StoreFailure> {
        self.inner.sent(number)
    }

    fn reset(&mut self, now: Timestamp) -> Result<(), StoreFailure> {
        self.inner.reset(now)
    }
}

/// Counts what came, and notes what is not the next message.
#[derive(Debug, Default)]
pub(super) struct Counter {
    /// How many messages of the counterparty came.
    pub(super) came: u64,
    /// The last number that was written for the first time.
    last_new: u64,
    pub(super) wrong: Option<String>,
    /// What happened, if it is wanted.
    pub(super) log: Option<String>,
}

impl Counter {
    fn note(&mut self, text: &str) {
        if let Some(log) = &mut self.log {
            log.push_str(&text.replace('\x01', "|"));
            log.push('\n');
        }
    }
}

impl Application for Counter {
    fn from_app(
        &mut self,
        _: &SessionId,
        received: &Received<'_>,
        _: &mut Outbox,
    ) -> Result<(), Refusal> {
        let id = received.message.get_u64(11);
        let expected = self.came + 1;
        if id != Ok(Some(expected)) {
            self.wrong
                .get_or_insert(format!("message {id:?} came where {expected} is next"));
        }
        self.came = expected;
        Ok(())
    }

    fn event(&mut self, _: &SessionId, event: &crate::event::Event<'_>) {
        if self.log.is_some() {
            self.note(&format!("    {event}"));
        }
    }

    fn incoming(&mut self, _: &SessionId, bytes: &[u8]) {
        if self.log.is_some() {
            self.note(&format!("  < {}", String::from_utf8_lossy(bytes)));
        }
    }

    fn outgoing(&mut self, _: &SessionId, bytes: &[u8]) {
        if self.log.is_some() {
            self.note(&format!("  > {}", String::from_utf8_lossy(bytes)));
        }
        let mut decoder = fixcore::Decoder::new();
        let Ok(message) = decoder.parse(bytes) else {
            self.wrong
                .get_or_insert("an invalid message was written".to_owned());
            return;
        };
        let number = message.get_u64(34).ok().flatten().unwrap_or(0);
        if message.get(43).is_some() {
            return;
        }
        if number <= self.last_new {
            let last = self.last_new;
            self.wrong
                .get_or_insert(format!("number {number} is written as new after {last}"));
        }
        self.last_new = number;
    }
}

/// One side.
#[derive(Debug)]
pub(super) struct Side {
    pub(super) session: Session<Watched>,
    pub(super) app: Counter,
    dictionaries: Dictionaries,
    /// How many messages its application sent.
    pub(super) sent: u64,
}

impl Side {
    pub(super) fn new(options: SessionOptions, dictionaries: Dictionaries, now: Now) -> Self {
        let store = Watched::new(now.utc);
        Self {
            session: Session::new(options, dictionaries.clone(), store),
            app: Counter::default(),
            dictionaries,
            sent: 0,
        }
    }

    /// The process is killed and starts again: only the store is left.
    pub(super) fn restart(self) -> Self {
        let options = self.session.options().clone();
        let store = self.session.into_store();
        Self {
            session: Session::new(options, self.dictionaries.clone(), store),
            ..self
        }
    }

    /// The application sends its next message.
    pub(super) fn send(&mut self, now: Now) {
        let mut body = format!(
            "11={}\x0121=1\x0138=5\x0140=1\x0154=1\x0155=X\x01",
            self.sent + 1
        );
        if !matches!(
            self.session.id().begin_string.as_str(),
            "FIX.4.0" | "FIX.4.1"
        ) {
            body.push_str("60=20260102-03:04:05\x01");
        }
        if self
            .session
            .send(b"D", body.as_bytes(), now, &mut self.app)
            .is_ok()
        {
            self.sent += 1;
        }
    }

    /// What this side did that it must not.
    pub(super) fn wrong(&self) -> Option<&str> {
        let store = self.session.store().wrong.as_deref();
        store.or(self.app.wrong.as_deref())
    }
}
