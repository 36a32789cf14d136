//! How a run of gzip ends.

/// The exit codes of gzip: 0, 1 and 2.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Code {
    #[default]
    Ok,
    /// Something was left out, or was odd.
    Warning,
    Error,
}

impl Code {
    /// Adds a warning, which counts for less than an error.
    pub(crate) fn warn(&mut self) {
        *self = (*self).max(Self::Warning);
    }

    /// Adds an error.
    pub(crate) fn fail(&mut self) {
        *self = Self::Error;
    }

    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::Error => 1,
            Self::Warning => 2,
        }
    }
}

/// How a run ended.
pub(super) enum Ended {
    With(Code),
    Interrupted,
}
