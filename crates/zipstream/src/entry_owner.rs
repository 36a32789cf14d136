//! Who owns the file of an entry, by numbers, in the field of Info-ZIP's programs for Unix (0x7875).

use crate::format::extra;

/// The id of the field.
const FIELD: u16 = 0x7875;
/// Its bytes as they are written, with id and length.
pub(crate) const FIELD_BYTES: usize = 15;

/// The numbers of a user and a group, of the system that an entry comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EntryOwner {
    /// The number of the user.
    pub user: u32,
    /// The number of the group.
    pub group: u32,
}

impl EntryOwner {
    /// This user and this group.
    pub const fn new(user: u32, group: u32) -> Self {
        Self { user, group }
    }

    /// Appends the field.
    pub(crate) fn put(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&FIELD.to_le_bytes());
        out.extend_from_slice(&[11, 0, 1]);
        for number in [self.user, self.group] {
            out.push(4);
            out.extend_from_slice(&number.to_le_bytes());
        }
    }

    /// The owner that extra fields state, if its numbers have no more than 32 bits.
    pub(crate) fn of(area: &[u8]) -> Option<Self> {
        let (version, rest) = extra::find(area, FIELD)?.split_first()?;
        let (user, rest) = number(rest).filter(|_| *version == 1)?;
        let (group, _) = number(rest)?;
        Some(Self { user, group })
    }
}

/// A number of as many bytes as the first one says, and what follows.
fn number(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (count, rest) = bytes.split_first()?;
    let (digits, rest) = rest.split_at_checked((*count).into())?;
    let (low, high) = digits.split_at(digits.len().min(4));
    let mut value = [0; 4];
    value[..low.len()].copy_from_slice(low);
    let fits = high.iter().all(|byte| *byte == 0);
    fits.then(|| (u32::from_le_bytes(value), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_of_any_width_are_read() {
        let mut area = Vec::new();
        EntryOwner::new(1000, u32::MAX).put(&mut area);
        assert_eq!(area.len(), FIELD_BYTES);
        assert_eq!(EntryOwner::of(&area), Some(EntryOwner::new(1000, u32::MAX)));
        let of = |data: &[u8]| {
            let mut area = vec![0x75, 0x78, data.len() as u8, 0];
            area.extend_from_slice(data);
            EntryOwner::of(&area)
        };
        assert_eq!(of(&[1, 2, 1, 2, 1, 9]), Some(EntryOwner::new(0x201, 9)));
        assert_eq!(of(&[1, 0, 0]), Some(EntryOwner::new(0, 0)));
        assert_eq!(
            of(&[1, 5, 1, 0, 0, 0, 0, 1, 2]),
            Some(EntryOwner::new(1, 2))
        );
        for wrong in [
            &[][..],
            &[1],
            &[2, 1, 1, 1, 1],
            &[1, 4, 1, 2],
            &[1, 1, 1],
            &[1, 5, 0, 0, 0, 0, 1, 1, 1],
        ] {
            assert_eq!(of(wrong), None, "{wrong:?}");
        }
    }
}
