//! Bytes that precede an archive which is read as it arrives, such as the program of a self-extracting one.

use super::{State, StreamDecoder, StreamEvent};
use crate::crypt::aes;
use crate::error::{Error, ErrorKind};
use crate::format::local::{self, LOCAL_BYTES};
use crate::format::{LOCAL_SIGNATURE, le16};

/// What is searched for the first header: no program that extracts an archive is larger.
const PRECEDING_BYTES_MAX: u64 = 256 << 20;
/// The newest version that an entry may need, 6.3.
const NEEDED_MAX: u8 = 63;

impl StreamDecoder {
    /// The number of bytes before the first header. They are passed over in the default profile.
    pub fn preceding_bytes(&self) -> u64 {
        self.preceding
    }

    /// Passes over bytes up to the first header, which is held then.
    pub(super) fn search(
        &mut self,
        input: &[u8],
        taken: &mut usize,
    ) -> Result<Option<StreamEvent>, Error> {
        let signature = LOCAL_SIGNATURE.to_le_bytes();
        loop {
            // Keeps what can be the beginning of a header.
            let begins = |rest: &[u8]| {
                let known = rest.len().min(signature.len());
                rest[..known] == signature[..known]
            };
            let bytes = self.held.len();
            let at = (0..bytes).find(|at| begins(&self.held[*at..]));
            self.held.drain(..at.unwrap_or(bytes));
            if self.held_start() > PRECEDING_BYTES_MAX {
                return Err(not_found(self.held_start()));
            }
            if self.held.is_empty() {
                let rest = &input[*taken..];
                let candidate = rest.iter().position(|byte| *byte == signature[0]);
                let passed = candidate.unwrap_or(rest.len());
                *taken += passed;
                self.offset += passed as u64;
            }
            if !self.hold(self.held.len().max(signature.len()), input, taken) {
                return Ok(Some(StreamEvent::NeedInput));
            }
            if !begins(&self.held) {
                continue;
            }
            if !self.hold(LOCAL_BYTES, input, taken) {
                return Ok(Some(StreamEvent::NeedInput));
            }
            if self.held.first_chunk().is_some_and(is_plausible) {
                self.preceding = self.held_start();
                self.state = State::Record;
                return Ok(None);
            }
            self.held.drain(..1);
        }
    }

    /// What offsets of the directory count from, by its first record: they may count from the first byte or from the
    /// first header.
    pub(super) fn base_by(&self, stated: u64) -> u64 {
        let is_header = |at| {
            self.seen
                .binary_search_by_key(&at, |seen| seen.offset)
                .is_ok()
        };
        match stated.checked_add(self.preceding) {
            Some(at) if !is_header(stated) && is_header(at) => self.preceding,
            _ => 0,
        }
    }
}

/// The error of an input of this many bytes in which no entry begins.
pub(super) fn not_found(bytes: u64) -> Error {
    let what = format!("no entry of a ZIP archive begins in the first {bytes} bytes");
    Error::new(ErrorKind::NotZip, what).at(0)
}

/// Whether the first bytes of a header can be those of an entry: programs hold the signature as a constant.
fn is_plausible(fixed: &[u8; LOCAL_BYTES]) -> bool {
    let [version, _] = le16(fixed, 4).to_le_bytes();
    let (method, date) = (le16(fixed, 8), le16(fixed, 12));
    let (month, day) = (date >> 5 & 15, date & 31);
    local::has_signature(fixed)
        && version <= NEEDED_MAX
        && (method <= 20 || matches!(method, 93..=98) || method == aes::METHOD)
        && (date == 0 || ((1..=12).contains(&month) && day > 0))
        && le16(fixed, 26) > 0
}
