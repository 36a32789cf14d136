//! Sessions: messages of any kinds, numbers and times between a few parties.

use fixcore::{Decoder, frame};
use fixlog::Lines;
use fixlog::health::{Finding, Health, HealthPart, Watch};

/// What was found.
#[derive(Default, PartialEq, Eq, Debug)]
struct Seen {
    found: Vec<Finding>,
    heartbeats: u64,
    text: Vec<u8>,
}

impl Watch for Seen {
    fn found(&mut self, finding: Finding) {
        self.text.clear();
        finding.json(Lines::new(), &mut self.text, &[]);
        let json: serde_json::Value = serde_json::from_slice(&self.text).expect("JSON");
        assert_eq!(json["what"], finding.kind());
        self.found.push(finding);
    }

    fn heartbeat(&mut self, session: &[Vec<u8>; 2], _: u64) {
        assert!(!session[0].is_empty());
        self.heartbeats += 1;
    }
}

/// A message by five bytes: kind, parties, number, values and time; and the text before it.
fn message(bytes: &[u8; 5], out: &mut Vec<u8>) -> Vec<u8> {
    const KINDS: [&str; 16] = [
        "D", "D", "0", "1", "2", "4", "A", "5", "3", "j", "8", "9", "0", "4", "2", "D",
    ];
    let [kind, parties, number, value, time] = *bytes;
    let party = |bits: u8| char::from(b'A' + (bits & 1));
    let mut body = format!(
        "35={}\x0149={}\x0156={}\x0134={number}\x01",
        KINDS[usize::from(kind & 15)],
        party(parties),
        party(parties >> 1),
    );
    if kind & 16 != 0 {
        body.push_str("43=Y\x01");
    }
    if parties & 4 == 0 {
        body.push_str(&format!(
            "52=20260305-14:{:02}:{:02}\x01",
            time / 60,
            time % 60
        ));
    }
    body.push_str(&format!(
        "7={}\x0116={}\x0136={value}\x01108={}\x01112={}\x0158=no {value}\x01373={}\x0139=8\x01",
        value & 15,
        value >> 4,
        value & 3,
        value & 7,
        value & 3
    ));
    if kind & 32 != 0 {
        body.push_str("123=Y\x01");
    }
    if kind & 64 != 0 {
        body.push_str("141=Y\x01");
    }
    out.clear();
    frame::write(b"FIX.4.4", body.as_bytes(), out);
    match kind & 128 {
        0 => Vec::new(),
        _ => format!(
            "2026-03-05 {:02}:{:02}:{:02}.5 <- ",
            value & 31,
            time / 60,
            time % 60
        )
        .into_bytes(),
    }
}

/// Messages of sessions, whatever they are: the same is found for parts of any size, everything is written as
/// JSON, each gap has numbers, and no more numbers come than were missing.
pub fn fix_health(data: &[u8]) {
    let mut results = Vec::new();
    for part_messages in [1, 3, 1000] {
        let (mut health, mut seen) = (Health::new(), Seen::default());
        let (mut decoder, mut bytes, mut part) =
            (Decoder::new(), Vec::new(), HealthPart::default());
        let messages = data.as_chunks::<5>().0;
        for (number, one) in messages.iter().enumerate() {
            let prefix = message(one, &mut bytes);
            let parsed = decoder.parse(&bytes).expect("valid");
            part.message((number as u64, None), &prefix, &parsed);
            if (number + 1) % part_messages == 0 {
                health.add(0, 0, &part, &mut seen);
                part.clear();
            }
        }
        health.add(0, 0, &part, &mut seen);
        health.finish(&mut seen);
        let directions = health.directions();
        let counted: u64 = directions.iter().map(|one| one.messages).sum();
        assert_eq!(counted, messages.len() as u64);
        let mut missing = 0;
        let mut gaps = 0;
        for finding in &seen.found {
            if let Finding::Gap(gap) = finding {
                let came: u64 = gap.filled.iter().sum();
                assert!(gap.got > gap.expected && came <= gap.got - gap.expected);
                missing += gap.got - gap.expected - came;
                gaps += 1;
            }
        }
        assert_eq!(
            missing,
            directions.iter().map(|one| one.missing).sum::<u64>()
        );
        assert_eq!(gaps, directions.iter().map(|one| one.gaps).sum::<u64>());
        let sums: Vec<_> = directions.into_iter().cloned().collect();
        let rejects: Vec<_> = health.rejects().into_iter().cloned().collect();
        results.push((seen, sums, rejects, health.minutes().clone()));
    }
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]));
}
