//! Runs the simulation, and writes its record.

use anyhow::Result;

use crate::peers::{Size, measured_by_example};
use crate::record::{Record, Results};

/// Simulates and writes the record.
pub(crate) fn run(size: Size) -> Result<()> {
    let (name, words, command): (_, &[&str], _) = match size {
        Size::Full => ("verdicts", &[], "cargo xtask peers verdicts"),
        Size::Quick => (
            "verdicts-quick",
            &["--quick"],
            "cargo xtask peers verdicts --quick",
        ),
    };
    let (found, made) = measured_by_example("perfkit-latency", "", "verdicts", words)?;
    let mut record = Record::new(
        "How often perfkit's verdicts are right, by simulation",
        command,
        Results::Verdicts(serde_json::from_value(found)?),
    );
    record.quick = size == Size::Quick;
    record.made = vec![made];
    println!("{}", record.write(name)?.display());
    Ok(())
}
