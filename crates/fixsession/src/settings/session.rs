//! The settings of each session of a file.

use std::collections::BTreeMap;
use std::fs::File as DiskFile;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use crate::id::SessionId;
use crate::options::{Role, SessionOptions, TimePrecision};
use crate::schedule::Schedule;

use super::dictionaries::{self, DictionaryOptions};
use super::endpoint::{self, EndpointOptions};
use super::error::Problem;
use super::identity;
use super::key::Group;
use super::keys;
use super::log::{self, LogOptions};
use super::reader::{Findings, Reader, takes};
use super::sections::{FILE_BYTES_MAX, File, Section};
use super::storage::{self, StorageOptions};
use super::times;

/// The settings of one session, or of a template of sessions.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct SessionSettings {
    /// The line of its `[SESSION]`.
    pub line: u32,
    /// What the session is and does; `role` is `ConnectionType`.
    pub session: SessionOptions,
    /// Where it listens or connects.
    pub endpoint: EndpointOptions,
    /// When it is open.
    pub schedule: Schedule,
    /// Where its numbers and messages are kept.
    pub storage: StorageOptions,
    /// What it logs.
    pub log: LogOptions,
    /// Its dictionaries.
    pub dictionaries: DictionaryOptions,
    /// `AcceptorTemplate`: parts of its identity may be `*`, which stands for any.
    pub is_template: bool,
}

impl SessionSettings {
    /// Whether this is a template that fits a session: each part of its identity is the same, or `*`.
    #[must_use]
    pub fn matches(&self, id: &SessionId) -> bool {
        let parts = |id: &SessionId| {
            let SessionId {
                begin_string,
                sender,
                sender_sub,
                sender_location,
                target,
                target_sub,
                target_location,
                qualifier: _,
            } = id.clone();
            let sender = [sender, sender_sub, sender_location];
            let target = [target, target_sub, target_location];
            [[begin_string].to_vec(), sender.to_vec(), target.to_vec()].concat()
        };
        let (pattern, id) = (parts(&self.session.id), parts(id));
        let mut pairs = pattern.iter().zip(&id);
        self.is_template && pairs.all(|(pattern, part)| pattern == "*" || pattern == part)
    }

    /// The settings of a session that a template fits.
    #[must_use]
    pub fn for_session(&self, id: SessionId) -> Self {
        let mut settings = self.clone();
        settings.session.id = id;
        settings.is_template = false;
        settings
    }
}

/// The content of a file, no more than may be.
pub(super) fn content(path: &Path) -> Result<Vec<u8>, Problem> {
    let mut text = Vec::new();
    DiskFile::open(path)
        .and_then(|file| file.take(FILE_BYTES_MAX as u64 + 1).read_to_end(&mut text))
        .map_err(|error| Problem::Unreadable(error.to_string()))?;
    Ok(text)
}

/// The sessions of a file; what is wrong goes to the file.
pub(super) fn sessions(
    file: &mut File,
    env: &dyn Fn(&str) -> Option<String>,
) -> Vec<SessionSettings> {
    let mut sessions: Vec<SessionSettings> = Vec::with_capacity(file.sessions.len());
    let mut lines: BTreeMap<SessionId, u32> = BTreeMap::new();
    let sections = std::mem::take(&mut file.sessions);
    for section in &sections {
        let (settings, found) = session(section, &file.defaults, env);
        for (line, problem) in found.errors {
            file.error(line, problem);
        }
        for (line, problem) in found.warnings {
            file.warn(line, problem);
        }
        let id = settings.session.id.clone();
        let is_named = !id.sender.is_empty() && !id.target.is_empty();
        if let Some(first) = lines.insert(id.clone(), section.line).filter(|_| is_named) {
            let id = id.to_string();
            file.error(section.line, Problem::Twice { id, first });
        }
        sessions.push(settings);
    }
    file.sessions = sections;
    of_other_roles(file, &sessions);
    let is_fixt = |settings: &SessionSettings| {
        let begin_string = &settings.session.id.begin_string;
        begin_string == "FIXT.1.1" || begin_string == "*"
    };
    if !sessions.iter().any(is_fixt) {
        let of_fixt = |name: &str| matches!(name, "AppDataDictionary" | "TransportDataDictionary");
        let entries = file.defaults.entries.iter();
        let stated = entries.filter(|((name, _), entry)| of_fixt(name) && !entry.value.is_empty());
        let stated: Vec<_> = stated
            .map(|(_, entry)| (entry.line, entry.stated.clone()))
            .collect();
        for (line, key) in stated {
            let why = dictionaries::OF_FIXT.to_owned();
            file.warn(line, Problem::NoEffect { key, why });
        }
    }
    sessions
}

