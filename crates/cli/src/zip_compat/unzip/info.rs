//! `zipinfo`, and `unzip -Z`.

use std::fmt::Write as _;

use zipstream::Entry;

use crate::term::color::write_stdout_plain;
use crate::zip_compat::ended::Ended;
use crate::zip_compat::shown;
use crate::zip_compat::unzip::flags::{Info, Line, Style};
use crate::zip_compat::unzip::open::Opened;
use crate::zip_compat::unzip::rows::{clock, saved, short_method, without_head};
use crate::zip_compat::unzip::selection::{
    Selected, comment, entries, finish_selection, unwritten,
};

/// Text that is written when it is this long.
const WRITE_BYTES: usize = 128 << 10;
/// Systems by their numbers.
const SYSTEMS: [&str; 20] = [
    "fat", "ami", "vms", "unx", "cms", "atr", "hpf", "mac", "zzz", "cpm", "t20", "ntf", "qds",
    "aco", "vft", "mvs", "be ", "nsk", "ths", "osx",
];

/// Shows the entries; returns the exit code.
pub(super) fn info(line: &mut Line, opened: &Opened) -> Ended<u8> {
    let asked = line.info;
    // Asked for alone, header and totals come without rows.
    let alone = asked.style.is_none() && (asked.header || asked.totals);
    let style = asked.style.unwrap_or(Style::Short);
    let bare = style == Style::Bare;
    // Names alone, and chosen entries, come without frame unless that is asked for.
    let framed = !bare && style != Style::Name && !alone && line.members.is_empty();
    let mut text = String::new();
    if !bare && (asked.header || framed) {
        let (path, bytes) = (shown::path(&opened.path), opened.bytes);
        let count = opened.reader.len();
        let _ = writeln!(text, "Archive:  {path}");
        if asked.comment {
            text.push_str(&comment(&opened.reader));
        }
        let _ = writeln!(
            text,
            "Zip file size: {bytes} bytes, number of entries: {count}"
        );
    }
    let (mut count, mut content, mut compressed) = (0_u64, 0_u64, 0_u64);
    let mut selected = Selected::new(line);
    for entry in entries(&opened.reader)? {
        let name = entry.name_lossy();
        if !selected.takes(&name) {
            continue;
        }
        count += 1;
        content = content.saturating_add(entry.content_bytes());
        compressed = compressed.saturating_add(without_head(&entry));
        if !alone {
            row(&mut text, &entry, &name, style, &asked);
        }
        if text.len() >= WRITE_BYTES {
            write_stdout_plain(text.as_bytes()).map_err(unwritten)?;
            text.clear();
        }
    }
    if !bare && (asked.totals || framed) {
        let files = if count == 1 { "file" } else { "files" };
        let tenths = saved(content, compressed);
        let sign = if tenths < 0 { "-" } else { "" };
        let (whole, part) = (tenths.unsigned_abs() / 10, tenths.unsigned_abs() % 10);
        let _ = writeln!(
            text,
            "{count} {files}, {content} bytes uncompressed, {compressed} bytes compressed:  {sign}{whole}.{part}%"
        );
    }
    write_stdout_plain(text.as_bytes()).map_err(unwritten)?;
    Ok(finish_selection(line, count, false).max(opened.code))
}

/// Appends the row of an entry. Writing to a string cannot fail.
fn row(text: &mut String, entry: &Entry<'_>, name: &str, style: Style, asked: &Info) {
    if matches!(style, Style::Bare | Style::Name) {
        let _ = writeln!(text, "{}", shown::listed(name));
        return;
    }
    let name = shown::name(name);
    let [version, system] = entry.made_by().to_le_bytes();
    let known = SYSTEMS.get(usize::from(system)).copied();
    let size = match style {
        Style::Medium => {
            // Rounded as there, so that half of a negative percent goes up.
            let tenths = saved(entry.content_bytes(), without_head(entry));
            format!("{:3}% ", (tenths + 5) / 10)
        }
        Style::Long => format!(" {:8} ", entry.compressed_bytes()),
        _ => " ".to_owned(),
    };
    let form = match asked.decimal {
        true => "%Y%m%d.%H%M%S",
        false => "%y-%b-%d %H:%M",
    };
    let _ = writeln!(
        text,
        "{:<10}  {}.{} {} {:8} {}{}{size}{} {} {name}",
        attributes(entry),
        version / 10,
        version % 10,
        known.unwrap_or("???"),
        entry.content_bytes(),
        kind(entry),
        fields(entry),
        short_method(entry),
        clock(entry).strftime(form),
    );
}

