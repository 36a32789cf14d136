//! Systems that refuse rings, simulated by a system call filter on the test's thread.

use std::os::unix::net::UnixStream;

use fixcore::io::{Backend, Choice, Connections, OpenError, Options};
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter};

use crate::support::{Echo, answer, message, write};

pub(crate) const CASES: &[(&str, fn())] = &[
    ("refused::a_system_without_rings", || refused(libc::ENOSYS)),
    ("refused::a_system_that_forbids_them", || {
        refused(libc::EPERM)
    }),
    ("refused::a_filter_that_denies_access", || {
        refused(libc::EACCES)
    }),
    ("refused::a_kernel_that_knows_no_flag", || {
        refused(libc::EINVAL)
    }),
    (
        "refused::a_kernel_without_provided_buffers",
        without_registration,
    ),
];

/// A filter that answers one system call with an error.
fn program(call: libc::c_long, errno: i32) -> Option<BpfProgram> {
    let errno = u32::try_from(errno).ok()?;
    let arch = std::env::consts::ARCH.try_into().ok()?;
    let filter = SeccompFilter::new(
        [(call, Vec::new())].into(),
        SeccompAction::Allow,
        SeccompAction::Errno(errno),
        arch,
    );
    filter.ok()?.try_into().ok()
}

/// Runs a test on a thread with the filter, which the thread keeps to its end.
fn filtered(call: libc::c_long, errno: i32, test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::spawn(move || {
        let program = program(call, errno).expect("a filter");
        seccompiler::apply_filter(&program).expect("a thread that takes it");
        test();
    });
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

/// Whether the system allows threads to set filters.
pub(crate) fn can_filter() -> bool {
    let filter = program(libc::SYS_io_uring_setup, libc::EPERM);
    let thread =
        std::thread::spawn(move || filter.is_some_and(|f| seccompiler::apply_filter(&f).is_ok()));
    thread.join().unwrap_or(false)
}

/// Connections use `epoll`, report why, and work.
fn falls_back(errno: i32, steps: usize) {
    let mut connections = Connections::open(&Options::default()).unwrap();
    assert_eq!(connections.backend(), Backend::Epoll);
    let refused = connections.refused();
    assert_eq!(refused.len(), steps);
    for refused in refused {
        assert_eq!(refused.error.raw_os_error(), Some(errno));
        assert!(refused.why.is_some() && refused.to_string().contains("io_uring"));
    }
    let (ours, mut peer) = UnixStream::pair().unwrap();
    peer.set_nonblocking(true).unwrap();
    connections.add(ours).unwrap();
    let wanted = message(1, 30);
    write(&mut peer, &wanted);
    let mut echo = Echo::default();
    assert_eq!(
        answer(&mut connections, &mut echo, &mut peer, wanted.len()),
        wanted
    );
    let forced = Options::default().choice(Choice::Uring);
    let error = Connections::open(&forced).unwrap_err();
    assert!(matches!(error, OpenError::Refused(_)), "{error}");
}

fn refused(errno: i32) {
    // Fewer flags are only tried if a flag was the problem.
    let steps = if errno == libc::EINVAL { 3 } else { 1 };
    filtered(libc::SYS_io_uring_setup, errno, move || {
        falls_back(errno, steps)
    });
}

fn without_registration() {
    filtered(libc::SYS_io_uring_register, libc::EINVAL, || {
        // Without any rings the system refuses for another reason.
        let refused = Connections::open(&Options::default()).unwrap();
        if refused
            .refused()
            .iter()
            .all(|step| step.error.raw_os_error() == Some(libc::EINVAL))
        {
            falls_back(libc::EINVAL, 3);
        }
    });
}
