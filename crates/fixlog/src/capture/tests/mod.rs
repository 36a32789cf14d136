//! What is read of a capture, whatever its format and the network, however it was cut, reordered and repeated;
//! what is missing; and that nothing panics or grows.

mod wire;

use std::collections::BTreeMap;

use fixcore::Decoder;
use wire::{FORMATS, Format, LINKS, Packet, file};

use super::*;
use crate::random::Random;
use crate::{Block, Blocks, Found, Got, Logs, Messages, Separator, Source};

/// A log that comes in reads of some size.
struct Pieces<'l>(&'l [u8], usize);

impl Source for Pieces<'_> {
    fn read(&mut self, room: &mut [u8], _: &dyn Fn() -> bool) -> std::io::Result<Got> {
        let count = self.1.min(room.len()).min(self.0.len());
        let (piece, rest) = self.0.split_at(count);
        room[..count].copy_from_slice(piece);
        self.0 = rest;
        Ok(match count {
            0 => Got::End,
            count => Got::Bytes(count),
        })
    }
}

struct One<'l>(Option<Captured<Pieces<'l>>>);

impl<'l> Logs for One<'l> {
    type Log = Captured<Pieces<'l>>;

    fn open(&mut self, _: usize) -> Option<std::io::Result<Self::Log>> {
        self.0.take().map(Ok)
    }
}

/// What was found in a capture.
#[derive(Debug, Default, PartialEq, Eq)]
struct All {
    /// Messages by stream, in order.
    messages: BTreeMap<String, Vec<Vec<u8>>>,
    /// Their places.
    places: Vec<(Origin, Vec<u8>)>,
    lost: Vec<(u64, String)>,
    bad: Vec<String>,
    error: Option<String>,
}

fn read(capture: &[u8], piece: usize) -> All {
    let logs = One(Some(Captured::new(Pieces(capture, piece))));
    let mut blocks = Blocks::new(logs, Separator::Auto);
    let (mut block, mut messages) = (Block::default(), Messages::new());
    let (mut all, mut decoder) = (All::default(), Decoder::new());
    while blocks.next(&mut block, &|| false) {
        messages.each(&block, &mut |offset, found| {
            match found {
                Found::Message(bytes, _) => match decoder.parse(bytes) {
                    Ok(_) => {
                        // With other first bytes, it is no capture.
                        let Some(origin) = block.origin(offset) else {
                            return true;
                        };
                        let stream = all.messages.entry(origin.stream.to_string()).or_default();
                        stream.push(bytes.to_vec());
                        all.places.push((origin, bytes.to_vec()));
                    }
                    Err(error) => {
                        all.bad.push(error.to_string());
                        return false;
                    }
                },
                Found::Bad(why) => all.bad.push(why.to_string()),
                Found::Lost(lost) => all.lost.push((lost.origin.packet, lost.text.clone())),
                _ => {}
            }
            true
        });
        if let Some(ended) = block.take_ended() {
            all.error = ended.error.map(|error| error.to_string());
        }
    }
    all
}

fn message(number: usize, text: usize) -> Vec<u8> {
    let mut all = Vec::new();
    let body = format!(
        "35=B\x0149=A\x0156=B\x0134={number}\x0158={}\x01",
        "x".repeat(text)
    );
    fixcore::frame::write(b"FIX.4.4", body.as_bytes(), &mut all);
    all
}

/// Messages as their numbers and lengths, and whether they are all the same.
fn shown(messages: Option<&Vec<Vec<u8>>>) -> Vec<String> {
    let text = |bytes: &Vec<u8>| {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let number = text
            .split("\x0134=")
            .nth(1)
            .and_then(|rest| rest.split('\x01').next());
        format!("{} of {}", number.unwrap_or("?"), bytes.len())
    };
    messages.into_iter().flatten().map(text).collect()
}

