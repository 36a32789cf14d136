//! No whole message is lost behind one that was cut off, wherever its length ends, and none is read from two.

use fixcore::{Decoder, frame};

use crate::random::Random;
use crate::{Accept, Block, Blocks, Fault, Found, Messages, Readers, Separator};

fn message(body: &str) -> Vec<u8> {
    let mut all = Vec::new();
    frame::write(b"FIX.4.4", body.replace('|', "\x01").as_bytes(), &mut all);
    all
}

fn small(random: &mut Random, number: usize) -> Vec<u8> {
    let text = "y".repeat(random.below(40));
    let data = match random.below(4) {
        // Data may have anything, also what begins like a message.
        0 => "95=25|96=8=FIX.4.4|9=5|10=163|35=0|",
        1 => "110=123|",
        _ => "",
    };
    message(&format!("35=8|34={number}|{data}58=a{text}|"))
}

/// The bytes at which valid messages begin, the faults, and how many bytes of messages were given out.
fn read(log: &[u8], accept: Accept, separator: Separator) -> (Vec<usize>, Vec<String>, usize) {
    let mut blocks = Blocks::new(Readers::new([log]), separator);
    let (mut block, mut messages, mut decoder) =
        (Block::default(), Messages::new(), Decoder::new());
    let (mut good, mut bad, mut given) = (Vec::new(), Vec::new(), 0);
    while blocks.next(&mut block, &|| false) {
        messages.each(&block, &mut |offset, found| {
            match found {
                Found::Message(bytes, separator) => {
                    given += bytes.len();
                    match accept.message(&mut decoder, bytes) {
                        Ok(_) => good.push(offset as usize),
                        Err(error) => {
                            bad.push(Fault::of_damaged(&error, bytes, separator).to_string());
                            return false;
                        }
                    }
                }
                Found::Bad(why) => bad.push(why.to_string()),
                _ => {}
            }
            true
        });
    }
    (good, bad, given)
}

/// Accepts nothing that is wrong, a wrong CheckSum, and a wrong length too.
fn accepts() -> [Accept; 3] {
    let checksum = Accept {
        checksum: true,
        ..Accept::default()
    };
    let both = Accept {
        length: true,
        ..checksum
    };
    [Accept::default(), checksum, both]
}

#[test]
fn a_cut_message_whose_length_ends_at_a_later_one_hides_none() {
    let mut random = Random(0x2545_f491_4f6c_dd1d);
    for case in 0..2000 {
        let end = ["", "\n", "\r\n"][case % 3];
        let behind: Vec<_> = (0..=random.below(3))
            .map(|number| small(&mut random, number))
            .collect();
        let covered = behind.iter().map(Vec::len).sum::<usize>() + behind.len() * end.len();
        let mut long = message(&format!("35=B|34=7|58={}|", "x".repeat(covered + 60)));
        // Its stated length ends where the last of those behind it does.
        let cut = long.len() - covered;
        long.truncate(cut);
        let by_chance = case % 2 == 0;
        if by_chance {
            // CheckSum of the last one is that of all.
            let all = [&long[..], end.as_bytes(), &behind.join(end.as_bytes())].concat();
            let (before, stated) = all.split_at(all.len() - frame::TRAILER_BYTES);
            let stated = std::str::from_utf8(&stated[3..6]).unwrap();
            let missing = stated
                .parse::<u8>()
                .unwrap()
                .wrapping_sub(frame::checksum(before));
            let mut missing = usize::from(missing);
            for byte in long.iter_mut().rev().take(20) {
                let more = missing.min(100);
                *byte += more as u8;
                missing -= more;
            }
        }
        let mut log = small(&mut random, 0);
        log.extend_from_slice(end.as_bytes());
        let mut places = vec![0];
        log.extend_from_slice(&long);
        log.extend_from_slice(end.as_bytes());
        for whole in behind.iter().chain([&small(&mut random, 9)]) {
            places.push(log.len());
            log.extend_from_slice(whole);
            log.extend_from_slice(end.as_bytes());
        }
        for accept in accepts() {
            let (good, bad, _) = read(&log, accept, Separator::Soh);
            let text = log.escape_ascii();
            assert_eq!(good, places, "{case} {accept:?} {text}");
            assert_eq!(bad.len(), 1, "{case} {bad:?}");
            let named = format!(
                "; a message begins inside it at byte {}, where reading resumes",
                cut + end.len()
            );
            // Of one that is right by chance, what is before the second is looked at.
            assert!(bad[0].ends_with(&named) || by_chance, "{bad:?}");
        }
    }
}

#[test]
fn random_cuts_lose_no_whole_message_whatever_separates_them() {
    let mut random = Random(7);
    for (separator, byte) in [(Separator::Soh, 1), (Separator::Pipe, b'|')] {
        for end in ["", "\n"] {
            let (mut log, mut places) = (Vec::new(), Vec::new());
            for number in 0..6000 {
                let text = "z".repeat(random.below(300));
                let mut whole = message(&format!("35=8|34={number}|58=a{text}|110=123|"));
                match number % 3 {
                    // Before CheckSum: one that is cut within it is whole but for that, and may be accepted.
                    1 => whole.truncate(6 + random.below(whole.len() - 13)),
                    _ => places.push(log.len()),
                }
                log.extend(whole.iter().map(|own| if *own == 1 { byte } else { *own }));
                log.extend_from_slice(end.as_bytes());
            }
            for accept in &accepts()[..2] {
                let (good, bad, _) = read(&log, *accept, separator);
                let lost = places
                    .iter()
                    .filter(|place| good.binary_search(place).is_err());
                let what = format!("{separator:?} {end:?} {accept:?}");
                assert_eq!(lost.count(), 0, "{what}");
                assert_eq!(good.len(), places.len(), "{what}");
                assert!(!bad.is_empty());
            }
        }
    }
}

#[test]
fn lengths_that_all_end_at_one_place_are_read_a_bounded_number_of_times() {
    for byte in [1, b'|'] {
        let last = b"10=000\x01";
        let head = "8=FIX.4.4\x019=0000000\x0135=D\x01".len();
        let count = 3000;
        let mut log = Vec::new();
        for at in 0..count {
            let body = (count - at) * head - "8=FIX.4.4\x019=0000000\x01".len();
            log.extend_from_slice(format!("8=FIX.4.4\x019={body:07}\x0135=D\x01").as_bytes());
        }
        log.extend_from_slice(last);
        let end = log.len();
        log.extend_from_slice(&message("35=0|"));
        for own in &mut log {
            *own = if *own == 1 { byte } else { *own };
        }
        for accept in accepts() {
            let (good, bad, given) = read(&log, accept, Separator::Auto);
            assert_eq!(good, [end]);
            assert!(!bad.is_empty());
            assert!(given < 12 * log.len(), "{given} of {}", log.len());
        }
    }
}
