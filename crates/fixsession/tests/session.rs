//! What scenarios of an acceptor do not show: initiators, applications that refuse, limits, long replays.

use std::collections::HashSet;
use std::time::Duration;

use fixcore::Timestamp;
use fixsession::{
    Application, Dictionaries, DoNotSend, Echo, MemoryStore, Outbox, Outgoing, Received, Refusal,
    SendError, Session, SessionId, Status, Store,
};

use crate::common::{at, buyer, from, from_buyer, logged_on, seller, session, taken, types};

const NEWS: &[u8] = b"148=x\x0133=1\x0158=y\x01";

#[test]
fn an_initiator_that_resets_takes_an_answer_without_the_flag_only_with_number_1() {
    for (number, status) in [(1, Status::LoggedOn), (2, Status::Closing)] {
        let mut options = buyer();
        options.reset_on_logon = true;
        let mut buyer = session(options);
        buyer.connected(at(0), &mut ());
        let sent = taken(&mut buyer);
        assert!(sent[0].2.contains("|98=0|108=30|141=Y|"), "{sent:?}");
        let answer = from(("SELLER", "BUYER"), "A", number, "98=0|108=30|", at(0));
        buyer.bytes(&answer, 9, at(0), &mut ());
        assert_eq!(buyer.status(), status);
        if status == Status::Closing {
            let sent = taken(&mut buyer);
            assert!(
                sent[0].2.contains("|58=Our Logon reset the numbers"),
                "{sent:?}"
            );
        }
    }
}

#[test]
fn a_reset_that_was_asked_for_is_done_once() {
    let mut options = buyer();
    options.reset_on_logon = true;
    let mut buyer = session(options);
    buyer.connected(at(0), &mut ());
    let answer = from(("SELLER", "BUYER"), "A", 1, "98=0|108=30|141=Y|", at(0));
    buyer.bytes(&answer, 9, at(0), &mut ());
    assert_eq!((buyer.next_sender(), buyer.next_target()), (2, 2));
    assert_eq!(types(&taken(&mut buyer)), [("A", 1)], "no second Logon");
}

#[test]
fn a_stranger_resets_nothing() {
    let mut seller = logged_on(seller());
    seller.send(b"B", NEWS, at(1), &mut ()).unwrap();
    seller.disconnected(at(2), &mut ());
    let before = (seller.next_sender(), seller.next_target());
    for (sender, body) in [
        ("STRANGER", "98=0|108=30|141=Y|"),
        ("BUYER", "108=30|141=Y|"),
    ] {
        seller.connected(at(3), &mut ());
        let logon = from((sender, "SELLER"), "A", 1, body, at(3));
        seller.bytes(&logon, 9, at(3), &mut ());
        assert!(seller.close() && seller.output().is_empty());
        seller.disconnected(at(3), &mut ());
        assert_eq!((seller.next_sender(), seller.next_target()), before);
    }
}

#[test]
fn a_refused_logon_is_answered_before_anything_is_reset() {
    struct Refuses;
    impl Application for Refuses {
        fn from_admin(
            &mut self,
            _: &SessionId,
            _: &Received<'_>,
            _: &mut Outbox,
        ) -> Result<(), Refusal> {
            Err(Refusal::Logon("wrong password".to_owned()))
        }
    }
    let mut seller = session(seller());
    seller.store_mut().set_next_target(7).unwrap();
    seller.connected(at(0), &mut Refuses);
    let logon = from_buyer("A", 1, "98=0|108=30|141=Y|", at(0));
    seller.bytes(&logon, 9, at(0), &mut Refuses);
    let sent = taken(&mut seller);
    assert!(sent[0].2.contains("|58=wrong password|"), "{sent:?}");
    assert!(seller.close());
    assert_eq!(seller.next_target(), 7);
}

