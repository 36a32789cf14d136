//! The fills of all parts: what came twice is one, and what was corrected or cancelled is as it was last.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{Hash as _, Hasher as _};

use twox_hash::XxHash3_64;

use super::fill::{Fill, agree};
use super::part::{FillPart, Kind, Told};
use super::rows::{self, FillCounts, FillRow, NotCounted};
use crate::GroupKey;
use crate::hash::OwnHash;

/// Fills that are kept, and rows.
const FILLS_MAX: usize = 1 << 23;
const ROWS_MAX: usize = 1 << 18;
/// Sessions that are looked at for those that pass fills on.
const SESSIONS_MAX: usize = 1 << 12;
/// Executions that are named because they are not counted.
const NAMED: usize = 20;
/// Of an id that many fills have, the last ones are looked at: what a message costs does not grow with the logs.
const SAME_ID_MAX: usize = 256;
/// There is no further link.
const NONE: u32 = u32::MAX;

/// A fill that has an id.
#[derive(Debug)]
struct Link {
    fill: u32,
    /// Whether it is the id of a correction.
    is_later: bool,
    /// The one before with this id.
    before: u32,
}

/// The fills of logs, each once: by ExecID (17) within a session, for the logs of both parties and for messages that were
/// sent again (43=Y, 97=Y) too. Trades that are corrected (ExecType G, ExecTransType 2) count with their last values, and those
/// that are cancelled (H, 1) not at all, whichever comes first. A correction whose trade is not in the logs counts as one.
///
/// The same ExecID on another day, or of another order, symbol or side, is a different fill. Up to 8 million fills are kept.
///
/// ```
/// use fixlog::GroupKey;
/// use fixlog::fills::{FillPart, Fills};
///
/// # fn message(body: &str) -> Vec<u8> {
/// #     let mut all = Vec::new();
/// #     fixcore::frame::write(b"FIX.4.4", body.replace('|', "\x01").as_bytes(), &mut all);
/// #     all
/// # }
/// let log = [
///     message("35=8|49=MARKET|56=DESK|34=2|37=7|17=e1|150=F|39=1|55=MSFT|54=1|32=100|31=10.25|"),
///     message("35=8|49=MARKET|56=DESK|34=3|37=7|17=e2|150=F|39=2|55=MSFT|54=1|32=50|31=10.5|"),
///     message("35=8|49=MARKET|56=DESK|34=4|37=7|17=e3|19=e2|150=G|39=2|55=MSFT|54=1|32=50|31=10.4|"),
/// ];
/// let by = [GroupKey::Field(55), GroupKey::Field(54)];
/// let (mut decoder, mut part) = (fixcore::Decoder::new(), FillPart::default());
/// for bytes in &log {
///     part.message(0, &by, &decoder.parse(bytes)?);
/// }
/// let mut fills = Fills::new();
/// fills.add(0, &part);
/// let rows = fills.rows(&by);
/// assert_eq!((rows[0].executions, rows[0].quantity.to_string()), (2, "150".to_owned()));
/// assert_eq!(rows[0].average().map(|price| price.text(2)).as_deref(), Some("10.30"));
/// # Ok::<(), fixcore::Error>(())
/// ```
#[derive(Debug)]
pub struct Fills {
    fills: Vec<Fill>,
    links: Vec<Link>,
    /// By the hash of an id: the last link.
    heads: HashMap<u128, u32, OwnHash>,
    /// Hashes of what was told.
    seen: HashSet<u64>,
    rows: Vec<Vec<u8>>,
    places: HashMap<Vec<u8>, u32>,
    sessions: BTreeSet<[Vec<u8>; 2]>,
    counts: FillCounts,
    not_counted: Vec<NotCounted>,
    pub(super) fills_max: usize,
}

impl Default for Fills {
    fn default() -> Self {
        Self::new()
    }
}

