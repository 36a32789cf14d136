//! Who owns a file.

use std::fs::File;
use std::io;

use super::Attributes;

/// Gives a file the owner that is stated, before its mode: the system may take bits from that.
pub(super) fn set_owner(file: &File, attributes: Attributes) -> io::Result<()> {
    match attributes.owner {
        // All ones would mean that it stays as it is.
        Some((user, group)) if user == u32::MAX || group == u32::MAX => {
            Err(io::Error::from(io::ErrorKind::InvalidInput))
        }
        Some((user, group)) => std::os::unix::fs::fchown(file, Some(user), Some(group)),
        None => Ok(()),
    }
}
