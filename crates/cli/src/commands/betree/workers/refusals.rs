//! Events that a worker refused: the first few are told, and those of a block go along with its answer, each with its
//! line and its reason.

use report::units::counted;
use workers::{LABEL_BYTES_MAX, Place};

use crate::commands::betree::worker::Refused;
use crate::failure::Failure;
use crate::term::message;

/// Events that are told each by itself.
const NAMED_MAX: u64 = 3;
/// The longest reason in a list.
const REASON_BYTES_MAX: usize = 200;

/// Tells of the events that a block lacks, if few were told `before`.
pub(super) fn tell(place: &Place, refused: &[Refused], before: u64) {
    let left = usize::try_from(NAMED_MAX.saturating_sub(before)).unwrap_or(0);
    for one in refused.iter().take(left) {
        let Refused { number, reason, .. } = one;
        let failure = Failure::new(format!("{place}, line {number}: event refused: {reason}"));
        message::failure(&match one.failure.help_text() {
            Some(help) => failure.help(help),
            None => failure,
        });
    }
}

/// Says how many were not told.
pub(super) fn end(refused: u64) {
    let more = refused.saturating_sub(NAMED_MAX);
    if more > 0 {
        let more = counted(more, ["more event was", "more events were"]);
        let failure = Failure::new(format!("{more} refused"));
        message::failure(&failure.help(
            "the answers to their blocks say which and why (Perfkit-Refused, Perfkit-Refusals)",
        ));
    }
}

/// The events that a block lacks, as JSON: as many of the first as fit into a header. None if there are none.
pub(super) fn listed(refused: &[Refused]) -> Option<String> {
    let mut list = String::from("[");
    for Refused { number, reason, .. } in refused {
        let mut end = reason.len().min(REASON_BYTES_MAX);
        while !reason.is_char_boundary(end) {
            end -= 1;
        }
        let message = serde_json::Value::from(&reason[..end]);
        let one = format!("{{\"event\":{number},\"error\":{{\"message\":{message}}}}}");
        let comma = usize::from(list.len() > 1);
        if list.len() + comma + one.len() + 1 > LABEL_BYTES_MAX {
            break;
        }
        list.push_str(&",".repeat(comma));
        list.push_str(&one);
    }
    list.push(']');
    (!refused.is_empty()).then_some(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(number: u64, reason: &str) -> Refused {
        Refused {
            number,
            reason: reason.to_owned(),
            failure: Failure::new(reason),
        }
    }

    #[test]
    fn a_list_of_refused_events_is_json_that_fits_into_a_header() {
        assert_eq!(listed(&[]), None);
        let two = [refused(3, "no \"quotes\"\n"), refused(9, &"ü".repeat(500))];
        let list = listed(&two).expect("a list");
        let list: serde_json::Value = serde_json::from_str(&list).expect("JSON");
        assert_eq!(list[0]["event"], 3);
        assert_eq!(list[0]["error"]["message"], "no \"quotes\"\n");
        assert_eq!(list[1]["error"]["message"], "ü".repeat(100));
        let many: Vec<_> = (0..100).map(|at| refused(at, &"r".repeat(300))).collect();
        let list = listed(&many).expect("a list");
        assert!(list.len() <= LABEL_BYTES_MAX, "{}", list.len());
        let list: serde_json::Value = serde_json::from_str(&list).expect("JSON");
        assert_eq!(list.as_array().map(Vec::len), Some(4));
    }
}
