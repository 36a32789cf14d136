//! The place of a tag among all tags of a message, a register of them at once.

/// The number of tags that are compared without a branch, in messages that have so many.
const LONG: usize = 64;

/// The place of the first tag that is `tag`. `which` says which tags of a register are it, as bits.
#[inline(always)]
pub(super) fn find<const LANES: usize>(
    tags: &[u32],
    tag: u32,
    which: impl Fn(&[u32; LANES]) -> u32,
) -> Option<usize> {
    let before = match tags.len() {
        ..LONG => 0,
        _ => without::<LONG>(tags, tag),
    };
    let left = tags.get(before..)?;
    let (registers, rest) = left.as_chunks();
    for (at, register) in registers.iter().enumerate() {
        let is = which(register);
        if is != 0 {
            return Some(before + LANES * at + is.trailing_zeros() as usize);
        }
    }
    let found = match tags.last_chunk() {
        // Tags before the rest are not it: they were compared.
        Some(last) => match which(last) {
            0 => return None,
            is => tags.len() - LANES + is.trailing_zeros() as usize,
        },
        None => before + rest.iter().position(|other| *other == tag)?,
    };
    Some(found)
}

/// How many tags there are in the parts of this size before the first one that has `tag`; the last tags
/// are in no part. Compilers make vector instructions of it: those that the caller may use.
#[inline(always)]
pub(super) fn without<const SIZE: usize>(tags: &[u32], tag: u32) -> usize {
    let (parts, _) = tags.as_chunks::<SIZE>();
    let has = |part: &&[u32; SIZE]| part.iter().fold(false, |has, other| has | (*other == tag));
    parts.iter().take_while(|part| !has(part)).count() * SIZE
}

#[cfg(test)]
mod tests {
    use crate::{Isa, Scanner};

    #[test]
    fn a_tag_is_found_at_its_first_place_among_any_number() {
        for scanner in Isa::ALL.into_iter().filter_map(Scanner::with_isa) {
            for count in (0..150).chain([1_000]) {
                let mut tags: Vec<u32> = (0..count).map(|at| 100 + at).collect();
                assert_eq!(scanner.find(&tags, 58), None);
                for place in (0..tags.len()).rev() {
                    tags[place] = 58;
                    assert_eq!(scanner.find(&tags, 58), Some(place), "{}", scanner.isa());
                }
            }
        }
    }
}
