//! Decompressed content of a size that is stated, bounded or unknown: room for it in steps of a block, so that no step
//! clears, copies or frees much of it. What is decoded into it is decided in `unpack`.

use super::whole::out_of_memory;
use crate::error::Error;
use crate::format::BLOCK_BYTES_MAX;

/// What is copied in a step.
const STEP_BYTES: usize = BLOCK_BYTES_MAX as usize;
/// The room for a step: a decoder that fills it has to look whether there is more.
const ROOM_BYTES: usize = STEP_BYTES + 64;
/// A part behind the first one. It is freed at once.
const PART_BYTES: usize = 1 << 20;
/// What is freed in a step of a larger one.
const FREED_BYTES: usize = 1 << 20;

/// The content so far.
#[derive(Default)]
pub(super) struct Content {
    /// What is filled, in order, where the first part did not have room for all of it.
    full: Vec<Vec<u8>>,
    /// Its capacity is reserved. What lies beyond its length was never touched.
    part: Vec<u8>,
    filled: usize,
    /// The content in all parts.
    total: usize,
}

impl Content {
    /// Reserves room for this much, but touches none of it. Where there is none, it grows part by part.
    pub(super) fn with_capacity(bytes: usize) -> Self {
        let mut part = Vec::new();
        // The system may refuse what is never used.
        let _ = part.try_reserve_exact(bytes);
        Self {
            part,
            ..Self::default()
        }
    }

    /// Room for a block, or less at the end of a part; cleared.
    pub(super) fn room(&mut self) -> Result<&mut [u8], Error> {
        if self.filled == self.part.capacity() {
            let mut next = Vec::new();
            next.try_reserve_exact(PART_BYTES)
                .map_err(|_| out_of_memory(PART_BYTES))?;
            let full = std::mem::replace(&mut self.part, next);
            if !full.is_empty() {
                self.full.push(full);
            }
            self.filled = 0;
        }
        let end = self.part.capacity().min(self.filled + ROOM_BYTES);
        if self.part.len() < end {
            self.part.resize(end, 0);
        }
        Ok(&mut self.part[self.filled..])
    }

    /// Keeps the first bytes of the room.
    pub(super) fn keep(&mut self, bytes: usize) {
        self.filled += bytes;
        self.total += bytes;
    }

    /// How much content there is.
    pub(super) fn total(&self) -> usize {
        self.total
    }

    /// All of it, if it lies in one part; else what has to be joined.
    pub(super) fn whole(mut self) -> Result<Result<Vec<u8>, Join>, Error> {
        self.part.truncate(self.filled);
        if self.filled == 0 {
            self.part = self.full.pop().unwrap_or_default();
        }
        if self.full.is_empty() {
            self.part.shrink_to_fit();
            return Ok(Ok(self.part));
        }
        self.full.push(self.part);
        let mut whole = Vec::new();
        whole
            .try_reserve_exact(self.total)
            .map_err(|_| out_of_memory(self.total))?;
        self.full.reverse();
        Ok(Err(Join {
            parts: self.full,
            from: 0,
            whole,
        }))
    }

    /// What is not wanted, to be freed step by step.
    pub(super) fn refuse(self) -> Refuse {
        Refuse {
            parts: self.full,
            part: self.part,
        }
    }
}

/// Parts that are copied behind each other.
pub(super) struct Join {
    /// The first one is the last here.
    parts: Vec<Vec<u8>>,
    from: usize,
    whole: Vec<u8>,
}

impl Join {
    /// Copies a block at most, or frees what was copied. `true`: nothing is left to do.
    pub(super) fn step(&mut self) -> bool {
        let Some(part) = self.parts.last_mut() else {
            return true;
        };
        if self.from < part.len() {
            let end = part.len().min(self.from + STEP_BYTES);
            self.whole.extend_from_slice(&part[self.from..end]);
            self.from = end;
        } else if free(part) {
            self.parts.pop();
            self.from = 0;
        } else {
            self.from = part.len();
        }
        self.parts.is_empty()
    }

    pub(super) fn into_whole(self) -> Vec<u8> {
        self.whole
    }
}

/// Parts that are freed.
pub(super) struct Refuse {
    parts: Vec<Vec<u8>>,
    part: Vec<u8>,
}

impl Refuse {
    /// Frees a part, or some of a large one. `true`: nothing is left to do.
    pub(super) fn step(&mut self) -> bool {
        if !free(&mut self.part) {
            return false;
        }
        match self.parts.pop() {
            Some(next) => self.part = next,
            None => return true,
        }
        false
    }
}

/// Frees the end of a part. `true`: what is left is little.
fn free(part: &mut Vec<u8>) -> bool {
    if part.capacity() <= FREED_BYTES {
        *part = Vec::new();
        return true;
    }
    // What was never touched is freed with what was.
    let left = part.len().saturating_sub(FREED_BYTES);
    part.truncate(left);
    part.shrink_to_fit();
    false
}

#[cfg(test)]
mod tests;
