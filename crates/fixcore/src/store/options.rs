//! Options of a store: durability, sizes, and what to do about damage.

use std::ops::RangeInclusive;

use crate::Timestamp;
use crate::names::named;

/// Allowed sizes of a segment, in bytes.
pub const SEGMENT_BYTES: RangeInclusive<usize> = 4096..=1 << 30;

/// When appended messages are on the disk.
#[doc(alias = "fsync")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Durability {
    /// When the system writes them, in any order. A power failure may lose them.
    #[default]
    None,
    /// When [`Store::sync`](super::Store::sync) returns.
    Batch,
    /// When [`Store::append`](super::Store::append) returns.
    Message,
}

named!(Durability, "durability");

impl Durability {
    /// All of them, the weakest first.
    pub const ALL: [Self; 3] = [Self::None, Self::Batch, Self::Message];

    /// Its name in flags and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Batch => "batch",
            Self::Message => "message",
        }
    }
}

/// How to treat a damaged store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OnDamage {
    /// Opening it fails.
    #[default]
    Refuse,
    /// It opens without the damaged messages. Their numbers stay used.
    Skip,
}

named!(OnDamage, "treatment of damage");

impl OnDamage {
    /// Both of them.
    pub const ALL: [Self; 2] = [Self::Refuse, Self::Skip];

    /// Its name in flags and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Skip => "skip",
        }
    }
}

/// Options of a store.
///
/// ```
/// use fixcore::store::{Durability, Options};
///
/// let options = Options::default().durability(Durability::Batch).segment_bytes(1 << 20);
/// assert_eq!(options.durability, Durability::Batch);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// When appended messages are on the disk.
    pub durability: Durability,
    /// The size of new segments: a multiple of 4,096 within [`SEGMENT_BYTES`]. Existing segments keep
    /// theirs.
    pub segment_bytes: usize,
    /// How many segments the store may have, including the one made ahead.
    pub segments_max: usize,
    /// How to treat a damaged store.
    pub on_damage: OnDamage,
    /// When the numbers of a new store began. A store that exists keeps its own time. Default: not stated.
    pub created: Option<Timestamp>,
    /// Whether the memory of new segments is locked (`mlock`), so that it is never written out. The process must be
    /// allowed to lock two segments (`ulimit -l`), or no segment can be made. Default: no.
    pub locked: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            segment_bytes: 16 << 20,
            segments_max: 1 << 15,
            on_damage: OnDamage::default(),
            created: None,
            locked: false,
        }
    }
}

impl Options {
    /// Sets [`durability`](Self#structfield.durability).
    #[must_use]
    pub fn durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// Sets [`segment_bytes`](Self#structfield.segment_bytes).
    #[must_use]
    pub fn segment_bytes(mut self, segment_bytes: usize) -> Self {
        self.segment_bytes = segment_bytes;
        self
    }

    /// Sets [`segments_max`](Self#structfield.segments_max).
    #[must_use]
    pub fn segments_max(mut self, segments_max: usize) -> Self {
        self.segments_max = segments_max;
        self
    }

    /// Sets [`on_damage`](Self#structfield.on_damage).
    #[must_use]
    pub fn on_damage(mut self, on_damage: OnDamage) -> Self {
        self.on_damage = on_damage;
        self
    }

    /// Sets [`locked`](Self#structfield.locked).
    #[must_use]
    pub fn locked(mut self, locked: bool) -> Self {
        self.locked = locked;
        self
    }

    /// Sets [`created`](Self#structfield.created).
    #[must_use]
    pub fn created(mut self, created: Timestamp) -> Self {
        self.created = Some(created);
        self
    }
}
