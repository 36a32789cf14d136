//! The files that are packed, and whether they came back.

use std::fs::{self, File, FileTimes, Metadata};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail, ensure};

/// At the limits of what writers hold back, of header fields and of chunks.
const SIZES: [usize; 8] = [
    0,
    1,
    (1 << 16) - 1,
    1 << 16,
    (1 << 16) + 1,
    (1 << 20) - 1,
    1 << 20,
    (1 << 20) + 1,
];
/// 1999-12-31 23:59:58, an even second as the oldest time fields have them.
const OLD: u64 = 946_684_798;

/// Makes the tree: files of those sizes that compress and that do not, names that are not ASCII,
/// modes, an old time, a link.
pub(super) fn make(root: &Path) -> Result<()> {
    fs::create_dir_all(root.join("deep/er"))?;
    fs::write(root.join("empty"), b"")?;
    fs::write(root.join("one"), b"1")?;
    let mut state = 1_u32;
    let noise: Vec<u8> = (0..=1 << 20)
        .map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        })
        .collect();
    let text: Vec<u8> = noise
        .iter()
        .map(|byte| b"abcdefgh \n"[usize::from(byte % 10)])
        .collect();
    for size in SIZES {
        fs::write(root.join(format!("deep/text-{size}")), &text[..size])?;
        fs::write(root.join(format!("deep/er/noise-{size}")), &noise[..size])?;
    }
    fs::write(root.join("größe 名前"), b"not ASCII")?;
    fs::write(root.join("script"), b"#!/bin/sh\n")?;
    fs::set_permissions(root.join("script"), PermissionsExt::from_mode(0o755))?;
    fs::write(root.join("private"), b"mine")?;
    fs::set_permissions(root.join("private"), PermissionsExt::from_mode(0o600))?;
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(OLD);
    let file = File::options().write(true).open(root.join("one"))?;
    file.set_times(FileTimes::new().set_modified(old))?;
    symlink("deep/text-1", root.join("link"))?;
    Ok(())
}

/// What was restored of a file, besides its content.
#[derive(Default)]
struct Lost {
    modes: bool,
    times: bool,
    links: bool,
    /// Links that were not packed at all.
    left_out: bool,
}

/// Compares two trees: an error for a wrong or missing file, or what else was not restored.
pub(super) fn compare(packed: &Path, found: &Path) -> Result<String> {
    let mut lost = Lost::default();
    walk(packed, found, &mut lost)?;
    let parts = [
        (lost.modes, "modes"),
        (lost.times, "times"),
        (lost.links, "links"),
        (lost.left_out, "links at all"),
    ];
    let parts: Vec<&str> = parts
        .iter()
        .filter(|(lost, _)| *lost)
        .map(|(_, name)| *name)
        .collect();
    Ok(match parts[..] {
        [] => "ok".to_owned(),
        _ => format!("ok, no {}", parts.join(", ")),
    })
}

fn walk(packed: &Path, found: &Path, lost: &mut Lost) -> Result<()> {
    for entry in fs::read_dir(packed)? {
        let entry = entry?;
        let (one, other) = (entry.path(), found.join(entry.file_name()));
        let metadata = one.symlink_metadata()?;
        let back = other.symlink_metadata();
        let named = || format!("{}", other.display());
        if metadata.is_symlink() {
            link(&one, &other, back.ok(), lost)?;
            continue;
        }
        let back = back.with_context(named)?;
        if metadata.is_dir() {
            walk(&one, &other, lost)?;
            continue;
        }
        ensure!(
            fs::read(&one)? == fs::read(&other)?,
            "{}: another content",
            named()
        );
        let mode = |metadata: &Metadata| metadata.permissions().mode() & 0o777;
        lost.modes |= mode(&metadata) != mode(&back);
        let (before, after) = (metadata.modified()?, back.modified()?);
        let apart = before
            .duration_since(after)
            .or_else(|_| after.duration_since(before));
        // The oldest fields count in steps of two seconds.
        lost.times |= apart? > Duration::from_secs(2) && entry.file_name() == "one";
    }
    Ok(())
}

fn link(one: &Path, other: &Path, back: Option<Metadata>, lost: &mut Lost) -> Result<()> {
    let target = fs::read_link(one)?;
    match back {
        None => lost.left_out = true,
        Some(back) if back.is_symlink() => {
            ensure!(fs::read_link(other)? == target, "the link leads elsewhere");
        }
        Some(_) => {
            let content = fs::read(other)?;
            let is_text = content == target.as_os_str().as_encoded_bytes();
            // Some writers follow links.
            if !is_text && content != fs::read(one)? {
                bail!("the link became a file of another content");
            }
            lost.links = true;
        }
    }
    Ok(())
}
