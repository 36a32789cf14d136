//! Lives of orders: each kind of end, chains of ids, several sessions and logs, whatever the parts are.

use fixcore::Decoder;

use super::*;

mod codes;
mod late;
mod same_id;
mod sent_on;
mod unordered;

/// Orders as text, and times.
#[derive(Default)]
struct Seen {
    lives: Vec<Life>,
    parties: Vec<Vec<u8>>,
    waits: Vec<(Wait, u64)>,
    hops: Vec<(String, bool, u64)>,
}

impl Watch for Seen {
    fn life(&mut self, life: &Life, parties: &[Vec<u8>]) {
        self.lives.push(life.clone());
        self.parties = parties.to_vec();
    }

    fn wait(&mut self, wait: Wait, ns: u64, _: &Life) {
        self.waits.push((wait, ns / 1_000_000));
    }

    fn hop(&mut self, [from, to]: [&[u8]; 2], back: bool, ns: u64) {
        let name = format!("{}>{}", from.escape_ascii(), to.escape_ascii());
        self.hops.push((name, back, ns / 1_000_000));
    }
}

impl Seen {
    /// Each order as it was passed on last, by its first message.
    fn final_lives(mut self) -> Vec<Life> {
        self.lives.reverse();
        self.lives.sort_by_key(|life| life.number);
        self.lives.dedup_by_key(|life| life.number);
        self.lives
    }

    /// Id, state, what each message says, and marks, of each order by its first message.
    fn text(self) -> Vec<String> {
        let lives = self.final_lives();
        let lives = lives.iter().map(|life| {
            let steps: Vec<_> = life.steps.iter().map(|step| step.kind.name()).collect();
            let mark = |is, mark: &'static str| if is { mark } else { "" };
            format!(
                "{} {}: {}{}{}{}",
                life.id().escape_ascii(),
                life.state.name(),
                steps.join(", "),
                mark(life.is_orphan, " (orphan)"),
                mark(life.reused > 0, " (reused)"),
                life.upstream
                    .map_or_else(String::new, |above| format!(" (of {above})")),
            )
        });
        lives.collect()
    }
}

/// A message: type, sender, target, milliseconds of the day, number, and fields with `|` behind each.
fn message(what: &str) -> Vec<u8> {
    let words: Vec<_> = what.split_whitespace().collect();
    let ms: u64 = words[3].parse().expect("milliseconds");
    let [hours, minutes] = [ms / 3_600_000, ms / 60_000 % 60];
    let [day, hour] = [5 + (hours + 14) / 24, (hours + 14) % 24];
    let time = format!("{minutes:02}:{:02}.{:03}", ms / 1000 % 60, ms % 1000);
    let body = format!(
        "35={}|49={}|56={}|34={}|52=202603{day:02}-{hour:02}:{time}|{}",
        words[0],
        words[1],
        words[2],
        words[4],
        words.get(5).unwrap_or(&"")
    );
    let mut all = Vec::new();
    fixcore::frame::write(b"FIX.4.4", body.replace('|', "\x01").as_bytes(), &mut all);
    all
}

/// What comes of logs that are cut into parts of some messages.
fn seen(logs: &[&[&str]], messages: usize) -> Seen {
    let (mut decoder, mut seen) = (Decoder::new(), Seen::default());
    let (mut book, mut merge) = (Book::new(), Merge::new(logs.len()));
    let mut rest: Vec<_> = logs.iter().map(|log| log.chunks(messages)).collect();
    while let Some(log) = merge.needs() {
        match rest[log].next() {
            None => merge.end(log),
            Some(piece) => {
                let mut part = OrderPart::default();
                for text in piece {
                    let bytes = message(text);
                    part.message(7, Some(1), &decoder.parse(&bytes).expect("valid"));
                }
                merge.push(Batch::new(log, part));
            }
        }
        book.take(&mut merge, &mut seen);
    }
    book.take(&mut merge, &mut seen);
    book.finish(&mut seen);
    seen
}