/// Segments of both directions of a connection with `count` messages each, in the order of time.
fn connection(random: &mut Random, count: usize, start: u32) -> (Vec<Packet>, [Vec<Vec<u8>>; 2]) {
    let mut sent: [Vec<Vec<u8>>; 2] = Default::default();
    let mut numbers = [start, start.wrapping_mul(7)];
    let mut packets = Vec::new();
    let mut ns = 1_772_720_116_000_000_000;
    let mut add = |side: usize, numbers: [u32; 2], is_first: bool, payload: &[u8]| {
        ns += 1_000_000;
        packets.push(Packet {
            ns,
            hosts: if side == 0 { [1, 2] } else { [2, 1] },
            sequence: numbers[side],
            acknowledged: (side == 1 || !is_first).then_some(numbers[1 - side]),
            is_first,
            payload: payload.to_vec(),
            cut_off: 0,
        });
    };
    for side in [0, 1] {
        add(side, numbers, true, &[]);
        numbers[side] = numbers[side].wrapping_add(1);
    }
    let mut rest: [Vec<u8>; 2] = Default::default();
    for number in 0..2 * count {
        let side = number % 2;
        let bytes = message(number / 2 + 1, 1 + random.below(300));
        rest[side].extend_from_slice(&bytes);
        sent[side].push(bytes);
        let is_last = number + 2 >= 2 * count;
        while !rest[side].is_empty() && (is_last || rest[side].len() > 300) {
            let taken = (1 + random.below(250)).min(rest[side].len());
            let payload: Vec<_> = rest[side].drain(..taken).collect();
            add(side, numbers, false, &payload);
            numbers[side] = numbers[side].wrapping_add(taken as u32);
        }
    }
    (packets, sent)
}

const NAMES: [&str; 2] = [
    "192.168.0.1:1001 > 192.168.0.2:1002",
    "192.168.0.2:1002 > 192.168.0.1:1001",
];

fn assert_all(found: &All, sent: &[Vec<Vec<u8>>; 2], what: &str) {
    for (name, sent) in NAMES.iter().zip(sent) {
        let found = found.messages.get(*name);
        assert_eq!(shown(found), shown(Some(sent)), "{what}");
        assert!(found == Some(sent), "{what}");
    }
    assert_eq!(
        (&found.lost, &found.bad, &found.error),
        (&vec![], &vec![], &None),
        "{what}"
    );
}

#[test]
fn every_format_and_every_network_has_the_same_messages() {
    let mut random = Random(11);
    for (link, _) in LINKS {
        for format in FORMATS {
            if link == "cooked 2" && format == Format::Micros {
                continue;
            }
            for v6 in [false, true] {
                let (packets, sent) = connection(&mut random, 20, u32::MAX - 900);
                let capture = file(format, link, v6, &packets);
                let mut found = read(&capture, usize::MAX);
                if v6 {
                    let names = [
                        "[2001:db8::1]:1001 > [2001:db8::2]:1002",
                        "[2001:db8::2]:1002 > [2001:db8::1]:1001",
                    ];
                    for (name, v6) in NAMES.iter().zip(names) {
                        let messages = found.messages.remove(v6).expect("a stream");
                        found.messages.insert((*name).to_owned(), messages);
                    }
                }
                assert_all(&found, &sent, &format!("{link} {format:?} {v6}"));
                for piece in [1, 7, 4096] {
                    let mut again = read(&capture, piece);
                    again.messages = found.messages.clone();
                    assert_eq!(again, found, "{link} {format:?} {v6} {piece}");
                }
            }
        }
    }
}

#[test]
fn places_are_those_of_the_file() {
    let (packets, _) = connection(&mut Random(5), 30, 77);
    let capture = file(Format::Ng, "vlan", false, &packets);
    let found = read(&capture, 1000);
    let mut offsets = BTreeMap::new();
    for (origin, bytes) in &found.places {
        // The first bytes may be all that this packet has of it.
        let begin = &capture[origin.offset as usize..][..1];
        assert_eq!(begin, b"8");
        let last = &packets[origin.packet as usize - 1];
        assert_eq!(origin.time_ns, Some(last.ns as i64));
        let at = offsets.entry(origin.stream.clone()).or_insert(0);
        assert_eq!(origin.stream_offset, *at);
        *at += bytes.len() as u64;
    }
    assert_eq!(found.places.len(), 60);
}

