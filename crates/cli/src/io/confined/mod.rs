//! Files below one directory, whatever their names say and whatever links lie in the way.
//!
//! Names are judged before they come here; this keeps them below the root all the same. On Unix every
//! directory is opened from the one above it and no symbolic link is followed; elsewhere links are
//! looked for by name.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub(crate) use other::{Part, Root};
#[cfg(unix)]
pub(crate) use unix::{Part, Root};

/// What a file gets when it is complete.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Attributes {
    /// Permission bits; the umask is taken off. `None` is what new files have.
    pub(crate) mode: Option<u32>,
    /// Seconds since 1970.
    pub(crate) modified: Option<i64>,
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Placed {
    /// It is there.
    Done,
    /// Another one was there, and is kept.
    Kept,
}

/// Whether a link at `depth` directories below the root leads to something below the root, by its
/// text alone: up at its beginning only, and not too far. Directories on the way up are none of
/// the archive's links, since those are made last.
pub(crate) fn link_stays_inside(depth: usize, target: &str) -> bool {
    if target.is_empty() || target.starts_with('/') || target.contains(['\0', '\\']) {
        return false;
    }
    let parts = || {
        target
            .split('/')
            .filter(|part| !part.is_empty() && *part != ".")
    };
    let up = parts().take_while(|part| *part == "..").count();
    up <= depth && parts().skip(up).all(|part| part != "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_up_at_their_beginning_only() {
        for (depth, target) in [
            (0, "a"),
            (0, "./a/b"),
            (1, "../a"),
            (2, "../../a"),
            (1, ".."),
        ] {
            assert!(link_stays_inside(depth, target), "{depth} {target}");
        }
        for (depth, target) in [
            (0, ""),
            (0, "/etc"),
            (0, ".."),
            (1, "../../a"),
            (0, "a/../../b"),
            (2, "a/../b"),
            (0, "a\\..\\b"),
            (0, "a\0"),
        ] {
            assert!(!link_stays_inside(depth, target), "{depth} {target}");
        }
    }
}
