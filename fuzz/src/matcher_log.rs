//! Logs of changes: any bytes, and any bytes under right checksums.

use matcher::log::{Ending, Frames, HEADER_BYTES, LogError, append, header};

/// Any bytes as a log. What is read is written again as the same bytes, numbers follow on each other, a log that is
/// cut has the records before the cut, and damage is only told of where records go on after it.
pub fn matcher_log(data: &[u8]) {
    read(data);
    // The same with a right beginning, so that records are reached.
    let mut whole = header(7).to_vec();
    whole.extend_from_slice(data);
    read(&whole);
    resum(&mut whole);
    read(&whole);
}

fn read(bytes: &[u8]) {
    let Ok(mut frames) = Frames::new(bytes) else {
        return;
    };
    let mut last = frames.last();
    let mut written = header(last).to_vec();
    let ended = loop {
        match frames.next_frame() {
            Ok(Some(frame)) => {
                assert_eq!(frame.sequence, last + 1);
                last += frame.changes.len() as u64;
                assert_eq!(frames.last(), last);
                append(frame.sequence, &frame.changes, &mut written);
                assert_eq!(written, bytes[..written.len()]);
            }
            Ok(None) => break Ok(frames.ending()),
            Err(error) => break Err(error),
        }
    };
    match ended {
        Ok(Ending::Whole) => assert!(written == bytes || bytes.is_empty()),
        Ok(Ending::Torn { at, bytes: torn }) => {
            assert_eq!(at + torn, bytes.len());
            assert!(at == written.len() || at == 0 && bytes.len() < HEADER_BYTES);
        }
        Err(LogError::Damaged { at, after }) => {
            assert_eq!(at, written.len());
            assert!(after > 0 && at + after < bytes.len());
        }
        Err(LogError::Content { at }) => assert_eq!(at, written.len()),
        Err(error) => panic!("{error}: the beginning was right"),
    }
    // Cut before its end, it has the records before.
    let cut = written.len().saturating_sub(1);
    if cut > HEADER_BYTES {
        let mut frames = Frames::new(&bytes[..cut]).expect("the beginning is the same");
        while frames
            .next_frame()
            .expect("nothing follows the cut")
            .is_some()
        {}
        assert!(frames.last() < last && matches!(frames.ending(), Ending::Torn { .. }));
    }
}

/// Writes numbers and checksums of records anew, so that only lengths and contents are wrong.
fn resum(bytes: &mut [u8]) {
    const HEAD: usize = 20;
    let (mut at, mut sequence) = (HEADER_BYTES, 8u64);
    while at + HEAD + 4 <= bytes.len() {
        let length = u32::from_le_bytes([bytes[at], bytes[at + 1], 0, 0]) as usize;
        let count = u32::from(bytes[at + 4]).max(1);
        let end = at + HEAD + length;
        if end + 4 > bytes.len() {
            return;
        }
        bytes[at + 2..at + 4].fill(0);
        bytes[at + 4..at + 8].copy_from_slice(&count.to_le_bytes());
        bytes[at + 8..at + 16].copy_from_slice(&sequence.to_le_bytes());
        let sum = crc32fast::hash(&bytes[at..at + 16]).to_le_bytes();
        bytes[at + 16..at + HEAD].copy_from_slice(&sum);
        let sum = crc32fast::hash(&bytes[at + HEAD..end]).to_le_bytes();
        bytes[end..end + 4].copy_from_slice(&sum);
        sequence += u64::from(count);
        at = end + 4;
    }
}
