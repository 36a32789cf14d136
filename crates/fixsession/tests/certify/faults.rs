//! Engines with one fault each: certify has to find every one, by the scenarios that are about it.

use std::time::Duration;

use fixcore::dict::Version;
use fixcore::frame::{self, SOH};
use fixsession::certify::{Counterparty, Verdict, scenarios};
use fixsession::{Role, SessionOptions};
use libtest_mimic::{Failed, Trial};

use crate::driver::{Change, Engine};

/// A fault, and scenarios that have to fail because of it.
struct Fault {
    name: &'static str,
    role: Role,
    connects: u32,
    options: fn(&mut SessionOptions),
    change: Change,
    closes: bool,
    found_by: &'static [&'static str],
}

const SOUND: Fault = Fault {
    name: "none",
    role: Role::Acceptor,
    connects: u32::MAX,
    options: |_| {},
    change: |bytes| Some(bytes.to_vec()),
    closes: true,
    found_by: &[],
};

const FAULTS: [Fault; 18] = [
    SOUND,
    Fault {
        name: "a_reject_does_not_name_its_tag",
        change: |bytes| edit(bytes, "3", |fields| fields.retain(|field| field.0 != 371)),
        found_by: &["reject.required-missing", "possdup.no-original-time"],
        ..SOUND
    },
    Fault {
        name: "a_gap_fill_goes_one_too_far",
        change: |bytes| edit(bytes, "4", |fields| add(fields, 36, 1)),
        found_by: &[
            "resend.mixed",
            "resend.only-administrative",
            "resend.end-beyond",
        ],
        ..SOUND
    },
    Fault {
        name: "a_gap_fill_begins_one_too_low",
        change: |bytes| edit(bytes, "4", |fields| add(fields, 34, -1)),
        found_by: &["resend.closing-gap"],
        ..SOUND
    },
    Fault {
        name: "what_is_sent_again_has_no_possdup_flag",
        change: |bytes| edit(bytes, "D", |fields| fields.retain(|field| field.0 != 43)),
        found_by: &["resend.mixed", "resend.range"],
        ..SOUND
    },
    Fault {
        name: "original_sending_time_is_the_new_one",
        change: |bytes| edit(bytes, "D", |fields| copy(fields, 52, 122)),
        found_by: &["resend.mixed"],
        ..SOUND
    },
    Fault {
        name: "a_resend_request_is_sent_for_each_high_message",
        options: |options| options.send_redundant_resend_requests = true,
        found_by: &["number.high"],
        ..SOUND
    },
    Fault {
        name: "a_logout_is_not_answered",
        change: |bytes| edit(bytes, "5", |_| {}).filter(|_| !is(bytes, "5")),
        found_by: &["admin.logout", "number.high-logout"],
        ..SOUND
    },
    Fault {
        name: "a_heartbeat_does_not_repeat_the_id",
        change: |bytes| edit(bytes, "0", |fields| fields.retain(|field| field.0 != 112)),
        found_by: &["admin.test-request"],
        ..SOUND
    },
    Fault {
        name: "sending_time_is_not_checked",
        options: |options| options.check_latency = false,
        found_by: &["time.past", "time.future", "logon.wrong-sending-time"],
        ..SOUND
    },
    Fault {
        name: "comp_ids_are_not_checked",
        options: |options| options.check_comp_id = false,
        found_by: &["names.sender", "names.target"],
        ..SOUND
    },
    Fault {
        name: "original_sending_time_is_not_required",
        options: |options| options.requires_orig_sending_time = false,
        found_by: &["possdup.no-original-time"],
        ..SOUND
    },
    Fault {
        name: "numbers_are_not_checked",
        options: |options| options.validate_sequence_numbers = false,
        found_by: &["number.high", "number.low", "garbled.sum"],
        ..SOUND
    },
    Fault {
        name: "sums_are_not_checked",
        options: |options| options.validate_length_and_checksum = false,
        found_by: &["garbled.sum"],
        ..SOUND
    },
    Fault {
        name: "messages_are_not_validated",
        options: |options| options.validate_incoming_message = false,
        found_by: &["reject.enumerated", "reject.not-for-type"],
        ..SOUND
    },
    Fault {
        name: "another_heartbeat_interval_is_answered",
        change: |bytes| edit(bytes, "A", |fields| set(fields, 108, "30")),
        found_by: &["logon.valid"],
        ..SOUND
    },
    Fault {
        name: "heartbeats_come_late",
        options: |options| options.disable_heart_beat_check = true,
        found_by: &["timers.test-request"],
        ..SOUND
    },
    Fault {
        name: "connections_stay_open",
        closes: false,
        found_by: &["number.low", "admin.logout"],
        ..SOUND
    },
];

const INITIATOR: Fault = Fault {
    name: "none_of_an_initiator",
    role: Role::Initiator,
    ..SOUND
};

