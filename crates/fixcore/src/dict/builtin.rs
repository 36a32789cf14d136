//! The built-in dictionaries of the standard's versions, as compact text that `cargo xtask codegen`
//! generates.

use std::sync::OnceLock;

use super::dictionary::Dictionary;
use super::source::Source;
use crate::names::named;

/// A version of FIX with a built-in dictionary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names are the standard's")]
pub enum Version {
    Fix40,
    Fix41,
    Fix42,
    Fix43,
    Fix44,
    Fix50,
    Fix50Sp1,
    Fix50Sp2,
    Fixt11,
}

named!(Version, "FIX version");

static BUILT: [OnceLock<Option<Dictionary>>; 9] = [const { OnceLock::new() }; 9];

impl Version {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Fix40,
        Self::Fix41,
        Self::Fix42,
        Self::Fix43,
        Self::Fix44,
        Self::Fix50,
        Self::Fix50Sp1,
        Self::Fix50Sp2,
        Self::Fixt11,
    ];

    /// Its name in flags and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fix40 => "4.0",
            Self::Fix41 => "4.1",
            Self::Fix42 => "4.2",
            Self::Fix43 => "4.3",
            Self::Fix44 => "4.4",
            Self::Fix50 => "5.0",
            Self::Fix50Sp1 => "5.0sp1",
            Self::Fix50Sp2 => "5.0sp2",
            Self::Fixt11 => "fixt1.1",
        }
    }

    fn text(self) -> &'static str {
        match self {
            Self::Fix40 => include_str!("../../dictionaries/fix40.txt"),
            Self::Fix41 => include_str!("../../dictionaries/fix41.txt"),
            Self::Fix42 => include_str!("../../dictionaries/fix42.txt"),
            Self::Fix43 => include_str!("../../dictionaries/fix43.txt"),
            Self::Fix44 => include_str!("../../dictionaries/fix44.txt"),
            Self::Fix50 => include_str!("../../dictionaries/fix50.txt"),
            Self::Fix50Sp1 => include_str!("../../dictionaries/fix50sp1.txt"),
            Self::Fix50Sp2 => include_str!("../../dictionaries/fix50sp2.txt"),
            Self::Fixt11 => include_str!("../../dictionaries/fixt11.txt"),
        }
    }

    /// Its dictionary, which the first call builds. Never `None`: a test reads all of them.
    #[must_use]
    pub fn dictionary(self) -> Option<&'static Dictionary> {
        let built = BUILT.get(self as usize)?;
        let read = || {
            let source = Source::from_text(self.text()).ok()?;
            Dictionary::put_together(source).ok()
        };
        built.get_or_init(read).as_ref()
    }

    /// The version of messages with this BeginString (8); for 5.0 the last service pack.
    #[must_use]
    pub fn of_begin_string(begin_string: &[u8]) -> Option<Self> {
        Some(match begin_string {
            b"FIX.4.0" => Self::Fix40,
            b"FIX.4.1" => Self::Fix41,
            b"FIX.4.2" => Self::Fix42,
            b"FIX.4.3" => Self::Fix43,
            b"FIX.4.4" => Self::Fix44,
            b"FIX.5.0" => Self::Fix50Sp2,
            b"FIXT.1.1" => Self::Fixt11,
            _ => return None,
        })
    }

    /// The version with this ApplVerID (1128, 1137).
    #[must_use]
    pub fn of_appl_ver_id(value: &[u8]) -> Option<Self> {
        Some(match value {
            b"2" => Self::Fix40,
            b"3" => Self::Fix41,
            b"4" => Self::Fix42,
            b"5" => Self::Fix43,
            b"6" => Self::Fix44,
            b"7" => Self::Fix50,
            b"8" => Self::Fix50Sp1,
            b"9" => Self::Fix50Sp2,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_versions_are_read_and_written_as_they_are() {
        for version in Version::ALL {
            let source = Source::from_text(version.text()).unwrap();
            assert_eq!(source.to_text(), version.text(), "{version}");
            let dictionary = version.dictionary().unwrap();
            assert_eq!(dictionary.messages().len(), source.messages.len());
            assert_eq!(dictionary.field(35).unwrap().name(), "MsgType");
            // Every pair is one that a decoder knows without a dictionary.
            let standard = crate::DataPairs::standard();
            for pair in dictionary.data_pairs().pairs() {
                assert!(standard.pairs().contains(pair), "{version}: {pair:?}");
            }
        }
    }
}