/// Segments as a bad network brings them: late, again, and overlapping.
fn disturbed(random: &mut Random, packets: &[Packet]) -> Vec<Packet> {
    let mut all: Vec<(usize, Packet)> = Vec::new();
    for (at, packet) in packets.iter().enumerate() {
        let delay = if at < 2 { 0 } else { random.below(12) };
        all.push((at + delay, packet.clone()));
        if at >= 2 && random.below(5) == 0 {
            all.push((at + random.below(40), packet.clone()));
        }
        // Sent again together with the segment before it, or without its end.
        let before = packets[..at]
            .iter()
            .rev()
            .find(|before| before.hosts == packet.hosts);
        if let Some(before) = before
            && at >= 4
            && random.below(4) == 0
            && before.sequence.wrapping_add(before.payload.len() as u32) == packet.sequence
        {
            let mut both = packet.clone();
            both.sequence = before.sequence;
            both.payload = [&before.payload[..], &packet.payload].concat();
            let kept = 1 + random.below(both.payload.len());
            both.payload.truncate(kept);
            all.push((at + random.below(10), both));
        }
    }
    all.sort_by_key(|(at, _)| *at);
    let mut ns = 1_772_720_116_000_000_000;
    let timed = all.into_iter().map(|(_, mut packet)| {
        ns += 1_000_000;
        packet.ns = ns;
        packet
    });
    timed.collect()
}

#[test]
fn what_comes_late_again_or_overlapping_is_put_in_order() {
    let mut random = Random(23);
    for round in 0..100 {
        let start = [0, u32::MAX - 700, 0x7fff_ff00][round % 3];
        let (packets, sent) = connection(&mut random, 25, start);
        let packets = disturbed(&mut random, &packets);
        let capture = file(Format::Nanos, "ethernet", false, &packets);
        assert_all(&read(&capture, 5000), &sent, &format!("round {round}"));
    }
}

#[test]
fn what_is_missing_is_named_and_the_rest_is_read() {
    let mut random = Random(31);
    for round in 0..100 {
        let (mut packets, sent) = connection(&mut random, 40, round);
        // Some segments are never captured, or not to their end.
        let (mut lost, mut expected) = (BTreeMap::new(), sent.clone());
        let lengths = |side: usize| {
            let mut at = 0;
            sent[side].iter().map(move |bytes| {
                at += bytes.len();
                (at - bytes.len(), at)
            })
        };
        for side in [0, 1] {
            let first = packets[side].sequence.wrapping_add(1);
            let mut of_side: Vec<_> = (2..packets.len())
                .filter(|at| packets[*at].hosts == packets[side].hosts)
                .collect();
            // The last segment shows that the one before is missing.
            of_side.pop();
            let mut holes = Vec::new();
            of_side.retain(|_| random.below(15) == 0);
            for at in &of_side {
                let packet = &mut packets[*at];
                let start = packet.sequence.wrapping_sub(first) as usize;
                let bytes = packet.payload.len();
                packet.cut_off = if round % 2 == 0 {
                    bytes
                } else {
                    1 + random.below(bytes)
                };
                holes.push((start + bytes - packet.cut_off, start + bytes));
                *lost.entry(side).or_insert(0) += packet.cut_off;
            }
            let whole = lengths(side)
                .map(|(from, to)| !holes.iter().any(|hole| hole.0 < to && hole.1 > from));
            let whole: Vec<_> = whole.collect();
            let mut at = 0;
            expected[side].retain(|_| {
                at += 1;
                whole[at - 1]
            });
        }
        if round % 2 == 0 {
            packets.retain(|packet| packet.cut_off == 0 || packet.payload.is_empty());
        }
        let found = read(&file(Format::Nanos, "raw", false, &packets), usize::MAX);
        for side in [0, 1] {
            let messages = found.messages.get(NAMES[side]).cloned().unwrap_or_default();
            assert_eq!(
                shown(Some(&messages)),
                shown(Some(&expected[side])),
                "round {round}"
            );
            let named = found
                .lost
                .iter()
                .filter(|(_, text)| text.ends_with(NAMES[side]));
            let bytes: usize = named
                .map(|(_, text)| {
                    text.split(' ')
                        .next()
                        .and_then(|n| n.parse::<usize>().ok())
                        .expect("a number")
                })
                .sum();
            // Before its first message, a stream is not known to be one of FIX.
            let is_begun = lengths(side)
                .next()
                .is_some_and(|_| bytes == *lost.get(&side).unwrap_or(&0));
            assert!(
                is_begun || bytes < *lost.get(&side).unwrap_or(&0),
                "round {round}: {:?}",
                found.lost
            );
        }
        assert!(found.bad.is_empty(), "round {round}: {:?}", found.bad);
    }
}

