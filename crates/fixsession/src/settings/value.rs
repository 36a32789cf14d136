//! Forms of values that several keys have.

use std::net::Ipv4Addr;

/// The version that 1128 and 1137 state for `FIX.5.0SP2` or `9`.
pub(super) fn appl_ver_id(stated: &str) -> Option<&'static str> {
    let versions = [
        ("FIX.4.0", "2"),
        ("FIX.4.1", "3"),
        ("FIX.4.2", "4"),
        ("FIX.4.3", "5"),
        ("FIX.4.4", "6"),
        ("FIX.5.0", "7"),
        ("FIX.5.0SP1", "8"),
        ("FIX.5.0SP2", "9"),
    ];
    let found = versions
        .iter()
        .find(|(name, id)| stated.eq_ignore_ascii_case(name) || stated == *id);
    found.map(|(_, id)| *id)
}

/// Whether a text can be a name in a message.
pub(super) fn is_name(text: &str) -> bool {
    const BYTES_MAX: usize = 1024;
    text.len() <= BYTES_MAX && !text.chars().any(char::is_control)
}

/// Whether a text can be a host: a name or an address.
pub(super) fn is_host(text: &str) -> bool {
    const BYTES_MAX: usize = 253;
    let is_in_host = |c: char| c.is_ascii_alphanumeric() || "-._:%[]".contains(c);
    let is_right = !text.is_empty() && text.len() <= BYTES_MAX && text.chars().all(is_in_host);
    // Four numbers are an address, not a name.
    let are_numbers = text.split('.').all(|part| part.parse::<u64>().is_ok());
    let is_address = text.split('.').count() == 4 && are_numbers;
    is_right && (!is_address || text.parse::<Ipv4Addr>().is_ok())
}

/// The day of the week of a text's first two letters, 0 for Sunday: `Mo`, `mon`, `Monday`.
pub(super) fn day(text: &str) -> Option<u8> {
    let days = ["su", "mo", "tu", "we", "th", "fr", "sa"];
    let abbreviation = text.trim().get(..2)?.to_ascii_lowercase();
    let at = days.iter().position(|day| *day == abbreviation)?;
    u8::try_from(at).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_two_letters_or_more() {
        assert_eq!(day("SU"), Some(0));
        assert_eq!(day("sat."), Some(6));
        assert_eq!(day("Wednesday"), Some(3));
        assert_eq!(day("m"), None);
        assert_eq!(day("Lundi"), None);
    }

    #[test]
    fn four_numbers_are_an_address() {
        for host in [
            "10.0.0.3",
            "fix.example.com",
            "10.0.0",
            "::1",
            "[::1]",
            "1.2.3.4.example",
        ] {
            assert!(is_host(host), "{host}");
        }
        for other in ["10.0.0.300", "256.1.1.1", "", "a b"] {
            assert!(!is_host(other), "{other}");
        }
    }

    #[test]
    fn versions_have_names_and_numbers() {
        assert_eq!(appl_ver_id("FIX.5.0SP2"), Some("9"));
        assert_eq!(appl_ver_id("7"), Some("7"));
        assert_eq!(appl_ver_id("FIX.6.0"), None);
        assert_eq!(appl_ver_id("1"), None);
    }
}
