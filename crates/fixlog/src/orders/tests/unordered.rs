//! Logs whose lines are not in the order in which their messages were sent.

use fixcore::Decoder;

use super::{Seen, check, message, seen};
use crate::orders::{Batch, Book, Merge, OrderPart, Wait, Watch};

const D: &str = "D A B 30 2 11=1|55=X|54=1|38=100|";
const ACK: &str = "8 B A 40 2 37=O1|11=1|17=E3|150=0|39=0|55=X|54=1|38=100|151=100|14=0|";
const FILL: &str = "8 B A 50 3 37=O1|11=1|17=E4|150=F|39=2|55=X|54=1|38=100|151=0|14=100|";

#[test]
fn an_answer_that_is_one_line_before_its_order_is_of_that() {
    check(&[&[ACK, D]], &["1 open: new, acknowledged"]);
    let seen = seen(&[&[ACK, D]], 1);
    assert_eq!(seen.waits, [(Wait::Answer, 10)]);
    assert_eq!(seen.hops, [("A>B".to_owned(), false, 10)]);
}

#[test]
fn the_answers_of_an_order_are_in_the_order_of_their_numbers() {
    for log in [
        [FILL, ACK, D],
        [D, FILL, ACK],
        [FILL, D, ACK],
        [ACK, FILL, D],
    ] {
        check(&[&log], &["1 filled: new, acknowledged, filled"]);
        let waits = seen(&[&log], 1).waits;
        assert_eq!(
            waits,
            [(Wait::Answer, 10), (Wait::Fill, 20), (Wait::End, 20)]
        );
    }
}

#[test]
fn a_reject_by_number_finds_the_message_behind_it() {
    for kind in [
        "3 B A 40 2 45=2|372=D|373=5|58=bad|",
        "j B A 40 2 45=2|372=D|380=3|",
    ] {
        let name = if kind.starts_with('3') {
            "session"
        } else {
            "business"
        };
        check(&[&[kind, D]], &[&format!("1 rejected: new, {name} reject")]);
    }
    // It was sent later: this is another message with the number.
    check(&[&["3 B A 20 2 45=2|372=D|", D]], &["1 unanswered: new"]);
}

#[test]
fn cancels_and_replaces_come_before_their_answers() {
    let log = [
        D,
        ACK,
        "8 B A 70 3 37=O1|11=2|41=1|17=E5|150=5|39=0|38=50|14=0|151=50|",
        "G A B 60 3 11=2|41=1|38=50|",
        "8 B A 90 4 37=O1|11=3|41=2|17=E6|150=4|39=4|38=50|14=0|151=0|",
        "F A B 80 4 11=3|41=2|",
    ];
    check(
        &[&log],
        &["1 cancelled: new, acknowledged, replace request, replaced, cancel request, cancelled"],
    );
    let waits = seen(&[&log], 1).waits;
    assert!(waits.contains(&(Wait::Replace, 10)) && waits.contains(&(Wait::Cancel, 10)));
}

/// One clock, whatever is put behind what: all answers, then all orders.
#[test]
fn orders_that_come_long_after_their_answers_are_matched_by_their_times() {
    const ORDERS: u64 = 5000;
    let (mut answers, mut orders) = (Vec::new(), Vec::new());
    for at in 0..ORDERS {
        let (ms, number) = (at * 100, at + 2);
        orders.push(format!("D A B {ms} {number} 11=o{at}|38=100|"));
        answers.push(format!(
            "8 B A {} {number} 37=x{at}|11=o{at}|17=e{at}|150=F|39=2|38=100|14=100|151=0|",
            ms + 7
        ));
    }
    answers.extend(orders);
    let (mut decoder, mut seen) = (Decoder::new(), Seen::default());
    let (mut book, mut merge) = (Book::new(), Merge::new(1));
    for (at, text) in answers.iter().enumerate() {
        let mut part = OrderPart::default();
        let line = Some(at as u64 + 1);
        part.message(
            at as u64,
            line,
            &decoder.parse(&message(text)).expect("valid"),
        );
        merge.push(Batch::new(0, part));
        book.take(&mut merge, &mut seen);
    }
    merge.end(0);
    book.take(&mut merge, &mut seen);
    book.finish(&mut seen);
    let unordered = book.unordered().expect("orders come late").clone();
    assert!(
        unordered.far > ORDERS - 1100 && unordered.far <= ORDERS,
        "{unordered:?}"
    );
    assert_eq!(seen.waits.len() as u64, 3 * ORDERS);
    assert!(seen.waits.iter().all(|wait| wait.1 == 7));
    // What was passed on without its beginning is passed on again with it.
    let orphans = seen.lives.iter().filter(|life| life.is_orphan).count();
    let found = seen
        .lives
        .iter()
        .filter(|life| life.was_orphan && !life.is_orphan)
        .count();
    assert_eq!(orphans, found);
    let lives = seen.final_lives();
    assert_eq!(lives.len() as u64, ORDERS);
    assert!(
        lives
            .iter()
            .all(|life| !life.is_orphan && life.state.name() == "filled")
    );
}

