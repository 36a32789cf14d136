//! Which scenarios are run in which versions.

use fixcore::dict::Version;
use fixsession::Role;
use fixsession::certify::{Counterparty, Scenario, VERSIONS, scenarios};

use crate::commands::fix::certify::flags::{CertifyArgs, EngineApp};
use crate::failure::{Failure, Result};

/// What was asked for.
pub(super) struct Plan {
    pub(super) engine: Counterparty,
    pub(super) versions: Vec<Version>,
    pub(super) scenarios: Vec<&'static Scenario>,
    /// Whether every version has to be there: an initiator may leave out what was not asked for by name.
    pub(super) needs_all: bool,
}

/// One scenario in one version.
#[derive(Clone, Copy)]
pub(super) struct Row {
    pub(super) scenario: &'static Scenario,
    pub(super) version: Version,
}

impl Plan {
    /// The plan of the flags.
    pub(super) fn new(args: &CertifyArgs) -> Result<Self> {
        let mut versions = VERSIONS.to_vec();
        if !args.versions.is_empty() {
            if let Some(wrong) = args
                .versions
                .iter()
                .find(|version| !versions.contains(version))
            {
                let message = format!("{} is no version of a session", wrong.name());
                return Err(Failure::usage(message).help("FIXT 1.1 carries 5.0, 5.0sp1 and 5.0sp2"));
            }
            versions.retain(|version| args.versions.contains(version));
        }
        for name in args.only.iter().chain(&args.skip) {
            if !scenarios().iter().any(|scenario| is_named(scenario, name)) {
                let message = format!("there is no scenario '{name}'");
                return Err(
                    Failure::usage(message).help("perfkit fix certify --list has their names")
                );
            }
        }
        let named = |names: &[String], scenario: &Scenario| {
            names.iter().any(|name| is_named(scenario, name))
        };
        let is_listed = args.list && args.listen.is_none();
        let is_of_role = |scenario: &Scenario| match args.listen {
            Some(_) => !scenario.needs().connect,
            None => is_listed || !scenario.needs().listen,
        };
        let is_asked = |scenario: &&Scenario| {
            is_of_role(scenario)
                && (args.only.is_empty() || named(&args.only, scenario))
                && !named(&args.skip, scenario)
        };
        let mut engine = Counterparty::new(&args.sender, &args.target);
        engine.echoes = args.app == EngineApp::Echo;
        engine.has_dictionaries = !args.no_dictionary;
        engine.compares_texts = args.texts;
        engine.reset = args.reset.into();
        engine.role = match args.listen {
            Some(_) => Role::Initiator,
            None => Role::Acceptor,
        };
        engine.timeout = args.timeout;
        engine.settle = args.pause;
        let scenarios: Vec<&Scenario> = scenarios().iter().filter(is_asked).collect();
        if scenarios.is_empty() {
            let message = "no scenario is left: --listen has others than HOST:PORT";
            return Err(
                Failure::usage(message).help("perfkit fix certify --list --listen 127.0.0.1:0")
            );
        }
        Ok(Self {
            engine,
            versions,
            scenarios,
            needs_all: args.listen.is_none() || !args.versions.is_empty(),
        })
    }

    /// Every row that the table has, in the order of versions. One that stands for all versions comes once.
    pub(super) fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::new();
        for (at, version) in self.versions.iter().enumerate() {
            for scenario in &self.scenarios {
                let is_there = scenario.versions().contains(version);
                if is_there && (at == 0 || !scenario.is_once()) {
                    let (scenario, version) = (*scenario, *version);
                    rows.push(Row { scenario, version });
                }
            }
        }
        rows
    }
}

/// Whether a scenario has this name, or is of this area.
fn is_named(scenario: &Scenario, name: &str) -> bool {
    let name = name.trim_end_matches(".*");
    let after = scenario.name().strip_prefix(name);
    after.is_some_and(|after| after.is_empty() || after.starts_with('.'))
}
