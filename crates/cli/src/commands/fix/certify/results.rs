//! Verdicts as tables of the report.

use std::collections::BTreeMap;

use fixcore::dict::Version;
use fixsession::certify::{Finished, Verdict};
use latency::report::{Cell, Table, Unit};
use report::{ExitStatus, Outcome};

use crate::commands::fix::certify::plan::{Plan, Row};

/// A row and what it came to.
pub(super) type Done = (Row, Finished);

/// The scenarios and what they demand, as a listing.
pub(super) fn list(plan: &Plan, outcome: &mut Outcome) {
    let columns = ["scenario", "versions", "needs", "demands"].map(|name| (name, Unit::Text));
    let mut table = Table::new("scenarios", &columns);
    for scenario in &plan.scenarios {
        let versions = scenario.versions();
        let range = match (versions.first(), versions.last()) {
            _ if scenario.is_once() => "once".to_owned(),
            (Some(first), Some(last)) if first == last => first.name().to_owned(),
            (Some(first), Some(last)) => format!("{}-{}", first.name(), last.name()),
            _ => String::new(),
        };
        let needs = scenario.needs();
        let words = [
            (needs.echo, "echo"),
            (needs.dictionary, "dictionary"),
            (needs.kept_numbers, "--reset flag"),
            (needs.connect, "an acceptor"),
            (needs.listen, "an initiator"),
        ];
        let words = words.iter().filter(|need| need.0).map(|need| need.1);
        let words: Vec<&str> = words.collect();
        let row = [
            scenario.name().to_owned(),
            range,
            words.join(", "),
            scenario.says().to_owned(),
        ];
        table.rows.push(row.into_iter().map(Cell::from).collect());
    }
    outcome.did(plan.scenarios.len() as u64, ["scenario", "scenarios"]);
    outcome.tables.push(table);
}

/// Puts all verdicts into the report, and says how they end the process.
pub(super) fn conclude(plan: &Plan, results: &[Done], outcome: &mut Outcome) {
    outcome.tables.push(matrix(plan, results));
    outcome.tables.push(counts(plan, results));
    let skipped = skipped(results);
    if !skipped.rows.is_empty() {
        outcome.tables.push(skipped);
    }
    let is_failed = |done: &&Done| {
        matches!(
            done.1.verdict,
            Verdict::Failed { .. } | Verdict::NoConnection(_)
        )
    };
    let failed: Vec<&Done> = results.iter().filter(is_failed).collect();
    if !failed.is_empty() {
        outcome.tables.push(reasons(&failed));
        outcome.tables.push(messages(&failed));
    }
    let count = |name| {
        results
            .iter()
            .filter(|done| done.1.verdict.name() == name)
            .count() as u64
    };
    let run = results.len() as u64 - count("skipped");
    outcome.ops = Some(run);
    outcome.did(count("passed"), ["scenario passed", "scenarios passed"]);
    outcome.did(count("failed"), ["failed", "failed"]);
    outcome.did(count("skipped"), ["skipped", "skipped"]);
    if count("no connection") > 0 {
        outcome.did(
            count("no connection"),
            ["without a connection", "without a connection"],
        );
    }
    let params = &mut outcome.workload.params;
    for name in ["passed", "failed", "skipped"] {
        params.insert(name.to_owned(), count(name).into());
    }
    if count("failed") + count("no connection") > 0 {
        outcome.status = ExitStatus::Gate;
    }
}

/// A row for each scenario, a column for each version.
fn matrix(plan: &Plan, results: &[Done]) -> Table {
    let mut columns = vec![("scenario", Unit::Text)];
    columns.extend(
        plan.versions
            .iter()
            .map(|version| (version.name(), Unit::Text)),
    );
    let mut table = Table::new("verdicts", &columns);
    let found = |name: &str, version: Version| {
        let is_it = |done: &&Done| done.0.scenario.name() == name && done.0.version == version;
        let verdict = results.iter().find(is_it).map(|done| done.1.verdict.name());
        verdict.unwrap_or("-")
    };
    for scenario in &plan.scenarios {
        let mut row = vec![Cell::from(scenario.name().to_owned())];
        for version in &plan.versions {
            row.push(found(scenario.name(), *version).to_owned().into());
        }
        table.rows.push(row);
    }
    table
}

fn counts(plan: &Plan, results: &[Done]) -> Table {
    let names = ["passed", "failed", "skipped"];
    let mut columns = vec![("version", Unit::Text)];
    columns.extend(names.map(|name| (name, Unit::Count)));
    let mut table = Table::new("versions", &columns);
    for version in &plan.versions {
        let mut row = vec![Cell::from(version.name().to_owned())];
        for name in names {
            let is_it = |done: &&Done| done.0.version == *version && done.1.verdict.name() == name;
            row.push((results.iter().filter(is_it).count() as u64).into());
        }
        table.rows.push(row);
    }
    table
}

fn skipped(results: &[Done]) -> Table {
    let columns = [("reason", Unit::Text), ("scenarios", Unit::Count)];
    let mut table = Table::new("skipped", &columns);
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    for (_, finished) in results {
        if let Verdict::Skipped(why) = &finished.verdict {
            *reasons.entry(why).or_default() += 1;
        }
    }
    for (why, count) in reasons {
        table.rows.push(vec![why.to_owned().into(), count.into()]);
    }
    table
}

/// Why each of these failed.
fn reasons(failed: &[&Done]) -> Table {
    let columns = ["scenario", "version", "demands", "why", "known"].map(|name| (name, Unit::Text));
    let mut table = Table::new("failed", &columns);
    for (row, finished) in failed {
        let cells = [
            row.scenario.name().to_owned(),
            row.version.name().to_owned(),
            row.scenario.says().to_owned(),
            finished.verdict.why().unwrap_or_default(),
            row.scenario.known().unwrap_or_default().to_owned(),
        ];
        table.rows.push(cells.into_iter().map(Cell::from).collect());
    }
    table
}

/// The messages of each of these, `>` to the engine and `<` from it.
fn messages(failed: &[&Done]) -> Table {
    let columns = [
        ("scenario", Unit::Text),
        ("version", Unit::Text),
        ("at_ms", Unit::Count),
        ("message", Unit::Text),
    ];
    let mut table = Table::new("messages of what failed", &columns);
    for (row, finished) in failed {
        for exchange in &finished.exchange {
            let at_ms = u64::try_from(exchange.at.as_millis()).unwrap_or(u64::MAX);
            table.rows.push(vec![
                row.scenario.name().to_owned().into(),
                row.version.name().to_owned().into(),
                at_ms.into(),
                exchange.to_string().into(),
            ]);
        }
    }
    table
}
