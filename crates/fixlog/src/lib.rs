//! FIX logs of any shape: messages with their byte offsets, what is wrong and where, statistics,
//! comparison, pseudonyms. What a message is, is in `fixcore`; files, pipes and threads are the caller's
//! to choose.
//!
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod accept;
mod arrival;
mod block;
mod blocks;
mod capture;
mod clock;
pub mod day;
mod dictionaries;
pub mod diff;
mod error;
mod fault_lines;
mod faults;
pub mod fills;
mod filter;
mod generate;
mod group_key;
mod hash;
pub mod health;
mod inside;
mod line;
mod lines;
mod made;
mod merge;
mod messages;
mod no_id;
pub mod orders;
mod parties;
mod place;
mod printer;
mod pseudonym;
#[cfg(test)]
mod random;
mod respell;
mod rewrite;
mod rows;
mod selection;
mod separator;
mod sessions;
mod shape;
mod sorter;
mod source;
mod spell;
mod split;
mod stamp;
mod statistics;
mod text;
mod worker;
mod workers;

pub use accept::Accept;
pub use block::{Block, Ended};
pub use blocks::Blocks;
pub use capture::{CaptureWriter, Captured, Lost, Origin, Origins};
pub use clock::Clock;
pub use dictionaries::{
    Checker, Checks, Dictionaries, MESSAGE_FAULTS_MAX, decoder, is_same_version,
};
pub use error::Error;
pub use faults::{AllFaults, Fault, FaultClass, Faults, RejectReason};
pub use filter::{
    Expression, ExpressionError, Filter, Moment, msg_type_of, name_of, tag_of, value_name_of,
};
pub use generate::{Form, Generator};
pub use group_key::GroupKey;
pub use inside::{next_inside, parse};
pub use lines::Lines;
pub use made::{Made, Piece};
pub use merge::{Merge, Timed};
pub use messages::{Found, Messages, Visit};
pub use place::{LineCounter, Place};
pub use printer::Printer;
pub use pseudonym::{KeyError, Pseudonyms, Scratch, TAGS, is_private};
pub use rewrite::Rewriter;
pub use rows::{RowForm, RowWriter, Rows};
pub use selection::Selection;
pub use separator::Separator;
pub use sorter::Sorter;
pub use source::{Files, Got, Logs, Reader, Readers, Source};
pub use split::{collect, split};
pub use statistics::{Early, Gap, GroupCount, Part, SessionCount, Statistics, TypeCount};
pub use worker::{Job, Task, Worker};
pub use workers::Workers;
