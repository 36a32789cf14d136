//! A resend: an engine is asked for everything that it sent.

use std::time::Instant;

use super::client::Client;
use super::conversation::Answer;
use crate::Error;

/// Orders that are out while the store is filled.
const OUT_MAX: usize = 64;
/// Where the end of the last message is looked for.
const TAIL_BYTES: usize = 512;
/// The number of an engine's first answer: its Logon is before it.
const FIRST: u64 = 2;

/// What a turn came to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Resent {
    pub(super) ns: f64,
    pub(super) messages: u64,
    pub(super) wrong: u64,
}

/// Lets one session get this number of answers, asks for all of them again, and times that.
pub(super) fn turn(client: &mut Client<'_>, messages: u64) -> Result<Resent, Error> {
    let (mut asked, mut answered, mut wrong) = (0, 0, 0);
    while answered < messages {
        while asked < messages && asked - answered < OUT_MAX as u64 {
            client.ask(0, None)?;
            asked += 1;
        }
        client.poll()?;
        while let Some(answer) = client.next(0)? {
            if let Answer::Order(_, right) = answer {
                answered += 1;
                wrong += u64::from(!right);
            }
        }
    }
    let last = format!("\x0134={}\x01", FIRST + messages - 1);
    client.write(0, "2", format!("7={FIRST}\x0116=0\x01").as_bytes());
    let start = Instant::now();
    client.send(0)?;
    let end = loop {
        let now = client.poll()?;
        let input = client.input(0);
        let tail = input.get(input.len().saturating_sub(TAIL_BYTES)..);
        let tail = tail.unwrap_or(input);
        let place = memchr::memmem::rfind(tail, last.as_bytes());
        let rest = place.and_then(|place| tail.get(place + last.len()..));
        let is_whole = |rest: &[u8]| {
            let trailer = rest.len().checked_sub(fixcore::frame::TRAILER_BYTES);
            trailer.is_some_and(|at| rest.get(at..).is_some_and(|end| end.starts_with(b"10=")))
        };
        if rest.is_some_and(is_whole) {
            break now;
        }
    };
    let right = client.are_sent_again(0, FIRST, messages);
    Ok(Resent {
        ns: end.saturating_duration_since(start).as_nanos() as f64,
        messages,
        wrong: wrong + (messages - right),
    })
}