impl Fills {
    /// No fills.
    #[must_use]
    pub fn new() -> Self {
        Self {
            fills: Vec::new(),
            links: Vec::new(),
            heads: HashMap::default(),
            seen: HashSet::new(),
            rows: Vec::new(),
            places: HashMap::new(),
            sessions: BTreeSet::new(),
            counts: FillCounts::default(),
            not_counted: Vec::new(),
            fills_max: FILLS_MAX,
        }
    }

    /// Adds what a block of a log says. Blocks come in their order.
    pub fn add(&mut self, log: usize, part: &FillPart) {
        for (offset, fault) in &part.faults {
            self.counts.not_counted += 1;
            if self.not_counted.len() < NAMED {
                self.not_counted.push(NotCounted {
                    log,
                    offset: *offset,
                    fault: *fault,
                });
            }
        }
        for names in part.sessions.names() {
            if self.sessions.len() < SESSIONS_MAX && !self.sessions.contains(names) {
                self.sessions.insert(names.clone());
            }
        }
        for told in &part.told {
            let is_full = self.seen.len() >= self.fills_max;
            let seen = hash_of(told);
            if self.seen.contains(&seen) {
                self.counts.duplicates += 1;
                continue;
            }
            if is_full {
                self.counts.unfollowed += 1;
                continue;
            }
            self.seen.insert(seen);
            match told.kind {
                Kind::Trade => self.trade(log, told, part),
                Kind::Correction | Kind::Bust => self.change(log, told, part),
            }
        }
    }

    /// The last fills with an id, the last one first, and whether it is the id of a correction.
    fn with_id(&self, id: u128) -> impl Iterator<Item = (u32, &Fill, bool)> {
        let mut next = self.heads.get(&id).copied().unwrap_or(NONE);
        let all = std::iter::from_fn(move || {
            let link = self.links.get(next as usize)?;
            next = link.before;
            let fill = self.fills.get(link.fill as usize)?;
            Some((link.fill, fill, link.is_later))
        });
        all.take(SAME_ID_MAX)
    }

    fn link(&mut self, id: u128, fill: u32, is_later: bool) {
        let at = self.links.len() as u32;
        let before = self.heads.insert(id, at).unwrap_or(NONE);
        self.links.push(Link {
            fill,
            is_later,
            before,
        });
    }

    fn trade(&mut self, log: usize, told: &Told, part: &FillPart) {
        let (mut adopted, mut contradicts) = (None, false);
        for (at, fill, is_later) in self.with_id(told.id) {
            if is_later || !(fill.is_of(told) && agree(fill.of[2], told.of[2])) {
                continue;
            }
            match (fill.is_told, told.day.zip(fill.day)) {
                (true, days) => contradicts |= days.is_none_or(|(day, other)| day == other),
                // What changes a trade is not of an earlier day.
                (false, days) if days.is_none_or(|(day, later)| day <= later) => {
                    adopted = Some(at);
                    break;
                }
                (false, _) => {}
            }
        }
        let Some(at) = adopted else {
            self.counts.contradictions += u64::from(contradicts);
            if let Some(at) = self.push(log, told, part) {
                self.link(told.id, at, false);
            }
            return;
        };
        let row = self.row(told, part);
        if let (Some(fill), Some(row)) = (self.fills.get_mut(at as usize), row) {
            (fill.is_told, fill.row) = (true, row);
            (fill.of, fill.day) = (told.of, told.day);
        }
    }

