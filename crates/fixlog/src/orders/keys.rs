//! Under what messages find their orders.

use twox_hash::XxHash3_128;

use super::event::Event;
use super::life::{StepKind, value};

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
        let of = |kind, tag| value(fields, tag).map(|id| key(kind, pair, id));
        let number = |number: u64, from: [u32; 2]| Some(key(NUMBER, from, &number.to_le_bytes()));
        let is_request = event.kind.is_request();
        let cl_ord_id = of(CL_ORD_ID, 11);
        let is_new = event.kind == StepKind::New;
        let sent = |tag| {
            let id = value(fields, tag).filter(|_| is_new);
            id.map(|id| key(SENT, [parties[0]; 2], id))
        };
        let relay = (event.kind == StepKind::New)
            .then(|| value(fields, 11).map(|id| key(RELAY, [parties[1]; 2], id)))
            .flatten();
        // NONE and 0 are no ids: nothing was accepted.
        let order_id = match value(fields, 37) {
            Some(b"NONE" | b"0") | None => None,
            Some(_) if event.kind == StepKind::New => None,
            Some(_) => of(ORDER_ID, 37),
        };
        match event.kind {
            StepKind::Reject | StepKind::BusinessReject => {
                let about = event
                    .about
                    .and_then(|about| number(about, [parties[1], parties[0]]));
                Self([about, cl_ord_id, None, None, None, None, None, None])
            }
            _ => Self([
                cl_ord_id,
                of(CL_ORD_ID, 41),
                // A ClOrdID that is not known is another order's, unless it takes the place of one.
                order_id.filter(|_| cl_ord_id.is_none() || value(fields, 41).is_some()),
                order_id,
                relay,
                is_request.then(|| number(event.number, parties)).flatten(),
                sent(11),
                sent(526),
            ]),
        }
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
