//! The names of fields and of their values, in dictionaries.

use fixcore::dict::{Dictionary, FieldSpec, Version};

use crate::Dictionaries;

/// The largest tag: a number of 31 bits.
const TAG_MAX: u32 = i32::MAX as u32;

/// The names of fields and values.
pub(super) struct Names<'d>(pub(super) Dictionaries<'d>);

impl<'d> Names<'d> {
    /// The caller's dictionaries, then the built-in ones, the newest first.
    fn dictionaries(&self) -> impl Iterator<Item = &'d Dictionary> + use<'d> {
        let built = Version::ALL.into_iter().rev();
        let built = built.filter_map(|version| -> Option<&'d Dictionary> { version.dictionary() });
        self.0.0.iter().chain(built)
    }

    /// Their fields.
    fn fields(&self) -> impl Iterator<Item = &'d FieldSpec> + use<'d> {
        self.dictionaries().flat_map(Dictionary::fields)
    }

    /// The tag of a field by its name or number.
    pub(super) fn tag(&self, name: &str) -> Option<u32> {
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            return name.parse().ok().filter(|tag| (1..=TAG_MAX).contains(tag));
        }
        let is = |field: &&FieldSpec| field.name().eq_ignore_ascii_case(name);
        self.fields().find(is).map(FieldSpec::tag)
    }

    /// The field with a tag in the newest dictionary that has it.
    pub(super) fn field(&self, tag: u32) -> Option<&'d FieldSpec> {
        self.fields().find(|field| field.tag() == tag)
    }

    /// Whether a field that is a choice may have this value: it is one of them, or not longer than they are.
    pub(super) fn may_have(&self, tag: u32, value: &str) -> bool {
        let specs = self.fields().filter(|field| field.tag() == tag);
        let mut values = specs.flat_map(FieldSpec::values).peekable();
        values.peek().is_none() || values.any(|known| known.0.len() >= value.len())
    }

    /// A value by its name, where it is the name of one and not a value itself.
    pub(super) fn value(&self, tag: u32, name: &str) -> Option<&'d str> {
        let specs = || self.fields().filter(move |field| field.tag() == tag);
        if specs().any(|field| field.value_name(name.as_bytes()).is_some()) {
            return None;
        }
        let mut values = specs().flat_map(FieldSpec::values);
        let found = values.find(|value| value.1.eq_ignore_ascii_case(name));
        found.map(|value| value.0.as_str())
    }
}

/// The tag of a field by its name or number, in `dictionaries` and the built-in ones; `None` if none of them
/// has it. A number is a tag from 1 to 2,147,483,647, whether a dictionary has it or not.
///
/// ```
/// assert_eq!(fixlog::tag_of("clordid", None), Some(11));
/// assert_eq!(fixlog::tag_of("5001", None), Some(5001));
/// assert_eq!(fixlog::tag_of("Nonsense", None), None);
/// ```
#[must_use]
pub fn tag_of<'d>(name: &str, dictionaries: impl Into<Dictionaries<'d>>) -> Option<u32> {
    Names(dictionaries.into()).tag(name)
}

/// The name of a field in `dictionaries`, or in the newest built-in one that has it.
///
/// ```
/// assert_eq!(fixlog::name_of(11, None), Some("ClOrdID"));
/// assert_eq!(fixlog::name_of(5001, None), None);
/// ```
#[must_use]
pub fn name_of<'d>(tag: u32, dictionaries: impl Into<Dictionaries<'d>>) -> Option<&'d str> {
    let mut all = Names(dictionaries.into()).dictionaries();
    all.find_map(|one| one.field(tag)).map(FieldSpec::name)
}

/// The name of a value of a field in the newest built-in dictionary that has it.
///
/// ```
/// assert_eq!(fixlog::value_name_of(39, b"8"), Some("REJECTED"));
/// assert_eq!(fixlog::value_name_of(39, b"nothing"), None);
/// ```
#[must_use]
pub fn value_name_of(tag: u32, value: &[u8]) -> Option<&'static str> {
    let mut all = Names(Dictionaries(&[])).dictionaries();
    all.find_map(|one: &'static Dictionary| one.field(tag)?.value_name(value))
}

/// The MsgType (35) of messages by their name, as the standard or `dictionaries` name them, or by the type
/// itself, which is also any that begins with `U`; `None` if no dictionary has such messages.
///
/// ```
/// assert_eq!(fixlog::msg_type_of("NewOrderSingle", None).as_deref(), Some("D"));
/// assert_eq!(fixlog::msg_type_of("AE", None).as_deref(), Some("AE"));
/// assert_eq!(fixlog::msg_type_of("Nonsense", None), None);
/// ```
#[must_use]
pub fn msg_type_of<'d>(name: &str, dictionaries: impl Into<Dictionaries<'d>>) -> Option<String> {
    let names = Names(dictionaries.into());
    let is_known = || {
        names
            .dictionaries()
            .any(|one| one.message(name.as_bytes()).is_some())
    };
    if (name.starts_with('U') && name.len() <= USER_TYPE_BYTES_MAX) || is_known() {
        return Some(name.to_owned());
    }
    let mut messages = names.dictionaries().flat_map(Dictionary::messages);
    let found = messages.find(|message| message.name().eq_ignore_ascii_case(name));
    let found = found.map(|message| message.msg_type().to_owned());
    found.or_else(|| names.value(MSG_TYPE, name).map(str::to_owned))
}

/// The tag of MsgType.
const MSG_TYPE: u32 = 35;
/// Bytes of a type of messages that users define.
const USER_TYPE_BYTES_MAX: usize = 4;
