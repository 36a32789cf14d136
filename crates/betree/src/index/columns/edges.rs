//! What cells leave open: ranges begin and end inside of cells, and there the row of a cell marks an expression that
//! only some of its values meet. Lists of these bounds remove it for the others.

use crate::event::EventValues;
use crate::index::positions::ordered;
use crate::memory;

/// The bit of an entry whose bound is the last value that its member allows; otherwise it is the first one.
const LAST: u32 = 1 << 31;
/// The most entries that are compared at once: a member of a tile may have both of its bounds in a cell.
const COMPARED_MAX: usize = 2048;

/// The bounds of one attribute.
#[derive(Debug)]
struct Cells {
    attribute: usize,
    is_float: bool,
    /// Where cells begin, without the first.
    starts: Vec<i64>,
    /// Where the entries of each cell begin, and the end of the last.
    entries: Vec<u32>,
}

/// The bounds inside of cells, by attribute.
#[derive(Debug, Default)]
pub(super) struct Edges {
    attributes: Vec<Cells>,
    /// Members, ascending in each cell, with the side of their bound.
    members: Vec<u32>,
    bounds: Vec<i64>,
}

/// A part of the entries, and the position of the event's value: what is left to compare.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Compared {
    pub(super) start: u32,
    pub(super) end: u32,
    value: i64,
}

/// Bounds of a cell: members, each with its side, and positions.
type Bounds = Vec<(u32, i64)>;

/// Collects bounds, member by member.
#[derive(Debug, Default)]
pub(super) struct EdgesBuilder {
    cells: Vec<Bounds>,
}

impl EdgesBuilder {
    /// Makes room for so many cells of all attributes.
    pub(super) fn new(cells: usize) -> Self {
        Self {
            cells: vec![Vec::new(); cells],
        }
    }

    /// Adds the first value that a member allows, inside of a cell.
    pub(super) fn first(&mut self, cell: usize, member: u32, bound: i64) {
        if let Some(bounds) = self.cells.get_mut(cell) {
            bounds.push((member, bound));
        }
    }

    /// Adds the last one.
    pub(super) fn last(&mut self, cell: usize, member: u32, bound: i64) {
        if let Some(bounds) = self.cells.get_mut(cell) {
            bounds.push((member | LAST, bound));
        }
    }

    /// Moves the bounds of an attribute, whose cells begin with `first`, to the result. `number` is the new number of a
    /// member.
    pub(super) fn finish(
        &mut self,
        out: &mut Edges,
        (attribute, is_float, starts): (usize, bool, &[i64]),
        first: usize,
        number: impl Fn(u32) -> u32,
    ) {
        let mut entries = vec![out.members.len() as u32];
        for cell in first..=first + starts.len() {
            let mut bounds = self.cells.get_mut(cell).map(std::mem::take);
            for (member, _) in bounds.iter_mut().flatten() {
                *member = number(*member & !LAST) | *member & LAST;
            }
            let mut bounds = bounds.unwrap_or_default();
            bounds.sort_unstable_by_key(|(member, _)| member & !LAST);
            out.members.extend(bounds.iter().map(|(member, _)| *member));
            out.bounds.extend(bounds.iter().map(|(_, bound)| *bound));
            entries.push(out.members.len() as u32);
        }
        out.attributes.push(Cells {
            attribute,
            is_float,
            starts: starts.to_vec(),
            entries,
        });
    }
}

impl Edges {
    /// How many attributes there are.
    pub(super) fn len(&self) -> usize {
        self.attributes.len()
    }

    /// What is left to compare with an event's value of one attribute.
    pub(super) fn plan(&self, at: usize, event: &EventValues) -> Option<Compared> {
        let cells = self.attributes.get(at)?;
        if !event.is_defined(cells.attribute) {
            return None;
        }
        let value = ordered(event.scalar(cells.attribute), cells.is_float);
        let cell = cells.starts.partition_point(|start| *start <= value);
        let (start, end) = (*cells.entries.get(cell)?, *cells.entries.get(cell + 1)?);
        (start < end).then_some(Compared { start, end, value })
    }

