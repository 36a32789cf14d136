//! `zipinfo -v`: a page on the archive and one on each entry, with all that its directory states.

use std::fmt::Write as _;

use zipstream::{Entry, EntryKind, Method};

use crate::zip_compat::ended::Ended;
use crate::zip_compat::shown;
use crate::zip_compat::unzip::attributes::attributes;
use crate::zip_compat::unzip::flags::Line;
use crate::zip_compat::unzip::open::Opened;
use crate::zip_compat::unzip::rows::{clock, clock_of, method};
use crate::zip_compat::unzip::selection::{
    Selected, comment, entries, exit, finish_selection, lines_of, print,
};

/// Text that is written when it is this long.
const WRITE_BYTES: usize = 128 << 10;
/// Bytes of an extra field that are shown.
const DATA_BYTES_MAX: usize = 32;
/// Systems by their numbers.
const SYSTEMS: [&str; 20] = [
    "DOS",
    "Amiga",
    "VMS",
    "Unix",
    "VM/CMS",
    "Atari",
    "OS/2",
    "Macintosh",
    "Z-System",
    "CP/M",
    "TOPS-20",
    "Windows NTFS",
    "SMS/QDOS",
    "Acorn",
    "Windows VFAT",
    "MVS",
    "BeOS",
    "Tandem",
    "THEOS",
    "macOS",
];
/// Extra fields by their numbers.
const FIELDS: [(u16, &str); 14] = [
    (0x0001, "ZIP64 sizes"),
    (0x000a, "NTFS times"),
    (0x000d, "PKWARE Unix"),
    (0x0015, "PKWARE certificate"),
    (0x0017, "PKWARE strong encryption"),
    (0x5455, "universal times"),
    (0x5855, "Info-ZIP Unix times, old"),
    (0x6375, "Unicode comment"),
    (0x7075, "Unicode path"),
    (0x756e, "ASi Unix"),
    (0x7855, "Unix user and group, 16 bits"),
    (0x7875, "Unix user and group"),
    (0x9901, "WinZip AES"),
    (0xcafe, "Java archive"),
];
/// General purpose flags by their bits.
const FLAGS: [(u16, &str); 7] = [
    (0, "encrypted"),
    (3, "descriptor behind the content"),
    (4, "enhanced deflate"),
    (5, "patch data"),
    (6, "strong encryption"),
    (11, "UTF-8"),
    (13, "masked headers"),
];

/// Prints the pages; returns the exit code.
pub(super) fn pages(line: &mut Line, opened: &Opened) -> Ended<u8> {
    let mut text = String::new();
    if line.members.is_empty() {
        archive(&mut text, opened);
    }
    let (mut number, mut count) = (0_u64, 0_u64);
    let mut selected = Selected::new(line);
    for entry in entries(&opened.reader) {
        number += 1;
        let name = entry.name_lossy();
        if !selected.takes(&name) {
            continue;
        }
        count += 1;
        let _ = writeln!(text, "\nEntry {number}: {}", shown::name(&name));
        page(&mut text, &entry);
        if text.len() >= WRITE_BYTES {
            print(&text)?;
            text.clear();
        }
    }
    print(&text)?;
    Ok(exit(opened.code, finish_selection(line, count, false)))
}

/// A row of a page. Writing to a string cannot fail.
fn row(text: &mut String, what: &str, value: impl std::fmt::Display) {
    let _ = writeln!(text, "  {what:<28} {value}");
}

fn archive(text: &mut String, opened: &Opened) {
    let directory = opened.reader.directory();
    let _ = writeln!(text, "Archive:  {}", shown::path(&opened.path));
    row(text, "size of the file", format!("{} bytes", opened.bytes));
    let parts = match opened.reader.source().is_split() {
        true => "a split archive: places count from the first byte of its first part",
        false => "one file",
    };
    row(text, "parts", parts);
    row(text, "directory at byte", directory.start());
    row(
        text,
        "size of the directory",
        format!("{} bytes", directory.bytes()),
    );
    row(
        text,
        "end of the directory at byte",
        directory.start() + directory.bytes(),
    );
    row(text, "entries", opened.reader.len());
    row(text, "entries, as stated", directory.stated_entries());
    for warning in directory.warnings() {
        row(text, "warning", warning);
    }
    commented(text, directory.comment().len(), &comment(&opened.reader));
}

