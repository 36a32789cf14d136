//! `unzip -:`: names that lead out of the target directory by `..`. They become names below a directory above it,
//! which nothing leaves either.

use std::path::{Component, Path, PathBuf};

use zipstream::name;

use crate::failure::Failure;
use crate::zip_compat::ended::{Ended, Stop, unzip as code};

/// The way from a directory above down to the target directory.
#[derive(Debug)]
pub(super) struct Climb {
    /// The directory above.
    root: PathBuf,
    /// The names of the directories below it.
    down: Vec<String>,
}

impl Climb {
    /// The way for the one of these names that leads out farthest; `None` if none does. The target directory is made
    /// if there is none: what is above it has to be known.
    pub(super) fn of<'a>(
        directory: &Path,
        names: impl Iterator<Item = &'a str>,
    ) -> Ended<Option<Self>> {
        let farthest = names.map(|name| resolved(name).0).max().unwrap_or(0);
        if farthest == 0 {
            return Ok(None);
        }
        let failed = |error| Stop::new(code::DISK, Failure::io("write", directory, &error));
        std::fs::create_dir_all(directory).map_err(failed)?;
        let whole = directory.canonicalize().map_err(failed)?;
        let mut parts = Vec::new();
        for part in whole.components() {
            if let Component::Normal(name) = part {
                parts.push(name::of_bytes(name.as_encoded_bytes()).into_owned());
            }
        }
        // Above the root there is the root.
        let down = parts.split_off(parts.len().saturating_sub(farthest));
        let root = whole.ancestors().nth(down.len());
        let root = root.map_or_else(|| PathBuf::from("/"), Path::to_path_buf);
        Ok(Some(Self { root, down }))
    }

    /// The directory above.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// The name below it that a name below the target directory means.
    pub(super) fn below(&self, name: &str) -> String {
        let (up, rest) = resolved(name);
        let kept = self.down.len().saturating_sub(up);
        let parts = self.down[..kept].iter().map(String::as_str).chain(rest);
        let mut path = parts.collect::<Vec<_>>().join("/");
        if name.ends_with('/') {
            path.push('/');
        }
        path
    }
}

/// How many directories up a name leads, and what it means from there.
fn resolved(name: &str) -> (usize, Vec<&str>) {
    let (mut up, mut rest) = (0, Vec::new());
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if rest.pop().is_none() {
                    up += 1;
                }
            }
            part => rest.push(part),
        }
    }
    (up, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_resolved_from_above() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let target = top.join("a/b");
        let names = ["x", "../x", "y/../../../z/"];
        let climb = Climb::of(&target, names.into_iter()).unwrap().unwrap();
        assert_eq!(climb.root(), top);
        assert!(target.is_dir());
        for (name, below) in [
            ("x", "a/b/x"),
            ("d/", "a/b/d/"),
            ("../x", "a/x"),
            ("y/../../../z/", "z/"),
            ("y/../x", "a/b/x"),
            (".//x", "a/b/x"),
        ] {
            assert_eq!(climb.below(name), below);
        }
        assert!(
            Climb::of(&target, ["x", "y/../x"].into_iter())
                .unwrap()
                .is_none()
        );
        assert!(Climb::of(&target, std::iter::empty()).unwrap().is_none());
    }

    #[test]
    fn the_root_is_the_end_of_the_way() {
        let far = "../".repeat(300) + "x";
        let dir = tempfile::tempdir().unwrap();
        let climb = Climb::of(dir.path(), [far.as_str()].into_iter())
            .unwrap()
            .unwrap();
        assert_eq!(climb.root(), Path::new("/"));
        assert_eq!(climb.below(&far), "x");
        let below = climb.below("y");
        let whole = dir.path().canonicalize().unwrap().join("y");
        assert_eq!(Path::new("/").join(below), whole);
    }
}
