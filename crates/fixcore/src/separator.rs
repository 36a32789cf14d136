//! Logs that write something else in place of the separator: how they spell it, and messages from one
//! spelling to the other.
//!
//! FIX ends each field with the byte 1 (SOH). Text logs replace it by `|`, `^A`, `\x01` and the like.
//! Everything else in this crate expects the byte 1.

use memchr::memchr_iter;

mod fields;
#[cfg(target_arch = "x86_64")]
mod vbmi2;

use crate::frame::SOH;
use crate::frame::begin_string_bytes;

pub use fields::{fields_to_soh, to_soh};

/// What logs write in place of the byte 1.
pub const SPELLINGS: [&[u8]; 39] = [
    b"|",
    b"^A",
    b"\\x01",
    b"\\u0001",
    b"\\001",
    b"<SOH>",
    b";",
    b"~",
    b"\t",
    b" | ",
    "\u{2401}".as_bytes(),
    b"\\\\u0001",
    b"\\01",
    b"#001",
    b"[SOH]",
    b"%01",
    b"&#1;",
    b"&#x01;",
    b",",
    b"||",
    b", ",
    b"; ",
    b"^",
    b"!",
    b"#",
    b"*",
    "\u{a6}".as_bytes(),
    b"^A|",
    b"<^A>",
    b"<soh>",
    b"{SOH}",
    b"(SOH)",
    b"<01>",
    b"[01]",
    b"<0x01>",
    b"[0x01]",
    b"<U+0001>",
    b"&#x1;",
    // What the console of Windows shows.
    "\u{263a}".as_bytes(),
];

/// Of these, the first ones separate fields whatever follows them. The others also follow the name of a version in texts,
/// or begin with another one: they separate fields only before BodyLength.
const ANYWHERE: usize = 18;

/// Room that [`TwoBytes::to_soh`] needs behind what it writes, in bytes.
pub const TWO_BYTES_ROOM: usize = 64;

/// Replaces separators of two bytes, such as `^A`, 64 bytes of a text at once, on processors that can.
///
/// ```
/// use fixcore::separator::{TWO_BYTES_ROOM, TwoBytes};
///
/// if let Some(two_bytes) = TwoBytes::detect() {
///     let mut out = [0; 14 + TWO_BYTES_ROOM];
///     let taken = two_bytes.to_soh(b"8=FIX.4.4^A9=5^A35=0^A", *b"^A", 14, &mut out);
///     assert_eq!((taken, &out[..14]), (Some(16), &b"8=FIX.4.4\x019=5\x01"[..]));
/// }
/// ```
#[derive(Debug, Clone, Copy)]
pub struct TwoBytes {
    #[cfg(target_arch = "x86_64")]
    vbmi2: vbmi2::Vbmi2,
    #[cfg(not(target_arch = "x86_64"))]
    never: std::convert::Infallible,
}

impl TwoBytes {
    /// `None` if this processor lacks AVX-512 VBMI2.
    #[must_use]
    pub fn detect() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        return vbmi2::Vbmi2::detect().map(|vbmi2| Self { vbmi2 });
        #[cfg(not(target_arch = "x86_64"))]
        None
    }

    /// Writes a text with the byte 1 in place of each separator, until `wanted` bytes are written. Returns
    /// how many bytes of the text these are, with the whole of a separator that became the last one.
    ///
    /// `None` if the text ends before, if no byte is wanted, if the bytes of the separator are equal, or
    /// if `out` does not have [`TWO_BYTES_ROOM`] bytes more than are wanted. What `out` holds behind the
    /// wanted bytes is overwritten.
    #[inline]
    #[must_use]
    pub fn to_soh(
        self,
        text: &[u8],
        separator: [u8; 2],
        wanted: usize,
        out: &mut [u8],
    ) -> Option<usize> {
        if wanted == 0 || separator[0] == separator[1] {
            return None;
        }
        #[cfg(target_arch = "x86_64")]
        return self.vbmi2.to_soh(text, separator, wanted, out);
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = (text, wanted, out);
            match self.never {}
        }
    }

    /// Appends a message with a separator in place of each byte 1.
    fn append(self, message: &[u8], separator: [u8; 2], out: &mut Vec<u8>) {
        #[cfg(target_arch = "x86_64")]
        {
            let start = out.len();
            out.resize(start + 2 * message.len() + TWO_BYTES_ROOM, 0);
            let room = out.get_mut(start..).unwrap_or_default();
            let written = self.vbmi2.spread(message, separator, room);
            out.truncate(start + written);
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            let _ = (message, separator, out);
            match self.never {}
        }
    }
}

