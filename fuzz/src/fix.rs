//! Bodies of the targets over FIX streams, messages, dictionaries and stores.

use std::fs;
use std::ops::ControlFlow;

use fixcore::dict::{Dictionary, Rules, Validator, Warning};
use fixcore::store::{OnDamage, Options, Seen, Store, forge, survey_bytes};
use fixcore::{Decoder, Encoder, Error, Frame, Framer, Isa, Message, SOH, frame, separator};

const LIMIT_BYTES: usize = 1 << 12;

/// Any bytes as a stream: the same frames whatever the cut, every byte told of once, and no frame
/// beyond the limit.
pub fn fix_frame(data: &[u8]) {
    log_line(data);
    let whole = frames(&[data]);
    let (left, right) = data.split_at(data.len() / 2);
    assert_eq!(frames(&[left, right]), whole, "a cut in the middle");
    let bytes: Vec<&[u8]> = data.chunks(1).collect();
    assert_eq!(frames(&bytes), whole, "a byte at a time");
    let mut told = 0;
    for (offset, bytes, is_message) in whole {
        assert_eq!(offset, told, "frames lie side by side");
        assert!(!is_message || bytes <= LIMIT_BYTES as u64);
        told += bytes;
    }
    assert_eq!(told, data.len() as u64);
}

fn frames(pieces: &[&[u8]]) -> Vec<(u64, u64, bool)> {
    let mut framer = Framer::with_limit(LIMIT_BYTES);
    let mut out = Vec::new();
    for piece in pieces {
        framer.push(piece);
        drain(&mut framer, &mut out);
    }
    framer.end();
    drain(&mut framer, &mut out);
    out
}

fn drain(framer: &mut Framer, out: &mut Vec<(u64, u64, bool)>) {
    while let Some(frame) = framer.next_frame() {
        out.push(match frame {
            Frame::Message { offset, bytes } => (offset, bytes.len() as u64, true),
            Frame::Skipped { offset, bytes, .. } => (offset, bytes, false),
        });
    }
}

/// Any bytes as a message, as they are and as the body of a frame that is right: every instruction
/// set gives the same fields or the same error, its place is in the bytes, and fields lie side by
/// side.
pub fn fix_decode(data: &[u8]) {
    decode(data);
    let mut bytes = Vec::new();
    frame::write(b"FIX.4.4", data, &mut bytes);
    decode(&bytes);
}

fn decode(bytes: &[u8]) {
    // A copy of exactly this length.
    let exact: Box<[u8]> = bytes.into();
    let mut plain = Decoder::with_isa(Isa::Scalar).expect("there is always one");
    let right = read(&mut plain, &exact);
    if let Err(error) = &right {
        assert!(error.offset() <= exact.len(), "{error}");
    }
    for mut decoder in Isa::ALL.into_iter().filter_map(Decoder::with_isa) {
        assert_eq!(read(&mut decoder, &exact), right, "{}", decoder.isa());
    }
    let Ok(message) = plain.parse(&exact) else {
        return;
    };
    validate(&message);
    respell(&message);
    let mut end = 0;
    for field in message.fields() {
        assert_eq!(field.offset, end, "fields lie side by side");
        assert!(!field.value.is_empty());
        end += field.tag.to_string().len() + 1 + field.value.len() + 1;
    }
    assert_eq!(end, exact.len());
}

/// A valid message with another separator, and back: the same bytes, and an end where its length says.
fn respell(message: &Message<'_, '_>) {
    if message.position(10) != Some(message.len() - 1) {
        return;
    }
    for spelling in separator::SPELLINGS {
        let has = |value: &[u8]| value.windows(spelling.len()).any(|some| some == spelling);
        if message
            .fields()
            .any(|field| has(field.value) || field.value.contains(&SOH))
        {
            continue;
        }
        let (mut text, mut back) = (Vec::new(), Vec::new());
        separator::from_soh(message.bytes(), spelling, &mut text);
        assert_eq!(
            separator::to_soh(&text, spelling, &mut back),
            Some(text.len())
        );
        assert_eq!(back, message.bytes());
        if let [byte] = spelling {
            assert_eq!(frame::end(&text, *byte), Some(text.len() - 1));
        }
    }
}

/// Any bytes as a message of a log: no end beyond the bytes, and none that is not of a CheckSum.
fn log_line(data: &[u8]) {
    for byte in [SOH, b'|'] {
        if let Some(end) = frame::end(data, byte) {
            assert!(
                data[..end]
                    .last_chunk::<6>()
                    .is_some_and(|last| last.starts_with(b"10="))
            );
        }
    }
    let mut message = Vec::new();
    if let Some(taken) =
        separator::detect(data).and_then(|found| separator::to_soh(data, found, &mut message))
    {
        assert!(taken <= data.len() && message.ends_with(&[SOH]));
    }
}