#[test]
fn any_bytes_are_read_without_a_panic_and_any_cut_gives_the_same() {
    let mut random = Random(47);
    for round in 0..200 {
        let (packets, _) = connection(&mut random, 6, round);
        let format = FORMATS[random.below(FORMATS.len())];
        let link = LINKS[random.below(LINKS.len())].0;
        let mut capture = file(format, link, random.below(2) == 0, &packets);
        for _ in 0..random.below(30) {
            let at = random.below(capture.len());
            capture[at] = random.below(256) as u8;
        }
        capture.truncate(capture.len() - random.below(capture.len() / 2));
        let found = read(&capture, usize::MAX);
        let again = read(&capture, 1 + random.below(3000));
        assert_eq!(again.messages, found.messages, "round {round}");
        assert_eq!(
            (again.lost, again.bad),
            (found.lost, found.bad),
            "round {round}"
        );
    }
}

#[test]
fn memory_is_bounded_whatever_comes() {
    let (mut streams, mut text) = (streams::Streams::default(), messages::Text::default());
    let mut random = Random(3);
    let begun = [&b"8=FIX.4.4\x019=900000\x01"[..], &[b'x'; 1200]].concat();
    let (mut most, mut room) = (0, vec![0; 1 << 20]);
    for packet in 0..150_000_u64 {
        // More connections than are followed, most of them with a hole and a message that does not end.
        let host = random.below(100_000) as u32;
        let from = std::net::SocketAddr::from((host.to_be_bytes(), 1000));
        let segment = link::Segment {
            from,
            to: std::net::SocketAddr::from(([10, 0, 0, 1], 5001)),
            sequence: random.below(4000) as u32,
            acknowledged: None,
            is_first: false,
            payload: &begun[..1 + random.below(begun.len() - 1)],
            cut_off: 0,
        };
        let mark = messages::Mark {
            connection: 0,
            packet,
            time_ns: None,
            offset: 0,
        };
        streams.segment(&segment, mark, &mut text);
        most = most.max(streams.held());
        while text.take(&mut room) > 0 {}
        text.origins = Origins::default();
    }
    assert!(most < 66 << 20, "{most}");
    assert!(streams.len() <= 1 << 16);
}

#[test]
fn a_message_arrives_when_it_is_complete_and_connections_have_numbers() {
    let (mut encoder, mut messages) = (fixcore::Encoder::new("FIX.4.4"), Vec::new());
    for _ in 0..2 {
        messages.push(
            encoder
                .start("0")
                .bytes(58, b"text")
                .finish()
                .expect("valid")
                .to_vec(),
        );
    }
    let (head, tail) = messages[0].split_at(20);
    let packet = |ns: u64, hosts, sequence: u32, is_first, payload: &[u8]| Packet {
        ns: ns * 1000,
        hosts,
        sequence,
        acknowledged: (hosts == [2, 1]).then_some(1),
        is_first,
        payload: payload.to_vec(),
        cut_off: 0,
    };
    let there = 11 + head.len() as u32;
    let packets = [
        packet(1, [1, 2], 10, true, b""),
        packet(2, [2, 1], 90, true, b""),
        // The head is sent again, behind the tail.
        packet(3, [1, 2], there, false, tail),
        packet(7, [1, 2], 11, false, head),
        packet(8, [2, 1], 91, false, &messages[1]),
        // The same addresses, once more.
        packet(20, [1, 2], 5_000, true, b""),
        packet(21, [2, 1], 7_000, true, b""),
        packet(22, [2, 1], 7_001, false, &messages[1]),
        packet(23, [1, 2], 5_001, false, &messages[0]),
    ];
    let all = read(&file(Format::Nanos, "ethernet", false, &packets), 1 << 20);
    let found = all
        .places
        .iter()
        .map(|(origin, _)| (origin.connection, origin.time_ns, origin.packet));
    let wanted = [(1, 7, 4), (1, 8, 5), (2, 22, 8), (2, 23, 9)];
    let wanted = wanted.map(|(connection, us, packet)| (connection, Some(us * 1000), packet));
    assert_eq!(found.collect::<Vec<_>>(), wanted);
}