/// Text or binary; in upper case where encrypted.
fn kind(entry: &Entry<'_>) -> char {
    let text = entry.internal_attributes() & 1 != 0;
    match (entry.is_encrypted(), text) {
        (false, true) => 't',
        (false, false) => 'b',
        (true, true) => 'T',
        (true, false) => 'B',
    }
}

/// Whether there are extra fields, and a descriptor.
fn fields(entry: &Entry<'_>) -> char {
    match (entry.has_descriptor(), entry.extra_bytes().is_empty()) {
        (false, true) => '-',
        (false, false) => 'x',
        (true, true) => 'l',
        (true, false) => 'X',
    }
}

/// Systems whose attributes are those of DOS, by their numbers.
const LIKE_DOS: [u8; 7] = [0, 4, 6, 11, 13, 14, 15];
/// What programs of DOS end with.
const PROGRAMS: [&str; 5] = ["com", "exe", "btm", "cmd", "bat"];

/// Kind and permissions, as `ls` shows them; of systems like DOS their attributes.
fn attributes(entry: &Entry<'_>) -> String {
    let [_, system] = entry.made_by().to_le_bytes();
    let (dos, mode) = (
        entry.external_attributes(),
        entry.external_attributes() >> 16,
    );
    // Some programs of DOS state a mode as well: it counts where it says the same.
    let agrees = mode & 0o700 == 0o400 | u32::from(dos & 1 == 0) << 7 | (dos & 0x10) << 2;
    if LIKE_DOS.contains(&system) && !(system == 0 && agrees) {
        return dos_attributes(dos, &entry.name_lossy());
    }
    let mut text = String::from(match mode >> 12 {
        0o01 => 'p',
        0o02 => 'c',
        0o04 => 'd',
        0o06 => 'b',
        0o10 => '-',
        0o12 => 'l',
        0o14 => 's',
        _ => '?',
    });
    for (shift, special, [with, alone]) in [
        (6, 0o4000, ['s', 'S']),
        (3, 0o2000, ['s', 'S']),
        (0, 0o1000, ['t', 'T']),
    ] {
        let bits = mode >> shift;
        text.push(if bits & 4 != 0 { 'r' } else { '-' });
        text.push(if bits & 2 != 0 { 'w' } else { '-' });
        text.push(match (mode & special != 0, bits & 1 != 0) {
            (true, true) => with,
            (true, false) => alone,
            (false, true) => 'x',
            (false, false) => '-',
        });
    }
    text
}

fn dos_attributes(bits: u32, name: &str) -> String {
    let flag = |bit: u32, letter: char| if bits & bit != 0 { letter } else { '-' };
    let end = name.rsplit_once('.').map(|(_, end)| end.to_lowercase());
    let is_program = end.is_some_and(|end| PROGRAMS.iter().any(|known| end.starts_with(known)));
    let kind = match bits & 0x08 {
        0 => flag(0x10, 'd'),
        _ => 'V',
    };
    let runs = match is_program && bits & 0x08 == 0 {
        true => 'x',
        false => flag(0x10, 'x'),
    };
    let writes = if bits & 1 != 0 { '-' } else { 'w' };
    let (archive, hidden, system) = (flag(0x20, 'a'), flag(2, 'h'), flag(4, 's'));
    format!("{kind}r{writes}{runs}{archive}{hidden}{system}")
}
