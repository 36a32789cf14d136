//! The runtimes that tasks are measured in.

use tokio::runtime::{Builder, Runtime};

use crate::Error;

/// A runtime by these settings.
pub(crate) fn start(settings: &mut Builder) -> Result<Runtime, Error> {
    settings
        .build()
        .map_err(|error| Error::new(format!("cannot start a runtime: {error}")))
}
