//! The FIX part of the tour: messages of every type of a version, and the four benchmark messages, parsed
//! and validated; every answer is compared with that of plain code.

use std::time::Instant;

use fixcore::dict::{Rules, Validator, Version};
use fixcore::workload::{Generator, Sample};
use fixcore::{Decoder, Isa};
use latency::report::{Table, Unit};
use report::Outcome;

use crate::commands::tour::stage::{Stage, failed};
use crate::commands::tour::words;
use crate::failure::Result;
use crate::term::signal;
use bench::Checks;

/// Messages to generate per version.
const GENERATED: usize = 500;
/// Parses of each set of messages.
const ROUNDS: usize = 20;

/// Adds the part to the outcome.
pub(super) fn part(stage: &Stage<'_>, outcome: &mut Outcome, checks: &mut Checks) -> Result<()> {
    let columns = [
        ("messages", Unit::Text),
        ("count", Unit::Count),
        ("bytes", Unit::Bytes),
        ("parse_ns", Unit::Nanoseconds),
        ("validate_ns", Unit::Nanoseconds),
    ];
    let mut table = Table::new("fix", &columns);
    let sample = |sample: Sample| (sample.name().to_owned(), vec![sample.bytes(); 100]);
    let mut sets: Vec<_> = Sample::ALL.into_iter().map(sample).collect();
    for version in [Version::Fix42, Version::Fix44] {
        let dictionary = version.dictionary();
        let dictionary = dictionary.ok_or_else(|| failed("a dictionary cannot be read"))?;
        let mut generator = Generator::new(dictionary, dictionary, stage.seed);
        let messages = (0..GENERATED).map(|number| generator.message(number));
        let messages = messages.collect::<fixcore::Result<Vec<_>>>();
        let messages = messages.map_err(failed)?;
        sets.push((format!("every type of {version}"), messages));
    }
    let mut decoder = Decoder::new();
    let mut plain = Decoder::with_isa(Isa::Scalar).unwrap_or_default();
    for (name, messages) in sets {
        if signal::interrupted() {
            return Ok(());
        }
        let (mut parse_ns, mut validate_ns) = (u128::MAX, u128::MAX);
        for round in 0..ROUNDS {
            let start = Instant::now();
            let parsed = messages.iter().filter(|bytes| decoder.parse(bytes).is_ok());
            checks.that(parsed.count() == messages.len());
            parse_ns = parse_ns.min(start.elapsed().as_nanos());
            if round > 0 {
                continue;
            }
            let mut validator = None;
            let mut all = 0;
            for bytes in &messages {
                let right = plain.parse(bytes).map_err(failed)?;
                let Ok(message) = decoder.parse(bytes) else {
                    continue;
                };
                checks.that(right.fields().eq(message.fields()));
                if validator.is_none() {
                    validator = Validator::for_message(&message, Rules::default());
                }
                let start = Instant::now();
                let valid = validator
                    .as_mut()
                    .map(|validator| validator.validate(&message));
                all += start.elapsed().as_nanos();
                checks.that(valid == Some(Ok(())));
            }
            validate_ns = all;
        }
        let bytes: usize = messages.iter().map(Vec::len).sum();
        let each = |ns: u128| ns as f64 / messages.len() as f64;
        table.rows.push(vec![
            name.into(),
            (messages.len() as u64).into(),
            (bytes as u64).into(),
            each(parse_ns).into(),
            each(validate_ns).into(),
        ]);
    }
    outcome.findings.extend(words::fix(&table));
    outcome.tables.push(table);
    Ok(())
}