#[test]
fn what_the_counterparty_cannot_take_is_refused_and_uses_no_number() {
    let mut seller = session(seller());
    seller.connected(at(0), &mut ());
    let logon = from_buyer("A", 1, "98=0|108=30|383=120|", at(0));
    seller.bytes(&logon, 9, at(0), &mut ());
    let long = format!("148={}\x01", "x".repeat(200));
    let refused = seller.send(b"B", long.as_bytes(), at(0), &mut ());
    assert!(
        matches!(refused, Err(SendError::TooLarge { limit: 120, .. })),
        "{refused:?}"
    );
    let sent = seller.send(b"B", NEWS, at(0), &mut ()).unwrap();
    assert_eq!((sent.number, sent.on_wire), (2, true));
    let refused = seller.send(b"B", b"58", at(0), &mut ());
    assert!(
        matches!(refused, Err(SendError::Field { offset: 0 })),
        "{refused:?}"
    );
}

#[test]
fn a_message_beyond_our_own_limit_ends_the_session() {
    let mut options = seller();
    options.max_message_size = Some(300);
    let mut seller = session(options);
    seller.connected(at(0), &mut ());
    seller.bytes(
        &from_buyer("A", 1, "98=0|108=30|", at(0)),
        9,
        at(0),
        &mut (),
    );
    let sent = taken(&mut seller);
    assert!(sent[0].2.contains("|108=30|383=300|"), "{sent:?}");
    seller.bytes(b"8=FIX.4.4\x019=999999999\x0135=D\x01", 9, at(0), &mut ());
    let sent = taken(&mut seller);
    assert!(
        sent[0].2.contains("|58=Message longer than 300 bytes|"),
        "{sent:?}"
    );
    assert!(seller.close());
}

#[test]
fn messages_of_a_logged_out_session_are_sent_on_request() {
    let mut seller = session(seller());
    for _ in 0..3 {
        let sent = seller.send(b"B", NEWS, at(0), &mut ()).unwrap();
        assert!(!sent.on_wire);
    }
    assert!(seller.output().is_empty());
    seller.connected(at(1), &mut ());
    seller.bytes(
        &from_buyer("A", 1, "98=0|108=30|", at(1)),
        9,
        at(1),
        &mut (),
    );
    assert_eq!(types(&taken(&mut seller)), [("A", 4)]);
    seller.bytes(&from_buyer("2", 2, "7=1|16=0|", at(1)), 9, at(1), &mut ());
    let replay = taken(&mut seller);
    assert_eq!(types(&replay), [("B", 1), ("B", 2), ("B", 3), ("4", 4)]);
    assert!(
        replay[0]
            .2
            .contains("|34=1|43=Y|49=SELLER|52=20260102-03:04:06.000|")
    );
    assert!(
        replay[0].2.contains("|122=20260102-03:04:05.000|"),
        "{replay:?}"
    );
}

#[test]
fn a_long_replay_is_streamed_and_what_is_sent_meanwhile_comes_behind_it() {
    let mut seller = logged_on(seller());
    for _ in 0..5_000 {
        seller.send(b"B", NEWS, at(1), &mut ()).unwrap();
    }
    taken(&mut seller);
    seller.bytes(&from_buyer("2", 2, "7=1|16=0|", at(2)), 9, at(2), &mut ());
    assert!(seller.output().len() < 80_000, "{}", seller.output().len());
    let sent = seller.send(b"B", NEWS, at(2), &mut ()).unwrap();
    assert!(!sent.on_wire);
    // A second request while the first is answered: it begins again where it asks, and no number is
    // left out.
    let mut all = taken(&mut seller);
    seller.bytes(
        &from_buyer("2", 3, "7=4990|16=0|", at(2)),
        9,
        at(2),
        &mut (),
    );
    seller.bytes(&from_buyer("1", 4, "112=X|", at(2)), 9, at(2), &mut ());
    while seller.has_work() || !seller.output().is_empty() {
        seller.bytes(&[], 1, at(2), &mut ());
        assert!(seller.output().len() < 80_000);
        all.extend(taken(&mut seller));
    }
    let numbers: Vec<u64> = all.iter().map(|message| message.1).collect();
    assert_eq!(numbers, (1..=5_003).collect::<Vec<_>>());
    let is_duplicate = |message: &(String, u64, String)| message.2.contains("|43=Y|");
    assert!(is_duplicate(&all[5_000]));
    assert_eq!(
        all[5_002].0, "0",
        "the answer to the TestRequest comes last"
    );
    assert!(!is_duplicate(&all[5_002]));
}

