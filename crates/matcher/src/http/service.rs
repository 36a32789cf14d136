//! What requests share.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use betree::Buffers;
use tokio::sync::watch;

use super::ServerOptions;
use super::counts::Counts;
use crate::matcher::Matcher;
use crate::shared::lock;

/// Buffers that are kept for later searches.
const BUFFERS_MAX: usize = 64;

/// The matcher, its limits, counts, and buffers to search with.
#[derive(Debug)]
pub(super) struct Service {
    pub(super) matcher: Matcher,
    pub(super) options: ServerOptions,
    pub(super) counts: Arc<Counts>,
    /// Once the server closes: until when bodies are read that still come.
    pub(super) closing: watch::Sender<Option<Instant>>,
    buffers: Mutex<Vec<Buffers>>,
}

impl Service {
    pub(super) fn new(matcher: Matcher, options: ServerOptions) -> Self {
        Self {
            matcher,
            options,
            counts: Arc::default(),
            closing: watch::Sender::new(None),
            buffers: Mutex::default(),
        }
    }

    pub(super) fn buffers(&self) -> Buffers {
        lock(&self.buffers).pop().unwrap_or_default()
    }

    pub(super) fn give_back(&self, buffers: Buffers) {
        let mut kept = lock(&self.buffers);
        if kept.len() < BUFFERS_MAX {
            kept.push(buffers);
        }
    }
}
