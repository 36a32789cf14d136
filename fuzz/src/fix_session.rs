//! FIX sessions: a counterparty that sends anything, and two sessions over a bad line.

use std::time::Duration;

use fixcore::{Decoder, Timestamp};
use fixsession::simulation::{self, Choices};
use fixsession::{Dictionaries, Echo, MemoryStore, Now, Session, SessionId, SessionOptions};

const VERSIONS: [&str; 6] = [
    "FIX.4.0", "FIX.4.1", "FIX.4.2", "FIX.4.3", "FIX.4.4", "FIXT.1.1",
];
/// How much output one message may cause, beyond a replay's.
const OUTPUT_BYTES_MAX: usize = 1 << 18;

fn now() -> Now {
    Now {
        monotonic: Duration::from_secs(9),
        utc: Timestamp(1_767_323_045_000_000_000),
    }
}

/// A line of the input as bytes of a counterparty: `TYPE|field|field` as a message with the right frame
/// and names, `!bytes` as it is, where `|` is the separator.
fn sent(line: &[u8], begin_string: &str) -> Vec<u8> {
    let separated = |bytes: &[u8]| -> Vec<u8> {
        let separator = |byte: &u8| if *byte == b'|' { 1 } else { *byte };
        bytes.iter().map(separator).collect()
    };
    if let Some(raw) = line.strip_prefix(b"!") {
        return separated(raw);
    }
    let end = line.iter().position(|byte| *byte == b'|');
    let (msg_type, fields) = line.split_at(end.unwrap_or(line.len()));
    let fields = fields.strip_prefix(b"|").unwrap_or(fields);
    let head = b"49=PEER|52=20260102-03:04:05|56=US|".as_slice();
    let body = [b"35=", msg_type, b"|", head, fields, b"|"].concat();
    let mut bytes = Vec::new();
    fixcore::frame::write(begin_string.as_bytes(), &separated(&body), &mut bytes);
    bytes
}

/// Plays the input to an acceptor, in pieces of this many bytes, and returns all that it writes.
fn played(options: SessionOptions, lines: &[u8], piece: usize) -> (Vec<u8>, u64, u64, bool) {
    let begin_string = options.id.begin_string.clone();
    let dictionaries = Dictionaries::built_in(&begin_string);
    let store = MemoryStore::new(now().utc);
    let mut session = Session::new(options, dictionaries, store);
    let mut app = Echo::default();
    session.connected(now(), &mut app);
    let mut output = Vec::new();
    for line in lines.split(|byte| *byte == b'\n') {
        let bytes = sent(line, &begin_string);
        for piece in bytes.chunks(piece) {
            session.bytes(piece, 2, now(), &mut app);
            while session.bytes(&[], 2, now(), &mut app).more || session.has_work() {
                if session.close() {
                    break;
                }
                assert!(
                    session.output().len() < OUTPUT_BYTES_MAX,
                    "output grows without bound"
                );
                output.extend_from_slice(session.output());
                session.sent(session.output().len());
            }
            output.extend_from_slice(session.output());
            session.sent(session.output().len());
        }
    }
    session.tick(now(), &mut app);
    let (sender, target) = (session.next_sender(), session.next_target());
    (output, sender, target, session.close())
}

/// A counterparty that sends anything: what is written is valid whatever came, does not depend on the
/// pieces that it came in, and gives new messages ascending numbers.
pub fn fix_session(data: &[u8]) {
    let [version, settings, lines @ ..] = data else {
        return;
    };
    let begin_string = VERSIONS[usize::from(*version) % VERSIONS.len()];
    let options = || {
        let mut options = SessionOptions::new(SessionId::new(begin_string, "US", "PEER"));
        options.reset_on_logon = settings & 1 != 0;
        options.validate_fields_have_values = settings & 2 == 0;
        options.use_data_dictionary = settings & 4 == 0;
        options.resend_request_chunk_size = u64::from(settings >> 3 & 3);
        options.send_next_expected_msg_seq_num = settings & 32 != 0;
        options.validate_length_and_checksum = settings & 64 == 0;
        options.persist_messages = settings & 128 == 0;
        options.queue_bytes_max = 4_000;
        options.max_message_size = Some(1 << 14);
        options
    };
    let whole = played(options(), lines, usize::MAX);
    let pieces = played(options(), lines, 7);
    assert_eq!(whole, pieces, "the answer depends on the cut");
    let mut rest = whole.0.as_slice();
    let (mut decoder, mut last) = (Decoder::new(), 0);
    let mut framer = fixcore::FrameScanner::new();
    while !rest.is_empty() {
        let (taken, found) = framer.next(rest, true);
        assert_eq!(
            found,
            Some(fixcore::Found::Message),
            "{}",
            rest.escape_ascii()
        );
        let (bytes, behind) = rest.split_at(taken);
        rest = behind;
        let message = decoder
            .parse_lenient(bytes, true)
            .expect("it is valid")
            .message;
        let number = message.get_u64(34).expect("a number").expect("a number");
        let resets = message.msg_type() == b"A" && message.get(141) == Some(b"Y");
        if message.get(43).is_none() {
            assert!(
                number > last || resets || number == 1,
                "{number} after {last}"
            );
            last = number;
        }
    }
}

/// Numbers from the input, then zeros.
struct Bytes<'d>(&'d [u8]);

impl Choices for Bytes<'_> {
    fn pick(&mut self, below: u64) -> u64 {
        let (number, rest) = match self.0 {
            [a, b, rest @ ..] if below > 256 => (u64::from(*a) << 8 | u64::from(*b), rest),
            [a, rest @ ..] => (u64::from(*a), rest),
            [] => (0, &[][..]),
        };
        self.0 = rest;
        number % below.max(1)
    }

    fn has_more(&self) -> bool {
        !self.0.is_empty()
    }
}

/// Two sessions over a bad line that the input draws: every message arrives exactly once and in order.
pub fn fix_bad_line(data: &[u8]) {
    let run = |log| simulation::run(&mut Bytes(data), log);
    if run(false).is_err() {
        panic!("{}", run(true).expect_err("a run repeats"));
    }
}
