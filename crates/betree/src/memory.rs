//! What memory takes.

/// The memory of a vector, with the room that it keeps.
pub(crate) fn of<T>(all: &Vec<T>) -> usize {
    all.capacity() * size_of::<T>()
}
