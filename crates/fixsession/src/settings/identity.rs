//! Keys of a session's identity.

use crate::id::SessionId;
use crate::options::Role;

use super::reader::{Reader, takes};
use super::value::{appl_ver_id, is_name};

/// The versions that a session can have.
const BEGIN_STRINGS: [&str; 6] = [
    "FIX.4.0", "FIX.4.1", "FIX.4.2", "FIX.4.3", "FIX.4.4", "FIXT.1.1",
];

/// The identity; parts that are wrong are empty.
pub(super) fn id(reader: &Reader<'_>, role: Option<Role>, is_template: bool) -> SessionId {
    let name = |key: &'static str, is_required: bool| {
        let Some(stated) = reader.stated(key) else {
            if is_required {
                reader.missing(key);
            }
            return String::new();
        };
        if !is_name(&stated.value) {
            reader.wrong(&stated, takes(key));
        } else if stated.value == "*" && !is_template {
            reader.conflict(
                &stated,
                "* stands for any name only with AcceptorTemplate=Y",
            );
        }
        stated.value
    };
    let mut id = SessionId::new("", &name("SenderCompID", true), &name("TargetCompID", true));
    id.sender_sub = name("SenderSubID", false);
    id.sender_location = name("SenderLocationID", false);
    id.target_sub = name("TargetSubID", false);
    id.target_location = name("TargetLocationID", false);
    id.qualifier = name("SessionQualifier", false);
    if !id.qualifier.is_empty()
        && role == Some(Role::Acceptor)
        && let Some(stated) = reader.stated("SessionQualifier")
    {
        reader.conflict(
            &stated,
            "only an initiator can have it: no message states it",
        );
    }
    match reader.stated("BeginString") {
        None => reader.missing("BeginString"),
        Some(stated) => {
            let is_any = is_template && stated.value == "*";
            if !is_any && !BEGIN_STRINGS.contains(&stated.value.as_str()) {
                let over = stated.value.starts_with("FIX.5");
                let expected = match over {
                    true => format!("FIXT.1.1, with DefaultApplVerID={}", stated.value),
                    false => takes("BeginString").to_owned(),
                };
                reader.wrong(&stated, &expected);
            }
            id.begin_string = stated.value;
        }
    }
    id
}

/// Whether a part of the identity stands for any name.
pub(super) fn has_any(id: &SessionId) -> bool {
    let parts = [
        &id.begin_string,
        &id.sender,
        &id.sender_sub,
        &id.sender_location,
        &id.target,
        &id.target_sub,
        &id.target_location,
    ];
    parts.into_iter().any(|part| part == "*")
}

/// Who connects.
pub(super) fn role(reader: &Reader<'_>) -> Option<Role> {
    let Some(stated) = reader.stated("ConnectionType") else {
        reader.missing("ConnectionType");
        return None;
    };
    match stated.value.to_ascii_lowercase().as_str() {
        "acceptor" => Some(Role::Acceptor),
        "initiator" => Some(Role::Initiator),
        _ => {
            reader.wrong(&stated, takes("ConnectionType"));
            None
        }
    }
}

/// The version of application messages, as a Logon states it.
pub(super) fn default_appl_ver_id(reader: &Reader<'_>, begin_string: &str) -> Option<String> {
    let Some(stated) = reader.stated("DefaultApplVerID") else {
        if begin_string == "FIXT.1.1" {
            reader.missing("DefaultApplVerID");
        }
        return None;
    };
    let version = appl_ver_id(&stated.value);
    if version.is_none() {
        reader.wrong(&stated, takes("DefaultApplVerID"));
    }
    version.map(str::to_owned)
}
