//! The place of a task among those of its runtime that have a context, or wait to open one.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use tokio::runtime::{Handle, Id};

use crate::away::Away;
use crate::contexts::{self, Contexts, Seat};

/// The place of a task. It leaves when this is dropped.
#[derive(Debug)]
pub(crate) struct Berth {
    contexts: Arc<Contexts>,
    runtime: Option<Id>,
    seat: Arc<Seat>,
}

impl Berth {
    pub(crate) fn new(contexts: Arc<Contexts>, runtime: Option<Id>) -> Self {
        Self {
            contexts,
            runtime,
            seat: Arc::default(),
        }
    }

    /// Whether it is one of these.
    pub(crate) fn is_of(&self, contexts: &Arc<Contexts>) -> bool {
        Arc::ptr_eq(&self.contexts, contexts)
    }

    pub(crate) fn seat(&self) -> &Arc<Seat> {
        &self.seat
    }

    /// Whether it stands in line to open a context.
    pub(crate) fn waits(&self) -> bool {
        self.seat.waits()
    }

    /// Whether the task may open a context now. Otherwise it waits in line.
    pub(crate) fn enter(&self, waker: &Waker) -> bool {
        self.contexts.enter(&self.seat, waker, contexts::now_ns())
    }

    /// Ready when the task may open its context.
    pub(crate) fn poll(&self, context: &Context<'_>) -> Poll<()> {
        if self.contexts.waits(&self.seat, context.waker())
            && self.runtime == Handle::try_current().ok().map(|runtime| runtime.id())
        {
            return Poll::Pending;
        }
        // It was admitted, or goes on elsewhere: the runtime of that line may no longer be driven.
        self.works();
        Poll::Ready(())
    }

    /// The task works with a context.
    pub(crate) fn works(&self) {
        if !self.seat.is_at_work() {
            self.contexts.come_back(&self.seat);
        }
    }

    /// It shows a sign of life, while it is at work in its runtime.
    pub(crate) fn sign(&self, here: Option<&Arc<Contexts>>) {
        if here.is_some_and(|here| self.is_of(here)) {
            self.seat.sign();
        }
    }

    /// The task waits for something else than its turn.
    pub(crate) fn pause(&self) {
        if self.seat.is_at_work() {
            self.contexts.pause(&self.seat);
        }
    }

    /// Another thread works for the task.
    pub(crate) fn away(&self) -> Away {
        Away::new(&self.contexts, &self.seat)
    }
}

impl Drop for Berth {
    fn drop(&mut self) {
        self.contexts.leave(&self.seat);
    }
}
