//! A line of a report: words with a tone, laid out for a terminal or as Markdown.
//!
//! What the lines say is in `body`. What comes from files and command lines is cleaned here, so
//! that no report can steer the terminal that it is shown on.

use std::io::{self, Write};

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use crate::plain::visible;
use crate::style::Palette;

/// How words are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tone {
    /// As they are.
    Plain,
    /// What the line is about.
    Heading,
    /// To be looked at first.
    Strong,
    /// Less important than the rest of the line.
    Faint,
    /// Good news.
    Good,
    /// A warning.
    Warn,
    /// An error.
    Bad,
}

/// Words in a row.
#[derive(Debug, Clone, Default)]
pub(super) struct Line(Vec<(Tone, String)>);

impl Line {
    /// A line of these words.
    pub(super) fn of(tone: Tone, text: impl AsRef<str>) -> Self {
        Self::default().and(tone, text)
    }

    /// The line with these words after its own.
    pub(super) fn and(mut self, tone: Tone, text: impl AsRef<str>) -> Self {
        self.0.push((tone, visible(text.as_ref()).into_owned()));
        self
    }

    /// The line with these plain words after its own.
    pub(super) fn plain(self, text: impl AsRef<str>) -> Self {
        self.and(Tone::Plain, text)
    }

    /// The line with other words for its own.
    pub(super) fn with(&self, other: impl Fn(&str) -> String) -> Self {
        let parts = self.0.iter();
        Self(parts.map(|(tone, text)| (*tone, other(text))).collect())
    }

    /// Its words with their tones.
    pub(super) fn parts(&self) -> &[(Tone, String)] {
        &self.0
    }

    /// The columns that it takes on a terminal.
    pub(super) fn width(&self) -> usize {
        self.0.iter().map(|(_, text)| text.width()).sum()
    }

    /// As much of it as fits into `columns` columns.
    pub(super) fn cut(self, columns: usize) -> Self {
        let mut left = columns;
        let mut parts = Vec::new();
        for (tone, text) in self.0 {
            let mut end = 0;
            for (at, letter) in text.char_indices() {
                let width = letter.width().unwrap_or(0);
                if width > left {
                    left = 0;
                    break;
                }
                left -= width;
                end = at + letter.len_utf8();
            }
            let is_whole = end == text.len();
            parts.push((tone, text[..end].to_owned()));
            if !is_whole {
                break;
            }
        }
        Self(parts)
    }

    /// The line with the words of another after its own.
    pub(super) fn join(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        self
    }

    /// For a terminal of `columns` columns: broken between words, the first line and the others after
    /// these margins.
    pub(super) fn text_within(
        &self,
        columns: usize,
        (first, others): (&str, &str),
        palette: &Palette,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let mut lines = vec![Self::default()];
        let (mut taken, mut begun) = (first.width(), false);
        let words = self.0.iter().flat_map(|(tone, text)| {
            let words = words(text).into_iter();
            words.map(move |(gap, word)| (*tone, gap, word))
        });
        let mut before = 0;
        for (tone, gap, word) in words {
            let gap = gap + std::mem::take(&mut before);
            if word.is_empty() {
                // Blanks at the end of some words belong before the next ones.
                before = gap;
                continue;
            }
            let fits = gap.saturating_add(taken) + word.width() <= columns;
            if begun && gap > 0 && !fits {
                lines.push(Self::default());
                (taken, begun) = (others.width(), false);
            }
            // Blanks at the start of the whole line are meant, those at a break are not.
            let kept = if begun || lines.len() == 1 { gap } else { 0 };
            taken += kept + word.width();
            begun = true;
            if let Some(line) = lines.last_mut() {
                line.0.push((tone, " ".repeat(kept) + word));
            }
        }
        for (nth, line) in lines.iter().enumerate() {
            write!(out, "{}", if nth == 0 { first } else { others })?;
            line.text(palette, out)?;
        }
        Ok(())
    }

    /// For a terminal.
    pub(super) fn text(&self, palette: &Palette, out: &mut dyn Write) -> io::Result<()> {
        for (tone, text) in &self.0 {
            let style = match tone {
                Tone::Plain => {
                    write!(out, "{text}")?;
                    continue;
                }
                Tone::Heading => palette.heading,
                Tone::Strong => palette.strong,
                Tone::Faint => palette.faint,
                Tone::Good => palette.good,
                Tone::Warn => palette.warn,
                Tone::Bad => palette.bad,
            };
            write!(out, "{style}{text}{style:#}")?;
        }
        writeln!(out)
    }

    /// As Markdown.
    pub(super) fn markdown(&self, out: &mut dyn Write) -> io::Result<()> {
        for (tone, text) in &self.0 {
            let text = escape(text);
            match tone {
                Tone::Heading | Tone::Strong | Tone::Bad => write!(out, "**{text}**")?,
                Tone::Plain | Tone::Faint | Tone::Good | Tone::Warn => write!(out, "{text}")?,
            }
        }
        writeln!(out)
    }
}

