//! What one block of a log says about fills, gathered by any thread, in the order of the block.

use std::collections::HashMap;

use fixcore::value::Decimal;
use fixcore::{Message, SOH, Timestamp};
use twox_hash::{XxHash3_64, XxHash3_128};

use crate::sessions::Sessions;
use crate::{GroupKey, hash, no_id};

const DAY_NS: i64 = 86_400_000_000_000;
/// A quantity, or a price that is not needed.
pub(super) const ZERO: Decimal = Decimal {
    mantissa: 0,
    scale: 0,
};

/// What an ExecutionReport (8) says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// A trade.
    Trade,
    /// An earlier trade has other values.
    Correction,
    /// An earlier trade is cancelled.
    Bust,
}

/// Why an execution is not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FillFault {
    /// There is no LastQty (32).
    NoQuantity,
    /// There is no LastPx (31).
    NoPrice,
    /// LastQty (32) is no number from 0 on that is read.
    Quantity,
    /// LastPx (31) is no number that is read.
    Price,
    /// A sum with it has more digits than are kept.
    TooLarge,
}

impl std::fmt::Display for FillFault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::NoQuantity => "LastQty (32): missing in a trade",
            Self::NoPrice => "LastPx (31): missing in a trade",
            Self::Quantity => "LastQty (32): no number from 0 on with at most 18 digits",
            Self::Price => "LastPx (31): no number with at most 18 digits",
            Self::TooLarge => {
                "the sum of quantity times price has more than 37 digits with this trade"
            }
        })
    }
}

/// An ExecutionReport about a fill.
#[derive(Debug, Clone)]
pub(super) struct Told {
    pub(super) kind: Kind,
    /// The hash of ExecID (17), or of what tells messages without one apart, among those of the session.
    pub(super) id: u128,
    /// The same of ExecRefID (19): of a trade, `id`.
    pub(super) about: u128,
    /// Hashes of Symbol (55), Side (54) and OrderID (37), 0 where there is none.
    pub(super) of: [u64; 3],
    /// The day of the trade, as far as it is known.
    pub(super) day: Option<i64>,
    /// When it was sent first.
    pub(super) sent_ns: i64,
    /// The place among the rows of the part.
    pub(super) row: u32,
    pub(super) quantity: Decimal,
    pub(super) price: Decimal,
    pub(super) offset: u64,
}

/// The fills of one block: the input of [`Fills`](super::Fills).
#[derive(Debug, Default)]
pub struct FillPart {
    pub(super) told: Vec<Told>,
    pub(super) rows: Vec<Vec<u8>>,
    places: HashMap<Vec<u8>, u32>,
    pub(super) sessions: Sessions,
    /// By the place of sessions: what ids of theirs are told apart by.
    domains: Vec<u128>,
    pub(super) faults: Vec<(u64, FillFault)>,
    text: Vec<u8>,
}

impl FillPart {
    /// Forgets everything, for the next block.
    pub fn clear(&mut self) {
        self.told.clear();
        self.rows.clear();
        self.places.clear();
        self.sessions.clear();
        self.domains.clear();
        self.faults.clear();
    }

