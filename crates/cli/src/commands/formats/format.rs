//! Which formats there are: names, suffixes, levels and first bytes.

use std::ops::RangeInclusive;

use clap::ValueEnum;
use formats::lz4;
use zipstream::gzip;

/// The format of a compressed stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// zstd frames
    #[default]
    Zstd,
    /// gzip, by perfkit's own deflate on several threads
    Gzip,
    /// xz
    Xz,
    /// lzma, the older format of xz
    Lzma,
    /// lz4 frames
    Lz4,
}

impl Format {
    /// Formats that begin with bytes which zstd frames do not begin with.
    const OTHERS: [(Self, &'static [u8]); 5] = [
        (Self::Gzip, &gzip::MAGIC),
        (Self::Xz, &[0xfd, b'7', b'z', b'X', b'Z']),
        (Self::Lz4, &lz4::MAGIC),
        (Self::Lz4, &lz4::LEGACY_MAGIC),
        // It has no magic number: this is the usual setting, and a dictionary of a whole number of 256 bytes.
        (Self::Lzma, &[0x5d, 0]),
    ];

    /// The format that is not zstd and begins with what `begins_with` knows.
    pub(crate) fn other<E>(
        mut begins_with: impl FnMut(&[u8]) -> Result<bool, E>,
    ) -> Result<Option<Self>, E> {
        for (format, magic) in Self::OTHERS {
            if begins_with(magic)? {
                return Ok(Some(format));
            }
        }
        Ok(None)
    }

    /// The suffix of files, without its dot.
    pub(crate) fn suffix(self) -> &'static str {
        match self {
            Self::Zstd => "zst",
            Self::Gzip => "gz",
            Self::Xz => "xz",
            Self::Lzma => "lzma",
            Self::Lz4 => "lz4",
        }
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Zstd => "zstd",
            Self::Gzip => "gzip",
            Self::Xz => "xz",
            Self::Lzma => "lzma",
            Self::Lz4 => "lz4",
        }
    }

    /// The format of this name, as `--format=` has it.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let all = [Self::Zstd, Self::Gzip, Self::Xz, Self::Lzma, Self::Lz4];
        all.into_iter().find(|format| format.name() == name)
    }

    /// Its levels, without zstd's special ones.
    pub(crate) fn levels(self) -> RangeInclusive<i32> {
        match self {
            Self::Zstd => 1..=19,
            Self::Gzip => 1..=10,
            Self::Xz | Self::Lzma => 0..=9,
            Self::Lz4 => 1..=12,
        }
    }

    /// The level that its own program has by default.
    pub(crate) fn level(self) -> i32 {
        match self {
            Self::Zstd => 3,
            Self::Gzip | Self::Xz | Self::Lzma => 6,
            Self::Lz4 => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_bytes_tell_formats_apart() {
        let of = |bytes: &[u8]| {
            let found = Format::other(|magic| Ok::<_, ()>(bytes.starts_with(magic)));
            found.expect("no failure")
        };
        assert_eq!(of(b"\x1f\x8b\x08"), Some(Format::Gzip));
        assert_eq!(of(b"\xfd7zXZ\0"), Some(Format::Xz));
        assert_eq!(of(b"\x5d\0\0\x80\0"), Some(Format::Lzma));
        assert_eq!(of(b"\x04\x22\x4d\x18"), Some(Format::Lz4));
        assert_eq!(of(b"\x02\x21\x4c\x18"), Some(Format::Lz4));
        assert_eq!(of(b"\x28\xb5\x2f\xfd"), None);
        assert_eq!(of(b"] is a bracket"), None);
        assert_eq!(Format::named("lz4"), Some(Format::Lz4));
        assert_eq!(Format::named("brotli"), None);
    }
}
