//! Answers ResendRequests: streams the replay, then what was sent meanwhile.

use fixcore::SOH;
use memchr::memchr;

use crate::application::{Application, Outgoing};
use crate::event::Event;
use crate::replay::{Replay, ReplayStep};
use crate::session::core::{Context, Core, Flow, Resending, is_admin};
use crate::store::{Store, StoreFailure};
use crate::times::is_later;
use crate::writer::{Head, push_field, push_number_field};

/// A replay waits while this much output is not written.
const OUTPUT_BYTES_MAX: usize = 1 << 14;
/// How many numbers one call looks at.
const NUMBERS_MAX: u64 = 1 << 10;

/// A stored message: its parts that a replay needs.
#[derive(Debug, Clone, Copy)]
struct Stored<'a> {
    msg_type: &'a [u8],
    /// From after the type up to CheckSum.
    body: &'a [u8],
    /// SendingTime (52).
    time: &'a [u8],
}

impl<'a> Stored<'a> {
    /// Reads a message that this session wrote.
    fn read(bytes: &'a [u8]) -> Option<Self> {
        let field = |from: usize| {
            let rest = bytes.get(from..)?;
            Some((rest, from + memchr(SOH, rest)? + 1))
        };
        let (_, length) = field(0)?;
        let (_, start) = field(length)?;
        let (text, mut at) = field(start)?;
        let msg_type = text.strip_prefix(b"35=")?.get(..at - start - 4)?;
        let end = bytes.len().checked_sub(7)?;
        let body = bytes.get(at..end)?;
        while at < end {
            let (text, next) = field(at)?;
            if let Some(time) = text.strip_prefix(b"52=") {
                let time = time.get(..next - at - 4)?;
                return Some(Self {
                    msg_type,
                    body,
                    time,
                });
            }
            at = next;
        }
        None
    }
}

impl<S: Store> Core<S> {
    /// Begins to answer a request for these numbers; an `end` of 0 is all.
    pub(super) fn resend<A: Application>(
        &mut self,
        begin: u64,
        end: u64,
        cx: &mut Context<'_, A>,
    ) -> Flow {
        let next_out = self.store.next_sender();
        let replay = Replay::new(begin, end, next_out);
        if !self.options.persist_messages {
            // Nothing was kept: the numbers are passed over.
            let mut replay = replay;
            while let Some(advance) = replay.advance(|_| false, u64::MAX) {
                self.write_gap(advance.gap, cx);
            }
            return Ok(());
        }
        match &mut self.resending {
            Some(resending) => {
                resending.replay.merge(replay);
                // What was held back and is asked for now is not held any more.
                let behind = resending.replay.end().saturating_add(1);
                resending.live = resending.live.max(behind.min(next_out));
                resending.is_live = false;
            }
            None => {
                self.resending = Some(Resending {
                    replay,
                    live: next_out,
                    is_live: false,
                });
            }
        }
        self.pump(cx)
    }

    /// Whether a replay can go on at once.
    pub(super) fn can_pump(&self) -> bool {
        self.resending.is_some() && !self.link.closing && self.has_room()
    }

    fn has_room(&self) -> bool {
        self.output.waiting().len() < OUTPUT_BYTES_MAX
    }

    /// Goes on with a replay, as far as there is room in the output.
    pub(super) fn pump<A: Application>(&mut self, cx: &mut Context<'_, A>) -> Flow {
        let mut left = NUMBERS_MAX;
        while left > 0 && self.can_pump() {
            let Some(resending) = &self.resending else {
                break;
            };
            let done = match resending.is_live {
                true => self.pump_live(cx),
                false => self.pump_replay(&mut left, cx),
            };
            if let Err(failure) = done {
                return Err(self.failed(&failure, cx));
            }
            left = left.saturating_sub(1);
        }
        Ok(())
    }