/// Words with the blanks before each. A number and its unit are one word.
fn words(text: &str) -> Vec<(usize, &str)> {
    let mut words: Vec<(usize, usize, usize)> = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let gap = rest.len() - rest.trim_start_matches(' ').len();
        let word = &rest[gap..];
        let end = word.find(' ').unwrap_or(word.len());
        let unit = gap == 1 && UNITS.contains(&word[..end].trim_end_matches([',', ')', ';']));
        match words.last_mut() {
            Some(last) if unit && text[..at].ends_with(|c: char| c.is_ascii_digit()) => {
                last.2 = at + gap + end;
            }
            _ => words.push((gap, at + gap, at + gap + end)),
        }
        at += gap + end;
    }
    let words = words.into_iter();
    words
        .map(|(gap, from, to)| (gap, &text[from..to]))
        .collect()
}

/// What stays with the number before it.
const UNITS: [&str; 16] = [
    "ns", "µs", "ms", "s", "B", "KiB", "MiB", "GiB", "TiB", "B/s", "KiB/s", "MiB/s", "GiB/s",
    "TiB/s", "%", "CPUs",
];

/// A text in pieces of at most `columns` columns, broken between words where there are any.
pub(super) fn pieces(text: &str, columns: usize) -> Vec<String> {
    if text.width() <= columns {
        return vec![text.to_owned()];
    }
    let mut pieces = vec![String::new()];
    for (gap, word) in words(text) {
        let Some(piece) = pieces.last_mut() else {
            break;
        };
        if piece.is_empty() || piece.width() + gap + word.width() <= columns {
            if !piece.is_empty() {
                piece.push_str(&" ".repeat(gap));
            }
            piece.push_str(word);
        } else {
            pieces.push(word.to_owned());
        }
        // A word that is wider than the column has to be cut.
        while let Some(long) = pieces.pop_if(|piece| piece.width() > columns) {
            let mut end = 0;
            let mut taken = 0;
            for (at, letter) in long.char_indices() {
                let width = letter.width().unwrap_or(0);
                if taken + width > columns && at > 0 {
                    break;
                }
                taken += width;
                end = at + letter.len_utf8();
            }
            let (head, tail) = long.split_at(end);
            pieces.push(head.to_owned());
            if tail.is_empty() {
                break;
            }
            pieces.push(tail.to_owned());
        }
    }
    pieces
}

/// Without what Markdown would take for its own.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '*' | '`' | '[' | '<' | '|') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_neither_steer_the_terminal_nor_become_markup() {
        let line = Line::of(Tone::Strong, "a\u{1b}[2Jb\nc").plain(" <b>*x*");
        let mut text = Vec::new();
        line.text(&Palette::ANSI, &mut text).expect("written");
        let text = String::from_utf8(text).expect("text");
        assert!(!text.contains("\u{1b}[2J"), "{text:?}");
        assert_eq!(text.lines().count(), 1);
        let mut markdown = Vec::new();
        line.markdown(&mut markdown).expect("written");
        assert_eq!(
            String::from_utf8(markdown).expect("text"),
            "**a\\\\u{1b}\\[2Jb\\\\nc** \\<b>\\*x\\*\n"
        );
    }

    fn within(line: &Line, columns: usize) -> String {
        let mut out = Vec::new();
        let margins = ("  ", "    ");
        line.text_within(columns, margins, &Palette::PLAIN, &mut out)
            .expect("written");
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn a_long_line_is_broken_between_words_and_never_before_a_unit() {
        let line = Line::of(Tone::Strong, "took 1.31 ms")
            .plain(", of which 900 µs were spent elsewhere")
            .plain("  95 % of it");
        assert_eq!(
            within(&line, usize::MAX),
            "  took 1.31 ms, of which 900 µs were spent elsewhere  95 % of it\n"
        );
        assert_eq!(
            within(&line, 26),
            "  took 1.31 ms, of which\n    900 µs were spent\n    elsewhere  95 % of it\n"
        );
        // A name is never broken: the terminal does that, and copies it whole.
        let line = Line::of(Tone::Plain, "at /a/very/long/path/without/blanks");
        assert_eq!(
            within(&line, 12),
            "  at\n    /a/very/long/path/without/blanks\n"
        );
        assert_eq!(within(&Line::default(), 1), "  \n");
    }

    #[test]
    fn a_line_is_cut_between_letters() {
        let line = || {
            Line::of(Tone::Strong, "日本")
                .plain("ab")
                .and(Tone::Faint, "c")
        };
        let cut = |columns| -> String {
            let line = line().cut(columns);
            line.parts().iter().map(|(_, text)| text.as_str()).collect()
        };
        assert_eq!([0, 1, 2, 3, 4].map(cut), ["", "", "日", "日", "日本"]);
        assert_eq!(
            [5, 6, 7, 9].map(cut),
            ["日本a", "日本ab", "日本abc", "日本abc"]
        );
    }

    #[test]
    fn cells_are_broken_between_words_or_cut() {
        assert_eq!(pieces("a bc def", 4), ["a bc", "def"]);
        assert_eq!(pieces("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(pieces("日本語", 4), ["日本", "語"]);
        assert_eq!(pieces("", 4), [""]);
        assert_eq!(pieces("日", 1), ["日"]);
    }
}