/// Faults of engines that connect.
const INITIATOR_FAULTS: [Fault; 14] = [
    INITIATOR,
    Fault {
        name: "a_logon_does_not_say_that_it_resets",
        change: |bytes| edit(bytes, "A", |fields| fields.retain(|field| field.0 != 141)),
        found_by: &["initiator.reset-flag"],
        ..INITIATOR
    },
    Fault {
        name: "a_logon_states_no_interval",
        change: |bytes| edit(bytes, "A", |fields| fields.retain(|field| field.0 != 108)),
        found_by: &["initiator.logon", "number.high"],
        ..INITIATOR
    },
    Fault {
        name: "a_logon_does_not_begin_at_1",
        change: |bytes| edit(bytes, "A", |fields| add(fields, 34, 1)),
        found_by: &["initiator.logon"],
        ..INITIATOR
    },
    Fault {
        name: "a_logon_has_the_wrong_sender",
        change: |bytes| edit(bytes, "A", |fields| set(fields, 49, "NOBODY")),
        found_by: &["initiator.logon", "initiator.answer-logout"],
        ..INITIATOR
    },
    Fault {
        name: "a_logon_waits_for_ever",
        options: |options| options.logon_timeout = Duration::from_secs(3600),
        found_by: &["initiator.no-answer"],
        ..INITIATOR
    },
    Fault {
        name: "a_logon_does_not_wait",
        options: |options| options.logon_timeout = Duration::from_secs(1),
        found_by: &["initiator.answer-late"],
        ..INITIATOR
    },
    Fault {
        name: "answers_of_strangers_are_taken",
        options: |options| options.check_comp_id = false,
        found_by: &[
            "initiator.answer-wrong-sender",
            "initiator.answer-wrong-target",
        ],
        ..INITIATOR
    },
    Fault {
        name: "old_answers_are_taken",
        options: |options| options.check_latency = false,
        found_by: &["initiator.answer-wrong-sending-time", "time.past"],
        ..INITIATOR
    },
    Fault {
        name: "garbled_answers_are_taken",
        options: |options| options.validate_length_and_checksum = false,
        found_by: &["initiator.answer-garbled"],
        ..INITIATOR
    },
    Fault {
        name: "it_connects_once",
        connects: 1,
        found_by: &["initiator.connects-again", "initiator.answer-logout"],
        ..INITIATOR
    },
    Fault {
        name: "refused_connections_stay_open",
        closes: false,
        found_by: &["initiator.answer-logout", "initiator.reset-not-done"],
        ..INITIATOR
    },
    Fault {
        name: "what_the_answer_misses_is_skipped",
        change: |bytes| edit(bytes, "4", |_| {}).filter(|_| !is(bytes, "4")),
        found_by: &["initiator.next-expected-replay", "resend.mixed"],
        ..INITIATOR
    },
    Fault {
        name: "it_sends_no_heartbeats",
        change: |bytes| edit(bytes, "0", |_| {}).filter(|_| !is(bytes, "0") || has_id(bytes)),
        found_by: &["timers.heartbeat"],
        ..INITIATOR
    },
];

pub(crate) fn trials() -> Vec<Trial> {
    let trial = |fault: &'static Fault| {
        Trial::test(format!("faults::{}", fault.name), move || found(fault))
    };
    FAULTS.iter().chain(&INITIATOR_FAULTS).map(trial).collect()
}

/// Runs the whole table in one version.
fn found(fault: &Fault) -> Result<(), Failed> {
    let mut us = Counterparty::new("CERTIFY", "ENGINE");
    us.role = fault.role;
    let mut failed = Vec::new();
    for scenario in scenarios() {
        if scenario.skipped(Version::Fix44, &us).is_some() {
            continue;
        }
        let mut engine = Engine::with(Version::Fix44, &us, fault.options);
        engine.change = fault.change;
        engine.closes = fault.closes;
        engine.connects = fault.connects;
        let finished = engine.run(scenario, Version::Fix44, &us);
        if finished.verdict != Verdict::Passed {
            failed.push(scenario.name());
        }
    }
    for name in fault.found_by {
        if !failed.contains(name) {
            return Err(format!("{name} passed; failed: {failed:?}").into());
        }
    }
    match fault.found_by.is_empty() && !failed.is_empty() {
        true => Err(format!("failed: {failed:?}").into()),
        false => Ok(()),
    }
}

type Fields = Vec<(u32, Vec<u8>)>;

fn is(bytes: &[u8], msg_type: &str) -> bool {
    let wanted = format!("\u{1}35={msg_type}\u{1}");
    String::from_utf8_lossy(bytes).contains(&wanted)
}

fn has_id(bytes: &[u8]) -> bool {
    String::from_utf8_lossy(bytes).contains("\u{1}112=")
}

/// A message of this type with changed fields, and a right length and sum. Others are as they were.
fn edit(bytes: &[u8], msg_type: &str, change: fn(&mut Fields)) -> Option<Vec<u8>> {
    if !is(bytes, msg_type) {
        return Some(bytes.to_vec());
    }
    let mut fields = Vec::new();
    for field in bytes
        .split(|byte| *byte == SOH)
        .filter(|field| !field.is_empty())
    {
        let text = String::from_utf8_lossy(field).into_owned();
        let (tag, value) = text.split_once('=').unwrap();
        fields.push((tag.parse().unwrap(), value.as_bytes().to_vec()));
    }
    let begin = fields.first().unwrap().1.clone();
    change(&mut fields);
    let mut body = Vec::new();
    for (tag, value) in fields.iter().filter(|field| ![8, 9, 10].contains(&field.0)) {
        body.extend_from_slice(format!("{tag}=").as_bytes());
        body.extend_from_slice(value);
        body.push(SOH);
    }
    let mut out = Vec::new();
    frame::write(&begin, &body, &mut out);
    Some(out)
}

fn set(fields: &mut Fields, tag: u32, value: &str) {
    for field in fields.iter_mut().filter(|field| field.0 == tag) {
        field.1 = value.as_bytes().to_vec();
    }
}

fn add(fields: &mut Fields, tag: u32, count: i64) {
    for field in fields.iter_mut().filter(|field| field.0 == tag) {
        let number: i64 = String::from_utf8_lossy(&field.1).parse().unwrap();
        field.1 = (number + count).to_string().into_bytes();
    }
}

fn copy(fields: &mut Fields, from: u32, to: u32) {
    if let Some((_, value)) = fields.iter().find(|field| field.0 == from).cloned() {
        set(fields, to, &String::from_utf8_lossy(&value));
    }
}
