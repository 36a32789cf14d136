//! The times of orders, and who is told of them.

use super::life::Life;

/// A time of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Wait {
    /// From the order to its first answer, other than "pending".
    Answer,
    /// To its first fill.
    Fill,
    /// To its end.
    End,
    /// From a request to cancel it to the answer.
    Cancel,
    /// From a request to replace it to the answer.
    Replace,
}

impl Wait {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Answer,
        Self::Fill,
        Self::End,
        Self::Cancel,
        Self::Replace,
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Answer => "order to answer",
            Self::Fill => "order to first fill",
            Self::End => "order to end",
            Self::Cancel => "cancel to answer",
            Self::Replace => "replace to answer",
        }
    }
}

/// What a [`Book`](super::Book) tells while it reads.
pub trait Watch {
    /// An order is done with: it ended a minute ago, or the logs did.
    fn life(&mut self, life: &Life, parties: &[Vec<u8>]);
    /// A time of an order, in nanoseconds, by the clocks of its messages.
    fn wait(&mut self, wait: Wait, ns: u64, life: &Life);
    /// How long a message took from one party to the next, or `back`, in nanoseconds.
    fn hop(&mut self, parties: [&[u8]; 2], back: bool, ns: u64);
}
