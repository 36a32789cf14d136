//! The names of a session's files.

use std::fmt::Write as _;

use crate::id::SessionId;

/// The directory of a session's store: `FIX.4.4-SENDER-TARGET`. Unlike QuickFIX's names no two sessions have the
/// same one: characters of names that are no letters, digits or points are written as `%2D`.
#[must_use]
pub fn store_name(id: &SessionId) -> String {
    let mut name = escaped(&id.begin_string);
    side(&mut name, &id.sender, &id.sender_sub, &id.sender_location);
    side(&mut name, &id.target, &id.target_sub, &id.target_location);
    if !id.qualifier.is_empty() {
        name.push('-');
        name.push_str(&escaped(&id.qualifier));
    }
    name
}

fn side(name: &mut String, comp: &str, sub: &str, location: &str) {
    name.push('-');
    name.push_str(&escaped(comp));
    if !sub.is_empty() || !location.is_empty() {
        name.push('_');
        name.push_str(&escaped(sub));
    }
    if !location.is_empty() {
        name.push('_');
        name.push_str(&escaped(location));
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || byte == b'.' {
            out.push(char::from(byte));
        } else {
            // Writing to a string does not fail.
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// What the names of QuickFIX's files for a session begin with, for C++: `FIX.4.4-SENDER-TARGET`. A `/` in a name
/// would be another directory, and becomes `_`.
#[must_use]
pub fn quickfix_name(id: &SessionId) -> String {
    let mut name = format!("{}-{}-{}", id.begin_string, id.sender, id.target);
    if !id.qualifier.is_empty() {
        name.push('-');
        name.push_str(&id.qualifier);
    }
    name.replace(['/', '\\', '\0'], "_")
}

/// The same for QuickFIX/J: with sub and location ids, and `_` for what is no letter, digit, point or dash.
#[must_use]
pub fn quickfix_j_name(id: &SessionId) -> String {
    let with = |mark: char, text: &str| match text {
        "" => String::new(),
        text => format!("{mark}{text}"),
    };
    let name = [
        id.begin_string.clone(),
        with('-', &id.sender),
        with('_', &id.sender_sub),
        with('_', &id.sender_location),
        with('-', &id.target),
        with('_', &id.target_sub),
        with('_', &id.target_location),
        with('-', &id.qualifier),
    ];
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '.' || c == '-';
    let name = name.concat();
    // Java counts a character beyond the first 65,536 as two.
    name.chars()
        .flat_map(|c| {
            let one = if plain(c) { c } else { '_' };
            std::iter::repeat_n(one, c.len_utf16())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_engines() {
        let mut id = SessionId::new("FIX.4.4", "A/B", "C#D");
        assert_eq!(quickfix_name(&id), "FIX.4.4-A_B-C#D");
        assert_eq!(quickfix_j_name(&id), "FIX.4.4-A_B-C_D");
        id.sender_sub = "desk".to_owned();
        id.target_location = "NY".to_owned();
        id.qualifier = "Q 1".to_owned();
        assert_eq!(quickfix_name(&id), "FIX.4.4-A_B-C#D-Q 1");
        assert_eq!(quickfix_j_name(&id), "FIX.4.4-A_B_desk-C_D_NY-Q_1");
    }

    #[test]
    fn no_two_sessions_share_a_store() {
        let name = |sender: &str, sub: &str, target: &str| {
            let mut id = SessionId::new("FIX.4.4", sender, target);
            id.sender_sub = sub.to_owned();
            store_name(&id)
        };
        assert_eq!(name("A", "", "B"), "FIX.4.4-A-B");
        assert_eq!(name("A-B", "", "C"), "FIX.4.4-A%2DB-C");
        assert_ne!(name("A-B", "", "C"), name("A", "", "B-C"));
        assert_ne!(name("A_B", "", "C"), name("A", "B", "C"));
        assert_ne!(name("A%2DB", "", "C"), name("A-B", "", "C"));
        assert_eq!(name("../x", "", "C"), "FIX.4.4-..%2Fx-C");
    }
}
