//! The user's application with the logs and counters of a session around it.

use super::scheduled::Scheduled;
use crate::application::{Application, DoNotSend, Outbox, Outgoing, Received, Refusal};
use crate::event::Event;
use crate::id::SessionId;
use crate::now::Now;
use crate::stores::SessionLog;

/// Messages of a session.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Counts {
    pub(super) received: u64,
    pub(super) sent: u64,
    pub(super) logons: u64,
}

/// An application of which everything is logged and counted.
#[derive(Debug)]
pub(super) struct Logged<'a, A> {
    app: &'a mut A,
    log: &'a mut SessionLog,
    counts: &'a mut Counts,
    scheduled: &'a mut Scheduled,
    /// The last event that an operator has to know.
    reason: &'a mut Option<String>,
    now: Now,
}

/// Characters of a reason that are kept.
const REASON_CHARS_MAX: usize = 200;

impl<'a, A> Logged<'a, A> {
    pub(super) fn new(
        app: &'a mut A,
        log: &'a mut SessionLog,
        counts: &'a mut Counts,
        scheduled: &'a mut Scheduled,
        reason: &'a mut Option<String>,
        now: Now,
    ) -> Self {
        Self {
            app,
            log,
            counts,
            scheduled,
            reason,
            now,
        }
    }
}

impl<A: Application> Application for Logged<'_, A> {
    fn on_logon(&mut self, id: &SessionId, out: &mut Outbox) {
        self.counts.logons += 1;
        self.app.on_logon(id, out);
    }

    fn on_logout(&mut self, id: &SessionId) {
        self.app.on_logout(id);
    }

    fn to_admin(&mut self, id: &SessionId, message: &mut Outgoing<'_>) {
        self.app.to_admin(id, message);
    }

    fn to_app(&mut self, id: &SessionId, message: &mut Outgoing<'_>) -> Result<(), DoNotSend> {
        self.app.to_app(id, message)
    }

    fn from_admin(
        &mut self,
        id: &SessionId,
        message: &Received<'_>,
        out: &mut Outbox,
    ) -> Result<(), Refusal> {
        self.app.from_admin(id, message, out)
    }

    fn from_app(
        &mut self,
        id: &SessionId,
        message: &Received<'_>,
        out: &mut Outbox,
    ) -> Result<(), Refusal> {
        self.app.from_app(id, message, out)
    }

    fn event(&mut self, id: &SessionId, event: &Event<'_>) {
        let is_trouble = event.is_trouble();
        // Most events are of single messages: without a reader there is no text.
        if is_trouble || self.log.has_events() {
            let text = event.to_string();
            self.log.event(self.now.utc, &text);
            if is_trouble {
                *self.reason = Some(shortened(&text));
            }
        }
        self.app.event(id, event);
    }

    fn incoming(&mut self, id: &SessionId, bytes: &[u8]) {
        self.counts.received += 1;
        self.log.incoming(self.now.utc, bytes);
        self.app.incoming(id, bytes);
    }

    fn outgoing(&mut self, id: &SessionId, bytes: &[u8]) {
        self.counts.sent += 1;
        self.scheduled.wrote(bytes.len());
        self.log.outgoing(self.now.utc, bytes);
        self.app.outgoing(id, bytes);
    }
}

/// A reason as it is kept: one line of bounded length, whatever a peer put into it.
pub(super) fn shortened(text: &str) -> String {
    let chars = text.chars().take(REASON_CHARS_MAX);
    chars
        .map(|char| if char.is_control() { '?' } else { char })
        .collect()
}
