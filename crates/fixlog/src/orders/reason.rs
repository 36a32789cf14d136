//! Why a message was refused, as a code.

use std::fmt;

use fixcore::dict::Version;

use super::life::{Step, StepKind};

/// A code that says why a message was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reason<'s> {
    /// OrdRejReason (103), CxlRejReason (102), SessionRejectReason (373) or BusinessRejectReason (380).
    pub tag: u32,
    /// The code.
    pub value: &'s [u8],
}

impl Reason<'_> {
    /// The name that the standard gives to the code, such as `UNSUPPORTED_ORDER_CHARACTERISTIC`.
    #[must_use]
    pub fn name(&self) -> Option<&'static str> {
        let dictionary = Version::Fix50Sp2.dictionary()?;
        // Codes of the session are those of its own dictionary in this version.
        let session = Version::Fixt11.dictionary();
        let fields = [Some(dictionary), session];
        let mut fields = fields
            .into_iter()
            .flatten()
            .filter_map(|one| one.field(self.tag));
        fields.find_map(|field| field.value_name(self.value))
    }
}

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.tag, self.value.escape_ascii())?;
        match self.name() {
            Some(name) => write!(f, " {name}"),
            None => Ok(()),
        }
    }
}

impl Step {
    /// The code that says why something was refused, if the message says so.
    #[must_use]
    pub fn reason(&self) -> Option<Reason<'_>> {
        let tag = match self.kind {
            StepKind::Execution {
                exec_type: b'8', ..
            }
            | StepKind::Execution { status: b'8', .. } => 103,
            StepKind::CancelReject { .. } => 102,
            StepKind::Reject => 373,
            StepKind::BusinessReject => 380,
            _ => return None,
        };
        let value = self.get(tag)?;
        Some(Reason { tag, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_names_of_the_standard() {
        for (tag, value, expected) in [
            (103, "6", "103=6 DUPLICATE_ORDER"),
            (102, "1", "102=1 UNKNOWN_ORDER"),
            (373, "5", "373=5 VALUE_IS_INCORRECT"),
            (380, "3", "380=3 UNSUPPORTED_MESSAGE_TYPE"),
            (103, "7777", "103=7777"),
        ] {
            let value = value.as_bytes();
            let shown = Reason { tag, value }.to_string();
            assert!(shown.starts_with(expected), "{shown}");
        }
    }
}