    /// Removes members of which the value is out of bounds from the bits of a tile, whose first member is `first`, from
    /// the start of a part on, which moves behind the entries that were compared. Returns how many these are, and whether
    /// there may be more of the tile.
    pub(super) fn apply(
        &self,
        part: &mut Compared,
        first: usize,
        bits: &mut [u64],
    ) -> (usize, bool) {
        let range = part.start as usize..part.end as usize;
        let members = self.members.get(range.clone()).unwrap_or(&[]);
        let bounds = self.bounds.get(range).unwrap_or(&[]);
        let number = |entry: u32| (entry & !LAST) as usize;
        let before = match members.first() {
            Some(entry) if number(*entry) < first => {
                members.partition_point(|entry| number(*entry) < first)
            }
            _ => 0,
        };
        let mut taken = 0;
        let (members, bounds) = (members.get(before..), bounds.get(before..));
        let entries = members.unwrap_or(&[]).iter().zip(bounds.unwrap_or(&[]));
        for (entry, bound) in entries.take(COMPARED_MAX) {
            let Some(word) = bits.get_mut((number(*entry) - first) / 64) else {
                break;
            };
            let is_out = u64::from(is_out(*entry, *bound, part.value));
            *word &= !(is_out << (entry % 64));
            taken += 1;
        }
        part.start += (before + taken) as u32;
        (taken, taken == COMPARED_MAX)
    }

    /// Whether a value is out of a member's bounds.
    pub(super) fn excludes(&self, part: &Compared, member: u32) -> bool {
        let range = part.start as usize..part.end as usize;
        let members = self.members.get(range.clone()).unwrap_or(&[]);
        let bounds = self.bounds.get(range).unwrap_or(&[]);
        let from = members.partition_point(|entry| entry & !LAST < member);
        let own = members.iter().zip(bounds).skip(from);
        own.take_while(|(entry, _)| **entry & !LAST == member)
            .any(|(entry, bound)| is_out(*entry, *bound, part.value))
    }

    /// The memory that they take.
    pub(super) fn bytes(&self) -> usize {
        memory::of(&self.members) + memory::of(&self.bounds)
    }

    pub(super) fn shrink(&mut self) {
        self.members.shrink_to_fit();
        self.bounds.shrink_to_fit();
    }
}

#[inline(always)]
fn is_out(entry: u32, bound: i64, value: i64) -> bool {
    let is_last = entry & LAST != 0;
    (!is_last & (value < bound)) | (is_last & (value > bound))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_compared_a_bounded_number_at_a_time_and_each_once() {
        let members = 5_000u32;
        // Both bounds of each member are in the only cell, and members come in any order.
        let mut builder = EdgesBuilder::new(1);
        for member in (0..members).rev() {
            builder.first(0, member, i64::from(member % 100));
            builder.last(0, member, i64::from(member % 100 + 20));
        }
        let mut edges = Edges::default();
        builder.finish(&mut edges, (0, false, &[]), 0, |member| member);
        let allows = |member: u32, value: i64| {
            (i64::from(member % 100)..=i64::from(member % 100 + 20)).contains(&value)
        };
        for value in [-1, 0, 20, 21, 70, 119, 120] {
            let mut part = Compared {
                start: 0,
                end: members * 2,
                value,
            };
            let whole = part;
            for first in [0, 2048, 4096] {
                let mut bits = [u64::MAX; 32];
                loop {
                    let (taken, more) = edges.apply(&mut part, first, &mut bits);
                    assert!(taken <= COMPARED_MAX);
                    if !more {
                        break;
                    }
                }
                for at in 0..2048.min(members as usize - first) {
                    let member = (first + at) as u32;
                    let found = bits[at / 64] >> (at % 64) & 1 == 1;
                    assert_eq!(found, allows(member, value), "{member} {value}");
                    assert_eq!(edges.excludes(&whole, member), !found);
                }
            }
            assert_eq!(part.start, part.end);
        }
    }
}
