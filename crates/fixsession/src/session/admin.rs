//! ResendRequest, SequenceReset, Reject and Logout of the counterparty.

use fixcore::Message;

use crate::application::Application;
use crate::event::Event;
use crate::reject::Why;
use crate::session::core::{Context, Core, Flow, is_set};
use crate::store::Store;

/// The same ResendRequest this often in a row means that the answer never arrives.
const REQUESTS_MAX: u32 = 3;

impl<S: Store> Core<S> {
    /// A ResendRequest is answered whatever its number is: both sides may miss something.
    pub(super) fn resend_request<A: Application>(
        &mut self,
        message: &Message<'_, '_>,
        number: u64,
        cx: &mut Context<'_, A>,
    ) -> Flow {
        let (begin, end) = match (message.get_u64(7), message.get_u64(16)) {
            (Ok(Some(begin)), Ok(Some(end))) => (begin, end),
            (Ok(None), _) => return self.reject(message, number, &Why::of(1, Some(7)), cx),
            (_, Ok(None)) => return self.reject(message, number, &Why::of(1, Some(16)), cx),
            (Err(_), _) => return self.reject(message, number, &Why::of(6, Some(7)), cx),
            (_, Err(_)) => return self.reject(message, number, &Why::of(6, Some(16)), cx),
        };
        let answer = self.deliver(message, number, cx);
        let expected = self.store.next_target();
        if let Err(refusal) = answer {
            self.refused(message, refusal, cx)?;
            return self.advance_past(number, cx);
        }
        self.event(Event::ResendAsked { begin, end }, cx);
        let is_all = self.protocol.is_open_end(end);
        if !is_all && end < begin {
            return self.reject(message, number, &Why::of(5, Some(16)), cx);
        }
        let count = match self.link.last_request {
            Some((b, e, count)) if (b, e) == (begin, end) => count + 1,
            _ => 1,
        };
        self.link.last_request = Some((begin, end, count));
        if number > expected {
            // It is answered now; its number is passed when it is reached.
            self.queue.handled(number);
        }
        self.advance_past(number, cx)?;
        if count >= REQUESTS_MAX {
            let text = format!("ResendRequest from {begin} to {end} repeated without progress");
            return self.send_logout_once(&text, cx);
        }
        self.flush_outbox(true, cx)?;
        self.resend(begin, if is_all { 0 } else { end }, cx)
    }

    /// A SequenceReset: a gap fill is in order, a reset says itself what comes next.
    pub(super) fn sequence_reset<A: Application>(
        &mut self,
        message: &Message<'_, '_>,
        number: u64,
        cx: &mut Context<'_, A>,
    ) -> Flow {
        let is_gap_fill = is_set(message, 123);
        let is_low = number < self.store.next_target();
        let is_answer = is_low && is_set(message, 43) && self.is_asked_for(number);
        if is_gap_fill && !is_answer && !self.is_next(message, number, cx)? {
            return Ok(());
        }
        let next = match message.get_u64(36) {
            Ok(Some(next)) => next,
            Ok(None) => return self.reject(message, number, &Why::of(1, Some(36)), cx),
            Err(_) => return self.reject(message, number, &Why::of(6, Some(36)), cx),
        };
        if let Err(refusal) = self.deliver(message, number, cx) {
            return self.refused(message, refusal, cx);
        }
        let expected = self.store.next_target();
        let (from, to) = (expected, next);
        self.event(Event::SequenceReset { from, to }, cx);
        match next.cmp(&expected) {
            std::cmp::Ordering::Greater => self.expect(next, cx),
            std::cmp::Ordering::Equal => Ok(()),
            std::cmp::Ordering::Less if is_answer => Ok(()),
            std::cmp::Ordering::Less => self.reject(message, number, &Why::of(5, None), cx),
        }
    }

    /// A Reject of something that we sent: noted, never answered.
    pub(super) fn peer_reject<A: Application>(
        &mut self,
        message: &Message<'_, '_>,
        number: u64,
        cx: &mut Context<'_, A>,
    ) -> Flow {
        if !self.is_not_low(message, number, cx)? {
            return Ok(());
        }
        // What the application thinks of it changes nothing: a Reject is not rejected.
        let _ = self.deliver(message, number, cx);
        self.flush_outbox(false, cx)?;
        match self.options.validate_sequence_numbers {
            true => self.advance_past(number, cx),
            false => self.expect(self.store.next_target().saturating_add(1), cx),
        }
    }

    /// A Logout is answered whatever its number is. A number that is too high is not consumed: the next
    /// Logon asks for what is missing.
    pub(super) fn peer_logout<A: Application>(
        &mut self,
        message: &Message<'_, '_>,
        number: u64,
        cx: &mut Context<'_, A>,
    ) -> Flow {
        let _ = self.deliver(message, number, cx);
        let text = String::from_utf8_lossy(message.get(58).unwrap_or(&[])).into_owned();
        self.event(Event::LogoutReceived(&text), cx);
        self.flush_outbox(false, cx)?;
        if number == self.store.next_target() {
            self.commit = Some(number.saturating_add(1));
        }
        self.asked = None;
        if !self.link.sent_logout {
            self.send_logout("", cx)?;
        }
        self.settle(cx)?;
        if self.options.reset_on_logout {
            self.reset_or_stop(cx)?;
        }
        Err(self.close("", cx))
    }
}
