//! Names as bytes and their encodings. Which names are safe is decided in `crate::name`.

use std::borrow::Cow;

use super::extra;
use crate::name_bytes::{escaped, of_bytes};

/// The upper half of code page 437, in order.
const UPPER: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐\
                     └┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{a0}";

/// A name as text: UTF-8 if flagged, else the Unicode field if it belongs to this name, as in unzip, 7-Zip and
/// bsdtar, else in the charset that the caller has stated, else UTF-8 if it is valid, as many programs write it
/// without the flag, else with its bytes kept if the caller wants that, else code page 437. What is wrong with it, if it
/// is invalid as stated.
pub(crate) fn decode<'a>(
    raw: &'a [u8],
    utf8: bool,
    area: &'a [u8],
    stated: Stated,
) -> Result<Cow<'a, str>, &'static str> {
    let plain = std::str::from_utf8(raw).ok();
    let plain = plain.map(|name| escaped(Cow::Borrowed(name)));
    if utf8 {
        return plain.ok_or("its name is flagged as UTF-8 but is invalid UTF-8");
    }
    let field = extra::unicode_name(area, raw).filter(|name| !name.is_empty());
    if let Some(name) = field {
        return Ok(escaped(Cow::Borrowed(name)));
    }
    #[cfg(feature = "charsets")]
    if let Some(charset) = stated.charset {
        let name = charset.decode(raw).map(escaped);
        return name.ok_or("its name is invalid in the charset that was stated for names");
    }
    Ok(match plain {
        Some(name) => name,
        None if stated.keeps_bytes => of_bytes(raw),
        None => raw.iter().map(|byte| from_437(*byte)).collect(),
    })
}

/// What the caller has stated of names that state nothing themselves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Stated {
    /// Their charset.
    #[cfg(feature = "charsets")]
    pub(crate) charset: Option<crate::charset::Charset>,
    /// Whether bytes that are no UTF-8 are kept, where no charset is stated.
    pub(crate) keeps_bytes: bool,
}

fn from_437(byte: u8) -> char {
    match byte.checked_sub(128) {
        None => char::from(byte),
        Some(index) => UPPER.chars().nth(index.into()).unwrap_or('\u{fffd}'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole() {
        assert_eq!(UPPER.chars().count(), 128);
        assert_eq!(from_437(0x81), 'ü');
        assert_eq!(from_437(0xe1), 'ß');
        assert_eq!(from_437(0xff), '\u{a0}');
    }

    #[test]
    fn the_flag_decides_the_encoding() {
        assert_eq!(
            decode("ü".as_bytes(), true, &[], Stated::default()).unwrap(),
            "ü"
        );
        assert_eq!(decode(&[0x81], false, &[], Stated::default()).unwrap(), "ü");
        decode(&[0x81], true, &[], Stated::default()).unwrap_err();
        let field = [
            &[0x75, 0x70, 7, 0, 1][..],
            &libdeflater::crc32(b"a").to_le_bytes(),
            "ü".as_bytes(),
        ]
        .concat();
        assert_eq!(decode(b"a", false, &field, Stated::default()).unwrap(), "ü");
        assert_eq!(decode(b"a", true, &field, Stated::default()).unwrap(), "a");
        assert_eq!(decode(b"b", false, &field, Stated::default()).unwrap(), "b");
        let keeps = Stated {
            keeps_bytes: true,
            ..Stated::default()
        };
        assert_eq!(decode(&[0x81], false, &[], keeps).unwrap(), "\u{10ff81}");
        assert_eq!(decode("ü".as_bytes(), false, &[], keeps).unwrap(), "ü");
        decode(&[0x81], true, &[], keeps).unwrap_err();
        // Two or more letters of code page 437 hardly ever form valid UTF-8.
        assert_eq!(
            decode("ü".as_bytes(), false, &[], Stated::default()).unwrap(),
            "ü"
        );
    }
}
