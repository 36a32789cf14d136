//! The ring: memory that two threads share, and the only unsafe code of the queue.
//!
//! The ring consists of units of 16 bytes. An entry is a descriptor of one unit, followed by its bytes in
//! whole units. An entry that does not fit before the end begins at the start of the ring; a special
//! descriptor marks the place where it would have begun. Positions count units and never go back; a unit
//! is at its position modulo the length. Two positions are shared: `published`, which only the producer
//! writes, and `freed`, which only the consumer writes.
//!
//! Why no unit is written while it is read: the producer writes units from its own position up to
//! `freed` + length. It reads `freed` with `Acquire`, so all reads that the consumer made before it
//! stored `freed` with `Release` have happened. The consumer reads units from `freed` to `published`,
//! which it reads with `Acquire` and the producer stores with `Release` after writing them. Each side
//! is one value, which [`pair`] makes and which cannot be copied, and its methods take it by `&mut`.
//! Memory is zeroed first, so every byte is initialized at any time.

#![allow(unsafe_code, reason = "memory that two threads share")]

use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::sleep::Sleeper;

/// The size of a unit, and of a descriptor.
pub(super) const UNIT_BYTES: usize = 16;
/// The length in a descriptor after which entries continue at the start.
const WRAP: u64 = u64::MAX;

/// A unit: as a descriptor, its length in bytes and the caller's stamp.
type Unit = [u64; 2];

/// A value on two cache lines of its own, because processors fetch lines in pairs.
#[repr(align(128))]
struct CachePadded<T>(T);

/// The memory of the ring.
struct Units(Box<[UnsafeCell<Unit>]>);

// SAFETY: at most two threads access the units: there is one `Writer` and one `Reader`, which `pair`
// makes and which cannot be copied. See the module for why no unit is written while the other
// side reads it.
unsafe impl Sync for Units {}

impl Units {
    fn len(&self) -> usize {
        self.0.len()
    }

    /// A pointer to the first unit, valid for all of them.
    fn start(&self) -> *mut Unit {
        UnsafeCell::raw_get(self.0.as_ptr())
    }
}

/// What both sides share.
pub(super) struct Shared {
    units: Units,
    published: CachePadded<AtomicUsize>,
    freed: CachePadded<AtomicUsize>,
    pub(super) is_producer_gone: AtomicBool,
    pub(super) is_consumer_gone: AtomicBool,
    pub(super) producer: Sleeper,
    pub(super) consumer: Sleeper,
}

/// Makes a ring of at least this many bytes. Returns the only two sides that it ever has.
pub(super) fn pair(bytes: usize) -> (Writer, Reader) {
    let units = bytes.div_ceil(UNIT_BYTES).max(16).next_power_of_two();
    let shared = Arc::new(Shared {
        units: Units((0..units).map(|_| UnsafeCell::new([0; 2])).collect()),
        published: CachePadded(AtomicUsize::new(0)),
        freed: CachePadded(AtomicUsize::new(0)),
        is_producer_gone: AtomicBool::new(false),
        is_consumer_gone: AtomicBool::new(false),
        producer: Sleeper::default(),
        consumer: Sleeper::default(),
    });
    let writer = Writer {
        shared: shared.clone(),
        at: 0,
        freed: 0,
    };
    let reader = Reader {
        shared,
        at: 0,
        published: 0,
    };
    (writer, reader)
}

impl Shared {
    /// Whether the consumer has entries to read beyond a position.
    pub(super) fn has_beyond(&self, at: usize) -> bool {
        self.published.0.load(Ordering::Acquire) != at
    }

    /// The position up to which the consumer has freed units.
    pub(super) fn freed(&self) -> usize {
        self.freed.0.load(Ordering::Acquire)
    }

    /// The longest entry, in bytes: half of the ring, so it fits at any position.
    pub(super) fn bytes_max(&self) -> usize {
        (self.units.len() / 2 - 1) * UNIT_BYTES
    }
}

/// The side that writes.
pub(super) struct Writer {
    shared: Arc<Shared>,
    /// Where the next entry begins.
    at: usize,
    /// The last known value of `freed`.
    freed: usize,
}

impl Writer {
    /// Writes an entry that is not published yet; false if there is no room for it.
    #[inline]
    pub(super) fn write(&mut self, stamp: u64, bytes: &[u8]) -> bool {
        let units = &self.shared.units;
        let needed = 1 + bytes.len().div_ceil(UNIT_BYTES);
        let mut place = self.at & (units.len() - 1);
        let to_end = units.len() - place;
        let wraps = needed > to_end;
        let taken = if wraps { to_end + needed } else { needed };
        // Also false for an entry longer than the ring.
        if self.at + taken - self.freed > units.len() {
            self.freed = self.shared.freed.0.load(Ordering::Acquire);
            if self.at + taken - self.freed > units.len() {
                return false;
            }
        }
        let units = units.start();
        // SAFETY: the `taken` units from `at` on end at or before `freed` + length, so only this side
        // accesses them. `place` is below the length; an entry that does not fit between it and the
        // end begins at 0, where it fits, because `taken` is at most the length. The source does not
        // overlap the destination: a slice into the ring is an entry that the reader is handling,
        // whose units are not freed yet and so not among those written here.
        unsafe {
            if wraps {
                units.add(place).write([WRAP, 0]);
                place = 0;
            }
            let entry = units.add(place);
            entry.write([bytes.len() as u64, stamp]);
            let content = entry.add(1).cast::<u8>();
            content.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
        }
        self.at += taken;
        true
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Publishes what was written.
    #[inline]
    pub(super) fn publish(&mut self) {
        self.shared.published.0.store(self.at, Ordering::Release);
    }

    /// The last known value of `freed`.
    pub(super) fn seen_freed(&self) -> usize {
        self.freed
    }
}

/// The side that reads.
pub(super) struct Reader {
    shared: Arc<Shared>,
    /// Where the next entry begins.
    at: usize,
    /// The last known value of `published`.
    published: usize,
}

impl Reader {
    /// Where the next entry begins.
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Reads the next entry and advances; `None` if there is none.
    #[inline]
    pub(super) fn read<R>(&mut self, each: impl FnOnce(u64, &[u8]) -> R) -> Option<R> {
        let units = &self.shared.units;
        loop {
            if self.at == self.published {
                self.published = self.shared.published.0.load(Ordering::Acquire);
                if self.at == self.published {
                    return None;
                }
            }
            let place = self.at & (units.len() - 1);
            let entry = units.start().wrapping_add(place);
            // SAFETY: the unit at `at` is published and not freed, so only this side accesses it; it
            // was written as a descriptor.
            let [length, stamp] = unsafe { entry.read() };
            if length == WRAP {
                self.at += units.len() - place;
                continue;
            }
            let length = length as usize;
            debug_assert!(place + 1 + length.div_ceil(UNIT_BYTES) <= units.len());
            // SAFETY: as above for the units after the descriptor, which were published with it, lie
            // before the end of the ring and have been written. `free` frees them at the earliest; it
            // needs `&mut self`, and the reference ends with this call.
            let bytes = unsafe { std::slice::from_raw_parts(entry.add(1).cast::<u8>(), length) };
            let result = each(stamp, bytes);
            self.at += 1 + length.div_ceil(UNIT_BYTES);
            return Some(result);
        }
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }

    /// Gives the room of entries that were read back to the writer.
    #[inline]
    pub(super) fn free(&mut self) {
        self.shared.freed.0.store(self.at, Ordering::Release);
    }
}
