//! Messages with other sequence numbers and times, and the frame that belongs to them.

use std::collections::HashMap;
use std::io::Write as _;

use fixcore::{Message, SOH, frame};

/// Writes messages again: numbered from 1 in each session, or with another SendingTime (52).
///
/// ```
/// use fixcore::Decoder;
/// use fixlog::Rewriter;
///
/// # fn message(body: &str) -> Vec<u8> {
/// #     let mut all = Vec::new();
/// #     fixcore::frame::write(b"FIX.4.4", body.replace('|', "\x01").as_bytes(), &mut all);
/// #     all
/// # }
/// let message = message("35=0|49=A|56=B|34=700|52=20260305-14:15:16|");
/// let mut decoder = Decoder::new();
/// let message = decoder.parse(&message)?;
/// let (mut rewriter, mut out) = (Rewriter::new().renumber(true), Vec::new());
/// rewriter.message(&message, Some(b"20270101-00:00:00"), &mut out);
/// assert_eq!(Decoder::new().parse(&out)?.get(34), Some(&b"1"[..]));
/// # Ok::<(), fixcore::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Rewriter {
    renumber: bool,
    /// Sender and target, and the last number.
    numbers: HashMap<Vec<u8>, u64>,
    body: Vec<u8>,
}

impl Rewriter {
    /// Changes nothing so far.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether MsgSeqNum (34) counts the messages of each session from 1, and NewSeqNo (36) of a
    /// SequenceReset follows it.
    #[must_use]
    pub fn renumber(mut self, renumber: bool) -> Self {
        self.renumber = renumber;
        self
    }

    /// Writes a message with its new number, and with `sending_time` if there is one, in place of what
    /// `out` holds. BodyLength and CheckSum are right.
    pub fn message(
        &mut self,
        message: &Message<'_, '_>,
        sending_time: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) {
        let mut body = std::mem::take(&mut self.body);
        body.clear();
        let fields = message.len();
        let number = self.renumber.then(|| self.number(message));
        let fills = message.get(35) == Some(b"4");
        for field in message.fields().take(fields - 1).skip(2) {
            // Writing into memory does not fail.
            let _ = write!(body, "{}=", field.tag);
            match (field.tag, number, sending_time) {
                (34, Some(number), _) => drop(write!(body, "{number}")),
                // A gap that is filled ends at the number that comes next.
                (36, Some(number), _) if fills => drop(write!(body, "{}", number + 1)),
                (52, _, Some(time)) => body.extend_from_slice(time),
                _ => body.extend_from_slice(field.value),
            }
            body.push(SOH);
        }
        out.clear();
        frame::write(message.begin_string(), &body, out);
        self.body = body;
    }

    /// The next number of a session, from 1.
    fn number(&mut self, message: &Message<'_, '_>) -> u64 {
        let names = [49, 56].map(|tag| message.get(tag).unwrap_or(&[]));
        let number = self.numbers.entry(names.join(&SOH)).or_insert(0);
        *number += 1;
        *number
    }
}
