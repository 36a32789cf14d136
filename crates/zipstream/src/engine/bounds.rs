//! The bounds of a content: stated sizes, limits and the checksum, and the errors for exceeding them.

use crate::error::{Error, ErrorKind};

/// The ratio is checked only beyond this much content.
const RATIO_FREE_BYTES: u64 = 1 << 20;

/// The bounds of a content.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// The stated size, if it is known in advance.
    pub(crate) stated: Option<u64>,
    /// The compressed size, if it is known in advance.
    pub(crate) compressed: Option<u64>,
    /// The most content that may be produced.
    pub(crate) limit: u64,
    /// The most content per compressed byte, on average.
    pub(crate) ratio: u64,
    /// The most memory that a window may use.
    pub(crate) memory: u64,
    /// Whether a marker ends the compressed content (LZMA).
    pub(crate) marker: bool,
}

/// Checks the bounds after a step.
pub(crate) fn judge(bounds: &Bounds, consumed: u64, produced: u64) -> Result<(), Error> {
    if let Some(stated) = bounds.stated.filter(|stated| produced > *stated) {
        return Err(more(stated));
    }
    if produced > bounds.limit {
        return Err(limit(bounds.limit));
    }
    let most = consumed.saturating_mul(bounds.ratio);
    if produced > RATIO_FREE_BYTES.max(most) {
        let ratio = bounds.ratio;
        return Err(Error::new(
            ErrorKind::Limit,
            format!("its content is more than {ratio} times its compressed size"),
        )
        .help("raise Limits::ratio if the source is trusted"));
    }
    Ok(())
}

/// Compares size and checksum of a content with the stated ones.
pub(crate) fn compare(found: (u32, u64), stated: (u32, u64)) -> Result<(), Error> {
    if found.1 != stated.1 {
        return Err(Error::new(
            ErrorKind::Size,
            format!(
                "size of the content: stated {}, found {}",
                stated.1, found.1
            ),
        ));
    }
    if found.0 != stated.0 {
        return Err(Error::new(
            ErrorKind::Checksum,
            format!(
                "checksum mismatch (stored {:08x}, computed {:08x})",
                stated.0, found.0
            ),
        )
        .help("the archive is damaged: fetch or copy it again"));
    }
    Ok(())
}

/// The error for content beyond the stated size.
pub(crate) fn more(stated: u64) -> Error {
    let what = format!("more content than the stated {stated} bytes");
    Error::new(ErrorKind::Size, what)
}

/// The error for content beyond a limit.
pub(crate) fn limit(bytes: u64) -> Error {
    Error::new(
        ErrorKind::Limit,
        format!("more content than the limit of {bytes} bytes"),
    )
    .help("raise Limits::entry_bytes or Limits::total_bytes if the source is trusted")
}