/// What separates the fields of the message at the start of a text: the byte 1 or one of
/// [`SPELLINGS`]. `None` if neither follows BeginString.
///
/// ```
/// use fixcore::separator::detect;
///
/// assert_eq!(detect(b"8=FIX.4.4^A9=5^A35=0^A10=163^A"), Some(&b"^A"[..]));
/// assert_eq!(detect(b"8=FIX.4.4 is the version"), None);
/// ```
#[must_use]
pub fn detect(text: &[u8]) -> Option<&'static [u8]> {
    let rest = text.get(begin_string_bytes(text)..)?;
    match rest.first()? {
        &SOH => Some(&[SOH]),
        _ => {
            let is_it = |(at, name): &(usize, &[u8])| {
                let behind = rest.strip_prefix(*name);
                behind.is_some_and(|behind| *at < ANYWHERE || behind.starts_with(b"9="))
            };
            // One begins with another.
            let found = SPELLINGS.into_iter().enumerate().filter(is_it);
            found.map(|(_, name)| name).max_by_key(|name| name.len())
        }
    }
}

/// By how many bytes a separator overlaps the same separator further on: 1 for `||`, 2 for ` | `.
/// `None` if it never does, as most.
///
/// Where it does, as in `44=1|||54=2`, the last one ends the field: a value may end with `|`, and no tag
/// begins with it.
///
/// ```
/// use fixcore::separator::overlap;
///
/// assert_eq!((overlap(b"||"), overlap(b" | "), overlap(b"^A")), (Some(1), Some(2), None));
/// ```
#[must_use]
pub fn overlap(separator: &[u8]) -> Option<usize> {
    (1..separator.len()).find(|&by| {
        let end = separator.get(by..);
        end.is_some_and(|end| separator.starts_with(end))
    })
}

/// Appends a message with another separator in place of each byte 1.
///
/// ```
/// let mut line = Vec::new();
/// fixcore::separator::from_soh(b"8=FIX.4.4\x019=5\x01", b"^A", &mut line);
/// assert_eq!(line, b"8=FIX.4.4^A9=5^A");
/// ```
pub fn from_soh(message: &[u8], separator: &[u8], out: &mut Vec<u8>) {
    match separator {
        [SOH] => out.extend_from_slice(message),
        [byte] => {
            let start = out.len();
            out.extend_from_slice(message);
            for other in out.get_mut(start..).unwrap_or_default() {
                *other = if *other == SOH { *byte } else { *other };
            }
        }
        name => match (name, TwoBytes::detect()) {
            (&[first, second], Some(two_bytes)) => {
                two_bytes.append(message, [first, second], out);
            }
            _ => by_parts(message, name, out),
        },
    }
}

