//! Tables of the report for one run. Everything here is arithmetic on finished numbers.

use latency::report::{Table, Unit};
use stress::{Finding, Growth, Trend};

/// The tables of a single run.
pub(crate) fn single(found: &Finding) -> Vec<Table> {
    let mut tables = vec![held(found, true), held(found, false), contexts(found)];
    tables.push(blocks(found));
    tables
}

/// Resources of the process: those in bytes, or the others.
fn held(found: &Finding, bytes: bool) -> Table {
    let (name, unit, rate) = match bytes {
        true => ("memory", Unit::Bytes, Unit::BytesPerSecond),
        false => ("contexts and threads", Unit::Count, Unit::PerSecond),
    };
    let key = |key: &'static str, bytes_key: &'static str| if bytes { bytes_key } else { key };
    let columns = [
        ("held", Unit::Text),
        ("verdict", Unit::Text),
        (key("settled", "settled_bytes"), unit),
        (key("end", "end_bytes"), unit),
        (key("max", "max_bytes"), unit),
        (key("slope_per_s", "slope_bytes_per_s"), rate),
        (key("slope_low_per_s", "slope_low_bytes_per_s"), rate),
        (key("slope_high_per_s", "slope_high_bytes_per_s"), rate),
    ];
    let mut table = Table::new(name, &columns);
    let trends = found.leak.trends.iter();
    for trend in trends.filter(|trend| trend.quantity.is_bytes() == bytes) {
        table.rows.push(vec![
            trend.quantity.name().into(),
            growth(trend).into(),
            trend.start.into(),
            trend.end.into(),
            trend.max.into(),
            trend.slope.map(|slope| slope.per_unit).into(),
            trend.slope.map(|slope| slope.ci95[0]).into(),
            trend.slope.map(|slope| slope.ci95[1]).into(),
        ]);
    }
    table
}

fn growth(trend: &Trend) -> &'static str {
    match trend.growth {
        Growth::Steady => "steady",
        Growth::Growing => "GROWS",
        Growth::Unknown => "too short to say",
    }
}

fn contexts(found: &Finding) -> Table {
    let columns = [
        ("direction", Unit::Text),
        ("made", Unit::Count),
        ("discarded", Unit::Count),
        ("alive_max", Unit::Count),
        ("bytes_max", Unit::Bytes),
        ("left", Unit::Count),
    ];
    let mut table = Table::new("contexts after the run", &columns);
    let directions = [
        ("compress", &found.compressors, found.leak.compressors_left),
        (
            "decompress",
            &found.decompressors,
            found.leak.decompressors_left,
        ),
    ];
    for (direction, contexts, left) in directions {
        table.rows.push(vec![
            direction.into(),
            contexts.made.into(),
            contexts.discarded.into(),
            contexts.alive_max.into(),
            contexts.bytes_max.into(),
            left.into(),
        ]);
    }
    table
}

/// What became of the blocks, without zero counts.
fn blocks(found: &Finding) -> Table {
    let counts = &found.counts;
    let rows = [
        ("begun", counts.begun),
        ("not compressed", counts.failed),
        ("lost to a panic of a producer", counts.panicked_compress),
        ("sent", counts.sent),
        ("verified", counts.verified),
        ("came back as something else", counts.mismatched),
        ("refused by the codec", counts.refused),
        ("lost to a panic of a consumer", counts.panicked_decompress),
        ("corrupted on purpose", counts.corrupted),
        ("of these without effect", counts.corrupted_harmless),
        ("batches that found the queue full", counts.queue_full),
    ];
    let mut table = Table::new("blocks", &[("what", Unit::Text), ("blocks", Unit::Count)]);
    for (what, count) in rows.into_iter().filter(|(_, count)| *count > 0) {
        table.rows.push(vec![what.into(), count.into()]);
    }
    table
}
