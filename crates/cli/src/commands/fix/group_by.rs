//! What `--group-by` names: what messages or fills are told apart by.

use fixcore::dict::Dictionary;
use fixlog::{GroupKey, tag_of};

use crate::failure::{Failure, Result};

/// Each key once, with the name of its column.
pub(super) fn keys(
    names: &[String],
    dictionaries: &[Dictionary],
) -> Result<Vec<(String, GroupKey)>> {
    let mut keys: Vec<(String, GroupKey)> = Vec::new();
    for name in names {
        let name = name.trim();
        let key = match name {
            "type" => GroupKey::Field(35),
            "session" => GroupKey::Session,
            "sender" => GroupKey::Field(49),
            "target" => GroupKey::Field(56),
            "day" => GroupKey::Day,
            "hour" => GroupKey::Hour,
            "minute" => GroupKey::Minute,
            field => GroupKey::Field(tag_of(field, dictionaries).ok_or_else(|| {
                let message = format!("--group-by: no dictionary has the field '{}'", field.escape_debug());
                Failure::usage(message)
                    .help("state type, session, sender, target, day, hour, minute, a tag, or a name of the standard")
            })?),
        };
        if keys.iter().all(|(_, other)| *other != key) {
            keys.push((name.to_owned(), key));
        }
    }
    Ok(keys)
}