    /// Adds a message at this byte of the log, if it is about a fill, to the row of its values.
    pub fn message(&mut self, offset: u64, by: &[GroupKey], message: &Message<'_, '_>) {
        if message.msg_type() != b"8" {
            return;
        }
        let Some(kind) = kind(message) else {
            return;
        };
        let (quantity, price) = match values(message, kind) {
            Ok((quantity, _)) if kind == Kind::Trade && quantity.mantissa == 0 => return,
            Ok(values) => values,
            Err(fault) => return self.faults.push((offset, fault)),
        };
        let domain = self.domain(message);
        let time = |tag| message.get(tag).and_then(Timestamp::parse);
        let sent = time(122).or_else(|| time(52));
        let id_of = |tag| {
            let id = message.get(tag).filter(|id| !no_id::is_none(id))?;
            Some(hash::of_id(domain, id))
        };
        let (own, about) = (id_of(17), id_of(19));
        // Some engines correct and cancel by the ExecID of the trade alone.
        let about = about.or(own).filter(|_| kind != Kind::Trade);
        let own = own.filter(|own| Some(*own) != about);
        let id = own.unwrap_or_else(|| {
            self.text.clear();
            match message.get(34) {
                Some(number) => {
                    self.text.extend_from_slice(b"34=");
                    self.text.extend_from_slice(number);
                    let sent_ns = sent.map_or(0, |sent| sent.0);
                    self.text.push(SOH);
                    self.text.extend_from_slice(&sent_ns.to_le_bytes());
                }
                None => self.text.extend_from_slice(message.bytes()),
            }
            hash::of_id(domain, &self.text)
        });
        let traded = time(60).or(sent);
        let hashed = |tag| {
            let value = message.get(tag).filter(|id| !no_id::is_none(id));
            value.map_or(0, |value| XxHash3_64::oneshot(value).max(1))
        };
        let row = self.row(by, message);
        self.told.push(Told {
            kind,
            id,
            about: about.unwrap_or(id),
            of: [55, 54, 37].map(hashed),
            day: traded.map(|time| time.0.div_euclid(DAY_NS)),
            sent_ns: sent.map_or(i64::MIN, |sent| sent.0),
            row,
            quantity,
            price,
            offset,
        });
    }

    /// The place of the row of a message.
    fn row(&mut self, by: &[GroupKey], message: &Message<'_, '_>) -> u32 {
        GroupKey::write(by, message, &mut self.text);
        if let Some(at) = self.places.get(&self.text) {
            return *at;
        }
        let at = self.rows.len() as u32;
        self.rows.push(self.text.clone());
        self.places.insert(self.text.clone(), at);
        at
    }

    /// What ids of the session of a message are told apart by: its parties, and the firm for which it was sent.
    fn domain(&mut self, message: &Message<'_, '_>) -> u128 {
        let [sender, target] = [49, 56].map(|tag| message.get(tag).unwrap_or_default());
        let at = self.sessions.place([sender, target]);
        if at == self.domains.len() {
            self.domains
                .push(XxHash3_128::oneshot(&[sender, &[SOH][..], target].concat()));
        }
        let session = self.domains.get(at).copied().unwrap_or_default();
        match message.get(115) {
            None => session,
            Some(firm) => hash::of_id(session, firm),
        }
    }
}

/// What a message says, if it is about a fill. ExecTransType (20) is that of FIX 4.0 to 4.2; in 4.0 there is no
/// ExecType (150), and what has a LastShares (32) is a trade.
fn kind(message: &Message<'_, '_>) -> Option<Kind> {
    match (message.get(20), message.get(150)) {
        (Some(b"1"), _) => Some(Kind::Bust),
        (Some(b"2"), _) => Some(Kind::Correction),
        (Some(b"3"), _) => None,
        (_, Some(b"F" | b"1" | b"2")) => Some(Kind::Trade),
        (_, Some(b"G")) => Some(Kind::Correction),
        (_, Some(b"H")) => Some(Kind::Bust),
        (_, Some(_)) => None,
        (_, None) => message.get(32).map(|_| Kind::Trade),
    }
}

/// Quantity and price.
fn values(message: &Message<'_, '_>, kind: Kind) -> Result<(Decimal, Decimal), FillFault> {
    if kind == Kind::Bust {
        return Ok((ZERO, ZERO));
    }
    let quantity = message.get(32).ok_or(FillFault::NoQuantity)?;
    let quantity = Decimal::parse(quantity).filter(|quantity| quantity.mantissa >= 0);
    let quantity = quantity.ok_or(FillFault::Quantity)?;
    if quantity.mantissa == 0 {
        return Ok((ZERO, ZERO));
    }
    let price = message.get(31).ok_or(FillFault::NoPrice)?;
    let price = Decimal::parse(price).ok_or(FillFault::Price)?;
    Ok((quantity, price))
}
