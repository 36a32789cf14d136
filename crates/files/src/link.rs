//! What a symbolic link leads to, as archives store it.

use std::io;
use std::path::Path;

/// The target of a symbolic link, with `/` between names.
///
/// # Errors
/// Those of reading the link; and, where names are not bytes, a target that is not UTF-8.
pub fn link_target(path: &Path) -> io::Result<Vec<u8>> {
    bytes(std::fs::read_link(path)?)
}

#[cfg(unix)]
#[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
fn bytes(target: std::path::PathBuf) -> io::Result<Vec<u8>> {
    use std::os::unix::ffi::OsStringExt as _;
    Ok(target.into_os_string().into_vec())
}

#[cfg(not(unix))]
fn bytes(target: std::path::PathBuf) -> io::Result<Vec<u8>> {
    let text = target.to_str().map(|text| text.replace('\\', "/"));
    text.map(String::into_bytes)
        .ok_or_else(|| io::Error::other("it leads to a name that is not UTF-8"))
}
