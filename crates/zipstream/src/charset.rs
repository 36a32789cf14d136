//! The charsets of names that are not UTF-8: old archives do not state theirs.
//!
//! The tables are those of the crates `encoding_rs` and `oem_cp`. How a name that nobody has stated a charset for is
//! read is decided in `crate::format::names`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use encoding_rs::Encoding;
use oem_cp::code_table::DECODING_TABLE_CP_MAP;

use crate::error::{Error, unknown};

/// Windows' numbers of code pages that `encoding_rs` knows under other names.
const PAGES: [(u16, &str); 9] = [
    (932, "shift_jis"),
    (936, "gbk"),
    (949, "euc-kr"),
    (950, "big5"),
    (1361, "euc-kr"),
    (20866, "koi8-r"),
    (21866, "koi8-u"),
    (54936, "gb18030"),
    (65001, "utf-8"),
];

/// What a refused word may be instead.
const KNOWN: &str = "CP437, CP850, CP866, CP932, CP936, CP949, CP950, CP1252, Shift_JIS, GBK, EUC-KR, Big5, \
                     KOI8-R, UTF-8, or another label of the Encoding Standard or code page of DOS";

/// A charset of names, by its label: a code page of DOS or Windows (`CP850`, `IBM850`, `850`), or a label of the
/// [Encoding Standard](https://encoding.spec.whatwg.org/#names-and-labels).
///
/// ```
/// use zipstream::Charset;
///
/// let charset: Charset = "cp866".parse()?;
/// assert_eq!(charset.decode(&[0x8f, 0xa8]).as_deref(), Some("Пи"));
/// # Ok::<(), zipstream::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Charset(Table);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Table {
    /// The number of a code page of DOS.
    Dos(u16),
    Web(&'static Encoding),
}

impl Charset {
    /// Bytes as text; `None` if they are invalid in this charset.
    pub fn decode<'a>(&self, bytes: &'a [u8]) -> Option<Cow<'a, str>> {
        match self.0 {
            Table::Dos(_) if bytes.is_ascii() => std::str::from_utf8(bytes).ok().map(Cow::Borrowed),
            Table::Dos(page) => {
                let table = DECODING_TABLE_CP_MAP.get(&page)?;
                table.decode_string_checked(bytes).map(Cow::Owned)
            }
            Table::Web(encoding) => {
                encoding.decode_without_bom_handling_and_without_replacement(bytes)
            }
        }
    }
}

impl fmt::Display for Charset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Table::Dos(page) => write!(f, "CP{page}"),
            Table::Web(encoding) => f.write_str(encoding.name()),
        }
    }
}

impl FromStr for Charset {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let folded = text.trim().to_ascii_lowercase();
        let digits = ["cp", "ibm", "dos-", "windows-", "ms"]
            .iter()
            .find_map(|prefix| folded.strip_prefix(prefix))
            .unwrap_or(&folded);
        let page: Option<u16> = digits.trim_start_matches(['-', '_']).parse().ok();
        if let Some(page) = page {
            let label = PAGES.iter().find(|(number, _)| *number == page);
            if let Some(encoding) = label.and_then(|(_, label)| web(label)) {
                return Ok(Self(encoding));
            }
            if DECODING_TABLE_CP_MAP.contains_key(&page) {
                return Ok(Self(Table::Dos(page)));
            }
            if let Some(encoding) = web(&format!("windows-{page}")) {
                return Ok(Self(encoding));
            }
        }
        let found = web(&folded).map(Self);
        found.ok_or_else(|| unknown("charset", text, KNOWN))
    }
}

/// The charset of a label, unless its characters are not made of ASCII and more: names have '/' between their parts.
fn web(label: &str) -> Option<Table> {
    Encoding::for_label_no_replacement(label.as_bytes())
        .filter(|encoding| encoding.is_ascii_compatible())
        .map(Table::Web)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(label: &str, bytes: &[u8]) -> Option<String> {
        let charset: Charset = label.parse().unwrap();
        charset.decode(bytes).map(Cow::into_owned)
    }

    #[test]
    fn labels_of_windows_of_dos_and_of_the_web() {
        for label in [
            "cp932",
            "CP932",
            "932",
            "Shift_JIS",
            "sjis",
            "ms932",
            "windows-31j",
        ] {
            assert_eq!(read(label, b"\x93\xfa\x96{").unwrap(), "日本", "{label}");
        }
        for label in ["850", "cp850", "IBM850", "CP-850", "dos-850"] {
            assert_eq!(read(label, b"\xd1").unwrap(), "Ð", "{label}");
        }
        assert_eq!(read("cp936", b"\xd6\xd0").unwrap(), "中");
        assert_eq!(read("cp949", b"\xc7\xd1").unwrap(), "한");
        assert_eq!(read("cp950", b"\xa4\xa4").unwrap(), "中");
        assert_eq!(read("cp1251", b"\xcf").unwrap(), "П");
        assert_eq!(read("koi8-r", b"\xf0").unwrap(), "П");
        assert_eq!(read("utf-8", "ü".as_bytes()).unwrap(), "ü");
        assert_eq!(read("latin1", b"\xfc").unwrap(), "ü");
    }

    #[test]
    fn what_is_no_charset_of_names_is_refused() {
        for label in [
            "",
            "x",
            "cp",
            "cp0",
            "cp99999",
            "utf-16",
            "utf-16le",
            "iso-2022-jp",
            "replacement",
        ] {
            let error = label.parse::<Charset>().unwrap_err().to_string();
            assert!(error.contains("CP437"), "{label}: {error}");
        }
    }

    #[test]
    fn a_shown_charset_is_read_again() {
        for label in [
            "cp850",
            "cp932",
            "gbk",
            "windows-1252",
            "utf-8",
            "cp866",
            "cp437",
        ] {
            let charset: Charset = label.parse().unwrap();
            assert_eq!(charset.to_string().parse::<Charset>().unwrap(), charset);
        }
    }

    #[test]
    fn invalid_bytes_have_no_text() {
        assert_eq!(read("cp932", b"\x93"), None);
        assert_eq!(read("utf-8", b"\xff"), None);
        assert_eq!(read("cp857", b"\xd5"), None);
        // Every byte of a whole table, and none.
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(read("cp437", &all).unwrap().chars().count(), 256);
        assert_eq!(read("cp437", b"").unwrap(), "");
    }
}
