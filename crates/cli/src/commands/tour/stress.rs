//! The stress part of the tour: four codecs with their pools, each with a number of blocks through many
//! producers and consumers, all verified; and a leaking pool, which must be detected.

use bench::stress::{Control, Row, ranking, unexpected};
use report::Outcome;
use stress::{Plan, PoolKind, codec};

use crate::commands::tour::stage::{Stage, failed};
use crate::commands::tour::words;
use crate::failure::Result;
use crate::term::signal;
use bench::Checks;

/// Blocks per pair: about a second in total.
const BLOCKS: u64 = 8_000;

const PAIRS: [(&str, PoolKind); 5] = [
    ("zstd:1", PoolKind::Sharded),
    ("zstd:1", PoolKind::Fresh),
    ("lz4", PoolKind::Mutex),
    ("snappy", PoolKind::Queue),
    ("zstd:1", PoolKind::Leaking),
];

/// Adds the part to the outcome.
pub(super) fn part(stage: &Stage<'_>, outcome: &mut Outcome, checks: &mut Checks) -> Result<()> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut rows = Vec::new();
    for (name, pool) in PAIRS {
        if signal::interrupted() {
            return Ok(());
        }
        let plan = Plan::default()
            .pool(pool)
            .threads(threads)
            .seed(stage.seed)
            .blocks_max(Some(BLOCKS))
            .label(Some(format!("{name} {}", pool.name())));
        let codec = codec::by_name(name).map_err(failed)?;
        let found = stress::run(&plan, codec, &mut |_| !signal::interrupted()).map_err(failed)?;
        let counts = &found.counts;
        checks.add(counts.received, unexpected(&found, &plan.faults));
        if !found.stopped {
            checks.that(found.leak.left() == (pool == PoolKind::Leaking));
        }
        outcome.bytes_in += counts.content_bytes;
        outcome.bytes_out += counts.block_bytes;
        outcome.bytes_content += counts.decompressed_bytes;
        rows.push(Row::new(&found, pool));
    }
    let table = ranking(&rows, &Control::default(), None);
    outcome.findings.extend(words::codecs(&table));
    outcome.tables.push(table);
    Ok(())
}
