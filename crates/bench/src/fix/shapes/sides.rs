//! What takes part: the messages of a case, and those who parse and write them next to fixcore.

use std::time::Instant;

use fixcore::workload::shapes::{Drawer, Drawn, Shape};
use fixcore::{ErrorKind, Isa};

use super::naive::Field;
use crate::Error;

/// How many bytes the messages of a case have together, about.
const SET_BYTES: usize = 192 << 10;
/// How many messages there are.
const MESSAGES_MIN: usize = 4;
const MESSAGES_MAX: usize = 256;

/// What is done with messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Operation {
    /// Parse a message with all checks.
    Parse,
    /// Look for a tag that a parsed message does not have, for the first time.
    Absent,
    /// Look for the last tag of a parsed message, for the first time.
    Late,
    /// Go through the fields of a parsed message.
    Iterate,
    /// Parse a message and go through its fields.
    Read,
    /// Write a message field by field.
    Encode,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Parse,
        Self::Absent,
        Self::Late,
        Self::Iterate,
        Self::Read,
        Self::Encode,
    ];

    /// Its name in tables and flags.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Parse => "parse",
            Self::Absent => "absent",
            Self::Late => "late",
            Self::Iterate => "iterate",
            Self::Read => "read",
            Self::Encode => "encode",
        }
    }

    /// Whether it takes longer with every byte, so that neighbours can be compared by bytes.
    #[must_use]
    pub fn is_by_byte(self) -> bool {
        !matches!(self, Self::Absent | Self::Late)
    }
}

impl std::str::FromStr for Operation {
    type Err = Error;

    /// Reads what [`name`](Self::name) gives.
    fn from_str(name: &str) -> Result<Self, Error> {
        let found = Self::ALL
            .into_iter()
            .find(|operation| operation.name() == name);
        found.ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::settings(format!("unknown operation '{name}': expected {names}"))
        })
    }
}

/// The messages of a case.
#[derive(Debug, Clone)]
pub struct Workload {
    /// The shape that they are of.
    pub shape: Shape,
    /// The messages.
    pub messages: Vec<Drawn>,
    /// For each message the tag that comes up last; 10 is not counted.
    pub late: Vec<u32>,
}

impl Workload {
    /// The messages of a shape: the same ones for a seed.
    #[must_use]
    pub fn new(shape: &Shape, seed: u64) -> Self {
        let mut drawer = Drawer::new(shape.clone(), seed);
        let (mut messages, mut bytes) = (Vec::new(), 0);
        while messages.len() < MESSAGES_MIN || bytes < SET_BYTES && messages.len() < MESSAGES_MAX {
            let drawn = drawer.message();
            bytes += drawn.bytes.len();
            messages.push(drawn);
        }
        Self {
            late: messages.iter().map(late).collect(),
            shape: shape.clone(),
            messages,
        }
    }

    /// Bytes of a message, on average.
    #[must_use]
    pub fn bytes(&self) -> f64 {
        let bytes: usize = self.messages.iter().map(|drawn| drawn.bytes.len()).sum();
        bytes as f64 / self.messages.len().max(1) as f64
    }

    /// Fields of a message without the frame, on average.
    #[must_use]
    pub fn fields(&self) -> f64 {
        let fields: usize = self.messages.iter().map(|drawn| drawn.fields.len()).sum();
        fields as f64 / self.messages.len().max(1) as f64
    }

    /// Whether an operation can be done with these messages: only valid ones have fields, and what is written has no
    /// fault.
    #[must_use]
    pub fn allows(&self, operation: Operation) -> bool {
        let is_valid = self.messages.iter().all(|drawn| drawn.fault.is_none());
        match operation {
            Operation::Parse => true,
            Operation::Late => {
                is_valid && self.messages.iter().all(|drawn| !drawn.fields.is_empty())
            }
            Operation::Absent | Operation::Iterate | Operation::Read | Operation::Encode => {
                is_valid
            }
        }
    }
}

/// The tag of a message whose first field comes last.
fn late(drawn: &Drawn) -> u32 {
    let mut seen = std::collections::BTreeSet::new();
    let mut last = 35;
    for field in &drawn.fields {
        if seen.insert(field.tag) {
            last = field.tag;
        }
    }
    last
}

/// What a side makes of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Its fields, for sides that have the places of all.
    Fields(Vec<Field>),
    /// It is valid.
    Accepted,
    /// It is not.
    Refused(Option<ErrorKind>),
}

impl Answer {
    /// Whether two answers are the same as far as both tell.
    #[must_use]
    pub fn agrees(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Fields(a), Self::Fields(b)) => a == b,
            (Self::Refused(Some(a)), Self::Refused(Some(b))) => a == b,
            (Self::Refused(_), Self::Refused(_)) => true,
            (Self::Refused(_), _) | (_, Self::Refused(_)) => false,
            (Self::Accepted, _) | (_, Self::Accepted) => true,
        }
    }
}

/// Something that parses and writes messages.
pub trait Rival {
    /// What the report calls it, as in `naive`: the beginning of its columns.
    fn name(&self) -> &'static str;

    /// Takes the messages of a workload. `None` where it cannot.
    ///
    /// # Errors
    /// What else goes wrong.
    fn build<'w>(
        &self,
        workload: &'w Workload,
        isa: Isa,
    ) -> Result<Option<Box<dyn Side + 'w>>, Error>;
}

/// One side of a case.
pub trait Side {
    /// Does an operation with every message, several times. Returns the nanoseconds of all that; `None` if it has no
    /// such operation.
    ///
    /// # Errors
    /// What the side reports.
    fn turn(&mut self, operation: Operation, passes: u32) -> Result<Option<f64>, Error>;

    /// What it makes of a message, by its number.
    ///
    /// # Errors
    /// What the side reports, other than an invalid message.
    fn parsed(&mut self, message: usize) -> Result<Answer, Error>;

    /// A message as it writes it; `None` if it does not write.
    ///
    /// # Errors
    /// What the side reports.
    fn written(&mut self, message: usize) -> Result<Option<Vec<u8>>, Error>;
}

/// Nanoseconds of some work.
pub(super) fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_nanos() as f64
}

#[cfg(test)]
mod tests {
    use fixcore::workload::shapes::{ABSENT_TAG, named};

    use super::*;

    #[test]
    fn answers_agree_as_far_as_both_tell() {
        let fields = |end| Answer::Fields(vec![(8, 2, end)]);
        assert!(fields(9).agrees(&fields(9)) && !fields(9).agrees(&fields(8)));
        assert!(fields(9).agrees(&Answer::Accepted));
        let sum = Answer::Refused(Some(ErrorKind::CheckSum));
        assert!(sum.agrees(&Answer::Refused(None)) && !sum.agrees(&Answer::Accepted));
        assert!(!sum.agrees(&Answer::Refused(Some(ErrorKind::Tag))));
    }

    #[test]
    fn a_set_is_small_and_its_late_tags_are_there() {
        for shape in named() {
            let workload = Workload::new(&shape, 1);
            assert!((MESSAGES_MIN..=MESSAGES_MAX).contains(&workload.messages.len()));
            assert_eq!(workload.late.len(), workload.messages.len());
            for (drawn, late) in workload.messages.iter().zip(&workload.late) {
                let has = |tag| drawn.fields.iter().any(|field| field.tag == tag);
                assert!(*late == 35 || has(*late), "{}", shape.name);
                assert!(!has(ABSENT_TAG), "{}", shape.name);
            }
        }
    }
}
