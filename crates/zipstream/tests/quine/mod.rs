//! An archive whose one entry is that archive.
//!
//! Its deflate stream knows two words, of one length: `L n` gives out the `n` bytes behind it, `R n`
//! the last `n` bytes of the output once more. With `P` the bytes before the stream and `S` those
//! behind it, these lines give out `P`, themselves, and `S`; each does its part:
//!
//! | line | gives out | which is |
//! |---|---|---|
//! | `L p+1` `P` `L p+1`, `R p+1` | `P` `L p+1` `P` `L p+1` | `P`, and the first line |
//! | `L 1` `R p+1`, `L 1` `L 1` | `R p+1` `L 1` | what repeats it, and half a word |
//! | `L 4` and the four words `R p+1` `L 1` `L 1` `L 4`, `R 4` | them, twice | the words that did this |
//! | `L 4` and `R 4` `L 4` `R 4` `L 4`, `R 4` | them, twice | the same of these |
//! | `L 4` and `R 4` `L 0` `L 0` `L s+1`, `R 4` | them, twice | the same once more, now towards the end |
//! | `L 0` `L 0` `L s+1` `R s+1` `S`, `R s+1` | `R s+1` `S`, twice | the last line, and `S` |
//!
//! (Where a number counts words, `p+1` and `s+1` are the bytes of `P` or `S` and one word.) The checksum
//! of the whole stands in its headers: every bit of it changes the checksum of the whole by what does
//! not depend on the others, so that 32 linear equations give the one that fits.

/// Bytes of a word.
const WORD: usize = 10;
/// The longest match whose code has seven bits.
const LENGTH_MAX: usize = 114;

/// `n` bytes follow: an empty block, for the length of a word, and a stored one.
fn literal(n: usize) -> Vec<u8> {
    let n = n as u16;
    let mut word = vec![0, 0, 0, 0xff, 0xff, 0];
    word.extend_from_slice(&n.to_le_bytes());
    word.extend_from_slice(&(!n).to_le_bytes());
    word
}

/// Bits from the lowest of the first byte on.
#[derive(Default)]
struct Bits(Vec<bool>);

impl Bits {
    fn low(&mut self, value: usize, count: usize) {
        self.0.extend((0..count).map(|bit| value >> bit & 1 == 1));
    }

    /// A Huffman code, which has its highest bit first.
    fn code(&mut self, value: usize, count: usize) {
        self.0
            .extend((0..count).rev().map(|bit| value >> bit & 1 == 1));
    }

    /// A match, in the fixed code.
    fn matched(&mut self, length: usize, distance: usize) {
        // Base of a class, how many extra bits it has: from the fourth value on in steps that double.
        let class = |value: usize, plain: usize| {
            if value < 2 * plain {
                return (value, 0, 0);
            }
            let extra = (value / plain).ilog2() as usize;
            (
                plain * extra + (value >> extra),
                value % (1 << extra),
                extra,
            )
        };
        let (symbol, rest, extra) = class(length - 3, 4);
        self.code(1 + symbol, 7);
        self.low(rest, extra);
        let (symbol, rest, extra) = class(distance - 1, 2);
        self.code(symbol, 5);
        self.low(rest, extra);
    }
}

/// The last `n` bytes once more: matches in a block of the fixed code, empty ones, and an empty stored
/// one that ends with a byte.
fn repeat(n: usize, last: bool) -> Vec<u8> {
    let short = |split: &usize| n - split <= LENGTH_MAX;
    let splits = std::iter::once(0).chain(3..n - 2).filter(short);
    let tries = splits.flat_map(|split| (0..3).map(move |empty| (split, empty)));
    for (split, empty) in tries {
        let mut bits = Bits::default();
        bits.low(0b010, 3);
        for length in [split, n - split].into_iter().filter(|length| *length > 0) {
            bits.matched(length, n);
        }
        bits.low(0, 7);
        for _ in 0..empty {
            bits.low(0b010, 10);
        }
        bits.low(usize::from(last), 3);
        let bytes = bits.0.len().div_ceil(8);
        if bytes + 4 == WORD {
            let mut word = vec![0; bytes];
            for (at, _) in bits.0.iter().enumerate().filter(|(_, bit)| **bit) {
                word[at / 8] |= 1 << (at % 8);
            }
            word.extend_from_slice(&[0, 0, 0xff, 0xff]);
            return word;
        }
    }
    panic!("no word repeats {n} bytes");
}

/// The stream that gives out `before`, itself and `behind`.
fn stream(before: &[u8], behind: &[u8]) -> Vec<u8> {
    let (p, s) = (before.len() + WORD, behind.len() + WORD);
    let (l0, l1, l4) = (literal(0), literal(WORD), literal(4 * WORD));
    let (lp, rp) = (literal(p), repeat(p, false));
    let (ls, rs) = (literal(s), repeat(s, true));
    let r4 = repeat(4 * WORD, false);
    let lines: [&[&[u8]]; 12] = [
        &[&lp, before, &lp],
        &[&rp],
        &[&l1, &rp],
        &[&l1, &l1],
        &[&l4, &rp, &l1, &l1, &l4],
        &[&r4],
        &[&l4, &r4, &l4, &r4, &l4],
        &[&r4],
        &[&l4, &r4, &l0, &l0, &ls],
        &[&r4],
        &[&l0, &l0, &ls, &rs, behind],
        &[&rs],
    ];
    lines.concat().concat()
}

/// The archive, given what its headers come to with the sizes and the checksum of its content: what
/// stands before the content, and what stands behind it.
pub(crate) fn quine(headers: impl Fn(u32, u32, u32) -> (Vec<u8>, Vec<u8>)) -> Vec<u8> {
    let (before, behind) = headers(0, 0, 0);
    let packed = stream(&before, &behind).len();
    let content = before.len() + packed + behind.len();
    let whole = |crc32| {
        let (before, behind) = headers(packed as u32, content as u32, crc32);
        [&before[..], &stream(&before, &behind), &behind].concat()
    };
    let sum = |crc32| crate::hostile_table::crc32(&whole(crc32));
    let none = sum(0);
    // One row a bit of the checksum: which bits of the stated one it takes, and above them what it is.
    let mut rows = [0_u64; 32];
    for column in 0..32 {
        let changed = sum(1 << column) ^ none ^ (1 << column);
        for (bit, row) in rows.iter_mut().enumerate() {
            *row |= u64::from(changed >> bit & 1) << column;
        }
    }
    for (bit, row) in rows.iter_mut().enumerate() {
        *row |= u64::from(none >> bit & 1) << 32;
    }
    for column in 0..32 {
        let pivot = (column..32).find(|row| rows[*row] >> column & 1 == 1);
        rows.swap(
            column,
            pivot.expect("another time of the entry has a solution"),
        );
        let taken = rows[column];
        for (at, row) in rows.iter_mut().enumerate() {
            if at != column && *row >> column & 1 == 1 {
                *row ^= taken;
            }
        }
    }
    let bits = rows.iter().enumerate();
    whole(bits.fold(0, |sum, (bit, row)| sum | ((row >> 32) as u32 & 1) << bit))
}
