//! Tests beside other programs: whether a program is here, and how a test that needs one is listed.

#![allow(dead_code, reason = "each test binary uses its own part of this")]

#[cfg(target_os = "linux")]
pub(crate) mod engine;
#[cfg(unix)]
pub(crate) mod lines;

use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use libtest_mimic::{Arguments, Failed, Trial};

/// Tests by the paths of their functions, each with whether what it needs is here. What is not here
/// makes a test `ignored`.
macro_rules! trials {
    ($($here:expr => [$($test:ident),* $(,)?]),* $(,)?) => {
        vec![$($(peer::trial(concat!(module_path!(), "::", stringify!($test)), $here, $test)),*),*]
    };
}
pub(crate) use trials;

pub(crate) fn trial(name: &str, here: bool, test: impl FnOnce() + Send + 'static) -> Trial {
    let guarded = name.to_owned();
    Trial::test(name, move || {
        let _guard = Guard::new(guarded);
        test();
        Ok::<(), Failed>(())
    })
    .with_ignored_flag(!here)
}

/// Longer than any of these tests takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(600);

/// Ends the process with the name of a test that waits for ever: without it nothing says which test that is.
struct Guard {
    /// Its drop tells that the test has ended.
    _ended: Sender<()>,
}

impl Guard {
    #[expect(clippy::print_stderr, reason = "nobody else can say it any more")]
    fn new(name: String) -> Self {
        let (ended, wait) = channel::<()>();
        std::thread::spawn(move || {
            if wait.recv_timeout(LIMIT) == Err(RecvTimeoutError::Timeout) {
                eprintln!("{name} has not ended in {} s", LIMIT.as_secs());
                std::process::exit(101);
            }
        });
        Self { _ended: ended }
    }
}

/// Runs them as the arguments of the process say, and ends it.
pub(crate) fn run(trials: Vec<Trial>) -> ! {
    libtest_mimic::run(&Arguments::from_args(), trials).exit()
}

/// Whether a command runs and succeeds.
pub(crate) fn works(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// Whether the zstd program is here.
pub(crate) fn has_zstd() -> bool {
    works(Command::new("zstd").arg("--version"))
}
