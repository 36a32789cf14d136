//! The styles of words on a terminal.

use anstyle::{AnsiColor, Style};

/// A style for each role that words have in a report or a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    /// A heading.
    pub heading: Style,
    /// A value to look at first.
    pub strong: Style,
    /// Less important than the rest of its line.
    pub faint: Style,
    /// Good news.
    pub good: Style,
    /// A warning.
    pub warn: Style,
    /// An error.
    pub bad: Style,
}

impl Palette {
    /// No styles: text for files.
    pub const PLAIN: Self = Self {
        heading: Style::new(),
        strong: Style::new(),
        faint: Style::new(),
        good: Style::new(),
        warn: Style::new(),
        bad: Style::new(),
    };

    /// The colours that every terminal has.
    pub const ANSI: Self = Self {
        heading: Style::new().bold(),
        strong: AnsiColor::Cyan.on_default(),
        faint: Style::new().dimmed(),
        good: AnsiColor::Green.on_default(),
        warn: AnsiColor::Yellow.on_default(),
        bad: AnsiColor::Red.on_default().bold(),
    };
}