#[test]
fn what_the_application_does_not_send_again_becomes_a_gap() {
    struct Declines(HashSet<u64>);
    impl Application for Declines {
        fn to_app(&mut self, _: &SessionId, message: &mut Outgoing<'_>) -> Result<(), DoNotSend> {
            match message.resend && self.0.contains(&message.number) {
                true => Err(DoNotSend),
                false => Ok(()),
            }
        }
    }
    let mut seller = logged_on(seller());
    let mut app = Declines(HashSet::from([3, 4, 6]));
    for _ in 0..5 {
        seller.send(b"B", NEWS, at(1), &mut app).unwrap();
    }
    taken(&mut seller);
    seller.bytes(&from_buyer("2", 2, "7=2|16=0|", at(1)), 9, at(1), &mut app);
    let replay = taken(&mut seller);
    assert_eq!(types(&replay), [("B", 2), ("4", 3), ("B", 5), ("4", 6)]);
    assert!(replay[1].2.contains("|36=5|123=Y|") && replay[3].2.contains("|36=7|123=Y|"));
}

#[test]
fn answers_of_an_application_are_what_it_says() {
    struct Answers(Option<Refusal>);
    impl Application for Answers {
        fn from_app(
            &mut self,
            _: &SessionId,
            _: &Received<'_>,
            out: &mut Outbox,
        ) -> Result<(), Refusal> {
            out.send(b"B", NEWS);
            self.0.take().map_or(Ok(()), Err)
        }
    }
    let reject = Refusal::Reject {
        reason: 5,
        tag: Some(58),
        text: None,
    };
    let business = Refusal::Business {
        reason: 2,
        text: Some("no such share".to_owned()),
        reference: Some("x".to_owned()),
    };
    for (refusal, text) in [
        (
            reject,
            "|45=2|58=Value is incorrect (out of range) for this tag|371=58|372=B|373=5|",
        ),
        (business, "|45=2|58=no such share|372=B|379=x|380=2|"),
        (
            Refusal::UnsupportedType,
            "|45=2|58=Unsupported Message Type|372=B|380=3|",
        ),
    ] {
        let mut seller = logged_on(seller());
        let news = from_buyer("B", 2, "148=x|33=1|58=y|", at(1));
        seller.bytes(&news, 9, at(1), &mut Answers(Some(refusal)));
        let sent = taken(&mut seller);
        assert_eq!(sent.len(), 2, "what it sent, then the answer");
        assert!(sent[1].2.contains(text), "{sent:?}");
        assert_eq!(seller.next_target(), 3);
    }
}

#[test]
fn a_step_of_the_wall_clock_fires_no_timer() {
    let mut seller = logged_on(seller());
    for hours in [-5, 5] {
        let mut now = at(1);
        now.utc = Timestamp(now.utc.0 + hours * 3_600_000_000_000);
        seller.tick(now, &mut ());
        assert!(seller.output().is_empty() && !seller.close());
    }
    assert_eq!(seller.deadline(), Some(Duration::from_secs(30)));
}

#[test]
fn nobody_waits_for_a_logon_for_ever() {
    let mut seller = session(seller());
    seller.connected(at(0), &mut ());
    assert_eq!(seller.deadline(), Some(Duration::from_secs(10)));
    seller.tick(at(9), &mut ());
    assert!(!seller.close());
    seller.tick(at(10), &mut ());
    assert!(seller.close() && seller.output().is_empty());
}

