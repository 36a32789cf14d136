//! What the settings of a session change: each row a setting, what comes, and what is answered.

use fixsession::{Role, SessionOptions, Status};

use crate::common::{at, from_buyer, logged_on, options, seller, session, taken, types};

type Set = fn(&mut SessionOptions);

/// A setting, the messages that come after the Logon (type, number, body), and types and numbers of the
/// answers with a part of the first one.
type Row = (
    &'static str,
    Set,
    &'static [(&'static str, u64, &'static str)],
    &'static [(&'static str, u64)],
    &'static str,
);

const DUPLICATE: &str = "43=Y|122=20260102-03:04:05|";

const ROWS: &[Row] = &[
    (
        "ResendRequestChunkSize",
        |options| options.resend_request_chunk_size = 2,
        &[("0", 8, "")],
        &[("2", 2)],
        "|7=2|16=3|",
    ),
    (
        "ResendRequestChunkSize, and a gap fill that jumps over the chunk",
        |options| options.resend_request_chunk_size = 2,
        &[
            ("0", 9, ""),
            ("4", 2, "43=Y|122=20260102-03:04:05|36=7|123=Y|"),
        ],
        &[("2", 2), ("2", 3)],
        "|7=2|16=3|",
    ),
    (
        "ClosedResendInterval",
        |options| options.closed_resend_interval = true,
        &[("0", 8, "")],
        &[("2", 2)],
        "|7=2|16=7|",
    ),
    (
        "SendRedundantResendRequests",
        |options| options.send_redundant_resend_requests = true,
        &[("0", 8, ""), ("0", 9, "")],
        &[("2", 2), ("2", 3)],
        "|7=2|16=0|",
    ),
    (
        "ValidateFieldsHaveValues",
        |options| options.validate_fields_have_values = false,
        &[("1", 2, "112=|")],
        &[("0", 2)],
        "|112=|",
    ),
    (
        "AllowUnknownMsgFields",
        |options| options.allow_unknown_msg_fields = true,
        &[("1", 2, "112=X|999=Y|")],
        &[("0", 2)],
        "|112=X|",
    ),
    (
        "ValidateUserDefinedFields",
        |options| options.validate_user_defined_fields = false,
        &[("1", 2, "112=X|5000=Y|")],
        &[("0", 2)],
        "|112=X|",
    ),
    (
        "ValidateFieldsOutOfOrder",
        |options| options.validate_fields_out_of_order = false,
        &[("1", 2, "112=X|97=N|")],
        &[("0", 2)],
        "|112=X|",
    ),
    (
        "ValidateIncomingMessage",
        |options| options.validate_incoming_message = false,
        &[("1", 2, "112=X|38=+1|")],
        &[("0", 2)],
        "|112=X|",
    ),
    (
        "RejectInvalidMessage",
        |options| options.reject_invalid_message = false,
        &[("1", 2, "112=X|38=+1|")],
        &[("0", 2)],
        "|112=X|",
    ),
    (
        "UseDataDictionary",
        |options| options.use_data_dictionary = false,
        &[("1", 2, "112=X|38=+1|"), ("1", 3, "112=|")],
        &[("0", 2), ("3", 3)],
        "|112=X|",
    ),
    (
        "RequiresOrigSendingTime",
        |options| options.requires_orig_sending_time = false,
        &[("1", 1, "43=Y|112=OLD|"), ("1", 2, "112=X|")],
        &[("0", 2)],
        "|112=X|",
    ),
    (
        "ValidateSequenceNumbers",
        |options| options.validate_sequence_numbers = false,
        &[("1", 7, "112=X|"), ("1", 1, "112=Y|")],
        &[("0", 2), ("0", 3)],
        "|112=X|",
    ),
    (
        "EnableLastMsgSeqNumProcessed",
        |options| options.enable_last_msg_seq_num_processed = true,
        &[("1", 2, "112=X|")],
        &[("0", 2)],
        "|369=2|112=X|",
    ),
];

#[test]
fn each_setting_changes_what_it_says() {
    for (name, set, came, answers, part) in ROWS {
        let mut options = seller();
        set(&mut options);
        let mut session = logged_on(options);
        for (msg_type, number, body) in *came {
            session.bytes(
                &from_buyer(msg_type, *number, body, at(1)),
                9,
                at(1),
                &mut (),
            );
        }
        let sent = taken(&mut session);
        assert_eq!(types(&sent), *answers, "{name}: {sent:?}");
        assert!(sent[0].2.contains(part), "{name}: {sent:?}");
        // With its default the same messages are answered otherwise.
        let mut session = logged_on(seller());
        for (msg_type, number, body) in *came {
            session.bytes(
                &from_buyer(msg_type, *number, body, at(1)),
                9,
                at(1),
                &mut (),
            );
        }
        let default = taken(&mut session);
        let differs = types(&default) != *answers || !default[0].2.contains(part);
        assert!(differs, "{name} changes nothing");
    }
}