/// The same by copying what stands between separators.
fn by_parts(message: &[u8], separator: &[u8], out: &mut Vec<u8>) {
    let mut from = 0;
    for at in memchr_iter(SOH, message) {
        out.extend_from_slice(message.get(from..at).unwrap_or_default());
        out.extend_from_slice(separator);
        from = at + 1;
    }
    out.extend_from_slice(message.get(from..).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_comes_back_as_it_was() {
        let message = b"8=FIX.4.4\x019=5\x0135=0\x0110=163\x01";
        for spelling in SPELLINGS {
            let (mut text, mut back) = (Vec::new(), b"old".to_vec());
            from_soh(message, spelling, &mut text);
            assert_eq!(detect(&text), Some(spelling));
            assert_eq!(to_soh(&text, spelling, &mut back), Some(text.len()));
            assert_eq!(back, message);
            // Without the last separator, and cut off.
            let bare = &text[..text.len() - spelling.len()];
            assert_eq!(to_soh(bare, spelling, &mut back), Some(bare.len()));
            assert_eq!(back, message);
            assert_eq!(to_soh(&text[..12], spelling, &mut back), None);
        }
        assert_eq!(to_soh(message, b"", &mut Vec::new()), None);
    }

    #[test]
    fn of_separators_that_overlap_the_last_one_ends_the_field() {
        for (value, spelling) in [("22|", "||"), ("|", "||"), ("22 |", " | "), ("aa", "aaa")] {
            let message = format!("8=FIX.4.4\x019=9\x0158={value}\x0110=163\x01");
            let (mut text, mut back) = (Vec::new(), Vec::new());
            from_soh(message.as_bytes(), spelling.as_bytes(), &mut text);
            assert_eq!(
                to_soh(&text, spelling.as_bytes(), &mut back),
                Some(text.len())
            );
            assert_eq!(back, message.as_bytes(), "{}", text.escape_ascii());
        }
        // What follows CheckSum is not of it.
        let mut back = Vec::new();
        assert_eq!(
            to_soh(b"8=FIX.4.4||9=5||35=0||10=163||| ok", b"||", &mut back),
            Some(30)
        );
    }

    /// Byte by byte: what `TwoBytes::to_soh` has to do.
    fn plainly(text: &[u8], separator: [u8; 2], wanted: usize) -> Option<(Vec<u8>, usize)> {
        let (mut out, mut at) = (Vec::new(), 0);
        while out.len() < wanted {
            let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
            let is_separator = rest.starts_with(&separator);
            out.push(if is_separator { SOH } else { rest[0] });
            at += if is_separator { 2 } else { 1 };
        }
        (wanted > 0).then_some((out, at))
    }

    /// Texts of all lengths around one and two blocks, with separators and halves of them at any place.
    fn texts() -> impl Iterator<Item = Vec<u8>> {
        let mut state = 17_u64;
        let mut next = move |below: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % below
        };
        (0..2_600).map(move |case| {
            let pieces: [&[u8]; 6] = [b"^A", b"^", b"A", b"x", b"\x01", b"ABC=12"];
            let (length, kinds) = (case % 131, 1 + next(6));
            let mut text = Vec::new();
            while text.len() < length {
                let kind = (next(kinds) + u64::from(kinds < 4) * next(4)) % 6;
                text.extend_from_slice(pieces[kind as usize]);
            }
            text.truncate(length);
            text
        })
    }

    #[test]
    fn two_bytes_are_replaced_as_byte_by_byte_up_to_every_place() {
        let Some(two_bytes) = TwoBytes::detect() else {
            return;
        };
        let separator = *b"^A";
        for text in texts() {
            for wanted in 0..=text.len() + 1 {
                let mut out = vec![b'?'; wanted + TWO_BYTES_ROOM];
                let taken = two_bytes.to_soh(&text, separator, wanted, &mut out);
                let expected = plainly(&text, separator, wanted);
                assert_eq!(
                    taken,
                    expected.as_ref().map(|all| all.1),
                    "{wanted} of {}",
                    text.escape_ascii()
                );
                if let Some((expected, _)) = expected {
                    assert_eq!(&out[..wanted], expected, "{}", text.escape_ascii());
                }
            }
        }
        let mut out = [0; 2 * TWO_BYTES_ROOM];
        assert_eq!(two_bytes.to_soh(b"aa", *b"aa", 1, &mut out), None);
        // Too little room is no panic.
        for room in 0..=TWO_BYTES_ROOM {
            let text = [b'x'; 3 * TWO_BYTES_ROOM];
            let taken = two_bytes.to_soh(&text, separator, 100, &mut out[..room]);
            assert_eq!(taken, None);
        }
    }

    #[test]
    fn two_bytes_are_written_as_by_parts() {
        for text in texts() {
            let (mut out, mut expected) = (b"before".to_vec(), b"before".to_vec());
            from_soh(&text, b"^A", &mut out);
            by_parts(&text, b"^A", &mut expected);
            assert_eq!(out, expected, "{}", text.escape_ascii());
        }
    }
}
