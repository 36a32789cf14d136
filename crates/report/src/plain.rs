//! Text from outside made fit for a terminal: what would move its cursor, hide text or turn it around
//! is shown, not obeyed.

use std::borrow::Cow;
use std::fmt::Write as _;

/// A word of a message is shown up to this many characters; names of files have 255 bytes at most.
const WORD_CHARS_MAX: usize = 300;
/// The same of a whole message.
const MESSAGE_CHARS_MAX: usize = 2_000;

/// `text` with control characters, line ends among them, and invisible format characters as escapes
/// (`\n`, `\u{1b}`).
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |letter, out| out.extend(letter.escape_default()))
}

/// A JSON text with the same meaning, in which none of these characters stands as it is. What JSON
/// itself allows between its tokens stays.
pub fn json(text: &str) -> Cow<'_, str> {
    escaped(text, |letter, out| match letter {
        '\n' | '\r' | '\t' => out.push(letter),
        letter => {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
    })
}

/// A message as it is printed: visible, and of a length that leaves what is said around a long name on
/// the screen.
pub fn message(text: &str) -> String {
    visible(&cut(text)).into_owned()
}

/// `text` with the middle of words, and of the whole, left out where they are too long.
pub fn cut(text: &str) -> String {
    if text.len() <= WORD_CHARS_MAX {
        return text.to_owned();
    }
    let mut out = String::with_capacity(MESSAGE_CHARS_MAX);
    for word in text.split_inclusive(char::is_whitespace) {
        shorten(word, WORD_CHARS_MAX, &mut out);
    }
    let words = std::mem::take(&mut out);
    shorten(&words, MESSAGE_CHARS_MAX, &mut out);
    out
}

/// Appends `text`, in at most about `most` characters.
fn shorten(text: &str, most: usize, out: &mut String) {
    let count = match text.len() <= most {
        true => 0,
        false => text.chars().count(),
    };
    if count <= most {
        out.push_str(text);
        return;
    }
    let kept = most / 2;
    let place = |nth| {
        text.char_indices()
            .nth(nth)
            .map_or(text.len(), |(at, _)| at)
    };
    let left_out = count - 2 * kept;
    // Writing to a string cannot fail.
    let _ = write!(
        out,
        "{}… ({left_out} characters left out) …{}",
        &text[..place(kept)],
        &text[place(count - kept)..]
    );
}

fn escaped(text: &str, mut escape: impl FnMut(char, &mut String)) -> Cow<'_, str> {
    if !text.contains(is_unfit) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for letter in text.chars() {
        match is_unfit(letter) {
            true => escape(letter, &mut out),
            false => out.push(letter),
        }
    }
    Cow::Owned(out)
}

/// Whether a terminal may do something else with this character than show it: controls, line and
/// paragraph separators, what directs text from right to left, and format characters that take no
/// room. The joiners U+200C and U+200D are text: scripts and emoji need them.
pub fn is_unfit(letter: char) -> bool {
    match letter {
        '\u{20}'..='\u{7e}' => false,
        '\0'..='\u{9f}' => true,
        '\u{ad}' | '\u{61c}' | '\u{70f}' | '\u{180e}' | '\u{feff}' => true,
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}' => true,
        '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' => true,
        '\u{e0000}'..='\u{e0fff}' => true,
        _ => false,
    }
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
            ("a\u{ad}b\u{200b}\u{e0041}", "a\\u{ad}b\\u{200b}\\u{e0041}"),
        ] {
            assert_eq!(visible(text), shown);
        }
    }

    #[test]
    fn other_text_is_left_as_it_is() {
        let text = "naïve 'file' — 日本語 👩‍🚀 می‌خواهم C:\\x";
        assert!(matches!(visible(text), Cow::Borrowed(same) if same == text));
        assert!(matches!(json(text), Cow::Borrowed(same) if same == text));
        assert_eq!(message(text), text);
    }

    #[test]
    fn json_says_the_same_with_every_character_escaped() {
        let unfit: String = ('\0'..=char::MAX)
            .filter(|letter| is_unfit(*letter))
            .collect();
        let plain = serde_json::to_string_pretty(&[&unfit]).expect("JSON");
        let shown = json(&plain);
        assert!(!shown.contains(|letter| is_unfit(letter) && letter != '\n'));
        let read: Vec<String> = serde_json::from_str(&shown).expect("still JSON");
        assert_eq!(read, [unfit]);
    }

    #[test]
    fn long_words_and_messages_lose_their_middle() {
        let name = format!("A{}Z", "ü".repeat(60_000));
        let shown = message(&format!("cannot read '{name}': too long"));
        assert!(shown.starts_with("cannot read 'Aüüü"), "{shown}");
        assert!(shown.ends_with("üüüZ': too long"), "{shown}");
        assert!(
            shown.contains("ü… (59706 characters left out) …ü"),
            "{shown}"
        );
        assert!(shown.chars().count() < 400);
        let words = "a b ".repeat(10_000);
        let shown = message(&words);
        assert!(shown.contains("… (38000 characters left out) …"), "{shown}");
        assert!(shown.len() < 2_100);
        assert_eq!(message("\u{1b}"), "\\u{1b}");
    }
}