/// Warns about keys of initiators that only acceptors state, and of acceptors that only initiators do. Of a default,
/// some session may have use.
fn of_other_roles(file: &mut File, sessions: &[SessionSettings]) {
    if sessions.is_empty() {
        return;
    }
    let none_is = |role: Role| {
        sessions
            .iter()
            .all(|settings| settings.session.role != role)
    };
    let absent = [Role::Acceptor, Role::Initiator].map(none_is);
    let mut unused = Vec::new();
    let mut add = |section: &Section, absent: [bool; 2]| {
        for ((name, _), entry) in &section.entries {
            let group = keys::key(name).map(|(key, _)| key.group);
            let why = match group {
                Some(Group::Acceptor) if absent[0] => "it is a key of acceptors",
                Some(Group::Initiator) if absent[1] => "it is a key of initiators",
                _ => continue,
            };
            if !entry.value.is_empty() {
                unused.push((entry.line, entry.stated.clone(), why.to_owned()));
            }
        }
    };
    add(&file.defaults, absent);
    for (section, settings) in file.sessions.iter().zip(sessions) {
        let is_acceptor = settings.session.role == Role::Acceptor;
        add(section, [!is_acceptor, is_acceptor]);
    }
    for (line, key, why) in unused {
        file.warn(line, Problem::NoEffect { key, why });
    }
}

/// One session, and what is wrong in it.
pub(super) fn session(
    section: &Section,
    defaults: &Section,
    env: &dyn Fn(&str) -> Option<String>,
) -> (SessionSettings, Findings) {
    let reader = Reader::new(section, defaults, env);
    let role = identity::role(&reader);
    let is_template = reader.flag("AcceptorTemplate").unwrap_or(false);
    if is_template
        && role == Some(Role::Initiator)
        && let Some(stated) = reader.stated("AcceptorTemplate")
    {
        reader.conflict(&stated, "only an acceptor has templates");
    }
    let id = identity::id(&reader, role, is_template);
    if is_template
        && !identity::has_any(&id)
        && let Some(stated) = reader.stated("AcceptorTemplate")
    {
        let key = format!("{}={}", stated.key, stated.value);
        let conflict = "no part of the session's name is *: it stands for this one session only";
        let conflict = conflict.to_owned();
        reader.warn(stated.line, Problem::Conflict { key, conflict });
    }
    let version = identity::default_appl_ver_id(&reader, &id.begin_string);
    let dictionaries = dictionaries::dictionaries(&reader, &id.begin_string, version.as_deref());
    let mut session = SessionOptions::new(id);
    session.role = role.unwrap_or_default();
    session.default_appl_ver_id = version;
    flags(&reader, &mut session);
    numbers(&reader, &mut session);
    let mut endpoint = endpoint::endpoint(&reader, role);
    let stated = reader.stated("LogonTimeout");
    endpoint.logon_timeout = stated.map(|_| session.logon_timeout);
    let settings = SessionSettings {
        line: section.line,
        session,
        endpoint,
        schedule: times::schedule(&reader),
        storage: storage::storage(&reader),
        log: log::log(&reader),
        dictionaries,
        is_template,
    };
    (settings, reader.findings())
}

type Field = fn(&mut SessionOptions) -> &mut bool;

/// The flags of a session.
const FLAGS: [(&str, Field); 29] = [
    ("ResetOnLogon", |o| &mut o.reset_on_logon),
    ("ResetOnLogout", |o| &mut o.reset_on_logout),
    ("ResetOnDisconnect", |o| &mut o.reset_on_disconnect),
    ("ResetOnError", |o| &mut o.reset_on_error),
    ("DisconnectOnError", |o| &mut o.disconnect_on_error),
    ("RefreshOnLogon", |o| &mut o.refresh_on_logon),
    ("SendRedundantResendRequests", |o| {
        &mut o.send_redundant_resend_requests
    }),
    ("ClosedResendInterval", |o| &mut o.closed_resend_interval),
    ("SendNextExpectedMsgSeqNum", |o| {
        &mut o.send_next_expected_msg_seq_num
    }),
    ("EnableLastMsgSeqNumProcessed", |o| {
        &mut o.enable_last_msg_seq_num_processed
    }),
    ("DisableHeartBeatCheck", |o| &mut o.disable_heart_beat_check),
    ("RejectGarbledMessage", |o| &mut o.reject_garbled_message),
    ("RejectMessageOnUnhandledException", |o| {
        &mut o.reject_message_on_unhandled_exception
    }),
    ("ForceResendWhenCorruptedStore", |o| {
        &mut o.force_resend_when_corrupted_store
    }),
    ("AllowUnknownMsgFields", |o| &mut o.allow_unknown_msg_fields),
    ("PersistMessages", |o| &mut o.persist_messages),
    ("CheckCompID", |o| &mut o.check_comp_id),
    ("CheckLatency", |o| &mut o.check_latency),
    ("ValidateSequenceNumbers", |o| {
        &mut o.validate_sequence_numbers
    }),
    ("ValidateIncomingMessage", |o| {
        &mut o.validate_incoming_message
    }),
    ("RejectInvalidMessage", |o| &mut o.reject_invalid_message),
    ("RequiresOrigSendingTime", |o| {
        &mut o.requires_orig_sending_time
    }),
    ("UseDataDictionary", |o| &mut o.use_data_dictionary),
    ("ValidateLengthAndChecksum", |o| {
        &mut o.validate_length_and_checksum
    }),
    ("ValidateFieldsOutOfOrder", |o| {
        &mut o.validate_fields_out_of_order
    }),
    ("ValidateFieldsHaveValues", |o| {
        &mut o.validate_fields_have_values
    }),
    ("ValidateUserDefinedFields", |o| {
        &mut o.validate_user_defined_fields
    }),
    ("ValidateUnorderedGroupFields", |o| {
        &mut o.validate_unordered_group_fields
    }),
    ("PreserveMessageFieldsOrder", |o| {
        &mut o.preserve_message_fields_order
    }),
];

