//! Names of values: the error for a name that no value of a type has.

/// No value of a type has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} '{name}': expected {}", .expected.join(", "))]
pub struct UnknownName {
    what: &'static str,
    name: String,
    expected: Vec<&'static str>,
}

impl UnknownName {
    /// What the name should be one of.
    #[must_use]
    pub fn expected(&self) -> &[&'static str] {
        &self.expected
    }
}

/// The value that has a name, of all values of a type.
pub(crate) fn find<T: Copy>(
    what: &'static str,
    all: &[T],
    name_of: impl Fn(T) -> &'static str,
    name: &str,
) -> Result<T, UnknownName> {
    let found = all.iter().find(|value| name_of(**value) == name);
    found.copied().ok_or_else(|| UnknownName {
        what,
        name: name.to_owned(),
        expected: all.iter().map(|value| name_of(*value)).collect(),
    })
}

/// Writes `Display` by `name()` and `FromStr` by `ALL`.
macro_rules! named {
    ($type:ty, $what:literal) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::UnknownName;

            /// Reads what `Display` writes.
            fn from_str(name: &str) -> Result<Self, Self::Err> {
                $crate::names::find($what, &Self::ALL, Self::name, name)
            }
        }
    };
}

pub(crate) use named;
