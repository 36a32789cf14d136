//! Which dictionaries describe a message, and what they say against it.

use fixcore::dict::{Dictionary, Rules, Validator, Version, Warning};
use fixcore::{DataPairs, Decoder, Error, ErrorKind, Isa, Message};

use crate::Fault;
use crate::faults::class;

/// Faults of one message that are named.
pub const MESSAGE_FAULTS_MAX: usize = 100;

/// The built-in versions of a message's frame and body, where there are such, and whether the caller's
/// dictionary is of its BeginString.
type Versions = (Option<(Version, Option<Version>)>, bool);
/// What messages of some versions are held to; `None` where no dictionary describes them.
type Held<'d> = (Versions, Option<Validator<'d>>);

/// Dictionaries of a caller, at most one of each version. Those of the other versions are built in.
#[derive(Debug, Default, Clone, Copy)]
pub struct Dictionaries<'d>(pub(crate) &'d [Dictionary]);

impl<'d> From<&'d [Dictionary]> for Dictionaries<'d> {
    fn from(all: &'d [Dictionary]) -> Self {
        Self(all)
    }
}

impl<'d> From<Option<&'d Dictionary>> for Dictionaries<'d> {
    fn from(one: Option<&'d Dictionary>) -> Self {
        Self(one.map_or(&[], std::slice::from_ref))
    }
}

impl<'d> Dictionaries<'d> {
    /// The one for messages with this BeginString.
    fn of(self, begin_string: &[u8]) -> Option<&'d Dictionary> {
        let is_of = |own: &&Dictionary| own.begin_string().as_bytes() == begin_string;
        self.0.iter().find(is_of)
    }

    /// The one for application messages of this version: its own, or the only one of such versions.
    fn of_application(self, version: Version) -> Option<&'d Dictionary> {
        let is_it = |own: &&Dictionary| {
            let built = version.dictionary();
            built.is_some_and(|built| is_same_version(own, built))
        };
        let mut others = self
            .0
            .iter()
            .filter(|own| own.begin_string().starts_with("FIX.5"));
        let only = || others.next().filter(|_| others.next().is_none());
        self.0.iter().find(is_it).or_else(only)
    }
}

/// Whether two dictionaries are of the same version.
#[must_use]
pub fn is_same_version(one: &Dictionary, other: &Dictionary) -> bool {
    one.begin_string() == other.begin_string() && one.service_pack() == other.service_pack()
}

/// A decoder that knows the data fields of the standard and of `dictionaries`, with the best instruction
/// set or this one; `None` if the processor does not have it.
#[must_use]
pub fn decoder<'d>(isa: Option<Isa>, dictionaries: impl Into<Dictionaries<'d>>) -> Option<Decoder> {
    let decoder = match isa {
        None => Decoder::new(),
        Some(isa) => Decoder::with_isa(isa)?,
    };
    Some(match dictionaries.into().0 {
        [] => decoder,
        own => decoder.with_pairs(pairs(own)),
    })
}

/// The data fields of the standard and of some dictionaries.
pub(crate) fn pairs<'d>(dictionaries: impl IntoIterator<Item = &'d Dictionary>) -> DataPairs {
    let mut pairs = Vec::new();
    for dictionary in dictionaries {
        pairs.extend_from_slice(dictionary.data_pairs().pairs());
    }
    if pairs.is_empty() {
        return DataPairs::standard();
    }
    pairs.extend_from_slice(DataPairs::standard().pairs());
    DataPairs::new(&pairs)
}

/// The dictionaries of a caller, and what a message is held to beyond them.
#[derive(Debug, Default, Clone, Copy)]
pub struct Checks<'d> {
    own: Dictionaries<'d>,
    transport: Option<&'d Dictionary>,
    application: Option<&'d Dictionary>,
    default_version: Option<Version>,
    refuses_custom: bool,
    warns: bool,
}

