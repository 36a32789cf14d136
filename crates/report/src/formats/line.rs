//! A line of a report: words with a tone, laid out for a terminal or as Markdown.
//!
//! What the lines say is in `body`. What comes from files and command lines is cleaned here, so
//! that no report can steer the terminal that it is shown on.

use std::io::{self, Write};

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
}
