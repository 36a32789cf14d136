//! What can be read and written at any place, and copying between two of them.

use std::fs::File;
use std::io;

/// One step of copying.
const STEP_BYTES: usize = 256 << 10;

/// What can be read and written at any place; a file, but for tests.
pub(super) trait Bytes {
    /// Reads up to the length of `room`.
    fn get(&self, room: &mut [u8], at: u64) -> io::Result<usize>;
    /// Writes all of `bytes`.
    fn put(&self, bytes: &[u8], at: u64) -> io::Result<()>;
    /// Ends here from now on.
    fn cut(&self, bytes: u64) -> io::Result<()>;
}

impl Bytes for File {
    fn get(&self, room: &mut [u8], at: u64) -> io::Result<usize> {
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::read_at(self, room, at);
        #[cfg(windows)]
        return std::os::windows::fs::FileExt::seek_read(self, room, at);
    }

    fn put(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        #[cfg(unix)]
        return std::os::unix::fs::FileExt::write_all_at(self, bytes, at);
        #[cfg(windows)]
        {
            let mut written = 0;
            while written < bytes.len() {
                let at = at + written as u64;
                let step = std::os::windows::fs::FileExt::seek_write(self, &bytes[written..], at)?;
                if step == 0 {
                    return Err(io::ErrorKind::WriteZero.into());
                }
                written += step;
            }
            Ok(())
        }
    }

    fn cut(&self, bytes: u64) -> io::Result<()> {
        self.set_len(bytes)
    }
}

/// Gives the bytes `from..to` of a file to `put`, each piece with its place.
pub(super) fn copy(
    file: &impl Bytes,
    mut from: u64,
    to: u64,
    mut put: impl FnMut(&[u8], u64) -> io::Result<()>,
) -> io::Result<()> {
    let most = usize::try_from(to.saturating_sub(from)).unwrap_or(STEP_BYTES);
    let mut room = vec![0; most.min(STEP_BYTES)];
    while from < to {
        let most = usize::try_from(to - from).unwrap_or(STEP_BYTES);
        let most = most.min(STEP_BYTES);
        match file.get(&mut room[..most], from) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(bytes) => {
                put(&room[..bytes], from)?;
                from += bytes as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