impl<'d> Checks<'d> {
    /// The built-in dictionaries, and the conditions that the standard states.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Uses these dictionaries in place of the built-in ones of their versions: one, or a slice of them.
    #[must_use]
    pub fn dictionary(mut self, own: impl Into<Dictionaries<'d>>) -> Self {
        self.own = own.into();
        self
    }

    /// Uses this dictionary for header, trailer and session messages of its BeginString: FIXT 1.1.
    #[must_use]
    pub fn transport(mut self, transport: Option<&'d Dictionary>) -> Self {
        self.transport = transport;
        self
    }

    /// Uses this dictionary for the application messages of FIXT 1.1.
    #[must_use]
    pub fn application(mut self, application: Option<&'d Dictionary>) -> Self {
        self.application = application;
        self
    }

    /// Sets the application version of messages that state none (1128), DefaultApplVerID (1137); otherwise it is
    /// 5.0 SP2.
    #[must_use]
    pub fn default_version(mut self, version: Option<Version>) -> Self {
        self.default_version = version;
        self
    }

    /// Whether tags from 5000 on that no dictionary has are faults.
    #[must_use]
    pub fn refuse_custom(mut self, refuses: bool) -> Self {
        self.refuses_custom = refuses;
        self
    }

    /// Whether [`Warning`]s are reported.
    #[must_use]
    pub fn warn(mut self, warns: bool) -> Self {
        self.warns = warns;
        self
    }

    /// Every dictionary of the caller.
    pub(crate) fn all(&self) -> impl Iterator<Item = &'d Dictionary> {
        let others = [self.transport, self.application];
        self.own.0.iter().chain(others.into_iter().flatten())
    }
}

/// Holds messages to the dictionary of their version: the caller's, or a built-in one.
#[derive(Debug, Default)]
pub struct Checker<'d> {
    checks: Checks<'d>,
    /// Of each pair of versions that was met.
    held: Vec<Held<'d>>,
    found: Vec<Error>,
}

impl<'d> Checker<'d> {
    /// With the built-in dictionaries, and those of the caller.
    #[must_use]
    pub fn new(checks: Checks<'d>) -> Self {
        Self {
            checks,
            held: Vec::new(),
            found: Vec::new(),
        }
    }

    /// The dictionaries that have names for a message: of its frame, and of its body where that has
    /// another.
    #[must_use]
    pub fn names(&self, message: &Message<'_, '_>) -> [Option<&'d Dictionary>; 2] {
        match self.dictionaries(message) {
            Some((frame, body)) => [Some(frame), body],
            None => [self.checks.own.0.first(), None],
        }
    }

    /// The built-in versions of a message.
    fn versions(&self, message: &Message<'_, '_>) -> Option<(Version, Option<Version>)> {
        let (frame, body) = Validator::versions(message)?;
        let default = self.checks.default_version;
        let body = match body {
            Some(_) if default.is_some() && message.get(1128).is_none() => default,
            body => body,
        };
        Some((frame, body))
    }

    /// The dictionaries of a message's frame and of its body where that has another; `None` where the
    /// caller has none of its version, and none is built in.
    fn dictionaries(
        &self,
        message: &Message<'_, '_>,
    ) -> Option<(&'d Dictionary, Option<&'d Dictionary>)> {
        let checks = self.checks;
        let is_of = |own: &&Dictionary| own.begin_string().as_bytes() == message.begin_string();
        let versions = self.versions(message);
        let frame = versions.map(|versions| versions.0);
        let body = match (versions.and_then(|versions| versions.1), checks.application) {
            (Some(_), Some(application)) => Some(application),
            (Some(body), None) => checks
                .own
                .of_application(body)
                .or_else(|| body.dictionary()),
            (None, _) => None,
        };
        if let Some(transport) = checks.transport.filter(is_of) {
            let of_fixt = checks.application.filter(|_| frame.is_none());
            return Some((transport, body.or(of_fixt)));
        }
        match checks.own.of(message.begin_string()) {
            Some(own) => Some((own, body)),
            None => Some((frame?.dictionary()?, body)),
        }
    }

