//! The board as OpenMetrics text, with prometheus-client. Names, help texts and units are here.

use std::fmt;
use std::sync::Arc;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;
use report::openmetrics::seconds;
use stress::{Buckets, Counts, Live};

use crate::commands::stress::metrics::{Board, Row};

/// What is read of the board.
pub(super) fn registry(board: Arc<Board>) -> Registry {
    let mut registry = Registry::with_prefix("perfkit_stress");
    registry.register_collector(Box::new(Reader(board)));
    registry
}

#[derive(Debug)]
struct Reader(Arc<Board>);

/// What became of blocks: the value of the label `end`, and its counter.
type End = (&'static str, fn(&Counts) -> u64);

const ENDS: [End; 6] = [
    ("verified", |counts| counts.verified),
    ("mismatched", |counts| counts.mismatched),
    ("refused", |counts| counts.refused),
    ("not compressed", |counts| counts.failed),
    ("panic of a producer", |counts| counts.panicked_compress),
    ("panic of a consumer", |counts| counts.panicked_decompress),
];

/// A counter: its name without `_total`, its help, and its value.
type Counter = (&'static str, &'static str, fn(&Counts) -> u64);

const COUNTERS: [Counter; 6] = [
    ("begun", "Blocks that a producer began", |c| c.begun),
    ("content_bytes", "Content that was compressed", |c| {
        c.content_bytes
    }),
    ("block_bytes", "What it was compressed to", |c| {
        c.block_bytes
    }),
    (
        "decompressed_bytes",
        "Content that came out at consumers",
        |c| c.decompressed_bytes,
    ),
    ("corrupted", "Blocks corrupted on purpose", |c| c.corrupted),
    ("queue_full", "Batches that found the queue full", |c| {
        c.queue_full
    }),
];

/// A gauge: its name, its help, and its value if there is one.
type Gauge = (&'static str, &'static str, fn(&Row) -> Option<u64>);

const GAUGES: [Gauge; 5] = [
    (
        "contexts",
        "Contexts alive, of both directions",
        |row: &Row| row.held.map(|held| held.contexts),
    ),
    ("codec_bytes", "What contexts hold", |row: &Row| {
        row.held.map(|held| held.codec_bytes)
    }),
    ("threads", "Threads of the process", |row: &Row| {
        row.held?.threads
    }),
    (
        "resident_bytes",
        "Resident memory of the process",
        |row: &Row| row.held?.rss_bytes,
    ),
    ("queued_batches", "Batches that wait", |row: &Row| {
        Some(row.queued_batches as u64)
    }),
];

/// A distribution: its name, its help, and its source.
type Histogram = (&'static str, &'static str, fn(&Live) -> Buckets);

const HISTOGRAMS: [Histogram; 4] = [
    ("compress_seconds", "Compressing a block", |live| {
        live.compress
    }),
    ("queue_seconds", "A batch in the queue", |live| live.queue),
    ("decompress_seconds", "Decompressing a block", |live| {
        live.decompress
    }),
    (
        "end_to_end_seconds",
        "A block from its begin, or from when it was due, until it is decompressed",
        |live| live.end_to_end,
    ),
];

impl Collector for Reader {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let rows = self.0.with(|rows| rows.clone());
        blocks(&mut encoder, &rows)?;
        for (name, help, of) in COUNTERS {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for row in &rows {
                let value = of(&row.totals().0);
                metric
                    .encode_family(&labels(row))?
                    .encode_counter::<NoLabelSet, _, u64>(&value, None)?;
            }
        }
        for (name, help, of) in GAUGES {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
            for row in &rows {
                if let Some(value) = of(row) {
                    let value = i64::try_from(value).unwrap_or(i64::MAX);
                    metric.encode_family(&labels(row))?.encode_gauge(&value)?;
                }
            }
        }
        for (name, help, of) in HISTOGRAMS {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Histogram)?;
            for row in &rows {
                let (sum, count, buckets) = seconds(of(&row.totals().1));
                metric
                    .encode_family(&labels(row))?
                    .encode_histogram::<NoLabelSet>(sum, count, &buckets, None)?;
            }
        }
        Ok(())
    }
}

fn blocks(encoder: &mut DescriptorEncoder<'_>, rows: &[Row]) -> fmt::Result {
    let help = "Blocks by what became of them";
    let mut metric = encoder.encode_descriptor("blocks", help, None, MetricType::Counter)?;
    for row in rows {
        let counts = row.totals().0;
        for (end, of) in ENDS {
            let [codec, pool] = labels(row);
            metric
                .encode_family(&[codec, pool, ("end", end)])?
                .encode_counter::<NoLabelSet, _, u64>(&of(&counts), None)?;
        }
    }
    Ok(())
}

fn labels(row: &Row) -> [(&str, &str); 2] {
    [("codec", &row.codec), ("pool", row.pool.name())]
}
