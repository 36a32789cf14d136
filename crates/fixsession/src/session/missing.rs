//! Asks for what is missing: one ResendRequest at a time.

use std::time::Duration;

use crate::application::Application;
use crate::event::Event;
use crate::gap::{Asked, Style, request};
use crate::session::core::{Context, Core, Flow};
use crate::store::Store;
use crate::writer::push_number_field;

/// How often a number is asked for again when the answer leaves it out.
const REPEATS_MAX: u8 = 2;
/// A request is sent again if nothing that was missing came in this time, and in two intervals of the
/// heartbeat, and something shows that it still is missing.
const WAIT_MIN: Duration = Duration::from_secs(10);

impl<S: Store> Core<S> {
    /// A message came whose number is too high: it waits, and what is missing is asked for.
    pub(super) fn too_high<A: Application>(
        &mut self,
        number: u64,
        is_duplicate: bool,
        bytes: &[u8],
        cx: &mut Context<'_, A>,
    ) -> Flow {
        let expected = self.store.next_target();
        self.event(
            Event::TooHigh {
                expected,
                received: number,
            },
            cx,
        );
        if !self.queue.keep(number, bytes) {
            self.event(Event::QueueFull(number), cx);
        }
        self.ask(number, is_duplicate, cx)
    }

    /// Asks for what is missing before this number, unless that was asked for.
    fn ask<A: Application>(
        &mut self,
        number: u64,
        is_duplicate: bool,
        cx: &mut Context<'_, A>,
    ) -> Flow {
        let expected = self.store.next_target();
        let mut repeats = 0;
        if let Some(asked) = &mut self.asked
            && number >= asked.begin
            && !self.options.send_redundant_resend_requests
        {
            // The answer is in order: if it comes to a later number, it left out the expected one.
            let is_left_out =
                is_duplicate && !asked.is_implied && number <= asked.chunk_end.max(asked.end);
            let is_ignored = asked.is_implied && !is_duplicate;
            let waited = cx.now.monotonic.saturating_sub(asked.since);
            let is_stale = waited >= WAIT_MIN.max(2 * self.link.interval);
            let is_due = is_ignored || is_stale || (is_left_out && asked.repeats < REPEATS_MAX);
            if !is_due {
                let (begin, end) = (asked.begin, asked.end);
                self.event(Event::ResendPending { begin, end }, cx);
                return Ok(());
            }
            repeats = asked.repeats.saturating_add(1);
        }
        self.ask_for(expected, number.saturating_sub(1), cx)?;
        if let Some(asked) = &mut self.asked {
            asked.repeats = repeats;
        }
        Ok(())
    }

    /// Whether a gap fill with this number, which is too low, is part of the answer to the open request:
    /// numbers at its beginning were handled when they came, and only those behind them are missing.
    pub(super) fn is_asked_for(&self, number: u64) -> bool {
        self.asked.is_some_and(|asked| number >= asked.begin)
    }

    /// Sends a ResendRequest.
    pub(super) fn ask_for<A: Application>(
        &mut self,
        begin: u64,
        end: u64,
        cx: &mut Context<'_, A>,
    ) -> Flow {
        let style = Style {
            chunk: self.options.resend_request_chunk_size,
            closed: self.options.closed_resend_interval,
            open_end: self.protocol.open_end(),
        };
        let (asked, stated) = request(begin, end, style);
        self.body.clear();
        push_number_field(&mut self.body, 7, begin);
        push_number_field(&mut self.body, 16, stated);
        self.asked = Some(Asked {
            since: cx.now.monotonic,
            ..asked
        });
        self.event(Event::ResendRequested { begin, end: stated }, cx);
        self.send_admin(b"2", cx)
    }

    /// After the expected number moved: the request may be answered, or its next chunk be due.
    pub(super) fn after_advance<A: Application>(&mut self, cx: &mut Context<'_, A>) -> Flow {
        let Some(asked) = &mut self.asked else {
            return Ok(());
        };
        asked.since = cx.now.monotonic;
        let asked = *asked;
        let expected = self.store.next_target();
        if expected > asked.end {
            self.asked = None;
            return Ok(());
        }
        match expected > asked.chunk_end {
            true => self.ask_for(expected, asked.end, cx),
            false => Ok(()),
        }
    }
}