    fn pump_replay<A: Application>(
        &mut self,
        left: &mut u64,
        cx: &mut Context<'_, A>,
    ) -> Result<(), StoreFailure> {
        let Some(mut resending) = self.resending.take() else {
            return Ok(());
        };
        self.stamp(cx);
        let (mut failure, mut looked) = (None, 0);
        let is_resent = |number| {
            looked += 1;
            let prepared = self.prepare(number, cx);
            prepared.unwrap_or_else(|error| {
                // What cannot be read becomes a gap, if that is wanted.
                match self.options.force_resend_when_corrupted_store {
                    true => self.event(Event::Store(&error), cx),
                    false => failure = failure.take().or(Some(error)),
                }
                false
            })
        };
        let advance = resending.replay.advance(is_resent, *left);
        *left = left.saturating_sub(looked);
        if let Some(failure) = failure {
            return Err(failure);
        }
        match advance {
            None => resending.is_live = true,
            Some(advance) => {
                self.write_gap(advance.gap, cx);
                if let Some(number) = advance.message {
                    self.transmit(cx);
                    self.event(Event::Resent(number), cx);
                }
            }
        }
        self.resending = Some(resending);
        Ok(())
    }

    /// Writes the message of a number as it is sent again. Returns whether it is.
    fn prepare<A: Application>(
        &mut self,
        number: u64,
        cx: &mut Context<'_, A>,
    ) -> Result<bool, StoreFailure> {
        let stored = self.store.sent(number)?.and_then(Stored::read);
        let Some(stored) = stored.filter(|stored| !is_admin(stored.msg_type)) else {
            return Ok(false);
        };
        self.body.clear();
        self.body.extend_from_slice(stored.body);
        let mut outgoing = Outgoing {
            msg_type: stored.msg_type,
            number,
            resend: true,
            body: &mut self.body,
        };
        if cx.app.to_app(&self.options.id, &mut outgoing).is_err() {
            return Ok(false);
        }
        // The clock may have been set back: a message that was sent later than now would be rejected.
        let first_time = match is_later(stored.time, self.time.text()) {
            Some(true) => self.time.text(),
            _ => stored.time,
        };
        let head = Head {
            msg_type: stored.msg_type,
            number,
            time: self.time.text(),
            first_time: Some(first_time),
            processed: self.processed(),
        };
        Ok(self
            .writer
            .write(&head, &self.body, &mut self.message)
            .is_ok())
    }

    /// Fills a gap.
    fn write_gap<A: Application>(&mut self, gap: Option<ReplayStep>, cx: &mut Context<'_, A>) {
        let Some(ReplayStep::Gap { number, next }) = gap else {
            return;
        };
        self.stamp(cx);
        // The message that comes after it is written already.
        let message = std::mem::take(&mut self.message);
        let mut body = std::mem::take(&mut self.body);
        body.clear();
        push_number_field(&mut body, 36, next);
        push_field(&mut body, 123, b"Y");
        let mut outgoing = Outgoing {
            msg_type: b"4",
            number,
            resend: true,
            body: &mut body,
        };
        cx.app.to_admin(&self.options.id, &mut outgoing);
        let head = Head {
            msg_type: b"4",
            number,
            time: self.time.text(),
            first_time: Some(self.time.text()),
            processed: self.processed(),
        };
        if self.writer.write(&head, &body, &mut self.message).is_ok() {
            self.transmit(cx);
            self.event(Event::GapFilled { number, next }, cx);
        }
        self.body = body;
        self.message = message;
    }

    /// Writes the next message that was sent while the replay ran.
    fn pump_live<A: Application>(&mut self, cx: &mut Context<'_, A>) -> Result<(), StoreFailure> {
        let Some(resending) = &mut self.resending else {
            return Ok(());
        };
        let number = resending.live;
        if number >= self.store.next_sender() {
            self.resending = None;
            return Ok(());
        }
        resending.live = number.saturating_add(1);
        if let Some(bytes) = self.store.sent(number)? {
            self.message.clear();
            self.message.extend_from_slice(bytes);
            self.transmit(cx);
        }
        Ok(())
    }
}
