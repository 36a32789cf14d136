//! Owner and mode of targets.

#[cfg(unix)]
use std::fs::File;
use std::fs::Metadata;

use super::Target;
#[cfg(unix)]
use crate::SMALL_BYTES;
use crate::rights::Rights;
#[cfg(unix)]
use crate::rights::umask;

/// Rights of a file that has no source to take them from: everyone's, less the umask.
#[cfg(unix)]
const MODE_NEW: u32 = 0o666;
/// Rights that a copy of a file may have before it has its owner.
#[cfg(unix)]
const MODE_OWNER: u32 = 0o600;

impl Target {
    /// Gives the new file the rights of the one that it replaces, or those of any new file, less what
    /// not everybody has who may read all that it is made of. Returns its mode if that is less.
    pub fn settle_rights(&self, replaced: Option<&Metadata>, rights: &Rights) -> Option<u32> {
        #[cfg(unix)]
        if let Self::File { file, .. } = self {
            use std::os::unix::fs::MetadataExt as _;
            let file = file.file();
            let mode = match replaced {
                Some(replaced) => copied_mode(file, replaced),
                None => {
                    // Modes have as many bits as the system says.
                    let umask: u32 = umask().bits() as _;
                    MODE_NEW & !umask
                }
            };
            if let Ok(now) = file.metadata() {
                let left = rights.of(mode, now.gid());
                set_mode(file, &now, left);
                return (left != mode).then_some(left);
            }
        }
        #[cfg(not(unix))]
        let _ = (replaced, rights);
        None
    }

    /// Gives the new file the owner, mode and times of its source, as far as the system lets it.
    pub fn copy_attributes(&self, source: &Metadata) {
        let Self::File { file, .. } = self else {
            return;
        };
        let file = file.file();
        #[cfg(unix)]
        if let Ok(now) = file.metadata() {
            set_mode(file, &now, copied_mode(file, source));
        }
        if let Ok(modified) = source.modified() {
            let mut times = std::fs::FileTimes::new().set_modified(modified);
            if let Ok(accessed) = source.accessed() {
                times = times.set_accessed(accessed);
            }
            let _ = file.set_times(times);
        }
    }
}

/// Whether a source is small and belongs to this user. Its copy needs no name until it is complete, which
/// is quicker; of a large one the user sees a file that grows. A copy that is given to another user
/// could not always get its name afterwards.
#[cfg(unix)]
pub(super) fn is_small_and_ours(source: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let user = rustix::process::geteuid().as_raw();
    source.len() <= SMALL_BYTES && source.uid() == user
}

#[cfg(not(unix))]
pub(super) fn is_small_and_ours(_: &Metadata) -> bool {
    false
}

/// The rights that a copy of a file ends with, for one that has no name before it is complete.
#[cfg(unix)]
pub(super) fn final_mode(source: Option<&Metadata>) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    source.map_or(MODE_NEW, |source| source.permissions().mode() & 0o777)
}

#[cfg(not(unix))]
pub(super) fn final_mode(_: Option<&Metadata>) -> u32 {
    0
}

#[cfg(unix)]
pub(super) fn first_mode(source: Option<&Metadata>, private: bool) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    match source {
        Some(source) => source.permissions().mode() & MODE_OWNER,
        None if private => MODE_OWNER,
        None => MODE_NEW,
    }
}

#[cfg(not(unix))]
pub(super) fn first_mode(_: Option<&Metadata>, _: bool) -> u32 {
    0
}

/// Gives `file` the owner of `source`, as far as the system lets it, and returns the mode that goes with
/// it.
#[cfg(unix)]
fn copied_mode(file: &File, source: &Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = source.permissions().mode() & 0o777;
    let owned = file
        .metadata()
        .is_ok_and(|now| copy_owner(file, source, &now));
    if owned {
        return mode;
    }
    // The new file has a different group, which may do what everyone may, and no more than before.
    let others = (mode >> 3) & mode & 0o007;
    (mode & 0o700) | (others << 3) | others
}

#[cfg(unix)]
fn set_mode(file: &File, now: &Metadata, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    if now.permissions().mode() & 0o7777 != mode {
        let _ = file.set_permissions(std::fs::Permissions::from_mode(mode));
    }
}

/// Gives `file` the owner and group of `source`, and returns whether it has the group now. Only the superuser
/// may give files away; anyone may choose among their own groups.
#[cfg(unix)]
fn copy_owner(file: &File, source: &Metadata, now: &Metadata) -> bool {
    use std::os::unix::fs::{MetadataExt as _, fchown};
    let (user, group) = (source.uid(), source.gid());
    (now.uid(), now.gid()) == (user, group)
        || fchown(file, Some(user), Some(group)).is_ok()
        || now.gid() == group
        || fchown(file, None, Some(group)).is_ok()
}
