//! Writes out the steps that stand for whole exchanges.

use fixcore::dict::Version;

use super::counterparty::{Counterparty, Reset};
use super::scenario::{
    Action, Connection, Cut, Kind, Pattern, Rule, Scenario, Step, Value, What, Window,
};
use super::versions::VERSIONS;
use crate::options::Role;

/// The steps of a scenario for a version, one message or wait each.
pub(super) fn steps(scenario: &Scenario, version: Version, engine: &Counterparty) -> Vec<Step> {
    let mut expansion = Expansion {
        steps: Vec::new(),
        alive: 0,
        role: engine.role,
    };
    if engine.reset == Reset::Flag {
        for action in [
            Action::Restart,
            Action::Logon(vec![is("141", "Y")]),
            Action::Logout,
            Action::Rebase,
        ] {
            expansion.step(&Step {
                text: "a Logon with ResetSeqNumFlag (141) and a Logout, before the scenario"
                    .to_owned(),
                versions: VERSIONS.to_vec(),
                connection: Connection::A,
                action,
            });
        }
    }
    for step in &scenario.steps {
        if step.versions.contains(&version) {
            expansion.step(step);
        }
    }
    expansion.steps
}

struct Expansion {
    steps: Vec<Step>,
    /// TestRequests of `alive` so far.
    alive: u32,
    role: Role,
}

impl Expansion {
    fn step(&mut self, step: &Step) {
        let mut add = |action| {
            self.steps.push(Step {
                action,
                ..step.clone()
            });
        };
        let any = Window::default();
        match &step.action {
            Action::Logon(own) if self.role == Role::Initiator => {
                add(Action::Connect);
                let of = |tag: &str, what| Rule {
                    tag: tag.to_owned(),
                    what,
                };
                let (interval, flag) = ("HeartBtInt".to_owned(), "ResetSeqNumFlag".to_owned());
                let expected = vec![
                    is("98", "0"),
                    of("108", What::Keep(interval.clone())),
                    of("141", What::KeepIfThere(flag.clone())),
                ];
                add(Action::Expect(pattern("A", expected), any));
                let mut fields = vec![
                    is("98", "0"),
                    of("108", What::Kept(interval)),
                    of("141", What::Kept(flag)),
                ];
                // The interval is the engine's.
                fields.extend(own.iter().filter(|rule| rule.tag != "108").cloned());
                add(Action::Send(pattern("A", fields), Cut::Whole));
            }
            Action::Logon(own) => {
                add(Action::Connect);
                let mut fields = vec![is("98", "0"), is("108", "30")];
                for rule in own {
                    match fields.iter_mut().find(|known| known.tag == rule.tag) {
                        Some(known) => *known = rule.clone(),
                        None => fields.push(rule.clone()),
                    }
                }
                let answered = ["108", "141"];
                let answer = fields.iter().filter(|rule| answered.contains(&&*rule.tag));
                let answer = answer.cloned().collect();
                add(Action::Send(pattern("A", fields), Cut::Whole));
                add(Action::Expect(pattern("A", answer), any));
            }
            Action::Logout => {
                add(Action::Send(pattern("5", Vec::new()), Cut::Whole));
                add(Action::Expect(pattern("5", Vec::new()), any));
                add(Action::Closed(any));
            }
            Action::Alive => {
                self.alive += 1;
                let id = format!("ALIVE{}", self.alive);
                add(Action::Send(pattern("1", vec![is("112", &id)]), Cut::Whole));
                add(Action::Expect(pattern("0", vec![is("112", &id)]), any));
            }
            action => add(action.clone()),
        }
    }
}

fn pattern(msg_type: &str, fields: Vec<Rule>) -> Pattern {
    Pattern {
        kind: Kind::Type(msg_type.to_owned()),
        fields,
    }
}

fn is(tag: &str, text: &str) -> Rule {
    Rule {
        tag: tag.to_owned(),
        what: What::Is(Value::text(text)),
    }
}