#[track_caller]
fn check(logs: &[&[&str]], expected: &[&str]) {
    let most = logs.iter().map(|log| log.len()).max().unwrap_or(1);
    for messages in [1, 2, most] {
        assert_eq!(
            seen(logs, messages).text(),
            expected,
            "{messages} messages a part"
        );
    }
}

#[test]
fn orders_end_as_the_last_message_says() {
    check(
        &[&[
            "D A M 1 1 11=f|38=100|",
            "8 M A 2 1 11=f|37=1|150=0|39=0|",
            "8 M A 3 2 11=f|37=1|150=F|39=1|32=60|",
            "8 M A 4 3 11=f|37=1|150=F|39=2|32=40|",
            "D A M 5 2 11=r|",
            "8 M A 6 4 11=r|37=NONE|150=8|39=8|58=No|",
            "D A M 7 3 11=u|",
            "D A M 8 4 11=s|",
            "3 M A 9 5 45=4|373=5|58=Bad|",
            "D A M 10 5 11=b|",
            "j M A 11 6 372=D|379=b|380=3|",
            "D A M 12 6 11=p|",
            "8 M A 13 7 11=p|37=2|150=A|39=A|",
            "D A M 14 7 11=x|",
            "8 M A 15 8 11=x|37=3|150=0|39=0|",
            "8 M A 16 9 11=x|37=3|150=C|39=C|",
            "D A M 17 8 11=q|",
            "8 M A 18 9 11=q|37=4|150=1|39=1|",
        ]],
        &[
            "f filled: new, acknowledged, partial fill, filled",
            "r rejected: new, rejected",
            "u unanswered: new",
            "s rejected: new, session reject",
            "b rejected: new, business reject",
            "p unanswered: new, pending new",
            "x expired: new, acknowledged, expired",
            "q partially-filled: new, partial fill",
        ],
    );
}

#[test]
fn ids_are_followed_through_replaces_and_cancels() {
    check(
        &[&[
            "D A M 1 1 11=a1|",
            "8 M A 2 1 11=a1|37=9|150=0|39=0|",
            "G A M 3 2 11=a2|41=a1|38=50|",
            "8 M A 4 2 11=a2|41=a1|37=9|150=E|39=E|",
            "8 M A 5 3 11=a2|41=a1|37=9|150=5|39=0|",
            "F A M 6 3 11=a3|41=a2|",
            "9 M A 7 4 11=a3|41=a2|37=9|39=0|102=0|58=Late|",
            "8 M A 8 5 37=9|150=F|39=2|",
            // Nothing of this one is known.
            "8 M A 9 6 11=z|37=8|150=F|39=1|",
            "F A M 10 4 11=z2|41=z|",
            "8 M A 11 7 11=z2|41=z|37=8|150=4|39=4|",
            // Another session has the same ids.
            "D B M 12 1 11=a1|",
        ]],
        &[
            "a1 filled: new, acknowledged, replace request, pending replace, replaced, cancel request, \
             cancel reject, filled",
            "z cancelled: partial fill, cancel request, cancelled (orphan)",
            "a1 unanswered: new",
        ],
    );
}

#[test]
fn ids_may_come_again_after_the_end_and_not_before() {
    check(
        &[&[
            "D A M 1 1 11=a|",
            "8 M A 2 1 11=a|37=1|150=8|39=8|",
            "D A M 3 2 11=a|",
            "D A M 4 3 11=a|",
            "8 M A 5 2 11=a|37=2|150=0|39=0|",
            // Sent again: it is the same message.
            "8 M A 6 2 11=a|37=2|150=0|39=0|43=Y|",
        ]],
        &[
            "a rejected: new, rejected",
            "a open: new, acknowledged (reused)",
            "a unanswered: new",
        ],
    );
}