/// Random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// An order as it is made up.
struct Made {
    client: u64,
    id: String,
    order_id: u64,
    filled: u64,
    is_live: bool,
    is_acknowledged: bool,
}

/// A day of two clients, each with a time; the numbers of ids begin anew each day.
struct Day<'r> {
    random: &'r mut Random,
    start: u64,
    ms: u64,
    numbers: [u64; 4],
    ids: u64,
    lines: Vec<(u64, String)>,
}

impl Day<'_> {
    fn send(&mut self, kind: &str, client: u64, is_answer: bool, fields: &str) -> u64 {
        self.ms += 1 + self.random.below(4);
        let number = &mut self.numbers[(client * 2 + u64::from(is_answer)) as usize];
        *number += 1;
        let [from, to] = if is_answer {
            ["M".to_owned(), format!("C{client}")]
        } else {
            [format!("C{client}"), "M".to_owned()]
        };
        let ms = self.start + self.ms;
        self.lines.push((
            self.ms,
            format!("{kind} {from} {to} {ms} {number} {fields}"),
        ));
        *number
    }

    fn id(&mut self) -> String {
        self.ids += 1;
        format!("i{}", self.ids)
    }

    fn begin(&mut self) -> Made {
        let (client, id) = (self.random.below(2), self.id());
        let number = self.send("D", client, false, &format!("11={id}|38=100|"));
        let order_id = self.ids;
        let (mut is_live, mut is_acknowledged) = (true, false);
        let exec = 1000 + self.ids;
        match self.random.below(8) {
            0 => {
                self.send("3", client, true, &format!("45={number}|372=D|373=5|"));
                is_live = false;
            }
            1 => {
                self.send(
                    "8",
                    client,
                    true,
                    &format!("37=NONE|11={id}|17={exec}|150=8|39=8|"),
                );
                is_live = false;
            }
            2 => is_live = false,
            _ => {
                self.send(
                    "8",
                    client,
                    true,
                    &format!("37={order_id}|11={id}|17={exec}|150=0|39=0|14=0|38=100|"),
                );
                is_acknowledged = true;
            }
        }
        Made {
            client,
            id,
            order_id,
            filled: 0,
            is_live,
            is_acknowledged,
        }
    }

    fn go_on(&mut self, made: &mut Made) {
        if !made.is_live || !made.is_acknowledged {
            return;
        }
        let (client, id, order_id) = (made.client, made.id.clone(), made.order_id);
        let exec = 5000 + self.ms;
        match self.random.below(5) {
            0 | 1 => {
                made.filled += 25;
                let filled = made.filled;
                made.is_live = filled < 100;
                let status = if made.is_live { 1 } else { 2 };
                self.send("8", client, true, &format!("37={order_id}|11={id}|17={exec}|150=F|39={status}|38=100|14={filled}|32=25|"));
            }
            2 => {
                let new = self.id();
                self.send("G", client, false, &format!("11={new}|41={id}|38=100|"));
                let filled = made.filled;
                self.send(
                    "8",
                    client,
                    true,
                    &format!(
                        "37={order_id}|11={new}|41={id}|17={exec}|150=5|39=5|38=100|14={filled}|"
                    ),
                );
                made.id = new;
            }
            3 => {
                let cancel = self.id();
                self.send("F", client, false, &format!("11={cancel}|41={id}|"));
                let filled = made.filled;
                self.send(
                    "8",
                    client,
                    true,
                    &format!(
                        "37={order_id}|11={cancel}|41={id}|17={exec}|150=4|39=4|38=100|14={filled}|"
                    ),
                );
                made.is_live = false;
            }
            _ => {
                let cancel = self.id();
                let number = self.send("F", client, false, &format!("11={cancel}|41={id}|"));
                if self.random.below(2) == 0 {
                    self.send("3", client, true, &format!("45={number}|372=F|373=5|"));
                } else {
                    self.send(
                        "9",
                        client,
                        true,
                        &format!("37={order_id}|11={cancel}|41={id}|39=0|102=0|"),
                    );
                }
            }
        }
    }
}

/// What became of the orders of a log, whatever the order of messages of two sides is.
fn summary(texts: &[&str]) -> Vec<String> {
    let lives = seen(&[texts], 16).final_lives();
    let mut all: Vec<_> = lives
        .iter()
        .map(|life| {
            let mut steps: Vec<_> = life
                .steps
                .iter()
                .map(|step| (step.sent_ns, step.kind.name(), step.number, step.is_late))
                .collect();
            steps.sort();
            (
                steps.first().and_then(|step| step.0),
                format!(
                    "{} {} {} {} {steps:?}",
                    life.id().escape_ascii(),
                    life.state.name(),
                    life.is_orphan,
                    life.reused
                ),
            )
        })
        .collect();
    all.sort();
    all.into_iter().map(|(_, text)| text).collect()
}

