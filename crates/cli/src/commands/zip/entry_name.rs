//! The names of entries: paths, without what only says where they start.

use std::path::{Component, Path};

use files::url;

use crate::failure::{Failure, Result};

pub(super) fn not_utf8(path: &Path) -> Failure {
    let path = path.display();
    Failure::new(format!("the name of '{path}' is not UTF-8"))
        .help("rename it, or leave it out with -x")
}

/// The entry name of a path, without parts that only say where it starts; of a URL, that of its path, which is the key
/// without the bucket. `None` if nothing is left.
pub(super) fn name(path: &Path) -> Result<Option<String>> {
    let name = unchecked(path)?;
    if let Some(fault @ zipstream::name::NameFault::Backslash) = name
        .as_ref()
        .and_then(|name| zipstream::name::check_portable(name).err())
    {
        return Err(Failure::new(format!("'{}': {fault}", path.display()))
            .help("rename it, or leave it out with -x"));
    }
    Ok(name)
}

/// The same where not every program would make the same path of it, for patterns.
pub(super) fn unchecked(path: &Path) -> Result<Option<String>> {
    let Some(url) = url::of(path) else {
        return name_of_path(path);
    };
    if url.ends_with('/') {
        return Err(Failure::new(format!("'{url}' is a prefix, not an object"))
            .help("name its keys, one by one or in a list: --from-file"));
    }
    name_of_path(&url::file_path(url)?)
}

fn name_of_path(path: &Path) -> Result<Option<String>> {
    let mut name = String::new();
    for part in path.components() {
        match part {
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
            Component::ParentDir if !name.is_empty() => {
                // What leads up from a directory that it names.
                name.truncate(name.rfind('/').unwrap_or(0));
            }
            Component::ParentDir => {
                return Err(Failure::new(format!(
                    "'{}' is outside of the current directory, and entry names cannot contain '..'",
                    path.display()
                ))
                .help("change to a directory above it first"));
            }
            Component::Normal(part) => {
                let Some(part) = part.to_str() else {
                    return Err(not_utf8(path));
                };
                if !name.is_empty() {
                    name.push('/');
                }
                name.push_str(part);
            }
        }
    }
    Ok((!name.is_empty()).then_some(name))
}

/// The same, or with `junk` without directories.
pub(super) fn named(path: &Path, junk: bool) -> Result<Option<String>> {
    let name = name(path)?;
    Ok(match junk {
        true => name.and_then(|name| zipstream::name::file_name(&name).map(str::to_owned)),
        false => name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_say_where_they_start() {
        let name = |path: &str| name(Path::new(path)).unwrap();
        assert_eq!(name("./a//b/"), Some("a/b".to_owned()));
        assert_eq!(name("/etc/passwd"), Some("etc/passwd".to_owned()));
        assert_eq!(name("."), None);
        assert_eq!(name("a/../b"), Some("b".to_owned()));
        assert_eq!(name("a/b/../../c/d/.."), Some("c".to_owned()));
        assert_eq!(name("a/.."), None);
        for outside in ["../b", "a/../../b", ".."] {
            assert!(super::name(Path::new(outside)).is_err(), "{outside}");
        }
        assert!(super::name(Path::new("a\\b")).is_err());
        let unchecked = unchecked(Path::new("a\\b")).unwrap();
        assert_eq!(unchecked, Some("a\\b".to_owned()));
        assert_eq!(name("s3://bucket/a/b%20c"), Some("a/b c".to_owned()));
        for wrong in ["s3://bucket", "s3://bucket/a/", "s3://bucket/a/%2e%2e/b"] {
            assert!(super::name(Path::new(wrong)).is_err(), "{wrong}");
        }
    }
}