    /// The place of what messages of these versions are held to.
    fn held(&mut self, message: &Message<'_, '_>) -> usize {
        let is_of = |own: &Dictionary| own.begin_string().as_bytes() == message.begin_string();
        let own = self.checks.own.of(message.begin_string()).is_some();
        let versions = (
            self.versions(message),
            own || self.checks.transport.is_some_and(is_of),
        );
        let known = self.held.iter().position(|known| known.0 == versions);
        known.unwrap_or_else(|| {
            let rules = Rules::default()
                .conditions(true)
                .user_tags(self.checks.refuses_custom);
            let held = self
                .dictionaries(message)
                .map(|(frame, body)| Validator::with_application(frame, body, rules));
            self.held.push((versions, held));
            self.held.len() - 1
        })
    }

    /// What the dictionaries say first against a message that had `separator` in its log.
    pub fn check(&mut self, message: &Message<'_, '_>, separator: &[u8]) -> Option<Fault> {
        let at = self.held(message);
        let own = self.checks.own.0.first();
        let Some(validator) = &mut self.held.get_mut(at)?.1 else {
            return Some(Fault::of_another_version(message.begin_string(), own));
        };
        let error = validator.validate(message).err()?;
        Some(Fault::of(&error, message.bytes(), separator))
    }

    /// All that the dictionaries say against a message, and warnings where they are wanted: at most
    /// [`MESSAGE_FAULTS_MAX`]. Returns whether there is nothing.
    pub fn faults(
        &mut self,
        message: &Message<'_, '_>,
        separator: &[u8],
        faults: &mut Vec<Fault>,
    ) -> bool {
        if let Some(first) = self.check(message, separator) {
            faults.push(first);
            self.others(message, separator, faults);
        }
        if self.checks.warns {
            faults.extend(Warning::of(message).map(Fault::of_warning));
        }
        faults.is_empty()
    }

    /// All that is wrong with a message that a decoder did not accept for `error`.
    #[cold]
    pub fn faults_of_undecoded(
        &mut self,
        decoder: &mut Decoder,
        bytes: &[u8],
        error: &Error,
        separator: &[u8],
        faults: &mut Vec<Fault>,
    ) {
        faults.push(Fault::of_damaged(error, bytes, separator));
        let Ok(lenient) = decoder.parse_lenient(bytes, false) else {
            return;
        };
        for other in lenient.frame_faults() {
            if other.kind() != error.kind() {
                faults.push(Fault::of(&other, bytes, separator));
            }
        }
        self.others(&lenient.message, separator, faults);
    }

    /// Adds what the dictionaries say against a message beyond the faults that are there.
    #[cold]
    fn others(&mut self, message: &Message<'_, '_>, separator: &[u8], faults: &mut Vec<Fault>) {
        let at = self.held(message);
        self.found.clear();
        let most = MESSAGE_FAULTS_MAX;
        if let Some((_, Some(validator))) = self.held.get_mut(at) {
            validator.faults(message, &mut self.found, most);
        }
        let framed = faults.len();
        for error in &self.found {
            // A tag that is no number is 0 to a lenient decoder, and said already.
            let is_known = |fault: &Fault| {
                let is_tag = error.tag() == Some(0) && fault.class == "tag";
                is_tag || fault.tag == error.tag() && fault.class == class(error.kind())
            };
            let is_same = faults.first().is_some_and(is_known);
            // Behind a group that ended too early, its fields come again and again.
            let kind = error.kind();
            let is_again = matches!(kind, ErrorKind::UnexpectedTag | ErrorKind::UnknownTag)
                && faults.iter().any(is_known);
            // What is wrong with BodyLength and CheckSum was said.
            let of_frame = |fault: &Fault| fault.tag == error.tag();
            let is_frame = matches!(error.tag(), Some(9 | 10));
            let is_same = is_same || is_frame && faults.iter().take(framed).any(of_frame);
            if !is_same && !is_again && faults.len() < most {
                faults.push(Fault::of(error, message.bytes(), separator));
            }
        }
    }
}
