//! Runs commands, waits for them, and makes sure that they end with this process.
//!
//! A terminal sends its interrupt to all processes of a group, but `kill` sends to one. So the command gets
//! SIGTERM when this process gets either signal, and SIGKILL if that does not help. Processes that the
//! command itself started are not tracked.

use std::io;
use std::process::{ChildStdout, Command};
use std::time::Instant;

use wait4::ResUse;

/// The result of one run of a command.
#[derive(Debug)]
pub(crate) struct Run {
    /// Just before it started.
    pub(crate) start: Instant,
    /// Just after it ended.
    pub(crate) end: Instant,
    /// Its status and resources.
    pub(crate) used: ResUse,
}

/// Runs a command to its end, one at a time in this process. `None` if a signal arrived before it was
/// started.
pub(crate) fn run(command: &mut Command) -> io::Result<Option<Run>> {
    own_memory(command);
    system::run(command)
}

/// Starts the child in a copy of this process's memory (by fork) instead of sharing it (by vfork):
/// otherwise the system would count our peak memory as the child's. Setting the user id, even to the
/// current one, selects fork.
fn own_memory(command: &mut Command) {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        command.uid(rustix::process::getuid().as_raw());
    }
    #[cfg(not(unix))]
    let _ = command;
}

/// Reads what the command prints to its end, if that is a pipe: a full pipe would stop the command.
fn drain(output: Option<ChildStdout>) {
    if let Some(mut output) = output {
        // What cannot be read any more needs no reader.
        let _ = io::copy(&mut output, &mut io::sink());
    }
}

#[cfg(unix)]
mod system {
    use std::sync::{Condvar, Mutex, MutexGuard, Once, PoisonError};
    use std::time::Duration;

    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
    use wait4::Wait4 as _;

    use super::{Command, Instant, Run, drain, io};
    use crate::term::signal;

    /// How long a command may take to end after SIGTERM.
    const GRACE: Duration = Duration::from_secs(2);

    /// The running process. It is not reaped while it is here, so that no other process can get its id.
    static RUNNING: Mutex<Option<Pid>> = Mutex::new(None);
    static ENDED: Condvar = Condvar::new();
    static GUARDED: Once = Once::new();

    fn running() -> MutexGuard<'static, Option<Pid>> {
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn run(command: &mut Command) -> io::Result<Option<Run>> {
        GUARDED.call_once(|| signal::guard_running(ask, insist));
        // Under the lock, a signal is either seen here, or by its thread as soon as there is a process to
        // end.
        let mut pid = running();
        if signal::interrupted() {
            return Ok(None);
        }
        let start = Instant::now();
        let mut child = command.spawn()?;
        let own = Pid::from_child(&child);
        *pid = Some(own);
        drop(pid);
        drain(child.stdout.take());
        let awaited = ended(own);
        let end = Instant::now();
        *running() = None;
        ENDED.notify_all();
        awaited?;
        let used = child.wait4()?;
        Ok(Some(Run { start, end, used }))
    }

    /// Waits until the process has ended, without reaping it.
    fn ended(pid: Pid) -> io::Result<()> {
        let how = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        loop {
            match waitid(WaitId::Pid(pid), how) {
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
                Ok(_) => return Ok(()),
            }
        }
    }

    /// Asks the running process to end, and makes sure that it does.
    fn ask() {
        let pid = running();
        let Some(asked) = *pid else {
            return;
        };
        // A process that has ended needs no signal. A stopped one must continue to be able to end.
        let _ = kill_process(asked, Signal::TERM);
        let _ = kill_process(asked, Signal::CONT);
        drop(pid);
        let waiter = std::thread::Builder::new().spawn(move || {
            let same = |pid: &mut Option<Pid>| *pid == Some(asked);
            let waited = ENDED.wait_timeout_while(running(), GRACE, same);
            drop(waited);
            insist();
        });
        if waiter.is_err() {
            insist();
        }
    }

    /// Kills the running process.
    fn insist() {
        if let Some(pid) = *running() {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

#[cfg(not(unix))]
mod system {
    use wait4::Wait4 as _;

    use super::{Command, Instant, Run, drain, io};

    pub(crate) fn run(command: &mut Command) -> io::Result<Option<Run>> {
        let start = Instant::now();
        let mut child = command.spawn()?;
        drain(child.stdout.take());
        let used = child.wait4()?;
        let end = Instant::now();
        Ok(Some(Run { start, end, used }))
    }
}
