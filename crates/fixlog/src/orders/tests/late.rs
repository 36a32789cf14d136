//! Messages long after the end of an order, and logs whose times go back.

use fixcore::Decoder;

use super::{Seen, check, message, seen};
use crate::orders::{Batch, Book, Merge, OrderPart, State};

/// Milliseconds of an hour.
const HOUR: u64 = 3_600_000;

#[test]
fn a_bust_hours_later_reaches_its_order_and_is_passed_on_again() {
    let bust = format!(
        "8 G C {} 3 37=O3|11=m|17=E10|150=H|39=1|38=100|14=40|151=60|19=E9|",
        2 * HOUR
    );
    let other = format!("D C G {} 2 11=n|", HOUR);
    let log: [&str; 5] = [
        "D C G 100 1 11=m|38=100|",
        "8 G C 200 1 37=O3|11=m|17=E8|150=0|39=0|14=0|151=100|",
        "8 G C 300 2 37=O3|11=m|17=E9|150=F|39=2|38=100|14=100|151=0|",
        &other,
        &bust,
    ];
    for messages in [1, 2, 5] {
        let lives = seen(&[&log], messages).lives;
        let found: Vec<_> = lives
            .iter()
            .map(|life| (life.number, life.state, life.again))
            .collect();
        assert_eq!(
            found,
            [
                (0, State::Filled, None),
                (0, State::PartiallyFilled, Some(State::Filled)),
                (1, State::Unanswered, None),
            ]
        );
        assert!(lives.iter().all(|life| !life.is_orphan));
    }
}

/// Fills that were lost come after later ones, when they are sent again.
#[test]
fn a_fill_that_comes_late_takes_nothing_back() {
    let log: [&str; 6] = [
        "D C G 100 1 11=m|38=100|",
        "8 G C 200 1 37=O3|11=m|17=E0|150=0|39=0|14=0|151=100|",
        "8 G C 300 3 37=O3|11=m|17=E2|150=F|39=1|38=100|14=60|151=40|6=2|",
        "8 G C 400 4 37=O3|11=m|17=E3|150=F|39=2|38=100|14=100|151=0|6=3|",
        "8 G C 500 2 37=O3|11=m|17=E1|150=F|39=1|38=100|14=30|151=70|6=1|",
        // What a trade that is cancelled takes back is no late fill.
        "8 G C 600 5 37=O3|11=m|17=E4|150=H|39=1|38=100|14=70|151=30|6=4|19=E2|",
    ];
    for messages in [1, 2, 6] {
        let filled = |count| {
            let lives = seen(&[&log[..count]], messages).final_lives();
            let [life] = &lives[..] else {
                panic!("{} orders", lives.len())
            };
            let last =
                |tag| String::from_utf8_lossy(life.last(tag).unwrap_or_default()).into_owned();
            (life.state, [14, 151, 6].map(last))
        };
        let texts = |texts: [&str; 3]| texts.map(str::to_owned);
        assert_eq!(
            filled(3),
            (State::PartiallyFilled, texts(["60", "40", "2"]))
        );
        assert_eq!(filled(5), (State::Filled, texts(["100", "0", "3"])));
        assert_eq!(
            filled(6),
            (State::PartiallyFilled, texts(["70", "30", "4"]))
        );
    }
}

#[test]
fn an_answer_that_is_sent_again_takes_back_no_later_one() {
    let again = "43=Y|122=20260305-14:00:00.200|";
    for (last, state) in [
        ("150=F|39=2|38=100|14=100|151=0|", State::Filled),
        ("150=F|39=1|38=100|14=40|151=60|", State::PartiallyFilled),
        ("150=4|39=4|38=100|14=0|151=0|", State::Cancelled),
        ("150=8|39=8|14=0|151=0|", State::Rejected),
    ] {
        let ended = format!("8 G C 300 3 37=O|11=m|17=E2|{last}");
        let late = format!("8 G C 5000 2 37=O|11=m|17=E1|150=0|39=0|14=0|151=100|{again}");
        let log: [&str; 3] = ["D C G 100 1 11=m|38=100|", &ended, &late];
        for messages in [1, 3] {
            let lives = seen(&[&log], messages).final_lives();
            assert_eq!(lives.len(), 1, "{last}");
            let life = &lives[0];
            let late: Vec<_> = life.steps.iter().map(|step| step.is_late).collect();
            assert_eq!((life.state, late), (state, vec![false, false, true]));
            assert!(last.contains(std::str::from_utf8(life.last(151).unwrap()).unwrap()));
        }
    }
    // Numbers that began anew: what is sent again is newer than that with a larger number.
    let log: [&str; 3] = [
        "D C G 100 1 11=m|38=100|59=1|",
        "8 G C 150 900 37=O|11=m|17=E0|150=0|39=0|14=0|151=100|",
        "8 G C 90000000 2 37=O|11=m|17=E1|150=F|39=2|38=100|14=100|151=0|43=Y|122=20260306-14:00:00|",
    ];
    let lives = seen(&[&log], 1).final_lives();
    assert_eq!(lives[0].state, State::Filled);
}

