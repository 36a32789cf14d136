//! What was found of one operation of a case.

use fixcore::Isa;

use super::Operation;

/// What was found of one operation of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The name of the shape.
    pub shape: String,
    /// What was done.
    pub operation: Operation,
    /// By which instruction set.
    pub isa: Isa,
    /// Of a swept shape, which sweep and which place in it.
    pub place: Option<(&'static str, usize)>,
    /// Fields without the frame, and bytes of a message, on average.
    pub fields: f64,
    /// Bytes of a message, on average.
    pub bytes: f64,
    /// Nanoseconds a message that fixcore takes, in the median of the rounds.
    pub fixcore_ns: f64,
    /// Nanoseconds a message that the rivals take, in their order; `None` for one that does not take part.
    pub rivals_ns: Vec<Option<f64>>,
    /// How many times as long as the first rival fixcore takes: the median over the rounds.
    pub ratio: Option<f64>,
    /// The same of the first rival once more, which would be 1 without noise.
    pub control: Option<f64>,
}
