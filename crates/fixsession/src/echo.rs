//! An application that returns what it gets: for tests of counterparties, and as an example.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::application::{Application, Outbox, Received, Refusal};
use crate::body;
use crate::id::SessionId;

/// Order ids of a session that are remembered; the oldest are forgotten.
const IDS_MAX: usize = 1 << 20;
/// ClOrdID.
const CL_ORD_ID: u32 = 11;

/// The order ids that a session has seen.
#[derive(Debug, Default)]
struct Seen {
    ids: HashSet<Box<[u8]>>,
    order: VecDeque<Box<[u8]>>,
}

impl Seen {
    /// Whether the id is new.
    fn add(&mut self, id: &[u8]) -> bool {
        if self.ids.contains(id) {
            return false;
        }
        if self.order.len() >= IDS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.ids.remove(&oldest);
        }
        self.ids.insert(id.into());
        self.order.push_back(id.into());
        true
    }
}

/// Returns NewOrderSingle, SecurityDefinition and Email with their fields in ascending order and a header of its
/// own, whose route (50 and 57, 115 and 128, and so on) is turned round. An order that says PossResend (97) `Y` is dropped if its ClOrdID (11) was seen in this session. Other
/// application messages are not supported, and the session says so.
#[derive(Debug, Default)]
pub struct Echo {
    seen: HashMap<SessionId, Seen>,
    echoed: u64,
}

impl Echo {
    /// How many messages it returned.
    #[must_use]
    pub fn echoed(&self) -> u64 {
        self.echoed
    }
}

impl Application for Echo {
    fn on_logout(&mut self, id: &SessionId) {
        self.seen.remove(id);
    }

    fn from_app(
        &mut self,
        id: &SessionId,
        received: &Received<'_>,
        out: &mut Outbox,
    ) -> Result<(), Refusal> {
        let message = received.message;
        let msg_type = message.msg_type();
        let old = matches!(id.begin_string.as_str(), "FIX.4.0" | "FIX.4.1");
        match msg_type {
            b"D" => {
                let order = message.get(CL_ORD_ID).ok_or(Refusal::missing(CL_ORD_ID))?;
                if !self.seen.contains_key(id) {
                    self.seen.insert(id.clone(), Seen::default());
                }
                let seen = self.seen.get_mut(id);
                let new = seen.is_some_and(|seen| seen.add(order));
                if received.poss_resend && !new {
                    return Ok(());
                }
            }
            b"C" => {}
            b"d" if !old => {}
            _ => return Err(Refusal::UnsupportedType),
        }
        self.echoed += 1;
        out.with(msg_type, |bytes| match received.preserves_order {
            true => body::returned_in_order(message, bytes),
            false => body::returned(message, received.dictionary, bytes),
        });
        Ok(())
    }
}
