//! Guards: what a word of an event says about a test, before any program runs.

/// What an event must have or must not have in one word.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Guard {
    pub(crate) word: u16,
    /// Whether a bit of the mask must be set; otherwise none may be.
    pub(crate) wants: bool,
    pub(crate) mask: u64,
    /// Whether it decides what it stands for, or only excludes.
    pub(crate) is_exact: bool,
    /// Whether it never excludes: what it stands for holds if it passes, and a program says so otherwise.
    pub(crate) confirms: bool,
    /// The share of events that pass it, about.
    pub(crate) pass: f32,
}
