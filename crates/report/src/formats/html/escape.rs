//! Text and numbers as they stand in a page: nothing in them is markup.

use std::fmt::Write as _;

use crate::plain::visible;

/// Text for the content of an element or for an attribute in quotes.
pub(in crate::formats) fn text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in visible(text).chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// JSON for a script element, which no text in it can end.
pub(super) fn json(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for letter in crate::plain::json(json).chars() {
        match letter {
            '<' | '>' | '&' => {
                // Writing to a string cannot fail.
                let _ = write!(escaped, "\\u{:04x}", u32::from(letter));
            }
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// A coordinate to a tenth of a pixel.
pub(super) fn pixels(at: f64) -> String {
    // Without the addition, -0.04 would be -0.
    let tenths = (at * 10.0).round() / 10.0 + 0.0;
    format!("{tenths}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_is_markup() {
        let hostile = "</script><img src=x onerror='a()' title=\"&\">\u{202e}\n";
        let shown = text(hostile);
        assert!(
            !shown.contains(['<', '>', '"', '\'', '\n', '\u{202e}']),
            "{shown}"
        );
        assert!(shown.contains("&lt;/script&gt;"), "{shown}");
        let quoted = serde_json::to_string(hostile).expect("JSON");
        let safe = json(&quoted);
        assert!(!safe.contains(['<', '>', '&']), "{safe}");
        let back: String = serde_json::from_str(&safe).expect("still JSON");
        assert_eq!(back, hostile);
    }

    #[test]
    fn coordinates_are_short() {
        for (at, shown) in [(12.0, "12"), (12.34, "12.3"), (-0.04, "0"), (0.96, "1")] {
            assert_eq!(pixels(at), shown);
        }
    }
}