type Fields = Result<Vec<(u32, Vec<u8>)>, Error>;

fn read(decoder: &mut Decoder, bytes: &[u8]) -> Fields {
    let message = decoder.parse(bytes)?;
    let fields = message.fields();
    Ok(fields
        .map(|field| (field.tag, field.value.to_vec()))
        .collect())
}

fn validate(message: &Message<'_, '_>) {
    if let Some(mut validator) = Validator::for_message(message, Rules::default()) {
        let first = validator.validate(message);
        assert_eq!(validator.validate(message), first, "buffers are reused");
        if let Err(error) = first {
            assert!(error.offset() <= message.bytes().len(), "{error}");
        }
    }
    // All faults begin with the first, whatever is checked.
    let most = message.len();
    for rules in [
        Rules::default(),
        Rules::default().conditions(true).user_tags(true),
    ] {
        let Some(mut validator) = Validator::for_message(message, rules) else {
            return;
        };
        let mut all = Vec::new();
        validator.faults(message, &mut all, most);
        assert!(all.len() <= most);
        let inside = all
            .iter()
            .all(|error| error.offset() <= message.bytes().len());
        assert!(inside, "{all:?}");
        for _ in 0..2 {
            assert_eq!(validator.validate(message).err(), all.first().copied());
        }
    }
    for warning in Warning::of(message) {
        assert!(message.get(warning.tag()).is_some(), "{warning}");
    }
}

/// Any text as a dictionary: refused with a byte of it, or one by which messages can be validated.
pub fn fix_dictionary(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let dictionary = match Dictionary::from_xml(text) {
        Ok(dictionary) => dictionary,
        Err(error) => return assert!(error.offset() <= text.len(), "{error}"),
    };
    let mut encoder = Encoder::new("FIX.4.4");
    let mut decoder = Decoder::new();
    for message in dictionary.messages() {
        assert!(dictionary.message(message.msg_type().as_bytes()).is_some());
        let mut writing = encoder.start(message.msg_type());
        for field in dictionary.body(message) {
            writing = writing.unsigned(field.tag(), 1);
        }
        let Ok(bytes) = writing.finish() else {
            continue;
        };
        if let Ok(message) = decoder.parse(bytes) {
            let mut validator = Validator::new(&dictionary, Rules::default().conditions(true));
            let mut all = Vec::new();
            validator.faults(&message, &mut all, 1000);
            assert_eq!(validator.validate(&message).err(), all.first().copied());
        }
    }
}

/// Any bytes as the file of a store: what is seen lies side by side and in order, what opens holds what
/// was seen, nothing more, and goes on from there.
pub fn fix_store(data: &[u8]) {
    survey_bytes(data, &mut |_, _| ControlFlow::Continue(()));
    let file = forge(data);
    let (mut end, mut next) = (0, 0);
    let seen = survey_bytes(&file, &mut |_, seen| {
        let (offset, bytes) = match seen {
            Seen::Message {
                offset,
                number,
                bytes,
            } => {
                assert!(number >= next, "numbers ascend");
                next = number + 1;
                (offset, bytes.len() as u64)
            }
            Seen::Damaged { offset, bytes, .. } | Seen::Torn { offset, bytes } => (offset, bytes),
            _ => return ControlFlow::Continue(()),
        };
        assert!(offset >= end, "places lie side by side");
        end = offset + bytes;
        ControlFlow::Continue(())
    });
    assert!(end <= file.len() as u64);
    let memory = tempfile::tempdir_in("/dev/shm");
    let Ok(dir) = memory.or_else(|_| tempfile::tempdir()) else {
        return;
    };
    let path = dir.path().join("0000000001.segment");
    fs::write(path, &file).expect("a file can be written");
    let mut options = Options::default();
    options.segment_bytes = 4096;
    let strict = Store::open(dir.path(), options.clone());
    assert_eq!(strict.is_ok(), seen.damaged == 0);
    drop(strict);
    options.on_damage = OnDamage::Skip;
    let open = || Store::open(dir.path(), options.clone()).expect("damage is skipped");
    let mut store = open();
    assert_eq!(store.next_sender(), seen.next_sender);
    assert_eq!(store.next_target(), seen.next_target);
    let messages = store.range(0..=u64::MAX).map(|(_, found)| found);
    let messages = messages.filter(Result::is_ok).count() as u64;
    assert_eq!(messages, seen.messages);
    let number = store.next_sender();
    if store.append(number, b"more").is_err() {
        return assert_eq!(number, u64::MAX);
    }
    drop(store);
    let store = open();
    assert_eq!(store.opened().torn, None, "what was torn is gone");
    assert_eq!(store.get(number).ok().flatten(), Some(&b"more"[..]));
    assert_eq!(store.range(0..=u64::MAX).count() as u64, messages + 1);
}
