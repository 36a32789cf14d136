//! Names of sources that are URLs: which words are, and what their content is called here. Plain
//! text, without a network; what is behind them is read in `remote`.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

#[cfg(not(feature = "remote"))]
use crate::Operation;
use crate::{Error, Result};

/// What a URL may start with, before `://`.
const SCHEMES: [&str; 11] = [
    "http", "https", "s3", "s3a", "gs", "az", "adl", "azure", "abfs", "abfss", "file",
];

/// The URL that a source is named by. A file whose name looks like one is named `./https://…`.
#[must_use]
pub fn of(source: &Path) -> Option<&str> {
    let text = source.to_str()?;
    let (scheme, _) = text.split_once("://")?;
    let known = SCHEMES
        .iter()
        .any(|known| known.eq_ignore_ascii_case(scheme));
    known.then_some(text)
}

/// Whether a URL names what a web server has, and not an object of a store.
#[must_use]
pub fn is_web(url: &str) -> bool {
    let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
    ["http", "https"]
        .iter()
        .any(|web| web.eq_ignore_ascii_case(scheme))
}

/// The error of a build without the feature `remote`, or `web`.
#[cfg(not(feature = "remote"))]
#[must_use]
pub fn unsupported(operation: Operation, url: &str) -> Error {
    Error::UrlUnsupported {
        operation,
        url: url.to_owned(),
    }
}

/// The name of a file for the content of a source: the last segment of the path of a URL, in the
/// current directory.
///
/// # Errors
/// The URL ends in no such name.
pub fn file_name(url: &str) -> Result<PathBuf> {
    let segment = path(url).rsplit_once('/').map_or("", |(_, last)| last);
    named(url, segment, |name| {
        let mut components = name.components();
        let first = components.next();
        matches!(first, Some(Component::Normal(whole)) if whole == name.as_os_str())
            && components.next().is_none()
    })
}

/// The whole path of a URL as that of a file, below the current directory.
///
/// # Errors
/// The URL has no path, or one that leads upwards.
pub fn file_path(url: &str) -> Result<PathBuf> {
    named(url, path(url).trim_start_matches('/'), |path| {
        let mut parts = path.components();
        path.file_name().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
    })
}

/// A part of a URL as the path of a file, if it fits without its escapes: then it may hold anything, even a way upwards.
fn named(url: &str, part: &str, fits: impl FnOnce(&Path) -> bool) -> Result<PathBuf> {
    let path = decoded(part).map(PathBuf::from);
    path.filter(|path| fits(path))
        .ok_or_else(|| Error::UrlUnnamed {
            url: url.to_owned(),
        })
}

/// The URL of what has this path below another URL, a prefix.
#[must_use]
pub fn below(prefix: &str, path: &str) -> String {
    let mut url = prefix.trim_end_matches('/').to_owned();
    url.push('/');
    for byte in path.bytes() {
        match byte {
            // What ends a path, what starts an escape, and what URLs do not have.
            b'%' | b'?' | b'#' | b'\\' | 0..=b' ' | 0x7f.. => url += &format!("%{byte:02X}"),
            byte => url.push(char::from(byte)),
        }
    }
    url
}

/// The file of this machine that a `file:` URL is about.
#[must_use]
pub fn local(url: &str) -> Option<PathBuf> {
    let (scheme, rest) = url.split_once("://")?;
    let host = rest.split('/').next().unwrap_or_default();
    let here = host.is_empty() || host.eq_ignore_ascii_case("localhost");
    if !scheme.eq_ignore_ascii_case("file") || !here {
        return None;
    }
    decoded(path(url)).map(PathBuf::from)
}

/// What lies between the host and a query or fragment, with its first slash.
fn path(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let end = rest.find(['?', '#']).unwrap_or(rest.len());
    let rest = &rest[..end];
    rest.find('/').map_or("", |start| &rest[start..])
}

/// Without its escapes. `None`: not the name of any file here.
fn decoded(text: &str) -> Option<OsString> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = match (first, after) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)),
            _ => None,
        };
        match escaped {
            Some((high, low)) => {
                bytes.push(high << 4 | low);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    if bytes.contains(&0) {
        return None;
    }
    String::from_utf8(bytes).ok().map(OsString::from)
}

fn hex(digit: u8) -> Option<u8> {
    (digit as char).to_digit(16).map(|digit| digit as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_that_are_known_make_urls_and_paths_stay_paths() {
        for url in [
            "https://h/a",
            "HTTP://h",
            "s3://b/k",
            "az://c/k",
            "file:///a",
        ] {
            assert_eq!(of(Path::new(url)), Some(url));
        }
        for path in ["a", "-", "./https://h/a", "c://a", "https:/h/a", "a/s3://b"] {
            assert_eq!(of(Path::new(path)), None, "{path}");
        }
    }

    #[test]
    fn paths_of_urls_lead_down() {
        let path = |url: &str| file_path(url).ok();
        let mirrored = |url: &str, is: &str| assert_eq!(path(url), Some(is.into()));
        mirrored("s3://bucket/a/b%20c.zst", "a/b c.zst");
        mirrored("https://h//a/b?x=/y", "a/b");
        for url in [
            "s3://bucket",
            "s3://bucket/",
            "s3://b/a/../c",
            "s3://b/%2e%2e/c",
            "s3://b/a/..",
        ] {
            assert_eq!(path(url), None, "{url}");
        }
    }

    #[test]
    fn what_is_below_a_url_has_the_path_it_is_given() {
        assert_eq!(below("s3://b/p/", "a/b.c"), "s3://b/p/a/b.c");
        for path in ["a b", "50%", "a%20b", "a#b?c", "ä", "a\\b"] {
            let url = below("s3://b", path);
            assert_eq!(file_path(&url).ok(), Some(path.into()), "{url}");
        }
    }

    #[test]
    fn content_is_called_after_the_last_segment() {
        let name = |url: &str| file_name(url).ok();
        let called = |url: &str, name_is: &str| assert_eq!(name(url), Some(name_is.into()));
        called("https://h/a/b.zst", "b.zst");
        called("https://h:80/b.zst?token=x/y#z", "b.zst");
        called("s3://bucket/deep/k%20ey.json", "k ey.json");
        called("gs://bucket/100%", "100%");
        for url in [
            "https://h",
            "https://h/",
            "https://h/a/",
            "https://h?a=/b",
            "https://h/..",
            "https://h/%2e%2e",
            "https://h/..%2fetc",
            "https://h/%2fetc",
            "https://h/a%00b",
            "https://h/%ff",
        ] {
            assert_eq!(name(url), None, "{url}");
        }
    }

    #[test]
    fn file_urls_are_paths() {
        assert_eq!(local("file:///a/b%20c"), Some("/a/b c".into()));
        assert_eq!(local("file://localhost/a?x"), Some("/a".into()));
        assert_eq!(local("file://other/a"), None);
        assert_eq!(local("http://localhost/a"), None);
    }
}
