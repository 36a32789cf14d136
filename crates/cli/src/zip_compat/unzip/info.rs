//! `zipinfo`, and `unzip -Z`.

use std::fmt::Write as _;

use zipstream::Entry;

use report::units::counted;

use crate::zip_compat::ended::Ended;
use crate::zip_compat::shown;
use crate::zip_compat::unzip::attributes::attributes;
use crate::zip_compat::unzip::flags::{Info, Line, Style};
use crate::zip_compat::unzip::open::Opened;
use crate::zip_compat::unzip::pages::pages;
use crate::zip_compat::unzip::rows::{clock, saved, short_method, without_head};
use crate::zip_compat::unzip::selection::{
    Selected, comment, entries, exit, finish_selection, print,
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
    if asked.style == Some(Style::Pages) {
        return pages(line, opened);
    }
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
    for entry in entries(&opened.reader) {
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
            print(&text)?;
            text.clear();
        }
    }
    if !bare && (asked.totals || framed) {
        let files = counted(count, ["file", "files"]);
        let tenths = saved(content, compressed);
        let sign = if tenths < 0 { "-" } else { "" };
        let (whole, part) = (tenths.unsigned_abs() / 10, tenths.unsigned_abs() % 10);
        let _ = writeln!(
            text,
            "{files}, {content} bytes uncompressed, {compressed} bytes compressed:  {sign}{whole}.{part}%"
        );
    }
    print(&text)?;
    Ok(exit(opened.code, finish_selection(line, count, false)))
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
