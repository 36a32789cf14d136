//! What runs came to, as tables of the report. Everything here is arithmetic on finished figures.

use latency::report::{Cell, Latency, Table, Unit};
use stress::{Contexts, Finding, Growth, Leak, PoolKind, Trend};

/// What is kept of one run when the next one starts.
#[derive(Debug)]
pub(crate) struct Row {
    codec: String,
    pool: PoolKind,
    pub(super) ratio: Option<f64>,
    blocks_per_s: f64,
    bytes_per_s: f64,
    cpu_bytes_per_s: Option<f64>,
    compress: [Option<u64>; 3],
    decompress: [Option<u64>; 3],
    contexts_max: u64,
    codec_bytes_max: u64,
    rss_bytes_max: Option<u64>,
    threads: u64,
    pub(super) leak: Leak,
}

/// The 50th, 99th and 99.9th percentile, where earned.
fn tail(row: &Latency) -> [Option<u64>; 3] {
    [50.0, 99.0, 99.9].map(|p| {
        let found = row.percentiles.iter().find(|percentile| percentile.p == p);
        found.and_then(|percentile| percentile.value_ns)
    })
}

impl Row {
    pub(crate) fn new(found: &Finding, pool: PoolKind) -> Self {
        let contexts = [&found.compressors, &found.decompressors];
        let sum = |of: fn(&Contexts) -> u64| contexts.into_iter().map(of).sum();
        let rss = found.samples.iter().filter_map(|sample| sample.rss_bytes);
        Self {
            codec: found.codec.clone(),
            pool,
            ratio: found.counts.ratio(),
            blocks_per_s: found.counts.received as f64 / found.volume.elapsed.as_secs_f64(),
            bytes_per_s: found.volume.bytes_per_s(),
            cpu_bytes_per_s: found.volume.bytes_per_cpu_s(),
            compress: tail(&found.latencies.compress.latency()),
            decompress: tail(&found.latencies.decompress.latency()),
            contexts_max: sum(|contexts| contexts.alive_max),
            codec_bytes_max: sum(|contexts| contexts.bytes_max),
            rss_bytes_max: rss.max(),
            threads: found.threads as u64,
            leak: found.leak.clone(),
        }
    }

    /// What it is called in messages.
    pub(super) fn name(&self) -> String {
        format!("{} in the {} pool", self.codec, self.pool.name())
    }

    /// Whether it has a place in the ranking.
    fn ranks(&self, ratio_min: Option<f64>) -> bool {
        !self.leak.found() && !self.misses(ratio_min)
    }

    /// Whether its ratio is below the least.
    pub(super) fn misses(&self, ratio_min: Option<f64>) -> bool {
        ratio_min.is_some_and(|least| self.ratio.is_none_or(|ratio| ratio < least))
    }
}

/// All runs, the most bytes a CPU-second first; then what leaks or misses the ratio, without a rank.
pub(crate) fn ranking(rows: &[Row], ratio_min: Option<f64>) -> Table {
    let columns = [
        ("rank", Unit::Count),
        ("codec", Unit::Text),
        ("pool", Unit::Text),
        ("verdict", Unit::Text),
        ("ratio", Unit::Ratio),
        ("cpu_bytes_per_s", Unit::BytesPerSecond),
        ("bytes_per_s", Unit::BytesPerSecond),
        ("blocks_per_s", Unit::PerSecond),
        ("compress_p50_ns", Unit::Nanoseconds),
        ("compress_p99_ns", Unit::Nanoseconds),
        ("compress_p99_9_ns", Unit::Nanoseconds),
        ("decompress_p50_ns", Unit::Nanoseconds),
        ("decompress_p99_ns", Unit::Nanoseconds),
        ("decompress_p99_9_ns", Unit::Nanoseconds),
        ("contexts_max", Unit::Count),
        ("threads", Unit::Count),
        ("codec_bytes_max", Unit::Bytes),
        ("rss_bytes_max", Unit::Bytes),
    ];
    let mut table = Table::new("codecs and pools", &columns);
    let mut order: Vec<&Row> = rows.iter().collect();
    order.sort_by(|a, b| {
        let speed = |row: &Row| row.cpu_bytes_per_s.unwrap_or(row.bytes_per_s);
        let ranks = b.ranks(ratio_min).cmp(&a.ranks(ratio_min));
        ranks.then(speed(b).total_cmp(&speed(a)))
    });
    for (place, row) in order.into_iter().enumerate() {
        let rank = row.ranks(ratio_min).then_some(place as u64 + 1);
        let verdict = match (row.leak.found(), row.misses(ratio_min)) {
            (true, _) => "leaks",
            (false, true) => "below the ratio",
            (false, false) => "sound",
        };
        let mut cells: Vec<Cell> = vec![
            rank.into(),
            row.codec.as_str().into(),
            row.pool.name().into(),
            verdict.into(),
            row.ratio.into(),
            row.cpu_bytes_per_s.into(),
            row.bytes_per_s.into(),
            row.blocks_per_s.into(),
        ];
        cells.extend(row.compress.map(Cell::from));
        cells.extend(row.decompress.map(Cell::from));
        cells.extend([
            row.contexts_max.into(),
            row.threads.into(),
            row.codec_bytes_max.into(),
            row.rss_bytes_max.into(),
        ]);
        table.rows.push(cells);
    }
    table
}

/// What there is to say of one run alone.
pub(super) fn single(found: &Finding) -> Vec<Table> {
    let mut tables = vec![held(found, true), held(found, false), contexts(found)];
    tables.push(blocks(found));
    tables
}

/// What the process held: what is counted in bytes, or what is not.
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

/// What became of the blocks: what there was none of is left out.
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
