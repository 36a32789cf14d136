//! Two sessions, a bad line and disks that are full for a while: every application message arrives exactly once and in order, no number is
//! used twice, and both sides agree in the end.

use fixsession::simulation::{self, Choices};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

struct Seeded(Xoshiro256PlusPlus);

impl Choices for Seeded {
    fn pick(&mut self, below: u64) -> u64 {
        self.0.next_u64() % below.max(1)
    }
}

fn run(seed: u64, log: bool) -> Result<simulation::Outcome, String> {
    simulation::run(&mut Seeded(Xoshiro256PlusPlus::seed_from_u64(seed)), log)
}

/// `PERFKIT_FIX_RUNS` makes more of them, `PERFKIT_FIX_SEED` other ones; a failure names its seed.
#[test]
fn every_message_arrives_exactly_once_and_in_order() {
    let number = |name: &str, default: u64| {
        let set = std::env::var(name).ok();
        set.and_then(|text| text.parse().ok()).unwrap_or(default)
    };
    let (runs, first) = (
        number("PERFKIT_FIX_RUNS", 2_000),
        number("PERFKIT_FIX_SEED", 1),
    );
    let mut sum = simulation::Outcome::default();
    for seed in first..first + runs {
        match run(seed, false) {
            Ok(outcome) => {
                sum.messages += outcome.messages;
                sum.connections += outcome.connections;
                sum.losses += outcome.losses;
                sum.restarts += outcome.restarts;
                sum.full += outcome.full;
            }
            Err(_) => panic!("seed {seed}: {}", run(seed, true).unwrap_err()),
        }
    }
    // The runs are no runs if nothing happens in them.
    assert!(sum.messages > 20 * runs, "{sum:?}");
    assert!(sum.connections > 2 * runs, "{sum:?}");
    assert!(sum.losses > runs / 2, "{sum:?}");
    assert!(sum.restarts > runs / 4, "{sum:?}");
    assert!(sum.full > runs / 4, "{sum:?}");
    eprintln!("{runs} runs: {sum:?}");
}
