//! What operators of sessions have to see: why a Logon, a message or a connection was refused, by whom.

use fixsession::{Application, DoNotSend, Event, Outbox, Outgoing, Received, Refusal, SessionId};

use crate::term::message;

/// Events that are shown; further ones are in the log of their session only.
pub(super) const SHOWN_MAX: u32 = 1000;

/// An application whose sessions are watched.
pub(super) struct Shown<'a, A> {
    pub(super) app: &'a mut A,
    /// How many events are still shown.
    pub(super) left: &'a mut u32,
}

impl<A: Application> Application for Shown<'_, A> {
    fn on_logon(&mut self, id: &SessionId, out: &mut Outbox) {
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
        self.app.event(id, event);
        if *self.left == 0 || !is_trouble(event) {
            return;
        }
        *self.left -= 1;
        message::remark(&format!("{id}: {event}"));
        if *self.left == 0 {
            message::remark("further events are in the logs of the sessions only");
        }
    }

    fn incoming(&mut self, id: &SessionId, bytes: &[u8]) {
        self.app.incoming(id, bytes);
    }

    fn outgoing(&mut self, id: &SessionId, bytes: &[u8]) {
        self.app.outgoing(id, bytes);
    }
}

/// Whether somebody has to know of an event.
fn is_trouble(event: &Event<'_>) -> bool {
    match event {
        Event::LogoutSent(why) | Event::LogoutReceived(why) | Event::Disconnecting(why) => {
            !why.is_empty()
        }
        Event::LogonRefused(_)
        | Event::TimedOut(_)
        | Event::TooLow { .. }
        | Event::QueueFull(_)
        | Event::Rejected { .. }
        | Event::Garbled(_)
        | Event::TooLong(_)
        | Event::Store(_)
        | Event::NotSent(_) => true,
        _ => false,
    }
}
