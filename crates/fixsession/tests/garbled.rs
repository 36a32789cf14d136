//! What follows a message whose BodyLength (9) is wrong, for every cut of the bytes.

use fixsession::{MemoryStore, Session};

use crate::common::{at, from_buyer, logged_on, seller, taken};

/// A TestRequest that states a longer body than it has, by this number of bytes.
fn off_by(more: isize, number: u64, text: &str) -> Vec<u8> {
    let whole = from_buyer("1", number, &format!("112={text}|"), at(1));
    let head = b"8=FIX.4.4\x019=".len();
    let digits = whole[head..].iter().position(|byte| *byte == 1).unwrap();
    let length: isize = str::from_utf8(&whole[head..head + digits])
        .unwrap()
        .parse()
        .unwrap();
    let stated = (length + more).to_string();
    let mut changed = [&whole[..head], stated.as_bytes(), &whole[head + digits..]].concat();
    assert!(fixcore::frame::update_checksum(&mut changed));
    changed
}

/// What a session answers to these bytes, given as two pieces.
fn answers(stream: &[u8], cut: usize) -> Vec<String> {
    let mut seller: Session<MemoryStore> = logged_on(seller());
    let (left, right) = stream.split_at(cut);
    for piece in [left, right] {
        if !piece.is_empty() {
            seller.bytes(piece, usize::MAX, at(1), &mut ());
        }
    }
    let sent = taken(&mut seller).into_iter();
    sent.map(|(kind, _, text)| {
        let body = text.split('|').filter(|field| {
            ["112=", "7=", "16="]
                .iter()
                .any(|tag| field.starts_with(tag))
        });
        format!("{kind} {}", body.collect::<Vec<_>>().join(" "))
    })
    .collect()
}

#[test]
fn the_message_behind_a_wrong_length_is_answered() {
    for more in [1, 4, 7, 300, -4, -20] {
        // The number of the garbled message is used again: it was ignored.
        let valid = (2..9)
            .flat_map(|number| from_buyer("1", number, &format!("112=GOOD{number}|"), at(1)))
            .collect::<Vec<_>>();
        let stream = [off_by(more, 2, "BAD"), valid].concat();
        let expected: Vec<_> = (2..9).map(|number| format!("0 112=GOOD{number}")).collect();
        for cut in 0..=stream.len() {
            assert_eq!(
                answers(&stream, cut),
                expected,
                "off by {more}, cut at {cut}"
            );
        }
    }
}

#[test]
fn the_number_of_a_message_with_a_wrong_length_is_asked_for() {
    for more in [1, 4, 300, -4] {
        let valid = (3..9)
            .flat_map(|number| from_buyer("1", number, &format!("112=GOOD{number}|"), at(1)))
            .collect::<Vec<_>>();
        let stream = [off_by(more, 2, "BAD"), valid].concat();
        for cut in 0..=stream.len() {
            assert_eq!(
                answers(&stream, cut),
                ["2 7=2 16=0"],
                "off by {more}, cut at {cut}"
            );
        }
    }
}
