//! Reports on their way into a record.

use std::fs;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::Reports;
use crate::peers::recipes::Recipes;
use crate::record::{Record, Results};

/// Puts what files hold into the record of that name, whose title and notes stay as they are.
pub(crate) fn put(name: &str, files: &[&str]) -> Result<()> {
    let mut values = Vec::new();
    for file in files {
        let text = fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?;
        let value: Value =
            serde_json::from_str(&text).with_context(|| format!("{file} is no JSON"))?;
        values.push(value);
    }
    let is_report = |value: &Value| value["schema"] == "perfkit.report/1";
    let results = match values.iter().filter(|value| is_report(value)).count() {
        0 => Results::Recipes(Recipes::of_runs(values)?),
        count if count == values.len() => Results::Reports(Reports::of(values)),
        _ => bail!("some of the files are reports of perfkit, and some are not"),
    };
    let mut record = Record::read(name)?.with_context(|| {
        format!("there is no record {name}: write its JSON with a title and notes first")
    })?;
    ensure!(
        std::mem::discriminant(&record.results) == std::mem::discriminant(&results),
        "{name} is a record of other results than these files have"
    );
    for finding in std::mem::take(&mut record.findings) {
        println!("no longer in the record, for the figures are new:\n\n{finding}\n");
    }
    if let Results::Reports(reports) = &results {
        record.commands = reports.commands();
    }
    record.results = results;
    println!("{}", record.write(name)?.display());
    Ok(())
}