fn flags(reader: &Reader<'_>, session: &mut SessionOptions) {
    for (name, field) in FLAGS {
        if let Some(flag) = reader.flag(name) {
            *field(session) = flag;
        }
    }
    session.test_message_indicator = reader.flag("TestMessageIndicator");
}

fn numbers(reader: &Reader<'_>, session: &mut SessionOptions) {
    let seconds = |name, field: &mut Duration| {
        if let Some(seconds) = reader.seconds(name, 1) {
            *field = seconds;
        }
    };
    seconds("MaxLatency", &mut session.max_latency);
    seconds("LogonTimeout", &mut session.logon_timeout);
    seconds("LogoutTimeout", &mut session.logout_timeout);
    seconds("HeartBtInt", &mut session.heart_bt_int);
    if session.role == Role::Initiator && reader.stated("HeartBtInt").is_none() {
        reader.missing("HeartBtInt");
    }
    session.test_request_delay_multiplier = multiplier(reader, "TestRequestDelayMultiplier");
    session.heart_beat_timeout_multiplier = multiplier(reader, "HeartBeatTimeoutMultiplier");
    if let Some(chunk) = reader.number("ResendRequestChunkSize", 0) {
        session.resend_request_chunk_size = chunk;
    }
    session.max_message_size = reader.number("MaxMessageSize", 1);
    session.timestamp_precision = precision(reader);
    session.logon_tags = logon_tags(reader);
}

fn multiplier(reader: &Reader<'_>, name: &'static str) -> Option<f64> {
    let stated = reader.stated(name)?;
    let number = stated.value.parse().ok();
    let number = number.filter(|number: &f64| (0.0..=100.0).contains(number));
    if number.is_none() {
        reader.wrong(&stated, takes(name));
    }
    number
}

/// Digits of the second's fraction.
fn precision(reader: &Reader<'_>) -> TimePrecision {
    let milliseconds = reader.flag("MillisecondsInTimeStamp").unwrap_or(true);
    let default = TimePrecision(if milliseconds { 3 } else { 0 });
    let name = "TimestampPrecision";
    let Some(stated) = reader.stated(name) else {
        return default;
    };
    let digits = match stated.value.to_ascii_uppercase().as_str() {
        "SECONDS" => Some(0),
        "MILLIS" => Some(3),
        "MICROS" => Some(6),
        "NANOS" => Some(9),
        digits => digits.parse().ok().filter(|digits| *digits <= 9),
    };
    if digits.is_none() {
        reader.wrong(&stated, takes(name));
    }
    digits.map_or(default, TimePrecision)
}

/// `LogonTag`, `LogonTag1` …: `tag=value`.
fn logon_tags(reader: &Reader<'_>) -> Vec<(u32, String)> {
    const TAGS_MAX: usize = 1000;
    let name = "LogonTag";
    let numbered = reader.numbers(name).into_iter().take(TAGS_MAX);
    let all = std::iter::once(String::new()).chain(numbered.map(|number| number.to_string()));
    let stated = all.filter_map(|rest| reader.suffixed(name, &rest));
    stated
        .filter_map(|stated| {
            let pair = stated.value.split_once('=');
            let pair = pair.and_then(|(tag, value)| {
                let tag: u32 = tag.trim().parse().ok()?;
                let value = value.trim();
                let is_right = tag > 0 && !value.is_empty() && !value.contains('\u{1}');
                is_right.then(|| (tag, value.to_owned()))
            });
            if pair.is_none() {
                reader.wrong(&stated, takes(name));
            }
            pair
        })
        .collect()
}
