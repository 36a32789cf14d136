//! What a worker asks of its broker besides the three calls of an engine.

use std::time::Duration;

use workers::{Engine, Lost, nats};

/// A broker of a worker.
pub(super) trait Broker: Engine {
    /// Blocks of a worker that are on their way or wait, besides two for each thread.
    const IN_FLIGHT_MORE: usize;

    /// How long the broker waits for a sign of life.
    fn ack_wait(&self) -> Duration;

    /// Whether blocks are not done.
    async fn has_left(&self) -> workers::Result<bool>;

    /// Blocks that were removed before a worker had them, as far as they were noticed since the last call.
    fn take_lost(&self) -> Vec<Lost>;

    /// What the report says of the server.
    async fn server(&self) -> String;

    /// Waits until everything is sent, and leaves.
    async fn close(&self);
}

impl Broker for nats::Worker {
    const IN_FLIGHT_MORE: usize = 2;

    fn ack_wait(&self) -> Duration {
        self.ack_wait()
    }

    async fn has_left(&self) -> workers::Result<bool> {
        self.left().await.map(|left| left > 0)
    }

    fn take_lost(&self) -> Vec<Lost> {
        self.take_lost()
    }

    async fn server(&self) -> String {
        self.server_version()
    }

    async fn close(&self) {
        // A last look; if the server is away, there is nothing to see.
        let _ = self.left().await;
        self.flush().await;
    }
}

#[cfg(feature = "kafka")]
impl Broker for workers::kafka::Worker {
    // A transaction takes its time whatever is in it, and answers wait for those before them.
    const IN_FLIGHT_MORE: usize = 64;

    fn ack_wait(&self) -> Duration {
        self.ack_wait()
    }

    async fn has_left(&self) -> workers::Result<bool> {
        self.has_left().await
    }

    fn take_lost(&self) -> Vec<Lost> {
        self.take_lost()
    }

    async fn server(&self) -> String {
        self.server().await
    }

    async fn close(&self) {
        self.close().await;
    }
}