#[test]
fn a_failing_store_sends_nothing_and_ends_the_session() {
    #[derive(Debug)]
    struct Full(MemoryStore, bool);
    impl Store for Full {
        fn created(&self) -> Timestamp {
            self.0.created()
        }
        fn next_sender(&self) -> u64 {
            self.0.next_sender()
        }
        fn next_target(&self) -> u64 {
            self.0.next_target()
        }
        fn append(&mut self, n: u64, m: &[u8]) -> Result<(), fixsession::StoreFailure> {
            match self.1 {
                true => Err(fixsession::StoreFailure("disk full".to_owned())),
                false => self.0.append(n, m),
            }
        }
        fn set_next_sender(&mut self, n: u64) -> Result<(), fixsession::StoreFailure> {
            self.0.set_next_sender(n)
        }
        fn set_next_target(&mut self, n: u64) -> Result<(), fixsession::StoreFailure> {
            self.0.set_next_target(n)
        }
        fn sent(&self, n: u64) -> Result<Option<&[u8]>, fixsession::StoreFailure> {
            self.0.sent(n)
        }
        fn reset(&mut self, now: Timestamp) -> Result<(), fixsession::StoreFailure> {
            self.0.reset(now)
        }
    }
    let store = Full(MemoryStore::new(at(0).utc), false);
    let mut seller = Session::new(seller(), Dictionaries::built_in("FIX.4.4"), store);
    seller.connected(at(0), &mut ());
    seller.bytes(
        &from_buyer("A", 1, "98=0|108=30|", at(0)),
        9,
        at(0),
        &mut (),
    );
    let written = seller.output().len();
    seller.sent(written);
    seller.store_mut().1 = true;
    let refused = seller.send(b"B", NEWS, at(0), &mut ());
    assert!(matches!(refused, Err(SendError::Store(_))));
    assert_eq!(seller.next_sender(), 2);
    seller.bytes(&from_buyer("1", 2, "112=X|", at(0)), 9, at(0), &mut ());
    assert!(seller.close() && seller.output().is_empty());
    assert_eq!((seller.next_sender(), seller.next_target()), (2, 2));
}

#[test]
fn a_budget_bounds_what_a_call_handles() {
    let mut seller = logged_on(seller());
    let messages: Vec<u8> = (2..12)
        .flat_map(|number| from_buyer("0", number, "", at(0)))
        .collect();
    let progress = seller.bytes(&messages, 4, at(0), &mut ());
    assert_eq!((progress.handled, progress.more), (4, true));
    let progress = seller.bytes(&[], 4, at(0), &mut ());
    assert_eq!((progress.handled, progress.more), (4, true));
    let progress = seller.bytes(&[], 4, at(0), &mut ());
    assert_eq!((progress.handled, progress.more), (2, false));
}

#[test]
fn an_echo_keeps_the_order_of_fields_if_asked_to() {
    let order = "55=X|11=ID|21=1|38=5|40=1|54=1|60=20260102-03:04:05|";
    for (keeps, wanted) in [(true, "|55=X|11=ID|21=1|"), (false, "|11=ID|21=1|38=5|")] {
        let mut options = seller();
        options.preserve_message_fields_order = keeps;
        let mut session = logged_on(options);
        let message = from_buyer("D", 2, order, at(1));
        session.bytes(&message, 9, at(1), &mut Echo::default());
        let found = taken(&mut session);
        assert_eq!(types(&found), [("D", 2)]);
        assert!(found[0].2.contains(wanted), "{found:?}");
    }
}

#[test]
fn fields_of_a_group_may_be_in_any_order_unless_that_is_checked() {
    let order = "11=ID|453=1|448=P|452=1|447=D|21=1|38=5|40=1|54=1|55=X|60=20260102-03:04:05|";
    for (checks, wanted) in [(false, "D"), (true, "3")] {
        let mut options = seller();
        options.validate_unordered_group_fields = checks;
        let mut session = logged_on(options);
        let message = from_buyer("D", 2, order, at(1));
        session.bytes(&message, 9, at(1), &mut Echo::default());
        let found = taken(&mut session);
        assert_eq!(types(&found), [(wanted, 2)], "{found:?}");
        assert_eq!(checks, found[0].2.contains("|371=447|"), "{found:?}");
        assert_eq!(checks, found[0].2.contains("|373=15|"), "{found:?}");
        // In order, either takes it.
        let ordered = order.replace("452=1|447=D|", "447=D|452=1|");
        let message = from_buyer("D", 3, &ordered, at(1));
        session.bytes(&message, 9, at(1), &mut Echo::default());
        assert_eq!(types(&taken(&mut session)), [("D", 3)]);
    }
}