fn commented(text: &mut String, bytes: usize, lines: &str) {
    row(text, "comment", format!("{bytes} bytes"));
    for line in lines.lines() {
        let _ = writeln!(text, "    {line}");
    }
}

fn page(text: &mut String, entry: &Entry<'_>) {
    let [version, system] = entry.made_by().to_le_bytes();
    let [needed, needed_system] = entry.needed_version().to_le_bytes();
    let by = |version: u8, system: u8| {
        let known = SYSTEMS.get(usize::from(system)).copied();
        let (whole, part) = (version / 10, version % 10);
        format!(
            "{}, version {whole}.{part}",
            known.unwrap_or("unknown system")
        )
    };
    row(text, "local header at byte", entry.offset());
    row(text, "made by", by(version, system));
    row(text, "needs", by(needed, needed_system));
    row(text, "kind", kind(entry));
    row(text, "method", how(entry));
    row(text, "flags", flags(entry.flags()));
    row(text, "encrypted", yes(entry.is_encrypted()));
    row(text, "modified, here", clock(entry).strftime(TIME));
    row(
        text,
        "modified, by DOS fields",
        clock_of(entry.dos_time()).strftime(TIME),
    );
    row(text, "CRC-32", format!("{:08x}", entry.crc32()));
    let bytes = |bytes: u64| format!("{bytes} bytes");
    row(text, "compressed size", bytes(entry.compressed_bytes()));
    row(text, "size", bytes(entry.content_bytes()));
    row(
        text,
        "length of the name",
        bytes(entry.name_bytes().len() as u64),
    );
    let is_text = entry.internal_attributes() & 1 != 0;
    row(
        text,
        "internal attributes",
        format!(
            "{:04x}: {}",
            entry.internal_attributes(),
            if is_text { "text" } else { "binary" }
        ),
    );
    row(
        text,
        "external attributes",
        format!("{:08x}: {}", entry.external_attributes(), attributes(entry)),
    );
    if let Some(mode) = entry.mode() {
        row(text, "mode", format!("{mode:04o}"));
    }
    if let Some(owner) = entry.owner() {
        let (user, group) = (owner.user, owner.group);
        row(text, "owner", format!("user {user}, group {group}"));
    }
    row(
        text,
        "extra fields",
        bytes(entry.extra_bytes().len() as u64),
    );
    for field in entry.extra_fields() {
        let known = FIELDS.iter().find(|(id, _)| *id == field.id);
        let known = known.map_or("unknown", |(_, name)| name);
        let (id, length) = (field.id, field.data.len());
        let _ = write!(text, "    {id:04x} ({known}), {length} bytes:");
        for byte in field.data.iter().take(DATA_BYTES_MAX) {
            let _ = write!(text, " {byte:02x}");
        }
        text.push_str(if length > DATA_BYTES_MAX {
            " ...\n"
        } else {
            "\n"
        });
    }
    commented(text, entry.comment().len(), &lines_of(entry.comment()));
}

/// How times are shown.
const TIME: &str = "%Y-%m-%d %H:%M:%S";

fn kind(entry: &Entry<'_>) -> &'static str {
    match entry.kind() {
        EntryKind::Directory => "directory",
        EntryKind::File => "file",
        EntryKind::Symlink => "symbolic link",
    }
}

/// The method as a row has it, with its number; of AES entries also the one inside.
fn how(entry: &Entry<'_>) -> String {
    let (short, inner) = (method(entry), entry.method());
    match inner {
        Method::Stored | Method::Deflate if short.starts_with("Unk") => {
            format!("{short}, inside {} ({inner})", inner.code())
        }
        _ => format!("{short} ({})", inner.code()),
    }
}

/// The bits, and what those mean that are set.
fn flags(bits: u16) -> String {
    let set = FLAGS.iter().filter(|(bit, _)| bits & (1 << bit) != 0);
    let set: Vec<&str> = set.map(|(_, name)| *name).collect();
    match set.is_empty() {
        true => format!("{bits:04x}"),
        false => format!("{bits:04x}: {}", set.join(", ")),
    }
}

fn yes(is_so: bool) -> &'static str {
    if is_so { "yes" } else { "no" }
}
