//! Packets of several kinds of networks, down to the segment of TCP in them.

use std::net::{IpAddr, SocketAddr};

use etherparse::{EtherType, IpNumber, LaxNetSlice, LaxSlicedPacket, TransportSlice};

/// Link types, as tcpdump.org assigns them.
const NULL: i32 = 0;
const ETHERNET: i32 = 1;
const RAW: [i32; 4] = [12, 14, 101, 228];
const RAW_V6: i32 = 229;
const LOOP: i32 = 108;
const LINUX_SLL: i32 = 113;
const LINUX_SLL2: i32 = 276;

/// A segment of TCP.
#[derive(Debug)]
pub(super) struct Segment<'p> {
    pub(super) from: SocketAddr,
    pub(super) to: SocketAddr,
    pub(super) sequence: u32,
    pub(super) acknowledged: Option<u32>,
    pub(super) is_first: bool,
    pub(super) payload: &'p [u8],
    /// Bytes of the payload that were not captured.
    pub(super) cut_off: usize,
}

/// What is in a packet.
#[derive(Debug)]
pub(super) enum Content<'p> {
    Segment(Segment<'p>),
    /// A part of an IP packet with TCP.
    Fragment,
    /// Something other than TCP.
    Other,
    /// The kind of network is not known.
    UnknownLink,
}

/// What is in a packet of some link type that was so long on the network.
pub(super) fn content(link: i32, data: &[u8], original_bytes: usize) -> Content<'_> {
    let ether_type = |at: usize, behind: usize| {
        let number = data.get(at..at + 2)?;
        let number = EtherType(u16::from_be_bytes([number[0], number[1]]));
        Some(LaxSlicedPacket::from_ether_type(
            number,
            data.get(behind..)?,
        ))
    };
    let packet = match link {
        ETHERNET => LaxSlicedPacket::from_ethernet(data).ok(),
        NULL | LOOP => data
            .get(4..)
            .and_then(|ip| LaxSlicedPacket::from_ip(ip).ok()),
        LINUX_SLL => ether_type(14, 16),
        LINUX_SLL2 => ether_type(0, 20),
        RAW_V6 => LaxSlicedPacket::from_ip(data).ok(),
        link if RAW.contains(&link) => LaxSlicedPacket::from_ip(data).ok(),
        _ => return Content::UnknownLink,
    };
    let Some(packet) = packet else {
        return Content::Other;
    };
    let (from, to): (IpAddr, IpAddr) = match &packet.net {
        Some(LaxNetSlice::Ipv4(ip)) => (
            ip.header().source_addr().into(),
            ip.header().destination_addr().into(),
        ),
        Some(LaxNetSlice::Ipv6(ip)) => (
            ip.header().source_addr().into(),
            ip.header().destination_addr().into(),
        ),
        _ => return Content::Other,
    };
    let payload = packet.net.as_ref().and_then(LaxNetSlice::ip_payload_ref);
    if payload.is_some_and(|payload| payload.fragmented && payload.ip_number == IpNumber::TCP) {
        return Content::Fragment;
    }
    let Some(TransportSlice::Tcp(tcp)) = &packet.transport else {
        return Content::Other;
    };
    let is_cut = payload.is_some_and(|payload| payload.incomplete);
    Content::Segment(Segment {
        from: SocketAddr::new(from, tcp.source_port()),
        to: SocketAddr::new(to, tcp.destination_port()),
        sequence: tcp.sequence_number(),
        acknowledged: tcp.ack().then(|| tcp.acknowledgment_number()),
        is_first: tcp.syn(),
        payload: tcp.payload(),
        cut_off: match is_cut {
            true => original_bytes.saturating_sub(data.len()),
            false => 0,
        },
    })
}
