//! Chooses the instruction set of a scan once, when a scanner is made.

#![allow(
    unsafe_code,
    reason = "a function that needs an instruction set is called only where it was found"
)]

use super::index::{FRONT_TAGS, Index, Separators};
use super::scalar;
use super::watch::Watch;
use crate::error::{Error, ErrorKind, Result};
use crate::frame::MESSAGE_BYTES_MAX;
use crate::isa::Isa;

/// For shorter messages wider registers do not make a scan of positions faster, unless they also pack
/// positions.
const SHORT_BYTES: usize = 128;

/// A message that does not fill a block is read field by field.
const BLOCK_BYTES: usize = 64;

/// SSE2 takes long to find the few fields of two blocks.
const SSE2_BYTES: usize = 96;

/// Scans messages by an instruction set that the processor has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scanner {
    /// Always available: see `new` and `with_isa`.
    isa: Isa,
    /// Used for positions of short messages.
    short: Isa,
}

impl Default for Scanner {
    fn default() -> Self {
        Self::new()
    }
}

/// Calls a function of the chosen instruction set.
macro_rules! by_isa {
    ($isa:expr, $scalar:expr, $name:ident ( $($argument:expr),* )) => {
        match $isa {
            // SAFETY: a scanner is only made with an instruction set that was detected.
            #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
            Isa::Neon => unsafe { super::neon::$name($($argument),*) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Isa::Sse2 => unsafe { super::sse2::$name($($argument),*) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => unsafe { super::avx2::$name($($argument),*) },
            // SAFETY: as above; VBMI2 includes BW, whose functions serve where it has none.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512Bw | Isa::Avx512Vbmi2 => unsafe { super::avx512bw::$name($($argument),*) },
            _ => $scalar,
        }
    };
}

impl Scanner {
    /// A scanner with the fastest instruction set for this processor and each message's length.
    #[must_use]
    pub fn new() -> Self {
        let isa = Isa::detect();
        let short = match isa {
            Isa::Avx2 | Isa::Avx512Bw => Isa::Sse2,
            _ => isa,
        };
        Self { isa, short }
    }

    /// A scanner with one instruction set. `None` if this processor does not have it.
    #[must_use]
    pub fn with_isa(isa: Isa) -> Option<Self> {
        isa.is_available().then_some(Self { isa, short: isa })
    }

    /// The instruction set.
    #[must_use]
    pub fn isa(self) -> Isa {
        self.isa
    }

    /// Finds the separators (byte 1).
    ///
    /// # Errors
    /// [`ErrorKind::TooLong`] for [`MESSAGE_BYTES_MAX`] bytes or more.
    #[inline]
    pub fn positions(self, bytes: &[u8], out: &mut Separators) -> Result<()> {
        check(bytes)?;
        out.reserve(bytes.len(), false);
        let isa = if bytes.len() < SHORT_BYTES {
            self.short
        } else {
            self.isa
        };
        let soh = &mut out.soh[..];
        let found = match isa {
            // SAFETY: a scanner is only made with an instruction set that was detected.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512Vbmi2 => unsafe { super::avx512vbmi2::positions(bytes, soh) },
            isa => by_isa!(isa, scalar::positions(bytes, soh), positions(bytes, soh)),
        };
        out.soh_len = found.unwrap_or(0);
        out.equals_len = 0;
        Ok(())
    }

    /// Finds the separators (byte 1), the first `=` of each field, and the sum of all bytes.
    ///
    /// # Errors
    /// [`ErrorKind::TooLong`] for [`MESSAGE_BYTES_MAX`] bytes or more.
    pub fn separators(self, bytes: &[u8], out: &mut Separators) -> Result<()> {
        check(bytes)?;
        out.reserve(bytes.len(), true);
        let (soh, equals) = (&mut out.soh[..], &mut out.equals[..]);
        let found = match self.isa {
            // SAFETY: a scanner is only made with an instruction set that was detected.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512Vbmi2 => unsafe { super::avx512vbmi2::separators(bytes, soh, equals) },
            isa => by_isa!(
                isa,
                scalar::separators(bytes, soh, equals),
                separators(bytes, soh, equals)
            ),
        };
        let found = found.unwrap_or_default();
        (out.soh_len, out.equals_len) = (found.soh, found.equals);
        out.sum = found.sum as u8;
        Ok(())
    }

    /// Finds the fields of a message with their tags, up to the first that is not well-formed. Data
    /// fields are read like all others. A [`Decoder`](crate::Decoder) validates messages.
    ///
    /// # Errors
    /// [`ErrorKind::TooLong`] for [`MESSAGE_BYTES_MAX`] bytes or more.
    pub fn index(self, bytes: &[u8], out: &mut Index) -> Result<()> {
        check(bytes)?;
        static NOTHING: Watch = Watch::new();
        out.start(bytes.len());
        self.fields(bytes, 0, &NOTHING, out);
        Ok(())
    }

    /// Adds the fields from the start of one on. Returns where it stopped: at the end, or at the start of
    /// a field that is watched or not well-formed. The caller has made room for all fields.
    #[inline]
    pub(crate) fn fields(self, bytes: &[u8], from: usize, watch: &Watch, out: &mut Index) -> usize {
        #[cfg(target_arch = "x86_64")]
        if self.isa == Isa::Avx512Vbmi2 {
            // SAFETY: a scanner is only made with an instruction set that was detected.
            return unsafe { super::avx512vbmi2::fields(bytes, from, watch, out) };
        }
        let isa = match self.is_singly(bytes.len()) {
            true => Isa::Scalar,
            false => self.isa,
        };
        by_isa!(
            isa,
            scalar::fields(bytes, from, watch, out),
            fields(bytes, from, watch, out)
        )
    }

    /// Adds fields behind a data field that followed another one closely: such a one may come again. Returns where
    /// it stopped: at the end, at a field that is watched or not well-formed, or where none came.
    #[inline]
    pub(crate) fn near_fields(
        self,
        bytes: &[u8],
        from: usize,
        watch: &Watch,
        out: &mut Index,
        gap: usize,
    ) -> usize {
        match self.isa {
            // SAFETY: a scanner is only made with an instruction set that was detected.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512Vbmi2 => unsafe {
                super::avx512vbmi2::near_fields(bytes, from, watch, out, gap)
            },
            _ => {
                let _ = (bytes, watch, out, gap);
                from
            }
        }
    }

    /// Whether the fields of a message are read one by one.
    #[inline]
    pub(crate) fn is_singly(self, bytes: usize) -> bool {
        match self.isa {
            Isa::Scalar => true,
            Isa::Sse2 => bytes < SSE2_BYTES,
            Isa::Avx512Vbmi2 => false,
            _ => bytes < BLOCK_BYTES,
        }
    }

    /// Adds all bytes that are not in the sum of the index yet.
    pub(crate) fn finish(self, bytes: &[u8], out: &mut Index) {
        out.finish(bytes, |more| self.sum(more).into());
    }

    /// The sum of all bytes, modulo 256.
    #[inline]
    #[must_use]
    pub fn sum(self, bytes: &[u8]) -> u8 {
        let sum = by_isa!(self.isa, scalar::sum(bytes), sum(bytes));
        sum as u8
    }

    /// The place of the first of these tags that is `tag`.
    #[inline]
    pub(crate) fn find_in_front(self, front: &[u32; FRONT_TAGS], tag: u32) -> Option<usize> {
        #[cfg(target_arch = "x86_64")]
        {
            // SAFETY: every processor of this architecture has SSE2.
            let is = unsafe { super::sse2::which(front, tag) };
            (is != 0).then(|| is.trailing_zeros() as usize)
        }
        #[cfg(not(target_arch = "x86_64"))]
        scalar::find_in_front(front, tag)
    }

    /// The place of the first tag that is `tag`.
    pub(crate) fn find(self, tags: &[u32], tag: u32) -> Option<usize> {
        let one_by_one = || scalar::find(tags, tag);
        by_isa!(self.isa, one_by_one(), find(tags, tag))
    }
}

fn check(bytes: &[u8]) -> Result<()> {
    match bytes.len() < MESSAGE_BYTES_MAX {
        true => Ok(()),
        false => Err(Error::new(ErrorKind::TooLong, 0)),
    }
}
