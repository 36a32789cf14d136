//! How a store is kept.

use std::ops::RangeInclusive;

use crate::names::named;

/// Bytes that segments may have.
pub const SEGMENT_BYTES: RangeInclusive<usize> = 4096..=1 << 30;

/// When what was appended is on the disk.
#[doc(alias = "fsync")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Durability {
    /// When the system writes it, in any order: for what may be lost with the power.
    #[default]
    None,
    /// When [`Store::sync`] returns.
    Batch,
    /// When the call that appended returns.
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

/// What becomes of a store with damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum OnDamage {
    /// It is not opened.
    #[default]
    Refuse,
    /// It is opened without the messages that are damaged, whose numbers stay used.
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

/// How a store is kept.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// When what was appended is on the disk.
    pub durability: Durability,
    /// Bytes of each segment, within [`SEGMENT_BYTES`] and a multiple of 4,096: of new ones, for
    /// those that exist have what they were made with.
    pub segment_bytes: usize,
    /// Segments that the store may have before it is full, the one that is made ahead among them.
    pub segments_max: usize,
    /// What becomes of a store with damage.
    pub on_damage: OnDamage,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            segment_bytes: 16 << 20,
            segments_max: 1 << 15,
            on_damage: OnDamage::default(),
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
}
