//! Under what messages find their orders.

use twox_hash::XxHash3_128;

use super::event::{self, Event};
use super::life::StepKind;

/// What keys are made of.
const CL_ORD_ID: u64 = 1 << 40;
const ORDER_ID: u64 = 2 << 40;
pub(super) const SENT: u64 = 5 << 40;
pub(super) const RELAY: u64 = 3 << 40;
const NUMBER: u64 = 4 << 40;

/// Under what a message finds its order.
pub(super) struct Keys([Option<u128>; 8]);

impl Keys {
    pub(super) fn of(parties: [u32; 2], event: &Event, fields: &[u8]) -> Self {
        let pair = [parties[0].min(parties[1]), parties[0].max(parties[1])];
        let id = |place: usize| event.ids[place].of(fields);
        let of = |kind, place| id(place).map(|id| key(kind, pair, id));
        let number = |number: u64, from: [u32; 2]| Some(key(NUMBER, from, &number.to_le_bytes()));
        let cl_ord_id = of(CL_ORD_ID, event::CL_ORD_ID);
        if let StepKind::Reject | StepKind::BusinessReject = event.kind {
            let about = event
                .about
                .and_then(|about| number(about, [parties[1], parties[0]]));
            return Self([about, cl_ord_id, None, None, None, None, None, None]);
        }
        let is_new = event.kind == StepKind::New;
        let sent = |place| {
            let id = id(place).filter(|_| is_new);
            id.map(|id| key(SENT, [parties[0]; 2], id))
        };
        let relay = id(event::CL_ORD_ID).filter(|_| is_new);
        let relay = relay.map(|id| key(RELAY, [parties[1]; 2], id));
        // NONE and 0 are no ids: nothing was accepted.
        let order_id = match id(event::ORDER_ID) {
            Some(b"NONE" | b"0") | None => None,
            Some(_) if is_new => None,
            Some(_) => of(ORDER_ID, event::ORDER_ID),
        };
        let is_request = event.kind.is_request();
        // A ClOrdID that is not known is another order's, unless it takes the place of one.
        let takes_place = cl_ord_id.is_none() || id(event::ORIG_CL_ORD_ID).is_some();
        Self([
            cl_ord_id,
            of(CL_ORD_ID, event::ORIG_CL_ORD_ID),
            order_id.filter(|_| takes_place),
            order_id,
            relay,
            is_request.then(|| number(event.number, parties)).flatten(),
            sent(event::CL_ORD_ID),
            sent(event::SECONDARY_CL_ORD_ID),
        ])
    }

    /// Those that it may be known by.
    pub(super) fn known(&self) -> impl Iterator<Item = u128> + '_ {
        self.0[..3].iter().copied().flatten()
    }

    /// Those that it is found under from now on.
    pub(super) fn all(&self) -> impl Iterator<Item = u128> + '_ {
        self.0.iter().copied().flatten()
    }
}

/// A key of some kind on a session.
pub(super) fn key(kind: u64, [one, other]: [u32; 2], id: &[u8]) -> u128 {
    let seed = (u64::from(one) << 16) ^ u64::from(other) ^ kind;
    XxHash3_128::oneshot_with_seed(seed, id)
}
