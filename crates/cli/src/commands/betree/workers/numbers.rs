//! What a worker, a feeder or `join` has done so far, while it goes on: for `--metrics`, and for the line of `--live`.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use crate::args::metrics::MetricsArgs;
use crate::commands::metrics::{Health, Metrics};
use crate::failure::Result;

/// A number: its name, without the `_total` of those that only grow, its help, and whether it only grows.
pub(super) type Number = (&'static str, &'static str, bool);

/// The numbers of now, and who reads them. The server ends when it is dropped.
pub(super) struct Numbers<const N: usize> {
    board: Arc<Board<N>>,
    health: Health,
    _metrics: Option<Metrics>,
}

#[derive(Debug)]
struct Board<const N: usize> {
    names: &'static [Number; N],
    values: [AtomicU64; N],
}

impl<const N: usize> Numbers<N> {
    /// Serves them if the flags say so. `prefix` is what their names start with.
    pub(super) fn start(
        prefix: &str,
        names: &'static [Number; N],
        args: &MetricsArgs,
        said: bool,
    ) -> Result<Self> {
        let board = Arc::new(Board {
            names,
            values: std::array::from_fn(|_| AtomicU64::new(0)),
        });
        let health = Health::new(false);
        let serve = |address| {
            let mut registry = Registry::with_prefix(prefix);
            registry.register_collector(Box::new(Reader(Arc::clone(&board))));
            Metrics::start(address, registry, health.clone(), said)
        };
        let metrics = args.address()?.map(serve).transpose()?;
        Ok(Self {
            board,
            health,
            _metrics: metrics,
        })
    }

    /// The numbers of now, in the order of their names.
    pub(super) fn set(&self, values: [u64; N]) {
        for (own, value) in self.board.values.iter().zip(values) {
            own.store(value, Ordering::Relaxed);
        }
    }

    /// Whether the work goes on.
    pub(super) fn set_well(&self, is_well: bool) {
        self.health.set(is_well);
    }
}

#[derive(Debug)]
struct Reader<const N: usize>(Arc<Board<N>>);

impl<const N: usize> Collector for Reader<N> {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let Board { names, values } = &*self.0;
        for ((name, help, grows), value) in names.iter().zip(values) {
            let value = value.load(Ordering::Relaxed);
            if *grows {
                let mut metric =
                    encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
                metric.encode_counter::<NoLabelSet, _, u64>(&value, None)?;
            } else {
                let value = i64::try_from(value).unwrap_or(i64::MAX);
                let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
                metric.encode_gauge(&value)?;
            }
        }
        Ok(())
    }
}
