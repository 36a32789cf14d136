//! Output that any thread writes at its position, while another writes in order; and the pieces of
//! output that a file with holes needs.

use std::fs::File;
use std::io;

use crate::output::Output;

/// Zeros are looked for and left out in pieces of this size, the block size of most file systems.
pub(super) const HOLE_BYTES: usize = 4096;

/// A file that is written at positions.
#[derive(Debug)]
pub struct Placer {
    file: Output,
    /// Whether zeros are left out.
    sparse: bool,
}

impl Placer {
    /// For a file that has no other writer at these positions. `sparse`: zeros become holes, so the file
    /// must not have content there.
    pub fn new(file: Output, sparse: bool) -> Self {
        Self { file, sparse }
    }

    /// Writes `output` at byte `position`. Where zeros are left out, the file may end before the
    /// last of them.
    pub fn write(&self, position: u64, output: &[u8]) -> io::Result<()> {
        if !self.sparse {
            return write_at(self.file.file(), output, position);
        }
        for (at, piece) in pieces(output) {
            write_at(self.file.file(), piece, position + at as u64)?;
        }
        Ok(())
    }
}

#[cfg(unix)]
fn write_at(file: &File, output: &[u8], position: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, output, position)
}

/// Elsewhere a write at a position moves the one that writers in order share.
#[cfg(not(unix))]
fn write_at(_: &File, _: &[u8], _: u64) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The parts of the output that have to be written, each with its place: all but runs of zeros.
pub(super) fn pieces(output: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut from = 0;
    std::iter::from_fn(move || {
        while is_zero_piece(output.get(from..)?) {
            from += HOLE_BYTES;
        }
        let start = from;
        while from < output.len() && !is_zero_piece(&output[from..]) {
            from += HOLE_BYTES;
        }
        output
            .get(start..from.min(output.len()))
            .filter(|piece| !piece.is_empty())
            .map(|piece| (start, piece))
    })
}

/// Whether the first [`HOLE_BYTES`] of `bytes` (all, if there are fewer) are zeros.
fn is_zero_piece(bytes: &[u8]) -> bool {
    static ZEROS: [u8; HOLE_BYTES] = [0; HOLE_BYTES];
    let length = bytes.len().min(HOLE_BYTES);
    length > 0 && bytes[..length] == ZEROS[..length]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_what_is_not_zero() {
        let found = |output: &[u8]| -> Vec<(usize, usize)> {
            pieces(output)
                .map(|(at, piece)| (at, piece.len()))
                .collect()
        };
        let mut output = vec![0; 5 * HOLE_BYTES + 10];
        assert_eq!(found(&output), []);
        assert_eq!(found(&[]), []);
        assert_eq!(found(&[1]), [(0, 1)]);
        output[0] = 1;
        output[2 * HOLE_BYTES] = 1;
        output[4 * HOLE_BYTES - 1] = 1;
        assert_eq!(
            found(&output),
            [(0, HOLE_BYTES), (2 * HOLE_BYTES, 2 * HOLE_BYTES)]
        );
        output[5 * HOLE_BYTES + 9] = 1;
        assert_eq!(found(&output).last(), Some(&(5 * HOLE_BYTES, 10)));
    }

    #[cfg(unix)]
    #[test]
    fn what_is_placed_is_there_in_any_order() {
        for sparse in [false, true] {
            let file = tempfile::NamedTempFile::new().expect("a file");
            let handle = Output::new(file.as_file().try_clone().expect("a handle"));
            let placer = Placer::new(handle, sparse);
            placer.write(5, b"later").expect("written");
            placer.write(0, b"first").expect("written");
            assert_eq!(std::fs::read(file.path()).expect("read"), b"firstlater");
        }
    }
}
