//! The dictionaries of sessions, each file read once.

use std::collections::HashMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixcore::dict::{Dictionary, Version};

use super::error::EngineError;
use crate::dictionaries::{Dictionaries, DictionaryRef};
use crate::settings::SessionSettings;

/// Bytes of a dictionary's file.
const FILE_BYTES_MAX: u64 = 64 << 20;
/// The versions that FIXT carries, as ApplVerID.
const CARRIED: [&str; 8] = ["2", "3", "4", "5", "6", "7", "8", "9"];

/// Dictionaries that were read, by their file.
#[derive(Debug, Default)]
pub(super) struct Read {
    files: HashMap<PathBuf, Arc<Dictionary>>,
}

impl Read {
    /// The dictionaries that the settings of a session name, or the built-in ones where they name none.
    pub(super) fn of(&mut self, settings: &SessionSettings) -> Result<Dictionaries, EngineError> {
        let begin_string = settings.session.id.begin_string.as_str();
        let named = &settings.dictionaries;
        if !settings.session.use_data_dictionary {
            return Ok(Dictionaries::none());
        }
        if begin_string != "FIXT.1.1" {
            return match &named.data {
                Some(path) => Ok(Dictionaries::new(self.file_of(path, begin_string)?)),
                None => Ok(Dictionaries::built_in(begin_string)),
            };
        }
        let Some(transport) = &named.transport else {
            let mut all = Dictionaries::built_in(begin_string);
            for (version, path) in &named.application {
                all = all.with_application(version, self.file(path)?);
            }
            return Ok(all);
        };
        let mut all = Dictionaries::new(self.file_of(transport, begin_string)?);
        for version in CARRIED {
            let file = named.application.iter().find(|(of, _)| of == version);
            let built_in = || Version::of_appl_ver_id(version.as_bytes())?.dictionary();
            match (file, built_in()) {
                (Some((_, path)), _) => all = all.with_application(version, self.file(path)?),
                (None, Some(known)) => {
                    all = all.with_application(version, DictionaryRef::BuiltIn(known));
                }
                (None, None) => {}
            }
        }
        Ok(all)
    }

    /// A dictionary of messages with this BeginString (8); `*` is any.
    fn file_of(&mut self, path: &Path, begin_string: &str) -> Result<Arc<Dictionary>, EngineError> {
        let read = self.file(path)?;
        let of = read.begin_string();
        if begin_string != "*" && of != begin_string {
            return Err(EngineError::Dictionary {
                path: path.to_owned(),
                why: format!("it is of {of}, and the session of {begin_string}"),
            });
        }
        Ok(read)
    }

    fn file(&mut self, path: &Path) -> Result<Arc<Dictionary>, EngineError> {
        if let Some(read) = self.files.get(path) {
            return Ok(Arc::clone(read));
        }
        let wrong = |why: String| EngineError::Dictionary {
            path: path.to_owned(),
            why,
        };
        let file = std::fs::File::open(path).map_err(|error| wrong(error.to_string()))?;
        let mut text = String::new();
        file.take(FILE_BYTES_MAX + 1)
            .read_to_string(&mut text)
            .map_err(|error| wrong(error.to_string()))?;
        if text.len() as u64 > FILE_BYTES_MAX {
            return Err(wrong("it is larger than 64 MiB".to_owned()));
        }
        let read = Dictionary::from_xml(&text).map_err(|error| wrong(error.to_string()))?;
        let read = Arc::new(read);
        self.files.insert(path.to_owned(), Arc::clone(&read));
        Ok(read)
    }
}