#[test]
fn a_garbled_message_is_rejected_if_that_is_wanted() {
    let mut options = seller();
    options.reject_garbled_message = true;
    let mut session = logged_on(options);
    let mut message = from_buyer("0", 2, "", at(1));
    let digit = message.len() - 2;
    message[digit] ^= 1;
    session.bytes(&message, 9, at(1), &mut ());
    let sent = taken(&mut session);
    assert!(
        sent[0]
            .2
            .contains("|45=2|58=Message failed basic validity check|"),
        "{sent:?}"
    );
    assert_eq!(session.next_target(), 3);
    // Or counts as valid, or ends the session.
    let mut options = seller();
    options.validate_length_and_checksum = false;
    let mut session = logged_on(options);
    session.bytes(&message, 9, at(1), &mut ());
    assert_eq!((session.next_target(), session.output().len()), (3, 0));
    let mut options = seller();
    options.disconnect_on_error = true;
    let mut session = logged_on(options);
    session.bytes(&message, 9, at(1), &mut ());
    assert_eq!(session.status(), Status::Closing);
}

#[test]
fn time_and_names_are_not_checked_if_that_is_wanted() {
    let mut late = seller();
    late.check_latency = false;
    let mut session = logged_on(late);
    session.bytes(&from_buyer("1", 2, "112=X|", at(500)), 9, at(1), &mut ());
    assert_eq!(types(&taken(&mut session)), [("0", 2)]);
    let mut any = seller();
    any.check_comp_id = false;
    let mut session = logged_on(any);
    let stranger = crate::common::from(("X", "Y"), "1", 2, "112=X|", at(1));
    session.bytes(&stranger, 9, at(1), &mut ());
    assert_eq!(types(&taken(&mut session)), [("0", 2)]);
}

#[test]
fn next_expected_asks_for_a_replay_and_is_stated() {
    let mut session = logged_on(seller());
    session
        .send(b"B", b"148=x\x0133=1\x0158=y\x01", at(1), &mut ())
        .unwrap();
    session.disconnected(at(2), &mut ());
    session.connected(at(3), &mut ());
    let logon = from_buyer("A", 2, "98=0|108=30|789=2|", at(3));
    session.bytes(&logon, 9, at(3), &mut ());
    let sent = taken(&mut session);
    assert_eq!(types(&sent), [("A", 3), ("B", 2)]);
    session.disconnected(at(4), &mut ());
    session.connected(at(4), &mut ());
    let logon = from_buyer("A", 3, "98=0|108=30|789=9|", at(4));
    session.bytes(&logon, 9, at(4), &mut ());
    let sent = taken(&mut session);
    assert!(
        sent[0].2.contains("|58=NextExpectedMsgSeqNum too high"),
        "{sent:?}"
    );
    assert!(session.close());

    let mut stated = seller();
    stated.send_next_expected_msg_seq_num = true;
    let mut session = crate::common::session(stated);
    session.connected(at(0), &mut ());
    session.bytes(
        &from_buyer("A", 4, "98=0|108=30|789=1|", at(0)),
        9,
        at(0),
        &mut (),
    );
    let sent = taken(&mut session);
    assert_eq!(
        types(&sent),
        [("A", 1)],
        "no ResendRequest: the Logon asked for it"
    );
    assert!(sent[0].2.contains("|789=1|"), "{sent:?}");
    let fill = format!("{DUPLICATE}36=5|123=Y|");
    session.bytes(&from_buyer("4", 1, &fill, at(0)), 9, at(0), &mut ());
    assert_eq!(session.next_target(), 5);
    // A counterparty that pays no attention to it is asked after all.
    session.bytes(&from_buyer("0", 9, "", at(0)), 9, at(0), &mut ());
    assert_eq!(types(&taken(&mut session)), [("2", 2)]);
}