#[test]
fn what_comes_after_the_end_is_of_the_order() {
    let late = [
        format!("F C G {} 2 11=mc|41=m|", 5 * 60_000),
        format!("9 G C {} 3 37=O4|11=mc|41=m|39=2|102=0|", 5 * 60_000 + 100),
        format!(
            "8 G C {} 4 37=P1|11=g|17=E4|150=F|39=2|38=100|14=100|151=0|",
            16 * HOUR
        ),
    ];
    let mut log = vec![
        "D C G 100 1 11=m|38=100|",
        "8 G C 200 1 37=O4|11=m|17=E11|150=0|39=0|14=0|151=100|",
        "8 G C 300 2 37=O4|11=m|17=E12|150=F|39=2|38=100|14=100|151=0|",
        "D C G 400 9 11=g|38=100|",
        "8 G C 500 8 37=P1|11=g|17=E2|150=3|39=3|14=0|151=100|",
    ];
    log.extend(late.iter().map(String::as_str));
    let lives = seen(&[&log], 2).final_lives();
    let texts: Vec<_> = lives
        .iter()
        .map(|life| (life.state.name(), life.steps.len()))
        .collect();
    assert_eq!(texts, [("filled", 5), ("filled", 3)]);
}

/// Orders of one message each that end a minute apart, with a memory of so many bytes, and one late message for each.
#[test]
fn what_is_beyond_the_memory_says_that_it_may_be() {
    const ORDERS: u64 = 50;
    for bytes in [0, 1, 4000, 1 << 20] {
        let (mut decoder, mut seen) = (Decoder::new(), Seen::default());
        let (mut book, mut merge) = (Book::new(), Merge::new(1));
        book.told_bytes_max = bytes;
        let mut texts = Vec::new();
        for at in 0..ORDERS {
            texts.push(format!("D C G {} {} 11=o{at}|38=1|", at * 70_000, at + 1));
            texts.push(format!(
                "8 G C {} {} 37=x{at}|11=o{at}|17=e{at}|150=2|39=2|14=1|",
                at * 70_000,
                at + 1
            ));
        }
        for at in 0..ORDERS {
            texts.push(format!(
                "8 G C {} {} 37=x{at}|11=o{at}|17=l{at}|150=H|39=0|14=0|",
                9 * HOUR,
                at + 1000
            ));
        }
        for text in &texts {
            let mut part = OrderPart::default();
            part.message(0, None, &decoder.parse(&message(text)).expect("valid"));
            merge.push(Batch::new(0, part));
            book.take(&mut merge, &mut seen);
        }
        merge.end(0);
        book.take(&mut merge, &mut seen);
        let forgotten = book.forgotten();
        book.finish(&mut seen);
        let lives = seen.final_lives();
        let orphans: Vec<_> = lives.iter().filter(|life| life.is_orphan).collect();
        assert_eq!(orphans.len() as u64, forgotten, "{bytes}");
        assert!(orphans.iter().all(|life| life.may_be_forgotten), "{bytes}");
        match bytes {
            0 | 1 => assert_eq!(forgotten, ORDERS),
            4000 => assert!((1..ORDERS).contains(&forgotten), "{forgotten}"),
            _ => assert_eq!(forgotten, 0),
        }
    }
}

#[test]
fn a_log_twice_in_one_file_counts_once_and_says_where_time_goes_back() {
    let once: [&str; 4] = [
        "D G R 100000 1 11=q0|38=1|",
        "8 R G 100100 1 11=q0|37=r0|17=e0|150=F|39=2|38=1|14=1|151=0|",
        "D G R 200100 2 11=q1|38=1|",
        "8 R G 200200 2 11=q1|37=r1|17=e1|150=F|39=2|38=1|14=1|151=0|",
    ];
    let twice = [once, once].concat();
    let (mut decoder, mut seen) = (Decoder::new(), Seen::default());
    let (mut book, mut merge) = (Book::new(), Merge::new(1));
    let mut part = OrderPart::default();
    for (at, text) in twice.iter().enumerate() {
        part.message(
            at as u64,
            Some(at as u64 + 1),
            &decoder.parse(&message(text)).expect("valid"),
        );
    }
    merge.push(Batch::new(0, part));
    merge.end(0);
    book.take(&mut merge, &mut seen);
    book.finish(&mut seen);
    let back = book.back().expect("time goes back").clone();
    assert_eq!(
        (back.log, back.line, back.ns / 1_000_000),
        (0, Some(5), 100_100)
    );
    assert_eq!(
        (back.times, book.repeated()),
        (2, 4),
        "once for each sender"
    );
    assert_eq!(
        seen.text(),
        ["q0 filled: new, filled", "q1 filled: new, filled"]
    );
}

#[test]
fn an_order_that_only_its_sender_logged_has_its_answers_from_a_clock_behind() {
    let venue: &[&str] = &[
        "8 V R 57200 1 37=V1|11=k|17=E1|150=0|39=0|55=MSFT|54=1|",
        "8 V R 58200 2 37=V1|11=k|17=E2|150=F|39=2|55=MSFT|54=1|38=100|14=100|151=0|",
    ];
    let router: &[&str] = &[
        "D R V 60100 1 11=k|55=MSFT|54=1|38=100|",
        venue[0],
        venue[1],
    ];
    check(&[venue, router], &["k filled: new, acknowledged, filled"]);
    check(&[router, venue], &["k filled: new, acknowledged, filled"]);
    let again: &[&str] = &[
        venue[0],
        venue[1],
        "D R V 60100 1 43=Y|11=k|55=MSFT|54=1|38=100|",
    ];
    check(&[again], &["k filled: new, acknowledged, filled"]);
    // An order of another symbol, or that comes in the same log, is another order.
    let other: &[&str] = &[
        venue[0],
        venue[1],
        "D R V 60100 1 11=k|55=MSFT|54=1|38=100|",
    ];
    check(
        &[other],
        &[
            "k filled: acknowledged, filled (orphan)",
            "k unanswered: new",
        ],
    );
    let other: &[&str] = &["D R V 60100 1 11=k|55=IBM|54=1|38=100|"];
    check(
        &[venue, other],
        &[
            "k filled: acknowledged, filled (orphan)",
            "k unanswered: new",
        ],
    );
}
