//! The dictionaries of a session: one, or a transport dictionary and one for each application version.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use fixcore::dict::{Dictionary, Version};

/// A dictionary that a session reads: built in, or shared by the sessions that use it.
#[derive(Clone)]
pub enum DictionaryRef {
    /// One of the standard's versions.
    BuiltIn(&'static Dictionary),
    /// One that was read from a file.
    Shared(Arc<Dictionary>),
}

impl fmt::Debug for DictionaryRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Self::BuiltIn(_) => "BuiltIn",
            Self::Shared(_) => "Shared",
        };
        f.debug_tuple(kind).field(&self.begin_string()).finish()
    }
}

impl Deref for DictionaryRef {
    type Target = Dictionary;

    fn deref(&self) -> &Dictionary {
        match self {
            Self::BuiltIn(dictionary) => dictionary,
            Self::Shared(dictionary) => dictionary,
        }
    }
}

impl From<&'static Dictionary> for DictionaryRef {
    fn from(dictionary: &'static Dictionary) -> Self {
        Self::BuiltIn(dictionary)
    }
}

impl From<Arc<Dictionary>> for DictionaryRef {
    fn from(dictionary: Arc<Dictionary>) -> Self {
        Self::Shared(dictionary)
    }
}

/// Values of ApplVerID (1128, 1137) and the names that settings files may use for them.
const APPLICATION_VERSIONS: [(&str, &str); 10] = [
    ("0", "FIX.2.7"),
    ("1", "FIX.3.0"),
    ("2", "FIX.4.0"),
    ("3", "FIX.4.1"),
    ("4", "FIX.4.2"),
    ("5", "FIX.4.3"),
    ("6", "FIX.4.4"),
    ("7", "FIX.5.0"),
    ("8", "FIX.5.0SP1"),
    ("9", "FIX.5.0SP2"),
];

/// The value of ApplVerID (1128, 1137) for `9` or `FIX.5.0SP2`.
///
/// ```
/// assert_eq!(fixsession::appl_ver_id("FIX.5.0SP2"), Some("9"));
/// assert_eq!(fixsession::appl_ver_id("9"), Some("9"));
/// ```
#[must_use]
pub fn appl_ver_id(name: &str) -> Option<&'static str> {
    let found = APPLICATION_VERSIONS
        .iter()
        .find(|known| known.0 == name || known.1 == name);
    found.map(|known| known.0)
}

/// The dictionaries that a session checks messages by.
#[derive(Debug, Clone, Default)]
pub struct Dictionaries {
    transport: Option<DictionaryRef>,
    /// By ApplVerID.
    application: Vec<(&'static str, DictionaryRef)>,
}

impl Dictionaries {
    /// No dictionary: messages are not checked against one.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// The built-in dictionaries for a BeginString: for `FIXT.1.1` all application versions. None for an
    /// unknown BeginString.
    #[must_use]
    pub fn built_in(begin_string: &str) -> Self {
        let version = Version::of_begin_string(begin_string.as_bytes());
        let transport = version.and_then(Version::dictionary);
        let mut dictionaries = Self {
            transport: transport.map(DictionaryRef::from),
            application: Vec::new(),
        };
        if version == Some(Version::Fixt11) {
            for (id, _) in APPLICATION_VERSIONS {
                let application = Version::of_appl_ver_id(id.as_bytes());
                if let Some(application) = application.and_then(Version::dictionary) {
                    dictionaries.application.push((id, application.into()));
                }
            }
        }
        dictionaries
    }

    /// One dictionary: of a version before FIXT, or the transport dictionary of FIXT.
    #[must_use]
    pub fn new(transport: impl Into<DictionaryRef>) -> Self {
        Self {
            transport: Some(transport.into()),
            application: Vec::new(),
        }
    }

    /// Adds, or replaces, the dictionary of an application version: `9` or `FIX.5.0SP2`. An unknown
    /// version adds nothing.
    #[must_use]
    pub fn with_application(mut self, version: &str, dictionary: impl Into<DictionaryRef>) -> Self {
        if let Some(id) = appl_ver_id(version) {
            self.application.retain(|known| known.0 != id);
            self.application.push((id, dictionary.into()));
        }
        self
    }

    /// The transport dictionary, or the only one.
    #[must_use]
    pub fn transport(&self) -> Option<&Dictionary> {
        self.transport.as_deref()
    }

    /// The dictionary of an application version.
    #[must_use]
    pub fn application(&self, version: &[u8]) -> Option<&Dictionary> {
        let found = self
            .application
            .iter()
            .find(|known| known.0.as_bytes() == version);
        found.map(|known| &*known.1)
    }

    /// Whether there is a dictionary of any application version.
    #[must_use]
    pub fn has_applications(&self) -> bool {
        !self.application.is_empty()
    }
}
