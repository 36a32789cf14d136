//! The table of scenarios against this crate's session, without sockets and under a simulated clock: a
//! test for each scenario and version. Then against sessions with a fault, which the table has to find.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod asking;
mod driver;
mod faults;

use fixcore::dict::Version;
use fixsession::Role;
use fixsession::certify::{Counterparty, Finished, Reset, Scenario, VERSIONS, Verdict, scenarios};
use libtest_mimic::{Arguments, Failed, Trial};

use crate::driver::Engine;

fn main() {
    let mut trials = Vec::new();
    for (reset, role) in [
        (Reset::Engine, Role::Acceptor),
        (Reset::Flag, Role::Acceptor),
        (Reset::Engine, Role::Initiator),
    ] {
        for scenario in scenarios() {
            for version in VERSIONS {
                let mut us = Counterparty::new("CERTIFY", "ENGINE");
                us.compares_texts = true;
                us.reset = reset;
                us.role = role;
                if is_run(scenario, version, &us) {
                    trials.push(row(scenario, version, us));
                }
            }
        }
    }
    trials.extend(faults::trials());
    trials.extend(asking::trials());
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

/// Whether a scenario is run for a version.
fn is_run(scenario: &Scenario, version: Version, us: &Counterparty) -> bool {
    let is_first = VERSIONS.first() == Some(&version);
    scenario.skipped(version, us).is_none() && (is_first || !scenario.is_once())
}

fn row(scenario: &'static Scenario, version: Version, us: Counterparty) -> Trial {
    let mode = match (us.reset, us.role) {
        (Reset::Engine, Role::Acceptor) => "",
        (Reset::Flag, Role::Acceptor) => "_kept_numbers",
        (_, Role::Initiator) => "_initiator",
    };
    let name = format!("fix_{}{mode}::{}", version.name(), scenario.name());
    Trial::test(name, move || {
        let finished = Engine::new(version, &us).run(scenario, version, &us);
        match finished.verdict {
            Verdict::Passed => Ok(()),
            _ => Err(Failed::from(report(scenario, &finished))),
        }
    })
}

fn report(scenario: &Scenario, finished: &Finished) -> String {
    let mut text = format!("{}\n", scenario.says());
    for exchange in &finished.exchange {
        text += &format!("{:8.3} {exchange}\n", exchange.at.as_secs_f64());
    }
    text + &finished.verdict.why().unwrap_or_default()
}
