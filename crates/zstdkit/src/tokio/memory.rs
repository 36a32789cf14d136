//! Waiting for memory of the pool: how streams and calls stand in its line.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::task::{Context, Poll};

use super::scheduler::Scheduler;
use crate::error::Error;
use crate::reservation::Ledger;
use crate::reservation::line::{Line, Place};

/// A place in the line for memory, from the first attempt that failed until one succeeds or this is dropped.
#[derive(Default)]
pub(super) struct Memory {
    waiting: Option<(Arc<Ledger>, u64)>,
}

/// The parts of a context that are asked for one after another, at most.
const RAISES_MAX: usize = 4;

/// How memory is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Need {
    /// About as much as is needed. A call that decodes may need more, as its frames say.
    pub(super) bytes: u64,
    /// Whether it is given back before the call returns. Then it is asked for at once, although others wait.
    pub(super) brief: bool,
}

impl Memory {
    /// Whether this stands in line.
    pub(super) fn waits(&self) -> bool {
        self.waiting.is_some()
    }

    /// Ready with what `make` has made, or with its error. It waits, and tries again, where memory is short that
    /// others will give back. More than the budget is an error at once; more than the limit is one after the wait.
    pub(super) fn poll_take<T>(
        &mut self,
        scheduler: &Scheduler,
        need: Need,
        context: &mut Context<'_>,
        mut make: impl FnMut() -> Result<T, Error>,
    ) -> Poll<Result<T, Error>> {
        let ledger = scheduler.pool().ledger();
        if self.waiting.is_none() {
            if need.brief || ledger.line.is_empty() {
                let made = Line::attempt(&mut make);
                if !is_short(ledger, need, &made) {
                    // It may have given back more than it took.
                    ledger.line.released();
                    return Poll::Ready(made);
                }
            }
            let ticket = ledger.line.join(context.waker());
            self.waiting = Some((ledger.clone(), ticket));
        }
        let Some((ledger, ticket)) = &self.waiting else {
            return Poll::Pending;
        };
        let place = ledger.line.place(*ticket, context.waker());
        let mut made = match place {
            Place::Wait => return Poll::Pending,
            Place::First => Line::attempt(&mut make),
            Place::Beyond => Line::attempt(|| beyond(ledger, need, &mut make)),
        };
        if place == Place::Beyond && made.as_ref().is_err_and(Error::is_pool_exhausted) {
            ledger.line.exhausted();
        } else if is_short(ledger, need, &made) {
            // What a stream needs is known, and less than the budget.
            if !need.brief || scheduler.pool().stats().in_use > 0 {
                return Poll::Pending;
            }
            // No context is in use that could give memory back, unless one just did.
            made = Line::attempt(&mut make);
        }
        if made.is_ok() {
            ledger.line.served();
        }
        self.leave();
        Poll::Ready(made)
    }

    fn leave(&mut self) {
        if let Some((ledger, ticket)) = self.waiting.take() {
            ledger.line.leave(ticket);
        }
    }
}

/// Whether the request should wait. It is then not counted as refused.
fn is_short<T>(ledger: &Ledger, need: Need, made: &Result<T, Error>) -> bool {
    let short =
        need.bytes <= ledger.budget_bytes && made.as_ref().is_err_and(Error::is_pool_exhausted);
    if short {
        ledger.excuse();
    }
    short
}

/// Raises the budget for one attempt: by what is needed as far as that is known, and by what it turns out to lack, up to the
/// limit.
fn beyond<T>(
    ledger: &Ledger,
    need: Need,
    make: &mut impl FnMut() -> Result<T, Error>,
) -> Result<T, Error> {
    let most = ledger.held_bytes.load(Relaxed).saturating_add(need.bytes);
    let room = ledger.limit_bytes - ledger.budget_bytes;
    let mut more = most.saturating_sub(ledger.budget_bytes).min(room);
    let mut attempt = |more| {
        ledger.beyond_bytes.store(more, Relaxed);
        let made = make();
        ledger.beyond_bytes.store(0, Relaxed);
        made
    };
    let mut made = attempt(more);
    for _ in 0..RAISES_MAX {
        let Some(short) = made.as_ref().err().and_then(Error::short_bytes) else {
            break;
        };
        if more == room {
            break;
        }
        ledger.excuse();
        more = more.saturating_add(short).min(room);
        made = attempt(more);
    }
    if made.is_ok() && more > 0 {
        ledger.line.went_beyond();
    }
    made
}

impl Scheduler {
    /// What `make` makes with memory of the pool, when there is enough of it.
    pub(super) async fn with_memory<T>(
        &self,
        need: Need,
        mut make: impl FnMut() -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut memory = Memory::default();
        poll_fn(|context| memory.poll_take(self, need, context, &mut make)).await
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.leave();
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ticket = self.waiting.as_ref().map(|(_, ticket)| ticket);
        f.debug_struct("Memory").field("ticket", &ticket).finish()
    }
}

#[cfg(test)]
mod tests;
