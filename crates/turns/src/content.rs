//! Content of a size that is stated, bounded or unknown, gathered in memory: room for it in steps of a block, so that no step
//! clears, copies or frees much of it.

use std::mem::take;

use crate::discard::discard;

/// What is copied in a step.
const STEP_BYTES: usize = 128 << 10;
/// The room for a step: a decoder that fills it has to look whether there is more.
const ROOM_BYTES: usize = STEP_BYTES + 64;
/// A part behind the first one. It is freed at once.
const PART_BYTES: usize = 1 << 20;
/// What is freed in a step of a larger one.
const FREED_BYTES: usize = 1 << 20;

/// There is no memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutOfMemory {
    /// What was asked for.
    pub bytes: usize,
}

/// Content that is gathered in memory, with no step that takes long: what was never written is never touched, and what does
/// not fit is not moved but continued elsewhere. Dropped inside of a runtime, it is [discarded](discard).
///
/// ```
/// use turns::Content;
///
/// let mut content = Content::with_capacity(3);
/// for piece in [&b"ab"[..], b"cd"] {
///     let mut rest = piece;
///     while !rest.is_empty() {
///         let taken = content.put(rest)?;
///         rest = &rest[taken..];
///     }
/// }
/// let whole = match content.whole()? {
///     Ok(whole) => whole,
///     Err(mut join) => {
///         while !join.step() {} // Others run here.
///         join.into_whole()
///     }
/// };
/// assert_eq!(whole, b"abcd");
/// # Ok::<(), turns::OutOfMemory>(())
/// ```
#[derive(Debug, Default)]
pub struct Content {
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
    pub fn with_capacity(bytes: usize) -> Self {
        let mut content = Self::default();
        // The system may refuse what is never used.
        let _ = content.part.try_reserve_exact(bytes);
        content
    }

    /// Room for a block, or less at the end of a part; cleared.
    pub fn room(&mut self) -> Result<&mut [u8], OutOfMemory> {
        self.make_room()?;
        let end = self.part.capacity().min(self.filled + ROOM_BYTES);
        if self.part.len() < end {
            self.part.resize(end, 0);
        }
        Ok(&mut self.part[self.filled..])
    }

    /// Appends as much of this as a step copies, and returns how much.
    pub fn put(&mut self, bytes: &[u8]) -> Result<usize, OutOfMemory> {
        self.make_room()?;
        // Room that was not kept.
        self.part.truncate(self.filled);
        let most = STEP_BYTES.min(self.part.capacity() - self.filled);
        let count = bytes.len().min(most);
        self.part.extend_from_slice(&bytes[..count]);
        self.keep(count);
        Ok(count)
    }

    /// Begins another part if there is no room in this one.
    fn make_room(&mut self) -> Result<(), OutOfMemory> {
        if self.filled == self.part.capacity() {
            let full = std::mem::replace(&mut self.part, reserved(PART_BYTES)?);
            if !full.is_empty() {
                self.full.push(full);
            }
            self.filled = 0;
        }
        Ok(())
    }

    /// Keeps the first bytes of the room.
    pub fn keep(&mut self, bytes: usize) {
        self.filled += bytes;
        self.total += bytes;
    }

    /// How much content there is.
    pub fn total(&self) -> usize {
        self.total
    }

    /// All of it, if it lies in one part; else what has to be joined.
    pub fn whole(mut self) -> Result<Result<Vec<u8>, Join>, OutOfMemory> {
        self.part.truncate(self.filled);
        if self.filled == 0 {
            self.part = self.full.pop().unwrap_or_default();
        }
        if self.full.is_empty() {
            self.part.shrink_to_fit();
            return Ok(Ok(take(&mut self.part)));
        }
        let whole = reserved(self.total)?;
        let mut parts = take(&mut self.full);
        parts.push(take(&mut self.part));
        parts.reverse();
        Ok(Err(Join {
            parts,
            from: 0,
            whole,
        }))
    }

    /// What is not wanted, to be freed step by step.
    pub fn refuse(mut self) -> Refuse {
        Refuse {
            parts: take(&mut self.full),
            part: take(&mut self.part),
        }
    }
}

impl Drop for Content {
    fn drop(&mut self) {
        discard_all(take(&mut self.full), take(&mut self.part));
    }
}

fn reserved(bytes: usize) -> Result<Vec<u8>, OutOfMemory> {
    let mut part = Vec::new();
    let room = part.try_reserve_exact(bytes);
    room.map_err(|_| OutOfMemory { bytes })?;
    Ok(part)
}

fn discard_all(parts: Vec<Vec<u8>>, part: Vec<u8>) {
    // What was reserved only is freed with what was touched, and costs nothing.
    let bytes = parts.iter().map(Vec::len).sum::<usize>() + part.len();
    discard((parts, part), bytes);
}

/// Parts that are copied behind each other.
#[derive(Debug)]
pub struct Join {
    /// The first one is the last here.
    parts: Vec<Vec<u8>>,
    from: usize,
    whole: Vec<u8>,
}

impl Join {
    /// Copies a block at most, or frees what was copied. `true`: nothing is left to do.
    pub fn step(&mut self) -> bool {
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

    /// All of the content, once nothing is left to do.
    pub fn into_whole(mut self) -> Vec<u8> {
        take(&mut self.whole)
    }
}

impl Drop for Join {
    fn drop(&mut self) {
        discard_all(take(&mut self.parts), take(&mut self.whole));
    }
}

/// Parts that are freed.
#[derive(Debug)]
pub struct Refuse {
    parts: Vec<Vec<u8>>,
    part: Vec<u8>,
}

impl Refuse {
    /// Frees a part, or some of a large one. `true`: nothing is left to do.
    pub fn step(&mut self) -> bool {
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

impl Drop for Refuse {
    fn drop(&mut self) {
        discard_all(take(&mut self.parts), take(&mut self.part));
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
