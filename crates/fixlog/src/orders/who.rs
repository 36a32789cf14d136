//! For whom orders are, where several on one session have one ClOrdID: SubIDs, LocationIDs and OnBehalfOf.

use std::borrow::Cow;

use super::book::Book;
use super::life::Step;
use super::open::Open;

/// Fields of whoever sends an order, and those of an answer that are the same: SenderSubID and TargetSubID,
/// SenderLocationID and TargetLocationID, OnBehalfOfCompID and DeliverToCompID, OnBehalfOfSubID and DeliverToSubID.
const PAIRS: [(u32, u32); 4] = [(50, 57), (142, 143), (115, 128), (116, 129)];

/// Whether a message is of the one who has the order: `None` if that is not known.
pub(super) fn is_of(open: &Open, step: &Step) -> Option<bool> {
    let mut is_same = None;
    for pair in PAIRS {
        let Some(own) = of(step, pair) else {
            continue;
        };
        let Some(other) = open.life.steps.iter().find_map(|other| of(other, pair)) else {
            continue;
        };
        if own != other {
            return Some(false);
        }
        is_same = Some(true);
    }
    is_same
}

fn of(step: &Step, (from, to): (u32, u32)) -> Option<&[u8]> {
    let tag = if step.kind.is_request() { from } else { to };
    step.get(tag).filter(|value| !value.is_empty())
}

impl Book {
    /// Those of some orders that a message may be about by the one that it is for: all if that tells nothing.
    pub(super) fn for_whom<'s>(&self, slots: &'s [u32], step: &Step) -> Cow<'s, [u32]> {
        if slots.len() < 2 {
            return slots.into();
        }
        let is_of = |slot: u32| self.open(slot).and_then(|open| is_of(open, step));
        for wanted in [|is| is == Some(true), |is: Option<bool>| is.is_none()] {
            let its: Vec<_> = slots
                .iter()
                .copied()
                .filter(|slot| wanted(is_of(*slot)))
                .collect();
            if !its.is_empty() {
                return its.into();
            }
        }
        slots.into()
    }
}
