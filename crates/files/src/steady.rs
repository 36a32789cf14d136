//! Whether a file stayed as it was while it was read. The size that a file system states is a hint:
//! files of `/proc` state 0, those of `/sys` a page, and a log may grow at any time.

use std::fmt;
use std::fs::Metadata;
use std::time::SystemTime;

/// What changes when a file is written to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    bytes: u64,
    modified: Option<SystemTime>,
}

/// What happened to a file between two looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It became shorter.
    Shrank {
        /// Bytes before.
        from: u64,
        /// Bytes now.
        to: u64,
    },
    /// It became longer.
    Grew {
        /// Bytes before.
        from: u64,
        /// Bytes now.
        to: u64,
    },
    /// It has the same size, and was written to.
    Written,
}

impl State {
    /// The state of a regular file; nothing else has one.
    pub fn of(metadata: &Metadata) -> Option<Self> {
        metadata.is_file().then(|| Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
        })
    }

    /// What happened since.
    pub fn change(self, now: Self) -> Option<Change> {
        let (from, to) = (self.bytes, now.bytes);
        match to.cmp(&from) {
            std::cmp::Ordering::Less => Some(Change::Shrank { from, to }),
            std::cmp::Ordering::Greater => Some(Change::Grew { from, to }),
            std::cmp::Ordering::Equal if self.modified != now.modified => Some(Change::Written),
            std::cmp::Ordering::Equal => None,
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shrank { from, to } => write!(f, "it shrank from {from} to {to} bytes"),
            Self::Grew { from, to } => write!(f, "it grew from {from} to {to} bytes"),
            Self::Written => f.write_str("it was written to"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn every_way_to_change_a_file_is_told_apart() {
        let mut file = tempfile::tempfile().expect("a file");
        let state = |file: &std::fs::File| State::of(&file.metadata().expect("there"));
        let long_ago = SystemTime::UNIX_EPOCH;
        file.write_all(b"12345").expect("written");
        file.set_modified(long_ago).expect("set");
        let before = state(&file).expect("a regular file");
        assert_eq!(before.change(before), None);
        file.write_all(b"67").expect("written");
        let grown = before.change(state(&file).expect("a regular file"));
        assert_eq!(grown, Some(Change::Grew { from: 5, to: 7 }));
        file.set_len(3).expect("cut");
        let shrunk = before.change(state(&file).expect("a regular file"));
        let text = shrunk.expect("changed").to_string();
        assert_eq!(text, "it shrank from 5 to 3 bytes");
        file.set_len(5).expect("grown");
        let written = before.change(state(&file).expect("a regular file"));
        assert_eq!(written, Some(Change::Written));
    }
}
