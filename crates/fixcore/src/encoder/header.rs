//! The order of a header: 8, 9 and 35, then the rest by ascending tag, as QuickFIX writes it.
//!
//! Only the standard's header fields are known here; dictionaries are not consulted.

/// The rank of fields that do not belong to the header.
pub(super) const BODY: u32 = u32::MAX;

/// The same in one byte.
pub(super) const BODY_RANK: u8 = u8::MAX;

/// The rank of a field in the header: lower comes earlier. The entries of a group keep their order
/// after its count field.
#[inline]
pub(super) const fn rank(tag: u32) -> u32 {
    match tag {
        35 => 0,
        627..=630 => 627,
        34
        | 43
        | 49
        | 50
        | 52
        | 56
        | 57
        | 90
        | 91
        | 97
        | 115
        | 116
        | 122
        | 128
        | 129
        | 142..=145
        | 212
        | 213
        | 347
        | 369
        | 370
        | 1128
        | 1129
        | 1156 => tag,
        _ => BODY,
    }
}

/// Whether a field belongs to the header, after BeginString (8), BodyLength (9) and MsgType (35).
#[cfg(feature = "workload")]
pub(crate) fn is_header(tag: u32) -> bool {
    rank(tag) != BODY
}

/// The header fields of a message that is being written.
#[derive(Debug, Default)]
pub(super) struct Header {
    fields: Vec<Place>,
    /// The rank of the previous field.
    last: u8,
    /// Whether some field is out of order.
    disorder: bool,
    sorted: Vec<u8>,
}

/// A header field and its bytes.
#[derive(Debug, Clone, Copy)]
struct Place {
    rank: u8,
    start: usize,
    end: usize,
}

impl Header {
    pub(super) fn clear(&mut self) {
        self.fields.clear();
        self.last = 0;
        self.disorder = false;
    }

    /// Records a field that was written, by its rank: [`BODY_RANK`] does not belong to the header.
    #[inline]
    pub(super) fn add(&mut self, rank: u8, start: usize, end: usize) {
        if rank != BODY_RANK {
            self.disorder |= rank < self.last;
            self.fields.push(Place { rank, start, end });
        }
        self.last = rank;
    }

    /// Puts the fields of a body in order.
    pub(super) fn sort(&mut self, body: &mut [u8]) {
        if !self.disorder {
            return;
        }
        self.disorder = false;
        let mut others = Vec::with_capacity(self.fields.len() + 1);
        let mut at = 0;
        for field in &self.fields {
            others.push(at..field.start);
            at = field.end;
        }
        others.push(at..body.len());
        // Stable: fields of the same rank keep their order.
        self.fields.sort_by_key(|field| field.rank);
        let header = self.fields.iter().map(|field| field.start..field.end);
        self.sorted.clear();
        for part in header.chain(others) {
            self.sorted.extend_from_slice(body.get(part).unwrap_or(&[]));
        }
        if body.len() == self.sorted.len() {
            body.copy_from_slice(&self.sorted);
        }
    }
}
