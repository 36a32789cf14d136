//! Which dictionaries describe a message, and what they say against it.

use fixcore::dict::{Dictionary, Rules, Validator, Version};
use fixcore::{DataPairs, Decoder, Isa, Message};

use crate::Fault;

/// The built-in versions of a message's frame and body, where there are such, and whether the caller's
/// dictionary is of its BeginString.
type Versions = (Option<(Version, Option<Version>)>, bool);
/// What messages of some versions are held to; `None` where no dictionary describes them.
type Held<'d> = (Versions, Option<Validator<'d>>);

/// A decoder that knows the data fields of the standard and of `dictionary`, with the best instruction
/// set or this one; `None` if the processor does not have it.
#[must_use]
pub fn decoder(isa: Option<Isa>, dictionary: Option<&Dictionary>) -> Option<Decoder> {
    let decoder = match isa {
        None => Decoder::new(),
        Some(isa) => Decoder::with_isa(isa)?,
    };
    Some(match dictionary {
        None => decoder,
        Some(_) => decoder.with_pairs(pairs(dictionary)),
    })
}

/// The data fields of the standard and of `dictionary`.
pub(crate) fn pairs(dictionary: Option<&Dictionary>) -> DataPairs {
    let Some(dictionary) = dictionary else {
        return DataPairs::standard();
    };
    let mut pairs = dictionary.data_pairs().pairs().to_vec();
    pairs.extend_from_slice(DataPairs::standard().pairs());
    DataPairs::new(&pairs)
}

/// Holds messages to the dictionary of their version: the caller's, or a built-in one.
#[derive(Debug, Default)]
pub struct Checker<'d> {
    own: Option<&'d Dictionary>,
    /// Of each pair of versions that was met.
    held: Vec<Held<'d>>,
}

impl<'d> Checker<'d> {
    /// With the built-in dictionaries, and `own` in place of the one of its version.
    #[must_use]
    pub fn new(own: Option<&'d Dictionary>) -> Self {
        Self {
            own,
            held: Vec::new(),
        }
    }

    /// The dictionaries that have names for a message: of its frame, and of its body where that has
    /// another.
    #[must_use]
    pub fn names(&self, message: &Message<'_, '_>) -> [Option<&'d Dictionary>; 2] {
        match self.dictionaries(message) {
            Some((frame, body)) => [Some(frame), body],
            None => [self.own, None],
        }
    }

    /// The dictionaries of a message's frame and of its body where that has another; `None` where the
    /// caller's is of another version, or none is built in.
    fn dictionaries(
        &self,
        message: &Message<'_, '_>,
    ) -> Option<(&'d Dictionary, Option<&'d Dictionary>)> {
        let versions = Validator::versions(message);
        let body = versions.and_then(|versions| versions.1);
        let body = body.and_then(Version::dictionary);
        let frame = versions.map(|versions| versions.0);
        match self.own {
            None => Some((frame?.dictionary()?, body)),
            Some(own) if own.begin_string().as_bytes() == message.begin_string() => {
                Some((own, body))
            }
            // Those of applications describe no frame.
            Some(own) if frame? == Version::Fixt11 && own.begin_string().starts_with("FIX.5") => {
                Some((frame?.dictionary()?, Some(own)))
            }
            Some(_) => None,
        }
    }

    /// What the dictionaries say against a message that had `separator` in its log.
    pub fn check(&mut self, message: &Message<'_, '_>, separator: &[u8]) -> Option<Fault> {
        let is_own = |own: &Dictionary| own.begin_string().as_bytes() == message.begin_string();
        let versions = (Validator::versions(message), self.own.is_some_and(is_own));
        let known = self.held.iter().position(|known| known.0 == versions);
        let at = known.unwrap_or_else(|| {
            let held = self
                .dictionaries(message)
                .map(|(frame, body)| Validator::with_application(frame, body, Rules::default()));
            self.held.push((versions, held));
            self.held.len() - 1
        });
        let Some(validator) = &mut self.held.get_mut(at)?.1 else {
            return Some(Fault::of_another_version(message.begin_string(), self.own));
        };
        let error = validator.validate(message).err()?;
        Some(Fault::of(&error, message.bytes(), separator))
    }
}
