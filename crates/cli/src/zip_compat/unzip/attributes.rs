//! Kind and permissions of an entry in ten letters.

use zipstream::Entry;

/// Systems whose attributes are those of DOS, by their numbers.
const LIKE_DOS: [u8; 7] = [0, 4, 6, 11, 13, 14, 15];
/// What programs of DOS end with.
const PROGRAMS: [&str; 5] = ["com", "exe", "btm", "cmd", "bat"];

/// Kind and permissions, as `ls` shows them; of systems like DOS their attributes.
pub(super) fn attributes(entry: &Entry<'_>) -> String {
    let [_, system] = entry.made_by().to_le_bytes();
    let (dos, mode) = (
        entry.external_attributes(),
        entry.external_attributes() >> 16,
    );
    // Some programs of DOS state a mode as well.
    if LIKE_DOS.contains(&system) && entry.mode().is_none() {
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
