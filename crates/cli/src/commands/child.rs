//! Commands that are run and waited for, and that end with this process: a signal that asks it to
//! stop reaches them too, whoever it was sent to.
//!
//! A terminal sends its interrupt to all processes of a group, but `kill` sends to one. So what runs
//! here gets SIGTERM on either signal, and SIGKILL where that does not help. What it started itself
//! is its own business.

use std::io;
use std::process::Command;
use std::time::Instant;

use wait4::ResUse;

/// What one run of a command took.
#[derive(Debug)]
pub(crate) struct Run {
    /// Just before it was started.
    pub(crate) start: Instant,
    /// Just after it had ended.
    pub(crate) end: Instant,
    /// Its status and its resources.
    pub(crate) used: ResUse,
}

/// Runs a command to its end, one at a time in this process. `None` when a signal came before it was
/// started.
pub(crate) fn run(command: &mut Command) -> io::Result<Option<Run>> {
    own_memory(command);
    system::run(command)
}

/// Has the child start in a copy of this process's memory, not in that memory itself, whose peak
/// the system would count as the child's. Asking for the user it runs as anyway is what does it.
fn own_memory(command: &mut Command) {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        command.uid(rustix::process::getuid().as_raw());
    }
    #[cfg(not(unix))]
    let _ = command;
}

#[cfg(unix)]
mod system {
    use std::sync::{Condvar, Mutex, MutexGuard, Once, PoisonError};
    use std::time::Duration;

    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
    use wait4::Wait4 as _;

    use super::{Command, Instant, Run, io};
    use crate::term::signal;

    /// How long a command may take to end after SIGTERM, to clear up what it was doing.
    const GRACE: Duration = Duration::from_secs(2);

    /// The process that runs now. It is not reaped while it stands here, so that no other process
    /// can have its number.
    static RUNNING: Mutex<Option<Pid>> = Mutex::new(None);
    static ENDED: Condvar = Condvar::new();
    static GUARDED: Once = Once::new();

    fn running() -> MutexGuard<'static, Option<Pid>> {
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn run(command: &mut Command) -> io::Result<Option<Run>> {
        GUARDED.call_once(|| signal::guard_running(ask, insist));
        // Under the lock a signal is seen either here, or by its thread as soon as there is
        // something to end.
        let mut pid = running();
        if signal::interrupted() {
            return Ok(None);
        }
        let start = Instant::now();
        let mut child = command.spawn()?;
        let own = Pid::from_child(&child);
        *pid = Some(own);
        drop(pid);
        let awaited = ended(own);
        let end = Instant::now();
        *running() = None;
        ENDED.notify_all();
        awaited?;
        let used = child.wait4()?;
        Ok(Some(Run { start, end, used }))
    }

    /// Waits until the process has ended, and leaves it to be reaped.
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

    /// Asks what runs to end, and sees to it that it does.
    fn ask() {
        let pid = running();
        let Some(asked) = *pid else {
            return;
        };
        // A process that ended meanwhile needs no signal. A stopped one has to go on to end.
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

    /// Ends what runs.
    fn insist() {
        if let Some(pid) = *running() {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

#[cfg(not(unix))]
mod system {
    use wait4::Wait4 as _;

    use super::{Command, Instant, Run, io};

    pub(crate) fn run(command: &mut Command) -> io::Result<Option<Run>> {
        let start = Instant::now();
        let used = command.spawn()?.wait4()?;
        let end = Instant::now();
        Ok(Some(Run { start, end, used }))
    }
}