    fn change(&mut self, log: usize, told: &Told, part: &FillPart) {
        match told.kind {
            Kind::Bust => self.counts.busts += 1,
            _ => self.counts.corrections += 1,
        }
        let fits = |fill: &Fill| {
            let is_before = told.day.zip(fill.day).is_none_or(|(day, of)| of <= day);
            is_before && fill.is_of(told)
        };
        let mut found = None;
        for (at, fill, _) in self.with_id(told.about).filter(|(_, fill, _)| fits(fill)) {
            if agree(fill.of[2], told.of[2]) {
                found = Some(at);
                break;
            }
            // The OrderID may be that of the order that took the place of this one.
            found.get_or_insert(at);
        }
        let is_known = found.is_some();
        let Some(at) = found.or_else(|| self.push(log, told, part)) else {
            return;
        };
        if !is_known {
            self.link(told.about, at, false);
        }
        if told.id != told.about {
            self.link(told.id, at, true);
        }
        let Some(fill) = self.fills.get_mut(at as usize) else {
            return;
        };
        if told.kind == Kind::Bust {
            fill.is_busted = true;
        } else if told.sent_ns >= fill.changed_ns {
            fill.is_corrected = true;
            fill.changed_ns = told.sent_ns;
            (fill.quantity, fill.price) = (told.quantity, told.price);
        }
    }

    /// Adds a fill; its place. `None` if there are too many.
    fn push(&mut self, log: usize, told: &Told, part: &FillPart) -> Option<u32> {
        let has_room = self.fills.len() < self.fills_max;
        let Some(row) = self.row(told, part).filter(|_| has_room) else {
            self.counts.unfollowed += 1;
            return None;
        };
        let at = self.fills.len() as u32;
        self.fills.push(Fill {
            row,
            is_told: told.kind == Kind::Trade,
            is_corrected: false,
            is_busted: false,
            of: told.of,
            day: told.day,
            quantity: told.quantity,
            price: told.price,
            changed_ns: i64::MIN,
            log: log as u32,
            offset: told.offset,
        });
        Some(at)
    }

    /// The place of the row of a message. `None` if there are too many.
    fn row(&mut self, told: &Told, part: &FillPart) -> Option<u32> {
        let key = part.rows.get(told.row as usize)?;
        if let Some(at) = self.places.get(key) {
            return Some(*at);
        }
        if self.rows.len() >= ROWS_MAX {
            return None;
        }
        let at = self.rows.len() as u32;
        self.rows.push(key.clone());
        self.places.insert(key.clone(), at);
        Some(at)
    }

    /// The rows of all fills, in the order of their values: those that [`FillPart::message`] was given. Trades that make a
    /// sum too large are among those that are [not counted](Self::not_counted) from then on.
    pub fn rows(&mut self, by: &[GroupKey]) -> Vec<FillRow> {
        let keys = self.rows.iter().map(|key| GroupKey::values(by, key));
        let (rows, too_large) = rows::rows(keys, &self.fills);
        self.counts.not_counted += too_large.len() as u64;
        let room = NAMED.saturating_sub(self.not_counted.len());
        self.not_counted.extend(too_large.into_iter().take(room));
        rows
    }

    /// How often there is what.
    #[must_use]
    pub fn counts(&self) -> FillCounts {
        let unknown = |fill: &&Fill| !fill.is_told;
        let unknown = self.fills.iter().filter(unknown);
        FillCounts {
            unknown: unknown.count() as u64,
            ..self.counts
        }
    }

    /// The first executions that are not counted, at most 20, in the order of the logs.
    #[must_use]
    pub fn not_counted(&self) -> &[NotCounted] {
        &self.not_counted
    }

    /// Two sessions with executions, sender before target, of which the first one's target is the sender of the second: what
    /// was passed on is a fill on each.
    #[must_use]
    pub fn passed_on(&self) -> Option<[&[Vec<u8>; 2]; 2]> {
        let mut all = self.sessions.iter();
        all.find_map(|first| {
            let from = [first[1].clone(), Vec::new()];
            let mut next = self.sessions.range(from..);
            let next = next.find(|next| next[0] != first[1] || next[1] != first[0])?;
            (next[0] == first[1]).then_some([first, next])
        })
    }
}

/// The hash of what a message says.
fn hash_of(told: &Told) -> u64 {
    let mut hasher = XxHash3_64::new();
    let said = (told.kind, told.quantity, told.price);
    (said, told.id, told.about, told.of, told.day).hash(&mut hasher);
    hasher.finish()
}
