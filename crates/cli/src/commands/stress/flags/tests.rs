//! How command lines of `perfkit stress` become plans, and which do not.

use std::num::NonZeroU64;

use crate::args::{Command, parse};
use crate::commands::stress::flags::*;

fn plan(line: &str) -> Option<Result<StressPlan>> {
    let words = format!("perfkit stress {line}");
    let words: Vec<_> = words.split_whitespace().map(Into::into).collect();
    match parse(&words).map(|cli| cli.command) {
        Ok(Command::Stress(args)) => Some(args.plan()),
        _ => None,
    }
}

fn plan_error(line: &str) -> bool {
    plan(line).expect("parses").is_err()
}

fn good(line: &str) -> Plan {
    plan(line).expect("parses").expect("a plan").plan
}

fn served(line: &str) -> Option<SocketAddr> {
    plan(line).expect("parses").expect("a plan").metrics
}

#[test]
fn the_flags_of_the_program_before_keep_their_names() {
    let line =
        "--codec=zstd-old --producers=7 --consumers=8 --interval=10ms --min_size=10 --max_size=20";
    let plan = good(line);
    assert_eq!(plan.pairs, [("zstd".to_owned(), PoolKind::Fresh)]);
    assert_eq!((plan.run.producers, plan.run.consumers), (7, 8));
    assert_eq!((plan.run.bytes_min, plan.run.bytes_max), (10, 20));
    assert_eq!(plan.run.pace, Pace::Uniform(700.0));
    let dashes = good("--min-size 10 --max-size 20");
    assert_eq!((dashes.run.bytes_min, dashes.run.bytes_max), (10, 20));
    assert_eq!(
        good("--min-size 9K").run.bytes_max,
        9216,
        "the least counts"
    );
    assert_eq!(good("--loop seed --interval 10ms").run.pace, Pace::Closed);
    let pools = |line| {
        good(line)
            .pairs
            .into_iter()
            .map(|(_, pool)| pool)
            .collect::<Vec<_>>()
    };
    assert_eq!(pools("--codec zstd-chanpool"), [PoolKind::Queue]);
    assert_eq!(
        pools("--codec zstd-chanpool --pool mutex"),
        [PoolKind::Mutex]
    );
}

#[test]
fn all_is_every_codec_and_every_sound_pool() {
    assert_eq!(
        good("--codec all --pool all").pairs.len(),
        codec::NAMES.len() * 5
    );
    assert_eq!(good("--codec zstd,zstd:9,zstd").pairs.len(), 2);
    assert_eq!(good("--codec all").run.duration, DURATION_RANKED);
    assert_eq!(good("").run.duration, DURATION);
    assert_eq!(good("--pool leaking").pairs[0].1, PoolKind::Leaking);
}

#[test]
fn faults_add_up() {
    let faults = good("--fault corrupt --fault panic=7 --fault slow=2ms --fault full")
        .run
        .faults;
    assert_eq!(faults.corrupt_every, NonZeroU64::new(1000));
    assert_eq!(faults.panic_every, NonZeroU64::new(7));
    assert_eq!(faults.consumer_pause, Some(Duration::from_millis(2)));
    assert!(faults.full_queue);
    for wrong in ["", "corrupt=0", "panic=x", "slow=", "full=1", "fire"] {
        assert!(plan(&format!("--fault={wrong}")).is_none(), "{wrong}");
    }
}

#[test]
fn metrics_stay_on_this_machine_unless_it_is_said() {
    let local = |text: &str| served(&format!("--metrics {text}"));
    let expected = Some(SocketAddr::from(([127, 0, 0, 1], 6060)));
    for text in ["127.0.0.1:6060", "localhost:6060", ":6060", "6060"] {
        assert_eq!(local(text), expected, "{text}");
    }
    assert!(local("[::1]:0").is_some_and(|address| address.is_ipv6()));
    for far in ["0.0.0.0:6060", "[::]:6060", "192.0.2.1:80"] {
        let refused = plan(&format!("--metrics {far}")).expect("parses");
        assert!(refused.is_err(), "{far}");
        assert!(served(&format!("--metrics {far} --metrics-remote")).is_some());
    }
    for wrong in [
        "--metrics=",
        "--metrics=example.org:80",
        "--metrics=1:2:3",
        "--metrics-remote",
    ] {
        assert!(plan(wrong).is_none(), "{wrong}");
    }
}

#[test]
fn the_last_of_rate_and_interval_and_of_soak_and_duration_wins() {
    assert_eq!(
        good("--interval 1ms --rate 50").run.pace,
        Pace::Poisson(50.0)
    );
    assert_eq!(
        good("--rate 50 --arrivals uniform").run.pace,
        Pace::Uniform(50.0)
    );
    assert_eq!(
        good("--rate 50 --interval 1s --producers 3").run.pace,
        Pace::Uniform(3.0)
    );
    assert_eq!(good("--rate 50% --interval 1s").rates, []);
    assert_eq!(good("--duration 1s --soak").run.duration, SOAK);
    assert_eq!(good("--soak -d 1s").run.duration, Duration::from_secs(1));
}

#[test]
fn shares_and_several_rates_are_runs_of_their_own() {
    let plan = good("--rate 50%,120%,9000 --arrivals uniform");
    let rates = [Rate::Share(0.5), Rate::Share(1.2), Rate::PerSecond(9000.0)];
    assert_eq!(plan.rates, rates);
    assert_eq!(
        (plan.run.pace, plan.paced(7.0)),
        (Pace::Closed, Pace::Uniform(7.0))
    );
    assert_eq!(plan.run.duration, DURATION_RANKED);
    assert_eq!(good("--rate 70").rates, []);
    for several in ["--rate 50% --pool all", "--rate 1,2 --soak"] {
        assert!(plan_error(several), "{several}");
    }
    for wrong in ["--rate=x", "--rate=0%", "--rate=50%,", "--rate=1e999"] {
        assert!(self::plan(wrong).is_none(), "{wrong}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_before_any_work() {
    for line in [
        "--codec zip",
        "--codec zstd:99",
        "--pool pond",
        "--soak --codec all",
        "--data x",
    ] {
        assert!(plan(line).expect("parses").is_err(), "{line}");
    }
    for line in [
        "--min-ratio x",
        "--min-ratio=-1",
        "--loop best",
        "--data json file",
    ] {
        assert!(plan(line).is_none(), "{line}");
    }
}
