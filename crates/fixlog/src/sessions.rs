//! The sessions of one block, by sender and target or by more names: a message refers to them by their place.

use std::collections::HashMap;

use fixcore::SOH;

/// As many places are found by the last bytes of their names.
const RECENT: usize = 256;

/// The names of each session, such as sender and target, in the order in which they come first.
#[derive(Debug, Clone)]
pub(crate) struct Sessions<const N: usize = 2> {
    names: Vec<[Vec<u8>; N]>,
    /// By the names with the byte 1 behind each, which none contains.
    places: HashMap<Vec<u8>, usize>,
    /// By [`slot`], the place of the names that came last with it, and 1.
    recent: [u32; RECENT],
    key: Vec<u8>,
}

impl<const N: usize> Default for Sessions<N> {
    fn default() -> Self {
        Self {
            names: Vec::new(),
            places: HashMap::new(),
            recent: [0; RECENT],
            key: Vec::new(),
        }
    }
}

impl<const N: usize> Sessions<N> {
    /// Forgets all of them.
    pub(crate) fn clear(&mut self) {
        self.names.clear();
        self.places.clear();
        self.recent.fill(0);
    }

    /// All of them, each at its place.
    pub(crate) fn names(&self) -> &[[Vec<u8>; N]] {
        &self.names
    }

    /// The place of a session, which is new if it is `names().len()` of before.
    #[inline]
    pub(crate) fn place(&mut self, names: [&[u8]; N]) -> usize {
        let slot = slot(names);
        let recent = self.recent.get(slot).copied().unwrap_or(0);
        if let Some(at) = (recent as usize).checked_sub(1)
            && let Some(session) = self.names.get(at)
            && session
                .iter()
                .zip(names)
                .all(|(known, name)| is_same(known, name))
        {
            return at;
        }
        self.look_up(slot, names)
    }

    fn look_up(&mut self, slot: usize, names: [&[u8]; N]) -> usize {
        self.key.clear();
        for name in names {
            self.key.extend_from_slice(name);
            self.key.push(SOH);
        }
        let at = match self.places.get(&self.key) {
            Some(at) => *at,
            None => {
                let at = self.names.len();
                self.places.insert(self.key.clone(), at);
                self.names.push(names.map(<[u8]>::to_vec));
                at
            }
        };
        if let Some(recent) = self.recent.get_mut(slot) {
            *recent = u32::try_from(at + 1).unwrap_or(0);
        }
        at
    }
}

/// A number below [`RECENT`], of the last two bytes of each name: sessions of a log differ there more often than not.
#[inline]
fn slot<const N: usize>(names: [&[u8]; N]) -> usize {
    let all = names.into_iter().fold(0_u32, |all, name| {
        let end = match name {
            [.., one, other] => u32::from(u16::from_le_bytes([*one, *other])),
            [only] => u32::from(*only),
            [] => 0,
        };
        (all ^ end).wrapping_mul(0x9e37_79b1).rotate_left(15)
    });
    all as usize % RECENT
}

/// Whether two names are the same one. Most are short: eight bytes from either end are compared without a call.
#[inline]
fn is_same(a: &[u8], b: &[u8]) -> bool {
    if a.len() != b.len() || a.len() > 16 {
        return a == b;
    }
    if let (Some(a_first), Some(b_first)) = (a.first_chunk::<8>(), b.first_chunk::<8>()) {
        return a_first == b_first && a.last_chunk::<8>() == b.last_chunk::<8>();
    }
    if let (Some(a_first), Some(b_first)) = (a.first_chunk::<4>(), b.first_chunk::<4>()) {
        return a_first == b_first && a.last_chunk::<4>() == b.last_chunk::<4>();
    }
    a.iter().zip(b).all(|(a, b)| a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_the_same_for_the_same_names() {
        let mut sessions = Sessions::<2>::default();
        let mut first = Vec::new();
        // Every pair of twelve names, thrice; some of them share a slot.
        let names: Vec<_> = (0..12).map(|n| format!("N{n}").into_bytes()).collect();
        for round in 0..3 {
            let mut at = 0;
            for sender in &names {
                for target in &names {
                    let place = sessions.place([sender, target]);
                    if round == 0 {
                        first.push(place);
                    }
                    assert_eq!(place, first[at]);
                    assert_eq!(sessions.names()[place], [sender.clone(), target.clone()]);
                    at += 1;
                }
            }
        }
        assert_eq!(first, (0..144).collect::<Vec<_>>());
        assert_eq!(sessions.place([b"N0", b""]), 144);
        assert_eq!(sessions.place([b"", b"N0"]), 145);
        sessions.clear();
        assert_eq!(sessions.place([b"N3", b"N4"]), 0);
    }

    #[test]
    fn names_of_any_length_are_compared_whole() {
        let name: Vec<u8> = (0..20).collect();
        for length in 0..=name.len() {
            let known = &name[..length];
            assert!(is_same(known, known));
            assert!(length == 0 || !is_same(known, &known[1..]));
            for at in 0..length {
                let mut other = known.to_vec();
                other[at] ^= 0x80;
                assert!(!is_same(known, &other), "{length}, {at}");
            }
        }
    }
}
