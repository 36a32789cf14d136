//! Entries copied from another archive without decoding them.

use std::collections::HashSet;
use std::fs::File;
use std::path::Path;

use report::Outcome;
use zipstream::{ReadAt as _, Salvage, Salvaged, Scratch, Totals};

use crate::commands::transfer::Stop;
use crate::commands::zip::edit::Base;
use crate::commands::zip::pack::{Carried, Packer};
use crate::failure::Failure;

/// Bytes per read while copying.
const READ_BYTES: usize = 128 << 10;

/// Copies the entries of an archive that stay, unless they stay in their place; returns their number.
pub(super) fn kept(base: &Base, packer: &mut Packer<'_>) -> std::result::Result<u64, Stop> {
    if !base.in_place {
        copy(base, &base.kept, packer)?;
    }
    Ok(base.kept.len() as u64)
}

/// Copies the entries that a source of this name was to replace, and could not; returns their number.
pub(super) fn back(
    base: &Base,
    name: &str,
    packer: &mut Packer<'_>,
) -> std::result::Result<u64, Stop> {
    let positions = base.replaced.get(name).map_or(&[][..], Vec::as_slice);
    copy(base, positions, packer)?;
    Ok(positions.len() as u64)
}

fn copy(base: &Base, positions: &[u64], packer: &mut Packer<'_>) -> std::result::Result<(), Stop> {
    let mut scratch = Scratch::default();
    for position in positions {
        let Some(entry) = base.reader.directory().iter_at(*position).next() else {
            let what = format!("the archive has no record at byte {position} any more");
            return Err(Failure::new(what).help("it is unchanged").into());
        };
        let entry = entry.map_err(|error| Carried::from(error).0)?;
        let raw = base.reader.raw(&entry, &mut scratch);
        let raw = raw.map_err(|error| Carried::from(error).0)?;
        packer.carry(raw, |sink| {
            let mut sink = |piece: &[u8]| sink(piece);
            base.reader.copy_raw(&entry, &mut scratch, &mut sink)
        })?;
    }
    Ok(())
}

/// Copies the recovered entries, and ends the archive; returns how many have the name of another one.
pub(super) fn recovered(
    mut packer: Packer<'_>,
    file: &File,
    saved: &Salvage,
    outcome: &mut Outcome,
) -> std::result::Result<(Totals, u64), Stop> {
    let mut names = HashSet::new();
    let mut twins = 0;
    let mut buffer = vec![0; READ_BYTES];
    for entry in &saved.entries {
        if !names.insert(entry.raw.name_bytes()) {
            twins += 1;
            continue;
        }
        packer.carry(entry.raw.clone(), |sink| {
            let Salvaged { range, .. } = entry;
            let mut at = range.start;
            while at < range.end {
                let left = usize::try_from(range.end - at).unwrap_or(usize::MAX);
                let most = left.min(READ_BYTES);
                let read = file.read_at(&mut buffer[..most], at);
                let bytes = read.map_err(|error| {
                    Carried(Failure::io("read", Path::new("the archive"), &error).into())
                })?;
                if bytes == 0 {
                    return Err(Carried(Failure::new("the archive became shorter").into()));
                }
                sink(&buffer[..bytes])?;
                at += bytes as u64;
            }
            Ok(())
        })?;
    }
    let totals = packer.finish()?;
    outcome.bytes_out = totals.archive_bytes;
    outcome.bytes_content = totals.content_bytes;
    packer.report(outcome);
    Ok((totals, twins))
}
