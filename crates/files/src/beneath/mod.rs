//! Files below one directory, whatever their names say and whatever links lie in the way.
//!
//! Names are judged before they come here; this keeps them below the root all the same. On Unix every
//! directory is opened from the one above it and no symbolic link is followed; elsewhere links are
//! looked for by name.

use std::time::SystemTime;

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
pub use other::{Beneath, Part};
#[cfg(unix)]
pub use unix::{Beneath, Part};

/// What a file gets when it is complete.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Attributes {
    /// Permission bits; the umask is taken off. `None` is what new files have.
    pub mode: Option<u32>,
    /// When it was modified.
    pub modified: Option<SystemTime>,
    /// The numbers of its user and group; `None` is who makes it. Links and other systems than Unix do not
    /// get them.
    pub owner: Option<(u32, u32)>,
}

impl Attributes {
    /// The same with a mode where none is stated.
    #[cfg(unix)]
    fn or_mode(self, mode: u32) -> Self {
        let mode = Some(self.mode.unwrap_or(mode));
        Self { mode, ..self }
    }
}

/// What there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Held {
    /// A symbolic link, wherever it leads.
    Link,
    /// Something else, and when it was modified.
    Since(SystemTime),
}

/// What became of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placed {
    /// It is there.
    Done,
    /// Another one was there, and is kept.
    Kept,
}

/// Says why a link at `path` may not lead to `target`, if that is outside of the root. Its way is
/// followed by the text alone, from the directory that the link is in. A way that leads up from
/// something that it names is only as good as that is a directory: a link there could lead elsewhere,
/// now or when it is made, and a directory never becomes one.
pub fn leads_out(path: &str, target: &str, is_directory: impl Fn(&str) -> bool) -> Option<String> {
    let outside = || Some("it leads out of the target directory".to_owned());
    if target.is_empty() || target.starts_with('/') || target.contains(['\0', '\\']) {
        return outside();
    }
    let mut way: Vec<&str> = path.split('/').collect();
    way.pop();
    // Directories above the link, which are none of anybody's links.
    let mut own = way.len();
    for part in target.split('/').filter(|part| !matches!(*part, "" | ".")) {
        if part != ".." {
            way.push(part);
            continue;
        }
        let at = way.join("/");
        if way.pop().is_none() {
            return outside();
        }
        if way.len() < own {
            own = way.len();
        } else if !is_directory(&at) {
            return Some(format!(
                "it leads up from '{at}', which is not a directory in the target"
            ));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_up_only_where_that_is_known_to_stay_inside() {
        let is_directory = |path: &str| matches!(path, "d" | "d/e" | "top");
        for (path, target) in [
            ("m", "a"),
            ("m", "./a/b"),
            ("top/m", "../a"),
            ("top/deep/m", "../../a"),
            ("top/m", ".."),
            ("m", "./d/../d/f"),
            ("m", "d/e/../../f"),
            ("top/m", "../d/../top/m2"),
            ("top/m", "./.././top/"),
        ] {
            assert_eq!(
                leads_out(path, target, is_directory),
                None,
                "{path} {target}"
            );
        }
        for (path, target) in [
            ("m", ""),
            ("m", "/etc"),
            ("m", ".."),
            ("top/m", "../../a"),
            ("m", "d/../../b"),
            ("m", "link/../b"),
            ("top/m", "../link/../b"),
            ("m", "d/link/../../../b"),
            ("m", "a\\..\\b"),
            ("m", "a\0"),
        ] {
            assert!(
                leads_out(path, target, is_directory).is_some(),
                "{path} {target}"
            );
        }
    }
}