#[test]
fn orders_are_followed_over_sessions_whose_messages_are_in_several_logs() {
    // The clock of R is 500 ms ahead of those of C and G, that of V 200 ms behind. R gives ids of its own.
    let gateway: &[&str] = &[
        "D C G 100 1 11=a|38=5|",
        "D G R 110 1 11=a|38=5|",
        "8 R G 660 1 11=a|37=R1|17=e1|150=0|39=0|",
        "8 G C 170 1 11=a|37=R1|17=e1|150=0|39=0|",
        "8 R G 700 2 11=a|37=R1|17=e2|150=F|39=2|32=5|",
        "8 G C 210 2 11=a|37=R1|17=e2|150=F|39=2|32=5|",
    ];
    let router: &[&str] = &[
        "D G R 110 1 11=a|38=5|",
        "D R V 620 1 11=r7|526=a|38=5|",
        "8 R G 660 1 11=a|37=R1|17=e1|150=0|39=0|",
        "8 R G 700 2 11=a|37=R1|17=e2|150=F|39=2|32=5|",
    ];
    let answers = [
        "8 V R 3 1 11=r7|37=V1|17=e1|150=0|39=0|",
        "8 V R 30 2 11=r7|37=V1|17=e2|150=F|39=2|32=5|",
    ];
    let router: Vec<_> = [
        &router[..2],
        &answers[..1],
        &router[2..3],
        &answers[1..],
        &router[3..],
    ]
    .concat();
    let logs: [&[&str]; 2] = [gateway, &router];
    check(
        &logs,
        &[
            "a filled: new, acknowledged, filled",
            "a filled: new, acknowledged, filled (of 0)",
            "r7 filled: new, acknowledged, filled (of 1)",
        ],
    );
    let mut book = Book::new();
    let seen = {
        let mut seen = Seen::default();
        let mut merge = Merge::new(2);
        let mut decoder = Decoder::new();
        for (log, texts) in logs.iter().enumerate() {
            let mut part = OrderPart::default();
            for text in *texts {
                let bytes = message(text);
                part.message(0, None, &decoder.parse(&bytes).expect("valid"));
            }
            merge.push(Batch::new(log, part));
            merge.end(log);
        }
        book.take(&mut merge, &mut seen);
        book.finish(&mut seen);
        seen
    };
    assert_eq!((book.messages(), book.repeated()), (12, 3));
    let hops: Vec<_> = book.hops();
    let ahead = |from: &[u8], to: &[u8]| {
        let hop = hops
            .iter()
            .find(|hop| hop.from == from && hop.to == to)
            .expect("a hop");
        hop.offset_ns.map(|ns| ns / 1_000_000)
    };
    // There: 510 ms; back: 170 - 660 and 210 - 700 ms.
    assert_eq!(ahead(b"G", b"R"), Some(500));
    // There: 3 - 620; back: 660 - 3 and 700 - 30.
    assert_eq!(ahead(b"R", b"V"), Some(-637));
    assert_eq!(ahead(b"C", b"G"), None);
    assert!(
        seen.hops.contains(&("G>R".to_owned(), false, 10)),
        "{:?}",
        seen.hops
    );
    assert!(
        seen.hops.contains(&("C>G".to_owned(), false, 10)),
        "{:?}",
        seen.hops
    );
    assert!(seen.waits.contains(&(Wait::Answer, 70)) && seen.waits.contains(&(Wait::End, 110)));
}

#[test]
fn what_ended_is_let_go_after_a_minute_of_the_log() {
    let mut texts = Vec::new();
    for at in 0..40 {
        let ms = at * 10_000;
        texts.push(format!("D A M {ms} {at} 11=o{at}|"));
        texts.push(format!("8 M A {ms} {at} 11=o{at}|37={at}|150=2|39=2|"));
    }
    let texts: Vec<_> = texts.iter().map(String::as_str).collect();
    let (mut decoder, mut seen) = (Decoder::new(), Seen::default());
    let (mut book, mut merge) = (Book::new(), Merge::new(1));
    for (at, text) in texts.iter().enumerate() {
        let bytes = message(text);
        let mut part = OrderPart::default();
        part.message(at as u64, None, &decoder.parse(&bytes).expect("valid"));
        merge.push(Batch::new(0, part));
        book.take(&mut merge, &mut seen);
    }
    assert_eq!(book.most(), 6);
    assert_eq!(seen.lives.len(), 34);
    merge.end(0);
    book.finish(&mut seen);
    let mut numbers = seen.lives.iter().map(|life| life.number);
    assert!(numbers.by_ref().eq(0..40));
}