#[test]
fn a_log_whose_lines_changed_places_has_the_orders_of_the_sorted_one() {
    const HOURS: u64 = 3_600_000;
    let mut random = Random(0x5eed);
    for round in 0..60 {
        let (mut sorted, mut changed) = (Vec::new(), Vec::new());
        // Lines change places within so many milliseconds.
        let jitter = 1 + [3, 30, 300][round % 3];
        for day in 0..3 {
            let logons = [0, 1].into_iter().flat_map(|client| {
                let ms = day * 24 * HOURS + client;
                [
                    format!("A C{client} M {ms} 1 98=0|141=Y|"),
                    format!("A M C{client} {ms} 1 98=0|141=Y|"),
                ]
            });
            let logons: Vec<_> = logons.collect();
            let mut day = Day {
                random: &mut random,
                start: day * 24 * HOURS,
                ms: 1000,
                numbers: [1; 4],
                ids: 0,
                lines: Vec::new(),
            };
            let mut orders = Vec::new();
            for _ in 0..80 {
                let count = orders.len() as u64;
                if count == 0 || day.random.below(3) == 0 {
                    let made = day.begin();
                    orders.push(made);
                } else {
                    let which = day.random.below(count) as usize;
                    day.go_on(&mut orders[which]);
                }
            }
            let lines = std::mem::take(&mut day.lines);
            sorted.extend(logons.iter().cloned());
            sorted.extend(lines.iter().map(|(_, line)| line.clone()));
            let mut lines: Vec<_> = lines
                .into_iter()
                .map(|(ms, line)| (ms + random.below(jitter), line))
                .collect();
            lines.sort();
            changed.extend(logons);
            changed.extend(lines.into_iter().map(|(_, line)| line));
        }
        let [sorted, changed] = [&sorted, &changed].map(|lines| {
            let lines: Vec<_> = lines.iter().map(String::as_str).collect();
            lines
        });
        let (expected, found) = (summary(&sorted), summary(&changed));
        for (expected, found) in expected.iter().zip(&found) {
            assert_eq!(found, expected, "round {round}: {changed:#?}");
        }
        assert_eq!(found.len(), expected.len(), "round {round}");
    }
}

/// What one side sends while the clock of the other is behind says nothing of the order of the log.
#[test]
fn a_log_in_order_stays_as_it_is_whatever_the_clocks_are() {
    for behind in [0, 29, 5000] {
        let texts = [
            "D A B 10030 2 11=1|".to_owned(),
            format!("8 B A {} 2 37=O1|11=1|17=E1|150=0|39=0|", 10040 - behind),
            "D A B 10050 3 11=2|".to_owned(),
            format!(
                "8 B A {} 3 37=O1|11=1|17=E2|150=F|39=2|14=1|38=1|",
                10055 - behind
            ),
            format!("8 B A {} 4 37=O2|11=2|17=E3|150=0|39=0|", 10060 - behind),
            // Clocks are set back.
            "F A B 10045 4 11=3|41=2|".to_owned(),
            format!(
                "8 B A {} 5 37=O2|11=3|41=2|17=E4|150=4|39=4|",
                10050 - behind
            ),
        ];
        let texts: Vec<_> = texts.iter().map(String::as_str).collect();
        check(
            &[&texts],
            &[
                "1 filled: new, acknowledged, filled",
                "2 cancelled: new, acknowledged, cancel request, cancelled",
            ],
        );
    }
}

#[test]
fn what_is_held_is_bounded() {
    let mut watch = Nothing;
    let (mut decoder, mut book, mut merge) = (Decoder::new(), Book::new(), Merge::new(1));
    for at in 0..5000_u64 {
        let mut part = OrderPart::default();
        let text = format!("D A B 100 {} 11=o{at}|", at + 1);
        part.message(at, None, &decoder.parse(&message(&text)).expect("valid"));
        merge.push(Batch::new(0, part));
        book.take(&mut merge, &mut watch);
    }
    assert_eq!(book.window.len(), crate::orders::window::HELD_MAX);
    let mut part = OrderPart::default();
    let late = message("D A B 2200 9000 11=late|");
    part.message(0, None, &decoder.parse(&late).expect("valid"));
    merge.push(Batch::new(0, part));
    book.take(&mut merge, &mut watch);
    assert_eq!(book.window.len(), 1, "two seconds later");
}

struct Nothing;

impl Watch for Nothing {
    fn life(&mut self, _: &crate::orders::Life, _: &[Vec<u8>]) {}
    fn wait(&mut self, _: Wait, _: u64, _: &crate::orders::Life) {}
    fn hop(&mut self, _: [&[u8]; 2], _: bool, _: u64) {}
}
