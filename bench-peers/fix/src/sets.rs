//! Sets of messages as files: each message behind its length in 32 bits, the lowest first.

use std::fs;
use std::path::Path;

use fixcore::dict::Version;
use fixcore::workload::{Sample, shuffled};

use crate::Result;

/// The sets of a turn: four of one message, and one of many.
pub(crate) const NAMES: [&str; 5] = ["hb", "nos", "er", "md", "shuffled"];

const SEED: u64 = 1;

/// Writes the four messages, and candidates for the set of many.
pub(crate) fn write(directory: &Path, count: usize) -> Result<()> {
    for sample in Sample::ALL {
        fs::write(directory.join(sample.name()), framed(&[sample.bytes()]))?;
    }
    let candidates = shuffled(Version::Fix44, count, SEED).ok_or("there is no FIX 4.4")?;
    fs::write(directory.join("candidates"), framed(&candidates))?;
    Ok(())
}

/// Messages, each behind its length.
pub(crate) fn framed(set: &[Vec<u8>]) -> Vec<u8> {
    let parts = set.iter().map(|bytes| {
        let length = (bytes.len() as u32).to_le_bytes();
        [&length[..], bytes].concat()
    });
    parts.collect::<Vec<_>>().concat()
}

pub(crate) fn read(path: &Path) -> Result<Vec<Vec<u8>>> {
    let all = fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let (mut rest, mut set) = (&all[..], Vec::new());
    while let Some((length, behind)) = rest.split_first_chunk() {
        let length = u32::from_le_bytes(*length) as usize;
        let (message, behind) = behind
            .split_at_checked(length)
            .ok_or("a set is cut short")?;
        set.push(message.to_vec());
        rest = behind;
    }
    match set.is_empty() {
        true => Err(format!("{} has no messages", path.display()).into()),
        false => Ok(set),
    }
}
