//! Text from outside made fit for a terminal: what would move its cursor or turn its text around is
//! shown, not obeyed. Files for machines keep every byte and do not come through here.

use std::borrow::Cow;

/// `text` with control characters, line ends among them, and bidirectional overrides as escapes
/// (`\n`, `\u{1b}`).
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unfit) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        if is_unfit(letter) {
            out.extend(letter.escape_default());
        } else {
            out.push(letter);
        }
    }
    Cow::Owned(out)
}

/// Whether a terminal may do something else with this character than show it.
fn is_unfit(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{feff}')
        || matches!(letter, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_steer_a_terminal_is_shown() {
        for (text, shown) in [
            ("a\nb\tc\r", "a\\nb\\tc\\r"),
            ("\u{1b}[31m", "\\u{1b}[31m"),
            ("\u{9b}31m\u{7f}", "\\u{9b}31m\\u{7f}"),
            ("gpj.\u{202e}exe\u{2066}", "gpj.\\u{202e}exe\\u{2066}"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }

    #[test]
    fn other_text_is_left_as_it_is() {
        let text = "naïve 'file' — 日本語 👩‍🚀 C:\\x";
        assert!(matches!(visible(text), Cow::Borrowed(same) if same == text));
    }
}
