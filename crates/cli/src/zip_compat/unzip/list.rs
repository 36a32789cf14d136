//! `unzip -l` and `-v`.

use std::fmt::Write as _;

use report::units::counted;

use crate::zip_compat::ended::Ended;
use crate::zip_compat::shown;
use crate::zip_compat::unzip::flags::{Line, Mode};
use crate::zip_compat::unzip::open::Opened;
use crate::zip_compat::unzip::rows::{clock, method, percent, without_head};
use crate::zip_compat::unzip::selection::{Selected, comment, entries, lines_of};
use crate::zip_compat::unzip::selection::{exit, finish_selection, print};

/// Text that is written when it is this long.
const WRITE_BYTES: usize = 128 << 10;

/// Lists the entries; returns the exit code.
pub(super) fn list(line: &mut Line, opened: &Opened) -> Ended<u8> {
    let full = line.mode == Mode::Verbose;
    let mut text = String::new();
    if line.quiet == 0 {
        let _ = writeln!(text, "Archive:  {}", shown::path(&opened.path));
        text.push_str(&comment(&opened.reader));
    }
    if opened.reader.is_empty() {
        print(&text)?;
        return Ok(opened.code);
    }
    if line.quiet < 2 {
        text.push_str(match full {
            true => concat!(
                " Length   Method    Size  Cmpr    Date    Time   CRC-32   Name\n",
                "--------  ------  ------- ---- ---------- ----- --------  ----\n"
            ),
            false => concat!(
                "  Length      Date    Time    Name\n",
                "---------  ---------- -----   ----\n"
            ),
        });
    }
    let (mut count, mut content, mut compressed) = (0_u64, 0_u64, 0_u64);
    let lower = line.lower;
    let mut selected = Selected::new(line);
    for entry in entries(&opened.reader) {
        let name = entry.name_lossy();
        if !selected.takes(&name) {
            continue;
        }
        count += 1;
        content = content.saturating_add(entry.content_bytes());
        compressed = compressed.saturating_add(without_head(&entry));
        let at = clock(&entry).strftime("%Y-%m-%d %H:%M").to_string();
        let name = match lower {
            0 | 1 => name,
            _ => name.to_lowercase().into(),
        };
        let name = shown::name(&name);
        // Writing to a string cannot fail.
        let _ = match full {
            true => writeln!(
                text,
                "{:8}  {:<7}{:8} {:>4} {at} {:08x}  {name}",
                entry.content_bytes(),
                method(&entry),
                without_head(&entry),
                percent(entry.content_bytes(), without_head(&entry)),
                entry.crc32(),
            ),
            false => writeln!(text, "{:9}  {at}   {name}", entry.content_bytes()),
        };
        text.push_str(&lines_of(entry.comment()));
        if text.len() >= WRITE_BYTES {
            print(&text)?;
            text.clear();
        }
    }
    if line.quiet < 2 {
        let files = counted(count, ["file", "files"]);
        let _ = match full {
            true => writeln!(
                text,
                "--------          -------  ---                            -------\n{content:8}         {compressed:8} {:>4}                            {files}",
                percent(content, compressed)
            ),
            false => writeln!(
                text,
                "---------                     -------\n{content:9}                     {files}"
            ),
        };
    }
    print(&text)?;
    Ok(exit(opened.code, finish_selection(line, count, false)))
}
