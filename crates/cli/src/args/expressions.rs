//! Flags on expressions: how files have them, and how many are generated.

use betree::workload::Kind;
use clap::{Args, ValueEnum};

/// A kind of generated data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum WorkloadKind {
    /// Boolean-heavy: every expression tests every attribute
    Bool,
    /// Selective: advertisements over 21 attributes
    Ad,
}

/// How a file holds expressions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExpressionsForm {
    /// As the first line that is not blank looks
    Auto,
    /// An expression a line; its id is the number of the line
    Plain,
    /// An id, a tab, an expression
    Tab,
    /// A JSON object with "id" and "expr" a line
    Json,
    /// Erlang terms
    Erlang,
}

/// How large generated data is.
#[derive(Debug, Clone, Args)]
pub(crate) struct WorkloadArgs {
    /// Number of expressions
    #[arg(long, value_name = "N", default_value_t = 5000,
          value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub(crate) expressions: u32,
    /// Number of attributes, for bool
    #[arg(long, value_name = "P", default_value_t = 64,
          value_parser = clap::value_parser!(u16).range(1..=4096))]
    pub(crate) attributes: u16,
    /// Seed of the generated data
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub(crate) seed: u64,
}

/// The workload that flags ask for.
pub(crate) fn kind(kind: WorkloadKind, size: &WorkloadArgs) -> Kind {
    match kind {
        WorkloadKind::Bool => Kind::Bool(size.attributes),
        WorkloadKind::Ad => Kind::Ad,
    }
}

/// The result of a test whose attribute is missing from the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UndefinedMode {
    /// The test is false, and its negation with `not` is true
    False,
    /// The test is unknown, and so is its negation
    ThreeValued,
}
