//! The places of a set: which are free, and which connection has one now.

/// Identifies a connection of a set. A later connection in the same place has another `Id`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id {
    slot: u32,
    generation: u32,
}

impl Id {
    /// Its place in the set, below [`Options::connections_max`](super::Options#structfield.connections_max):
    /// an index for tables of the caller. A place is reused after its connection was reported as closed.
    #[must_use]
    pub fn place(self) -> usize {
        self.slot as usize
    }
}

/// The places of a set.
#[derive(Debug)]
pub(super) struct Places {
    generations: Vec<u32>,
    free: Vec<usize>,
}

impl Places {
    /// This many places, all free.
    pub(super) fn new(places: usize) -> Self {
        Self {
            generations: vec![0; places],
            free: (0..places).rev().collect(),
        }
    }

    /// How many are taken.
    pub(super) fn len(&self) -> usize {
        self.generations.len() - self.free.len()
    }

    /// The place that is taken next, if one is free.
    pub(super) fn next_free(&self) -> Option<usize> {
        self.free.last().copied()
    }

    /// Takes that place.
    pub(super) fn take_next(&mut self) -> Id {
        let slot = self.free.pop().unwrap_or(usize::MAX);
        self.id(slot)
    }

    /// The `Id` of the connection in this place.
    pub(super) fn id(&self, slot: usize) -> Id {
        Id {
            slot: u32::try_from(slot).unwrap_or(u32::MAX),
            generation: self.generations.get(slot).copied().unwrap_or(0),
        }
    }

    /// Whether this is the connection that has the place now.
    pub(super) fn is_current(&self, id: Id) -> bool {
        self.generations.get(id.place()) == Some(&id.generation)
    }

    /// Frees a place.
    pub(super) fn release(&mut self, slot: usize) {
        if let Some(generation) = self.generations.get_mut(slot) {
            *generation = generation.wrapping_add(1);
            self.free.push(slot);
        }
    }
}
