//! Whole contents: deflate and zstd in one call.

use super::chunk::Chunks;
use super::detect;
use crate::deflate::{self, Deep, sample};
#[cfg(feature = "zstd")]
use crate::error::ErrorKind;
use crate::error::{Error, internal};
use crate::method::Method;

/// Whether this crate is faster than the libdeflate level that compresses as well, or smaller than all of them.
fn is_own(level: i32) -> bool {
    matches!(level, 1..=6 | deflate::OPTIMAL)
}

/// Compresses whole contents and keeps the context of the last method and level.
#[derive(Default)]
pub(crate) struct Whole {
    deflate: Option<(i32, libdeflater::Compressor)>,
    /// For these levels, and for contents that are slow with libdeflate.
    own: Chunks,
    sample: Vec<u8>,
    #[cfg(feature = "zstd")]
    zstd: Option<(i32, zstdkit::Compressor)>,
}

impl Whole {
    /// Appends the compressed content if it is smaller than the content; otherwise returns `false`
    /// and leaves `out` unchanged.
    pub(crate) fn compress(
        &mut self,
        method: Method,
        level: i32,
        content: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<bool, Error> {
        // Output of the content's size or more is useless.
        let Some(room) = content.len().checked_sub(1).filter(|_| level != 0) else {
            return Ok(false);
        };
        let start = out.len();
        let (mut own, mut deep) = (None, Deep::Wins);
        if method == Method::Deflate {
            if is_own(level) || detect::is_repetition_or_noise(content) {
                own = Some(level);
            } else {
                deep = self.sample(level, content)?;
                own = (deep == Deep::Loses).then_some(deflate::LOWER);
            }
        }
        if let Some(level) = own {
            self.own.compress(level, content, 0, true, out);
            let packed = out.len() - start <= room;
            out.truncate(if packed { out.len() } else { start });
            return Ok(packed);
        }
        out.resize(start + room, 0);
        let packed = match method {
            Method::Deflate => self.deflate(level, content, &mut out[start..])?,
            Method::Zstd => self.zstd(level, content, &mut out[start..])?,
            Method::Stored | Method::Other(_) => None,
        };
        out.truncate(start + packed.unwrap_or(0));
        let size = packed.unwrap_or(content.len());
        if deep == Deep::Either && deflate::is_hardly_smaller(size, content.len()) {
            self.own.compress(deflate::LOWER, content, 0, true, out);
            let is_smaller = out.len() - start - packed.unwrap_or(0) < size;
            if is_smaller {
                out.drain(start..start + packed.unwrap_or(0));
                return Ok(true);
            }
            out.truncate(start + packed.unwrap_or(0));
        }
        Ok(packed.is_some())
    }

    /// What a level of libdeflate makes of a sample.
    fn sample(&mut self, level: i32, content: &[u8]) -> Result<Deep, Error> {
        let mut packed = std::mem::take(&mut self.sample);
        let (mut lower, mut deep) = (0, 0);
        for piece in sample::pieces(content) {
            packed.clear();
            self.own
                .compress(deflate::LOWER, piece, 0, true, &mut packed);
            lower += packed.len();
            packed.resize(2 * piece.len(), 0);
            let written = self.deflate(level, piece, &mut packed)?;
            deep += written.unwrap_or(packed.len());
        }
        self.sample = packed;
        Ok(match lower {
            0 => Deep::Either,
            _ => Deep::of(deep, lower),
        })
    }

    fn deflate(
        &mut self,
        level: i32,
        content: &[u8],
        room: &mut [u8],
    ) -> Result<Option<usize>, Error> {
        if self.deflate.as_ref().is_none_or(|(of, _)| *of != level) {
            let level = libdeflater::CompressionLvl::new(level)
                .map_err(|_| internal("libdeflate refused a level"))?;
            self.deflate = Some((level.into(), libdeflater::Compressor::new(level)));
        }
        let Some((_, compressor)) = &mut self.deflate else {
            return Err(internal("no deflate context"));
        };
        // The only error is missing room.
        Ok(compressor.deflate_compress(content, room).ok())
    }

    #[cfg(feature = "zstd")]
    fn zstd(
        &mut self,
        level: i32,
        content: &[u8],
        room: &mut [u8],
    ) -> Result<Option<usize>, Error> {
        if self.zstd.as_ref().is_none_or(|(of, _)| *of != level) {
            let options = zstd_options(level);
            let compressor = zstdkit::Compressor::new(&options)
                .map_err(|error| Error::new(ErrorKind::Setting, format!("zstd: {error}")))?;
            self.zstd = Some((level, compressor));
        }
        let Some((_, compressor)) = &mut self.zstd else {
            return Err(internal("no zstd context"));
        };
        match compressor.compress_to_slice(content, room) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == zstdkit::ErrorKind::OutputTooSmall => Ok(None),
            Err(error) => Err(Error::new(ErrorKind::Internal, format!("zstd: {error}"))),
        }
    }

    #[cfg(not(feature = "zstd"))]
    fn zstd(&mut self, _: i32, _: &[u8], _: &mut [u8]) -> Result<Option<usize>, Error> {
        Err(crate::method::unsupported(Method::Zstd))
    }
}

/// Options of a frame: the archive has its own checksum.
#[cfg(feature = "zstd")]
pub(crate) fn zstd_options(level: i32) -> zstdkit::EncoderOptions {
    zstdkit::EncoderOptions::default()
        .with_level(level)
        .with_checksum(false)
}
