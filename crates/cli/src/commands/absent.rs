//! Waits for servers and streams that are not there yet.

use std::time::Duration;

use report::ExitStatus;
use tokio::time::{Instant, sleep};
use workers::Error;
#[cfg(feature = "kafka")]
use workers::kafka;
use workers::nats;

use crate::args::broker::WaitArgs;
use crate::commands::nats::{connect, failed};
use crate::failure::{Failure, Result};
use crate::term::{message, signal};

/// How often to look again.
const AGAIN: Duration = Duration::from_millis(500);
/// How often to look whether somebody wants the end.
const LOOK: Duration = Duration::from_millis(50);

/// How to wait.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wait {
    /// Whether warnings are wanted.
    pub(crate) tells: bool,
    /// How long at most.
    pub(crate) limit: Duration,
}

impl Wait {
    /// As the flags say; `tells`: whether warnings are wanted.
    pub(crate) fn new(args: &WaitArgs, tells: bool) -> Self {
        Self {
            tells,
            limit: args.wait,
        }
    }

    /// Connects to a server of NATS, once it is there.
    pub(crate) async fn connect(
        self,
        address: &nats::Address,
        access: &nats::Access,
    ) -> Result<nats::Connection> {
        self.until_there(async || connect(address, access, self.tells).await)
            .await
    }

    /// Opens a cluster of Kafka, once it is there.
    #[cfg(feature = "kafka")]
    pub(crate) async fn cluster(
        self,
        address: &kafka::Address,
        access: &kafka::Access,
    ) -> Result<kafka::Cluster> {
        self.until_there(async || kafka::Cluster::open(address, access).await)
            .await
    }

    /// Repeats a call as long as what it looks for is not there.
    pub(crate) async fn until_there<T>(
        self,
        mut look: impl AsyncFnMut() -> workers::Result<T>,
    ) -> Result<T> {
        let started = Instant::now();
        let mut is_told = false;
        let mut last = None;
        loop {
            // A server that does not answer takes its time.
            let found = tokio::select! {
                found = look() => found,
                () = interrupted() => return Err(stopped(last.as_ref())),
            };
            let error = match found {
                Ok(found) => return Ok(found),
                Err(error) => error,
            };
            if !error.is_absence() {
                return Err(failed(error));
            }
            let limit = self.limit;
            if started.elapsed() >= limit {
                let failure = Failure::new(format!("{error}; it was waited for {limit:?}"));
                return Err(failure.help(format!("{}; --wait waits longer", help(&error))));
            }
            if self.tells && !is_told {
                is_told = true;
                let help = format!("{}; --wait {limit:?}", help(&error));
                message::note(&format!("{error}; it is waited for"), &help);
            }
            tokio::select! {
                () = sleep(AGAIN) => {}
                () = interrupted() => return Err(stopped(Some(&error))),
            }
            last = Some(error);
        }
    }
}

/// Until somebody wants the end.
pub(crate) async fn interrupted() {
    while !signal::interrupted() {
        sleep(LOOK).await;
    }
}

fn stopped(error: Option<&Error>) -> Failure {
    let message = match error {
        Some(error) => format!("stopped while waiting: {error}"),
        None => "stopped while waiting for the server".to_owned(),
    };
    Failure::new(message).status(ExitStatus::Interrupted)
}

fn help(error: &Error) -> &str {
    error.help().unwrap_or_default()
}
