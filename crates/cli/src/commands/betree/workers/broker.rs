//! What a worker asks of its broker besides the three calls of an engine.

use std::time::Duration;

use workers::{Engine, Lost, nats};

/// A broker of a worker.
pub(super) trait Broker: Engine {
    /// Blocks of a worker that are on their way or wait, besides two for each thread.
    const IN_FLIGHT_MORE: usize;

    /// The most of them where each is soon done.
    const IN_FLIGHT_MAX: usize;

    /// The part of all of these for which there has to be room before the broker is asked for more.
    const ASKED_PART: usize;

    /// How long the broker waits for a sign of life.
    fn ack_wait(&self) -> Duration;

    /// Whether blocks are not done.
    async fn has_left(&self) -> workers::Result<bool>;

    /// Blocks that were removed before a worker had them, as far as they were noticed since the last call.
    fn take_lost(&self) -> Vec<Lost>;

    /// What the report says of the server.
    fn server(&self) -> String;

    /// Waits until everything is sent, and leaves. Where the broker is away, there is nothing to wait for.
    async fn close(&self, is_away: bool);
}

impl Broker for nats::Worker {
    // One request brings any number of blocks.
    const IN_FLIGHT_MORE: usize = 4;
    const IN_FLIGHT_MAX: usize = 256;
    const ASKED_PART: usize = 2;

    fn ack_wait(&self) -> Duration {
        self.ack_wait()
    }

    async fn has_left(&self) -> workers::Result<bool> {
        self.left().await.map(|left| left > 0)
    }

    fn take_lost(&self) -> Vec<Lost> {
        self.take_lost()
    }

    fn server(&self) -> String {
        self.server_version()
    }

    async fn close(&self, is_away: bool) {
        if !is_away {
            self.close().await;
        }
    }
}

#[cfg(feature = "kafka")]
impl Broker for workers::kafka::Worker {
    // A transaction takes its time whatever is in it, and answers wait for those before them.
    const IN_FLIGHT_MORE: usize = 64;
    const IN_FLIGHT_MAX: usize = 256;
    // Each block that was read is here.
    const ASKED_PART: usize = usize::MAX;

    fn ack_wait(&self) -> Duration {
        self.ack_wait()
    }

    async fn has_left(&self) -> workers::Result<bool> {
        self.has_left().await
    }

    fn take_lost(&self) -> Vec<Lost> {
        self.take_lost()
    }

    fn server(&self) -> String {
        self.server().to_owned()
    }

    async fn close(&self, is_away: bool) {
        self.close(is_away).await;
    }
}
