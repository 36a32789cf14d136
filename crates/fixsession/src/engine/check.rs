//! What keeps an engine from opening sessions, found without opening them.

use std::collections::BTreeSet;
use std::path::Path;

use rustix::fs::{Access, access};

use super::core::Engine;
use super::dictionaries::Read;
use super::error::EngineError;
use super::open::encryption;
use crate::settings::{Problem, SessionSettings, SettingsError};

impl Engine {
    /// What these settings of a file name that an engine could not use, each once, with the line of the first session that
    /// names it: dictionaries, certificates and keys, the directories of stores and logs. Nothing is made, no port is
    /// opened, and no host is looked up.
    #[must_use]
    pub fn unusable(sessions: &[SessionSettings], file: &Path) -> Vec<SettingsError> {
        let mut dictionaries = Read::default();
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        for settings in sessions {
            let dictionary = dictionaries.of(settings).err();
            let encryption = encryption(settings).err().map(|error| match error {
                EngineError::Unsupported { key, why, .. } => format!("{key}: {why}"),
                other => other.to_string(),
            });
            let stores = directory("FileStorePath", settings.storage.path.as_deref());
            let logs = directory("FileLogPath", settings.log.path.as_deref());
            let problems = [
                dictionary.map(|error| error.to_string()),
                encryption,
                stores,
                logs,
            ];
            for problem in problems.into_iter().flatten() {
                if seen.insert(problem.clone()) {
                    found.push(SettingsError {
                        file: file.to_owned(),
                        line: settings.line,
                        problem: Problem::Unusable { why: problem },
                    });
                }
            }
        }
        found
    }
}

/// Why nothing can be written in a directory, which is made if it is not there.
fn directory(key: &str, path: Option<&Path>) -> Option<String> {
    let path = path?;
    let there = path
        .ancestors()
        .map(|part| match part.as_os_str().is_empty() {
            true => Path::new("."),
            false => part,
        })
        .find(|part| part.symlink_metadata().is_ok())?;
    let why = match there.metadata() {
        Err(error) => error.to_string(),
        Ok(metadata) if !metadata.is_dir() => "it is no directory".to_owned(),
        // Root may write anywhere but in what is no directory of files, such as /proc.
        Ok(metadata) if there != path && metadata.permissions().readonly() => {
            "nothing can be made in it".to_owned()
        }
        Ok(_) => access(there, Access::WRITE_OK | Access::EXEC_OK)
            .err()?
            .to_string(),
    };
    Some(match there == path {
        true => format!("{key}: cannot write in {}: {why}", path.display()),
        false => format!(
            "{key}: cannot make {}: {}: {why}",
            path.display(),
            there.display()
        ),
    })
}
