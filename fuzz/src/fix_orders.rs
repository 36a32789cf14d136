//! Lives of orders: messages of any kinds, ids and times, in two logs.

use std::collections::HashMap;

use fixcore::{Decoder, frame};
use fixlog::Lines;
use fixlog::orders::{Batch, Book, Life, LifeLines, Merge, OrderPart, Wait, Watch};

/// What a book told.
#[derive(Default)]
struct Seen {
    /// The messages of each order, as it was passed on last.
    steps: HashMap<u64, u64>,
    text: Vec<u8>,
}

impl Watch for Seen {
    fn life(&mut self, life: &Life, parties: &[Vec<u8>]) {
        assert!(!life.steps.is_empty());
        let steps = life.steps.len() as u64 + life.left_out;
        let before = self.steps.insert(life.number, steps);
        assert_eq!(
            before.is_some(),
            life.again.is_some(),
            "an order comes once, or says that it comes again"
        );
        assert!(
            before.is_none_or(|before| before < steps),
            "what comes again has more messages"
        );
        self.text.clear();
        let lines = LifeLines::new(Lines::new(), &[]);
        lines.json(&mut self.text, life, parties);
        let json: serde_json::Value = serde_json::from_slice(&self.text).expect("JSON");
        assert_eq!(
            json["steps"].as_array().map(Vec::len),
            Some(life.steps.len())
        );
        self.text.clear();
        lines.timeline(&mut self.text, &[life], parties, &[]);
        let ends = self.text.iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(ends, 1 + life.steps.len());
    }

    fn wait(&mut self, _: Wait, _: u64, life: &Life) {
        assert!(!life.steps.is_empty());
    }

    fn hop(&mut self, [from, to]: [&[u8]; 2], _: bool, _: u64) {
        assert!(!from.is_empty() && !to.is_empty());
    }
}

/// A message by five bytes: kind, parties, ids, status and time.
fn message(bytes: &[u8; 5], number: usize, out: &mut Vec<u8>) {
    const KINDS: [&str; 8] = ["D", "8", "G", "F", "9", "3", "j", "8"];
    const STATUS: &[u8] = b"01245689ACE";
    let [kind, parties, ids, status, time] = *bytes;
    let party = |bits: u8| char::from(b'A' + (bits & 3));
    let id = |bits: u8| bits & 7;
    let status = char::from(STATUS[usize::from(status) % STATUS.len()]);
    let mut body = format!(
        "35={}\x0149={}\x0156={}\x0134={}\x0152=20260305-14:{:02}:{:02}\x0111={}\x01",
        KINDS[usize::from(kind & 7)],
        party(parties),
        party(parties >> 2),
        // Some come twice.
        if kind & 64 == 0 {
            number
        } else {
            usize::from(time)
        },
        time / 60,
        time % 60,
        id(ids),
    );
    if kind & 8 != 0 {
        body.push_str(&format!("41={}\x01", id(ids >> 3)));
    }
    if kind & 16 != 0 {
        body.push_str(&format!("37={}\x0117={}\x01", ids >> 6, id(ids)));
    }
    if kind & 32 != 0 {
        body.push_str(&format!(
            "526={}\x0145={}\x01379={}\x01",
            id(ids >> 3),
            time,
            id(ids)
        ));
    }
    body.push_str(&format!("150={status}\x0139={status}\x01"));
    out.clear();
    frame::write(b"FIX.4.4", body.as_bytes(), out);
}

/// Messages about orders, whatever they are: each is in the life of one order, is a message that came before,
/// or is about none; each order comes once, or says
/// that it comes again, with more messages; the same for parts of any size.
pub fn fix_orders(data: &[u8]) {
    let mut results = Vec::new();
    for part_messages in [1, 3, 1000] {
        let (mut book, mut merge, mut seen) = (Book::new(), Merge::new(2), Seen::default());
        let (mut decoder, mut bytes) = (Decoder::new(), Vec::new());
        let mut parts = [OrderPart::default(), OrderPart::default()];
        let mut counts = [0; 2];
        for (number, one) in data.as_chunks::<5>().0.iter().enumerate() {
            message(one, number, &mut bytes);
            let log = usize::from(one[1] >> 7);
            let parsed = decoder.parse(&bytes).expect("valid");
            assert!(parts[log].message(number as u64, None, &parsed));
            counts[log] += 1;
            if counts[log] == part_messages {
                merge.push(Batch::new(log, std::mem::take(&mut parts[log])));
                counts[log] = 0;
                book.take(&mut merge, &mut seen);
            }
        }
        for (log, part) in parts.into_iter().enumerate() {
            merge.push(Batch::new(log, part));
            merge.end(log);
        }
        book.take(&mut merge, &mut seen);
        book.finish(&mut seen);
        let messages = book.messages();
        assert_eq!(messages, (data.len() / 5) as u64);
        let steps: u64 = seen.steps.values().sum();
        assert!(steps + book.repeated() + book.unfollowed() <= messages);
        results.push((seen.steps.len(), steps, book.repeated(), book.hops()));
    }
    assert!(
        results.windows(2).all(|pair| pair[0] == pair[1]),
        "{results:?}"
    );
}
