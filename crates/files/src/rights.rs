//! Who may read a file that is made of several others: only those who may read all of them.

use std::fs::Metadata;
#[cfg(unix)]
use std::{collections::BTreeSet, fs::File, fs::Permissions};

/// What all but the owner may do with every one of some files. Systems without modes know nothing of
/// it.
#[derive(Debug, Clone, Default)]
pub struct Rights {
    /// The group of each, and what its group and all others may do. Few files of many differ.
    #[cfg(unix)]
    found: BTreeSet<(u32, u32, u32)>,
}

/// What a right to read a file is worth in the file that is made: to read and, where it has that too,
/// to write.
#[cfg(unix)]
const FILE_BITS: u32 = 0o6;
/// To read what is in a directory takes the right to list it and the right to enter it.
#[cfg(unix)]
const DIRECTORY_BITS: u32 = 0o5;

impl Rights {
    /// Adds a file or a directory to those that the new file is made of. Anything else has no rights
    /// that would bound it.
    pub fn narrow(&mut self, source: &Metadata) {
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
            let mode = source.permissions().mode();
            let directory = |bits: u32| match bits & DIRECTORY_BITS {
                DIRECTORY_BITS => FILE_BITS,
                _ => 0,
            };
            let (group, others) = (mode >> 3 & 0o7, mode & 0o7);
            if source.is_dir() {
                let found = (source.gid(), directory(group), directory(others));
                self.found.insert(found);
            } else if source.is_file() {
                let found = (source.gid(), group & FILE_BITS, others & FILE_BITS);
                self.found.insert(found);
            }
        }
        #[cfg(not(unix))]
        let _ = source;
    }

    /// The bits of `mode` that a file of this group keeps.
    #[cfg(unix)]
    pub fn of(&self, mode: u32, group: u32) -> u32 {
        let rights = |(of, group_bits, others): &(u32, u32, u32)| match *of == group {
            true => group_bits << 3 | others,
            // Members of the one group are among the others of the other.
            false => (group_bits & others) << 3 | (group_bits & others),
        };
        let all = self.found.iter().map(rights);
        // Who may read a program may run it.
        let runs = |rights: u32| (rights & 0o044) >> 2;
        all.fold(mode & 0o777, |mode, rights| {
            mode & (0o700 | rights | runs(rights))
        })
    }

    /// Takes from a file what not everybody has who may read the sources; its mode, if that changed.
    #[cfg(unix)]
    pub fn bound(&self, file: &File) -> std::io::Result<Option<u32>> {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
        let metadata = file.metadata()?;
        let mode = metadata.permissions().mode() & 0o777;
        let bounded = self.of(mode, metadata.gid());
        if bounded == mode {
            return Ok(None);
        }
        file.set_permissions(Permissions::from_mode(bounded))?;
        Ok(Some(bounded))
    }
}

/// The bits that new files of this process do not get.
#[cfg(unix)]
pub(crate) fn umask() -> rustix::fs::Mode {
    // The one way to learn it is to set it, and it is the same again at once.
    let umask = rustix::process::umask(rustix::fs::Mode::empty());
    rustix::process::umask(umask);
    umask
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use super::*;

    #[test]
    fn what_one_source_denies_is_denied() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a");
        std::fs::write(&path, b"").expect("written");
        let narrowed = |modes: &[u32], same_group: bool| {
            let mut rights = Rights::default();
            let mut group = 0;
            for mode in modes {
                let mode = Permissions::from_mode(*mode);
                std::fs::set_permissions(&path, mode).expect("set");
                let metadata = path.metadata().expect("there");
                group = metadata.gid() + u32::from(!same_group);
                rights.narrow(&metadata);
            }
            rights.of(0o666, group)
        };
        assert_eq!(narrowed(&[], true), 0o666);
        assert_eq!(narrowed(&[0o644, 0o755], true), 0o644);
        assert_eq!(narrowed(&[0o644, 0o600], true), 0o600);
        assert_eq!(narrowed(&[0o664, 0o640], true), 0o640);
        assert_eq!(narrowed(&[0o640], false), 0o600);
        assert_eq!(narrowed(&[0o604], false), 0o600);
        assert_eq!(narrowed(&[0o400], true), 0o600);
    }

    #[test]
    fn who_may_read_a_program_may_run_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("a");
        std::fs::write(&path, b"").expect("written");
        for (mode, expected) in [(0o644, 0o755), (0o640, 0o750), (0o600, 0o700)] {
            std::fs::set_permissions(&path, Permissions::from_mode(mode)).expect("set");
            let metadata = path.metadata().expect("there");
            let mut rights = Rights::default();
            rights.narrow(&metadata);
            assert_eq!(rights.of(0o755, metadata.gid()), expected, "{mode:o}");
        }
    }

    #[test]
    fn a_directory_that_only_its_owner_may_enter_closes_what_is_in_it() {
        let directory = tempfile::tempdir().expect("a directory");
        for (mode, expected) in [
            (0o755, 0o666),
            (0o711, 0o600),
            (0o744, 0o600),
            (0o750, 0o660),
        ] {
            let set = Permissions::from_mode(mode);
            std::fs::set_permissions(directory.path(), set).expect("set");
            let metadata = directory.path().metadata().expect("there");
            let mut rights = Rights::default();
            rights.narrow(&metadata);
            assert_eq!(rights.of(0o666, metadata.gid()), expected, "{mode:o}");
        }
    }
}
