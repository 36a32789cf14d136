//! A settings file that can be used, or all that is wrong in it.

use std::path::Path;

use super::check::Check;
use super::error::{SettingsError, SettingsFailure};
use super::session::SessionSettings;

/// The sessions of a settings file.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Settings {
    /// The sessions and templates, in the order of the file. There is one at least.
    pub sessions: Vec<SessionSettings>,
    /// What needs attention: keys that are not known, or have no effect.
    pub warnings: Vec<SettingsError>,
}

impl Settings {
    /// Reads a settings file, with the environment variables of this process.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or something in it is wrong: all of it, with lines.
    pub fn read(path: &Path) -> Result<Self, SettingsFailure> {
        Self::of(Check::read(path))
    }

    /// The same from the content of a file. `file` is its name in errors, `env` gives environment variables.
    ///
    /// # Errors
    ///
    /// Something is wrong: all of it, with lines.
    pub fn parse(
        text: &[u8],
        file: &Path,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, SettingsFailure> {
        Self::of(Check::new(text, file, env))
    }

    fn of(check: Check) -> Result<Self, SettingsFailure> {
        let Check {
            sessions,
            errors,
            warnings,
            ..
        } = check;
        match errors.is_empty() {
            true => Ok(Self { sessions, warnings }),
            false => Err(SettingsFailure { errors, warnings }),
        }
    }
}
