//! The names of fields and of their values, in dictionaries.

use fixcore::dict::{Dictionary, FieldSpec, Version};

/// The names of fields and values.
pub(super) struct Names<'d>(pub(super) Option<&'d Dictionary>);

impl<'d> Names<'d> {
    /// The fields of the caller's dictionary, then those of the built-in ones.
    fn fields(&self) -> impl Iterator<Item = &'d FieldSpec> + use<'d> {
        let built = Version::ALL.into_iter().rev();
        let built = built.filter_map(|version| -> Option<&'d Dictionary> { version.dictionary() });
        self.0.into_iter().chain(built).flat_map(Dictionary::fields)
    }

    /// The tag of a field by its name or number.
    pub(super) fn tag(&self, name: &str) -> Option<u32> {
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            return name.parse().ok().filter(|tag| *tag > 0);
        }
        let is = |field: &&FieldSpec| field.name().eq_ignore_ascii_case(name);
        self.fields().find(is).map(FieldSpec::tag)
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
