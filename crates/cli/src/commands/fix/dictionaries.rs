//! Dictionaries that are named, as their files say.

use std::path::Path;

use files::display;
use files::source::Source;
use fixcore::dict::Dictionary;
use fixlog::{Checks, is_same_version};

use crate::commands::fix::dictionary_flags::DictionaryArgs;
use crate::failure::{Failure, Result};
use crate::io::context;

/// Bytes of a dictionary's file.
const DICTIONARY_BYTES_MAX: usize = 64 << 20;

/// Reads what the flags name.
pub(super) fn read(args: &DictionaryArgs) -> Result<Dictionaries> {
    let mut all: Vec<Dictionary> = Vec::new();
    for path in &args.dictionary {
        let new = dictionary(path)?;
        if all.iter().any(|known| is_same_version(known, &new)) {
            let version = match new.service_pack() {
                0 => new.begin_string().to_owned(),
                pack => format!("{} SP{pack}", new.begin_string()),
            };
            let message = format!("--dictionary: two dictionaries are of {version}");
            return Err(Failure::usage(message).help("name one for each version"));
        }
        all.push(new);
    }
    let own = all.len();
    let others = [&args.transport_dictionary, &args.application_dictionary];
    let mut places = [None, None];
    for (place, path) in places.iter_mut().zip(others) {
        if let Some(path) = path {
            *place = Some(all.len());
            all.push(dictionary(path)?);
        }
    }
    Ok(Dictionaries { all, own, places })
}

/// The dictionaries that are named.
#[derive(Debug, Default)]
pub(super) struct Dictionaries {
    all: Vec<Dictionary>,
    /// How many of them are each for its version.
    own: usize,
    /// Which of them are those of the transport and of applications.
    places: [Option<usize>; 2],
}

impl Dictionaries {
    /// All of them, for names.
    pub(super) fn all(&self) -> &[Dictionary] {
        &self.all
    }

    /// Holds messages to them.
    pub(super) fn checks<'d>(&'d self, checks: Checks<'d>) -> Checks<'d> {
        let [transport, application] = self.places.map(|at| self.all.get(at?));
        let own = self.all.get(..self.own).unwrap_or_default();
        checks
            .dictionary(own)
            .transport(transport)
            .application(application)
    }
}

fn dictionary(path: &Path) -> Result<Dictionary> {
    let mut source = Source::open(path, context())?;
    let mut bytes = Vec::new();
    loop {
        let piece = source.next_buffer().map_err(|error| source.error(error))?;
        if piece.is_empty() {
            break;
        }
        bytes.extend_from_slice(&piece);
        if bytes.len() > DICTIONARY_BYTES_MAX {
            let message = format!("{} is too large for a dictionary", display(path));
            return Err(Failure::new(message));
        }
    }
    let wrong = |error: String| Failure::new(format!("cannot read {}: {error}", display(path)));
    let text = String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8".to_owned()))?;
    Dictionary::from_xml(&text).map_err(|error| wrong(error.to_string()))
}
