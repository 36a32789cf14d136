//! What stands in the field of an id where there is none.

/// Whether a value says that there is no id: what engines write in any case into fields that are required, such as
/// OrderID (37) of an order that was not accepted.
#[inline]
pub(crate) fn is_none(value: &[u8]) -> bool {
    let words: &[&[u8]] = match value.len() {
        1 => return value == b"0",
        3 => &[b"N/A"],
        4 => &[b"NONE", b"NULL"],
        5 => &[b"[N/A]"],
        7 => &[b"UNKNOWN"],
        10 => &[b"UNASSIGNED"],
        _ => return false,
    };
    words.iter().any(|word| value.eq_ignore_ascii_case(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_none_are_no_ids() {
        for none in [
            "NONE",
            "none",
            "N/A",
            "[N/A]",
            "Unknown",
            "NULL",
            "Unassigned",
            "0",
        ] {
            assert!(is_none(none.as_bytes()), "{none}");
        }
        for id in ["", "00", "NONE1", "O1", "NA", "-", "7", "NOPE"] {
            assert!(!is_none(id.as_bytes()), "{id}");
        }
    }
}
