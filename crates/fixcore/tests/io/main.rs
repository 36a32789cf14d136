//! Connections by `io_uring` and by `epoll`: the same messages, the same answers, the same ends, and
//! the hard cases of each. A test that needs a ring is `ignored` if the system allows none.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[cfg(target_os = "linux")]
mod ends;
#[cfg(target_os = "linux")]
mod limits;
#[cfg(target_os = "linux")]
mod messages;
#[cfg(target_os = "linux")]
mod refusals;
#[cfg(target_os = "linux")]
mod streams;
#[cfg(target_os = "linux")]
mod support;

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
fn main() {
    use fixcore::io::{Choice, Connections, Options, Receives, Setup};
    use libtest_mimic::{Arguments, Trial};

    let of = |choice, setup| Options::default().choice(choice).setup(setup);
    let receiving = |receives| of(Choice::Uring, Setup::Deferred).receives(receives);
    let sides = [
        ("epoll", of(Choice::Epoll, Setup::Deferred)),
        ("uring_deferred", of(Choice::Uring, Setup::Deferred)),
        ("uring_cooperative", of(Choice::Uring, Setup::Cooperative)),
        ("uring_plain", of(Choice::Uring, Setup::Plain)),
        ("uring_single", receiving(Receives::Single)),
        ("uring_refused_multishot", receiving(Receives::Refused)),
    ];
    let sides = sides.map(|side| {
        let lacks = Connections::open(&side.1).is_err();
        (side, lacks)
    });
    let cases = messages::CASES
        .iter()
        .chain(limits::CASES)
        .chain(ends::CASES)
        .chain(streams::CASES);
    let mut trials = Vec::new();
    for (case, test) in cases {
        for ((side, options), lacks) in &sides {
            let (options, test) = (options.clone(), *test);
            let run = move || {
                test(&options);
                Ok(())
            };
            trials.push(Trial::test(format!("{side}::{case}"), run).with_ignored_flag(*lacks));
        }
    }
    for (case, test) in refusals::CASES {
        let run = move || {
            test();
            Ok(())
        };
        trials.push(Trial::test(*case, run).with_ignored_flag(!refusals::can_filter()));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
