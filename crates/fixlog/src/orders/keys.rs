//! Under what messages find their orders.

use super::event::{self, Event};
use super::life::StepKind;
use crate::{hash, no_id};

/// What keys are made of.
const CL_ORD_ID: u32 = 1;
const ORDER_ID: u32 = 2;
pub(super) const RELAY: u32 = 3;
const NUMBER: u32 = 4;
pub(super) const SENT: u32 = 5;

/// Under what a message finds its order, and is found.
#[derive(Debug)]
pub(super) struct Keys {
    /// By ClOrdID (11).
    pub(super) id: Option<u128>,
    /// By OrigClOrdID (41).
    pub(super) original: Option<u128>,
    /// By OrderID (37).
    pub(super) order: Option<u128>,
    /// By MsgSeqNum (34).
    pub(super) number: Option<u128>,
    /// By that of the message that is rejected (45).
    pub(super) about: Option<u128>,
    /// For whom the order is sent on, and who sent it on before.
    pub(super) relay: Option<u128>,
    pub(super) sent: [Option<u128>; 2],
}

impl Keys {
    /// `restarts` is how often numbers began anew on the session.
    pub(super) fn of(parties: [u32; 2], event: &Event, fields: &[u8], restarts: u32) -> Self {
        let pair = [parties[0].min(parties[1]), parties[0].max(parties[1])];
        let id = |place: usize| event.ids[place].of(fields);
        let of = |kind, place| id(place).map(|id| key(kind, pair, id));
        let number = |number: u64, from: [u32; 2]| {
            let mut bytes = [0; 12];
            bytes[..8].copy_from_slice(&number.to_le_bytes());
            bytes[8..].copy_from_slice(&restarts.to_le_bytes());
            key(NUMBER, from, &bytes)
        };
        let is_new = event.kind == StepKind::New;
        let is_reject = matches!(event.kind, StepKind::Reject | StepKind::BusinessReject);
        let sent = |place| {
            let id = id(place).filter(|_| is_new);
            id.map(|id| key(SENT, [parties[0]; 2], id))
        };
        let relay = id(event::CL_ORD_ID).filter(|_| is_new);
        // NONE is no id: nothing was accepted.
        let order = id(event::ORDER_ID).filter(|id| !is_new && !no_id::is_none(id));
        let about = event.about.filter(|_| is_reject);
        Self {
            id: of(CL_ORD_ID, event::CL_ORD_ID),
            original: of(CL_ORD_ID, event::ORIG_CL_ORD_ID),
            order: order.map(|id| key(ORDER_ID, pair, id)),
            number: (!is_reject && event.number > 0).then(|| number(event.number, parties)),
            about: about.map(|about| number(about, [parties[1], parties[0]])),
            relay: relay.map(|id| key(RELAY, [parties[1]; 2], id)),
            sent: [sent(event::CL_ORD_ID), sent(event::SECONDARY_CL_ORD_ID)],
        }
    }
}

/// A key of some kind on a session.
pub(super) fn key(kind: u32, [one, other]: [u32; 2], id: &[u8]) -> u128 {
    let domain = [kind, one, other].into_iter();
    let domain = domain.fold(0, |domain, part| domain << 32 | u128::from(part));
    hash::of_id(domain, id)
}