#[test]
fn what_was_not_kept_is_passed_over() {
    for (keeps, replay) in [(true, &[("4", 1), ("B", 2)][..]), (false, &[("4", 1)])] {
        let mut options = seller();
        options.persist_messages = keeps;
        let mut session = logged_on(options);
        let sent = session.send(b"B", b"148=x\x0133=1\x0158=y\x01", at(1), &mut ());
        assert_eq!(sent.unwrap().number, 2);
        taken(&mut session);
        session.bytes(&from_buyer("2", 2, "7=1|16=0|", at(1)), 9, at(1), &mut ());
        assert_eq!(types(&taken(&mut session)), replay);
        assert_eq!(session.next_sender(), 3);
    }
}

#[test]
fn test_and_production_do_not_mix() {
    for (own, theirs, is_taken) in [
        (Some(false), "464=Y|", false),
        (Some(false), "", true),
        (Some(true), "", false),
        (Some(true), "464=Y|", true),
        (None, "464=Y|", true),
    ] {
        let mut options = seller();
        options.test_message_indicator = own;
        let mut session = session(options);
        session.connected(at(0), &mut ());
        let logon = format!("98=0|108=30|141=Y|{theirs}");
        session.bytes(&from_buyer("A", 1, &logon, at(0)), 9, at(0), &mut ());
        let sent = taken(&mut session);
        assert_eq!(
            sent[0].0,
            if is_taken { "A" } else { "5" },
            "{own:?} {theirs}"
        );
        assert_eq!(session.close(), !is_taken);
    }
}

#[test]
fn resets_happen_when_their_settings_say() {
    let end: [(&str, Set, bool, bool); 5] = [
        ("nothing", |_| {}, false, false),
        (
            "ResetOnLogout",
            |options| options.reset_on_logout = true,
            true,
            false,
        ),
        (
            "ResetOnDisconnect",
            |options| options.reset_on_disconnect = true,
            true,
            true,
        ),
        (
            "ResetOnError",
            |options| options.reset_on_error = true,
            false,
            true,
        ),
        (
            "ResetOnLogon",
            |options| options.reset_on_logon = true,
            false,
            false,
        ),
    ];
    for (name, set, at_logout, at_loss) in end {
        for (is_logout, resets) in [(true, at_logout), (false, at_loss)] {
            let mut options = seller();
            set(&mut options);
            let mut session = logged_on(options);
            if is_logout {
                session.bytes(&from_buyer("5", 2, "", at(1)), 9, at(1), &mut ());
            }
            session.disconnected(at(2), &mut ());
            assert_eq!(
                session.next_sender() == 1,
                resets,
                "{name}, logout: {is_logout}"
            );
            session.connected(at(3), &mut ());
            session.bytes(
                &from_buyer("A", 1, "98=0|108=30|", at(3)),
                9,
                at(3),
                &mut (),
            );
            let is_new = resets || name == "ResetOnLogon";
            assert_eq!(session.status() == Status::LoggedOn, is_new, "{name}");
        }
    }
}

#[test]
fn quickfix_j_waits_longer_for_a_test_request() {
    let mut late = seller();
    late.test_request_delay_multiplier = Some(0.5);
    late.heart_beat_timeout_multiplier = Some(1.4);
    let mut session = logged_on(late);
    session.tick(at(30), &mut ());
    assert_eq!(types(&taken(&mut session)), [("0", 2)]);
    session.tick(at(44), &mut ());
    assert!(session.output().is_empty());
    session.tick(at(45), &mut ());
    assert_eq!(types(&taken(&mut session)), [("1", 3)]);
    session.tick(at(71), &mut ());
    assert!(!session.close());
    session.tick(at(72), &mut ());
    assert!(session.close());

    let mut unchecked = seller();
    unchecked.disable_heart_beat_check = true;
    let mut session = logged_on(unchecked);
    session.tick(at(1_000), &mut ());
    assert_eq!(types(&taken(&mut session)), [("0", 2)]);
}

#[test]
fn an_initiator_says_in_its_logon_what_its_settings_say() {
    let mut options = options("BUYER", "SELLER", Role::Initiator);
    options.logon_tags = vec![(553, "me".to_owned()), (554, "secret".to_owned())];
    options.send_next_expected_msg_seq_num = true;
    options.max_message_size = Some(9_000);
    options.test_message_indicator = Some(true);
    options.reset_on_logout = true;
    let mut session = session(options);
    session.connected(at(0), &mut ());
    let sent = taken(&mut session);
    let body = "|98=0|108=30|141=Y|383=9000|464=Y|553=me|554=secret|789=1|10=";
    assert!(sent[0].2.contains(body), "{sent:?}");
}
