//! Patches over `Read`, `Seek` and `Write`.

use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};

use super::decoder::PatchDecoder;
use super::encoder::PatchEncoder;
use super::options::PatchOptions;
use super::{PatchState, Patcher};
use crate::decoder::Totals;
use crate::options::DecoderOptions;

const BUFFER_BYTES: usize = 256 << 10;

/// Writes a patch from all of `older` to the rest of `newer`. The older file must not change meanwhile.
///
/// # Errors
/// Those of the files, and of [`PatchEncoder`].
pub fn create(
    older: &mut (impl Read + Seek + ?Sized),
    newer: &mut (impl Read + ?Sized),
    patch: &mut (impl Write + ?Sized),
    options: &PatchOptions,
) -> io::Result<()> {
    let mut encoder = PatchEncoder::new(options, older.seek(SeekFrom::End(0))?)?;
    run(&mut encoder, older, newer, patch)
}

/// Writes the newer file that `patch`, read to its end, makes of `older`. Returns what was decoded.
///
/// # Errors
/// Those of the files, and of [`PatchDecoder`]: the patch is corrupt, or the older file is not the one that it was made
/// from.
pub fn apply(
    older: &mut (impl Read + Seek + ?Sized),
    patch: &mut (impl Read + ?Sized),
    newer: &mut (impl Write + ?Sized),
    options: &DecoderOptions,
) -> io::Result<Totals> {
    let mut decoder = PatchDecoder::new(options, older.seek(SeekFrom::End(0))?)?;
    run(&mut decoder, older, patch, newer)?;
    Ok(decoder.finish()?)
}

fn run(
    patcher: &mut impl Patcher,
    older: &mut (impl Read + Seek + ?Sized),
    source: &mut (impl Read + ?Sized),
    sink: &mut (impl Write + ?Sized),
) -> io::Result<()> {
    let (mut input, mut output) = (vec![0; BUFFER_BYTES], vec![0; BUFFER_BYTES]);
    let (mut start, mut filled, mut ended) = (0, 0, false);
    loop {
        let step = patcher.step(&input[start..filled], &mut output, ended)?;
        start += step.consumed;
        sink.write_all(&output[..step.produced])?;
        match step.state {
            PatchState::MoreOutput => {}
            PatchState::NeedOlder => gather(patcher, older, &mut output)?,
            PatchState::Done | PatchState::NeedInput if ended => return sink.flush(),
            PatchState::Done | PatchState::NeedInput => {
                (start, filled) = (0, read(source, &mut input)?);
                ended = filled == 0;
            }
        }
    }
}

/// Gives it what it wants of the older file.
fn gather(
    patcher: &mut impl Patcher,
    older: &mut (impl Read + Seek + ?Sized),
    buffer: &mut [u8],
) -> io::Result<()> {
    let mut at = None;
    while let Some(range) = patcher.wanted() {
        if at != Some(range.start) {
            older.seek(SeekFrom::Start(range.start))?;
        }
        let most = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        let most = most.min(buffer.len());
        let count = read(older, &mut buffer[..most])?;
        if count == 0 {
            return Err(io::Error::new(
                ErrorKind::UnexpectedEof,
                "the older file became shorter while it was read",
            ));
        }
        let taken = patcher.older(&buffer[..count]);
        at = Some(range.start + taken as u64);
    }
    Ok(())
}

fn read(source: &mut (impl Read + ?Sized), buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match source.read(buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}
