//! The log: whole, cut at every byte, with every bit flipped, and with bytes that are none.

use betree::{Constants, SubscriptionId};
use matcher::log::{Ending, Frames, HEADER_BYTES, LogError, append, header};
use matcher::{Change, Put};

fn records() -> Vec<Vec<Change>> {
    let put = Put {
        expression: "within_frequency_cap('flight', 'ns', 3, 60) or b".into(),
        constants: Constants {
            flight_id: Some(-4),
            campaign_id: Some(7),
            ..Constants::default()
        },
        priority: i64::MIN,
    };
    let ranked = Put {
        constants: Constants::default(),
        priority: 1,
        ..put.clone()
    };
    vec![
        vec![
            Change::put(SubscriptionId(1), "a"),
            Change::Delete(SubscriptionId(u64::MAX)),
        ],
        vec![
            Change::Put(SubscriptionId(2), put),
            Change::Put(SubscriptionId(0), ranked),
        ],
        vec![
            Change::Delete(SubscriptionId(1)),
            Change::put(SubscriptionId(9), "é = 'x'"),
        ],
    ]
}

/// A log, and where each record begins, with the end.
fn log(last: u64) -> (Vec<u8>, Vec<usize>) {
    let mut bytes = header(last).to_vec();
    let mut starts = Vec::new();
    let mut sequence = last + 1;
    for record in records() {
        starts.push(bytes.len());
        append(sequence, &record, &mut bytes);
        sequence += record.len() as u64;
    }
    starts.push(bytes.len());
    (bytes, starts)
}

fn read(bytes: &[u8]) -> Result<(Vec<Vec<Change>>, Ending), LogError> {
    let mut frames = Frames::new(bytes)?;
    let mut all = Vec::new();
    while let Some(frame) = frames.next_frame()? {
        all.push(frame.changes);
    }
    Ok((all, frames.ending()))
}

#[test]
fn what_was_appended_is_read_back() {
    for last in [0, 41, u64::MAX - 10] {
        let (bytes, _) = log(last);
        assert_eq!(read(&bytes), Ok((records(), Ending::Whole)));
        let mut frames = Frames::new(&bytes).unwrap();
        assert_eq!(frames.last(), last);
        while frames.next_frame().unwrap().is_some() {}
        assert_eq!(frames.last(), last + 6);
    }
    let mut nothing = Vec::new();
    append(1, &[], &mut nothing);
    assert!(nothing.is_empty());
}

#[test]
fn a_log_that_is_cut_anywhere_has_the_records_before() {
    let (bytes, starts) = log(3);
    for cut in 0..=bytes.len() {
        let whole = starts.iter().filter(|start| **start <= cut).count();
        let (found, ending) = read(&bytes[..cut]).unwrap();
        let records = records();
        assert_eq!(found, records[..whole.saturating_sub(1)], "{cut}");
        let at = starts[..whole].last().copied().unwrap_or(0);
        let expected = match cut - at {
            0 => Ending::Whole,
            bytes => Ending::Torn { at, bytes },
        };
        // An empty file has nothing to cut off.
        assert_eq!(ending, expected, "{cut}");
    }
}

#[test]
fn a_flipped_bit_is_never_taken_for_something_else() {
    let (bytes, starts) = log(3);
    for bit in 0..bytes.len() * 8 {
        let mut forged = bytes.clone();
        forged[bit / 8] ^= 1 << (bit % 8);
        let at = starts.iter().rposition(|start| *start <= bit / 8);
        match (read(&forged), at) {
            (Err(LogError::Foreign | LogError::Version { .. }), None) => {}
            // Records go on after it.
            (Err(LogError::Damaged { at, after }), Some(record)) if record < 2 => {
                assert_eq!((at, at + after), (starts[record], starts[record + 1]));
            }
            // The last one is as if it were torn.
            (Ok((found, ending)), Some(2)) => {
                assert_eq!(found, records()[..2]);
                let bytes = starts[3] - starts[2];
                assert_eq!(
                    ending,
                    Ending::Torn {
                        at: starts[2],
                        bytes
                    }
                );
            }
            other => panic!("bit {bit}: {other:?}"),
        }
    }
}

#[test]
fn zeros_and_other_bytes_after_the_end_are_torn() {
    let (bytes, starts) = log(0);
    for rest in [&[0u8; 500][..], b"x", &[0xff; 100]] {
        let mut more = bytes.clone();
        more.extend_from_slice(rest);
        let (found, ending) = read(&more).unwrap();
        assert_eq!(found, records());
        let torn = Ending::Torn {
            at: starts[3],
            bytes: rest.len(),
        };
        assert_eq!(ending, torn);
    }
}

#[test]
fn what_is_no_log_is_refused() {
    assert_eq!(read(b"GET / HTTP/1.1"), Err(LogError::Foreign));
    assert_eq!(read(&[0; 100]), Err(LogError::Foreign));
    let mut later = header(1).to_vec();
    later[8] = 2;
    assert_eq!(read(&later), Err(LogError::Version { found: 2 }));
    assert_eq!(read(&header(5)), Ok((Vec::new(), Ending::Whole)));
    assert_eq!(HEADER_BYTES, header(0).len());
    // A record of an earlier number is not part of this log.
    let mut bytes = header(10).to_vec();
    append(1, &records()[0], &mut bytes);
    let (found, ending) = read(&bytes).unwrap();
    assert!(
        found.is_empty()
            && matches!(
                ending,
                Ending::Torn {
                    at: HEADER_BYTES,
                    ..
                }
            )
    );
}

#[test]
fn a_right_checksum_over_nonsense_is_refused() {
    let mut bytes = header(0).to_vec();
    append(
        1,
        &[Change::put(SubscriptionId(1), "aaaaaaaaaa")],
        &mut bytes,
    );
    // An unknown kind of change, with new checksums.
    let content = HEADER_BYTES + 20;
    let end = bytes.len() - 4;
    bytes[content] = 9;
    let sum = crc32(&bytes[content..end]);
    bytes[end..].copy_from_slice(&sum);
    assert_eq!(read(&bytes), Err(LogError::Content { at: HEADER_BYTES }));
}

/// CRC-32 from its definition.
fn crc32(bytes: &[u8]) -> [u8; 4] {
    let mut sum = u32::MAX;
    for byte in bytes {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = match sum & 1 {
                0 => sum >> 1,
                _ => sum >> 1 ^ 0xedb8_8320,
            };
        }
    }
    (!sum).to_le_bytes()
}
