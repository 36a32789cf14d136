//! Processes for [`bench::programs`]: they end when this process is asked to.

use std::io;
use std::process::Command;

use bench::programs::{Launch, Ran};

use crate::commands::child;
use crate::term::signal;

/// Starts processes that end with this one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Children;

impl Launch for Children {
    fn launch(&mut self, command: &mut Command) -> io::Result<Option<Ran>> {
        let Some(run) = child::run(command)?.filter(|_| !signal::interrupted()) else {
            return Ok(None);
        };
        let (status, usage) = (run.used.status, &run.used.rusage);
        let signalled = ended_by(status);
        Ok(Some(Ran {
            wall_ns: (run.end - run.start).as_nanos() as f64,
            user_ns: usage.utime.as_nanos() as f64,
            system_ns: usage.stime.as_nanos() as f64,
            rss_max_bytes: usage.maxrss,
            exit_code: status.code().or(signalled.map(|signal| 128 + signal)),
            succeeded: status.success(),
            signalled: signalled.is_some(),
        }))
    }
}

/// The signal that ended a process.
#[cfg(unix)]
fn ended_by(status: std::process::ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn ended_by(_: std::process::ExitStatus) -> Option<i32> {
    None
}
