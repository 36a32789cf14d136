//! A capture as the text of a log: packets in, lines out.

use std::sync::Arc;

use super::link::{Content, content};
use super::messages::{Mark, Text};
use super::origin::Origin;
use super::packets::{Damaged, Packets};
use super::streams::Streams;

/// Packets that were not read, and the first of them.
#[derive(Debug, Default)]
struct Unread {
    packets: u64,
    first: Mark,
    link: i32,
}

impl Unread {
    fn add(&mut self, mark: Mark, link: i32) {
        if self.packets == 0 {
            (self.first, self.link) = (mark, link);
        }
        self.packets += 1;
    }
}

/// Reads a capture.
#[derive(Debug)]
pub(super) struct Reader {
    packets: Packets,
    streams: Streams,
    fragments: Unread,
    unknown: Unread,
    pub(super) text: Text,
}

impl Reader {
    pub(super) fn new() -> Self {
        Self {
            packets: Packets::new(),
            streams: Streams::default(),
            fragments: Unread::default(),
            unknown: Unread::default(),
            text: Text::default(),
        }
    }

    /// Takes the next bytes of the file. After an error there is only [`finish`](Self::finish).
    pub(super) fn push(&mut self, bytes: &[u8]) -> Result<(), Damaged> {
        self.packets.push(bytes);
        while let Some(packet) = self.packets.next()? {
            let mut mark = Mark {
                packet: packet.number,
                connection: 0,
                time_ns: packet.time_ns,
                offset: packet.offset,
            };
            match content(packet.link, packet.data, packet.original_bytes) {
                Content::Segment(segment) => {
                    // The payload is a part of the packet.
                    let at = segment.payload.as_ptr() as usize - packet.data.as_ptr() as usize;
                    mark.offset += at as u64;
                    self.streams.segment(&segment, mark, &mut self.text);
                }
                Content::Fragment => self.fragments.add(mark, packet.link),
                Content::UnknownLink => self.unknown.add(mark, packet.link),
                Content::Other => {}
            }
        }
        Ok(())
    }

    /// The file ends, or cannot be read further.
    pub(super) fn finish(&mut self, is_damaged: bool) {
        self.streams.end(&mut self.text);
        let place = |mark: Mark| Origin {
            packet: mark.packet,
            time_ns: mark.time_ns,
            stream: Arc::from(""),
            connection: 0,
            stream_offset: 0,
            offset: mark.offset,
        };
        if self.fragments.packets > 0 {
            let text = format!(
                "{} fragments of IP packets were not read",
                self.fragments.packets
            );
            self.text.lost(place(self.fragments.first), text);
        }
        if self.unknown.packets > 0 {
            let Unread { packets, link, .. } = self.unknown;
            let text = format!(
                "{packets} packets were not read: nothing is known of networks with link type {link}"
            );
            self.text.lost(place(self.unknown.first), text);
        }
        if self.packets.left() > 0 && !is_damaged {
            let (packet, offset) = self.packets.place();
            let mark = Mark {
                packet: packet + 1,
                connection: 0,
                time_ns: None,
                offset,
            };
            let text = "the capture ends within this packet".to_owned();
            self.text.lost(place(mark), text);
        }
    }
}
