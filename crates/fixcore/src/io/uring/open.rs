//! Opens the best ring that the system allows, or falls back to `epoll`.

use std::io;

use rustix::io::Errno;

use super::carrier::Uring;
use super::ring::{Ring, Sizes};
use crate::io::carrier::Carrier;
use crate::io::epoll::Epoll;
use crate::io::options::{Backend, Choice, OpenError, Options, Refused, Setup};

/// Where the system states whether `io_uring` is allowed.
const DISABLED: &str = "/proc/sys/kernel/io_uring_disabled";
/// The longest submission queue; a call submits it when it is full.
const SUBMISSIONS_MAX: usize = 4096;

/// A carrier, its kind, and better ones that were refused.
pub(in crate::io) struct Opened {
    pub(in crate::io) carrier: Box<dyn Carrier>,
    pub(in crate::io) backend: Backend,
    pub(in crate::io) refused: Vec<Refused>,
}

/// The best carrier that the options and the system allow.
pub(in crate::io) fn open(options: &Options) -> Result<Opened, OpenError> {
    let sizes = sizes(options);
    by_steps(options, |setup| {
        Ring::open(setup, sizes, options.registered)
    })
}

/// The same with another way to open a ring, for tests.
fn by_steps(
    options: &Options,
    mut ring: impl FnMut(Setup) -> io::Result<Ring>,
) -> Result<Opened, OpenError> {
    options.check()?;
    let mut refused = Vec::new();
    let wanted: Vec<Setup> = match options.setup {
        Setup::Polled => vec![Setup::Polled],
        best => Setup::ALL
            .into_iter()
            .filter(|setup| *setup >= best)
            .collect(),
    };
    for setup in wanted
        .into_iter()
        .filter(|_| options.choice != Choice::Epoll)
    {
        match ring(setup) {
            Ok(ring) => {
                return Ok(Opened {
                    carrier: Box::new(Uring::new(ring, options)),
                    backend: Backend::Uring(setup),
                    refused,
                });
            }
            Err(error) => {
                let next = worth_another(&error);
                let why = meaning(&error);
                refused.push(Refused { setup, error, why });
                if !next {
                    break;
                }
            }
        }
    }
    if options.choice == Choice::Uring
        && let Some(last) = refused.pop()
    {
        return Err(OpenError::Refused(last));
    }
    Ok(Opened {
        carrier: Box::new(Epoll::open(options)?),
        backend: Backend::Epoll,
        refused,
    })
}

fn sizes(options: &Options) -> Sizes {
    // A receive, a send and a cancelled receive for each connection.
    let requests = (3 * options.connections_max).clamp(8, SUBMISSIONS_MAX);
    let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    Sizes {
        submissions: number(requests.next_power_of_two().min(options.completions)),
        completions: number(options.completions),
        buffers: u16::try_from(options.buffers).unwrap_or(u16::MAX),
        buffer_bytes: options.buffer_bytes,
        outboxes: options.connections_max,
        outbox_bytes: options.outbox_bytes,
    }
}

/// Whether a ring with fewer flags could succeed after this error: a kernel that does not know a flag
/// calls it invalid. Without `io_uring`, or without permission, fewer flags do not help.
fn worth_another(error: &io::Error) -> bool {
    Errno::from_io_error(error) == Some(Errno::INVAL)
}

/// What an error of setting up a ring means.
fn meaning(error: &io::Error) -> Option<&'static str> {
    match Errno::from_io_error(error)? {
        Errno::INVAL => Some("this kernel does not know a flag, or provided buffers"),
        Errno::NOSYS => Some("this kernel has no io_uring, or a system call filter hides it"),
        Errno::PERM | Errno::ACCESS => Some(match std::fs::read_to_string(DISABLED) {
            Ok(value) if value.trim() != "0" => "kernel.io_uring_disabled forbids it",
            _ => "a system call filter or a security module forbids it",
        }),
        Errno::NOMEM => Some("not enough memory, or more than may be locked"),
        Errno::MFILE | Errno::NFILE => Some("too many open files"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(
        options: &Options,
        errors: &[(Setup, Errno)],
    ) -> (Vec<Setup>, Result<Opened, OpenError>) {
        let mut asked = Vec::new();
        let opened = by_steps(options, |setup| {
            asked.push(setup);
            match errors.iter().find(|error| error.0 == setup) {
                Some((_, error)) => Err((*error).into()),
                None => Ring::open(setup, sizes(options), false),
            }
        });
        (asked, opened)
    }

    /// Simulated refusals, so no step needs a kernel that refuses it.
    #[test]
    fn each_refusal_leads_to_its_next_step() {
        let options = Options::default();
        let all = Setup::ALL.map(|setup| (setup, Errno::INVAL));
        let (asked, opened) = steps(&options, &all);
        let opened = opened.unwrap();
        assert_eq!(asked, Setup::ALL, "a flag that is not known: without it");
        assert_eq!(opened.backend, Backend::Epoll);
        assert_eq!(opened.refused.len(), 3);
        for errno in [Errno::NOSYS, Errno::PERM, Errno::NOMEM] {
            let (asked, opened) = steps(&options, &[(Setup::Deferred, errno)]);
            let opened = opened.unwrap();
            assert_eq!(asked, [Setup::Deferred], "{errno}: no flag helps");
            assert_eq!(opened.backend, Backend::Epoll);
            assert!(opened.refused[0].why.is_some(), "{errno}");
        }
    }

    #[test]
    fn the_choice_and_the_best_setup_are_kept_to() {
        let options = |choice, setup| Options::default().choice(choice).setup(setup);
        let none = Setup::ALL.map(|setup| (setup, Errno::NOSYS));
        let (asked, opened) = steps(&options(Choice::Epoll, Setup::Deferred), &none);
        assert!(asked.is_empty() && opened.unwrap().refused.is_empty());
        let (_, opened) = steps(&options(Choice::Uring, Setup::Deferred), &none);
        let error = opened.err().unwrap().to_string();
        assert!(
            error.contains("coop|single|defer") && error.contains("no io_uring"),
            "{error}"
        );
        let (asked, _) = steps(&options(Choice::Auto, Setup::Plain), &none);
        assert_eq!(asked, [Setup::Plain]);
        let refused = [(Setup::Polled, Errno::INVAL)];
        let (asked, opened) = steps(&options(Choice::Auto, Setup::Polled), &refused);
        assert_eq!(
            asked,
            [Setup::Polled],
            "by its name only, and nothing else then"
        );
        assert_eq!(opened.unwrap().backend, Backend::Epoll);
    }
}
