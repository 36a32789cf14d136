//! Packets of several networks and capture files of several formats, by a writer of their own.

/// Kinds of networks, with their link types.
pub(super) const LINKS: [(&str, u16); 9] = [
    ("ethernet", 1),
    ("vlan", 1),
    ("two vlans", 1),
    ("null", 0),
    ("loop", 108),
    ("cooked", 113),
    ("cooked 2", 276),
    ("raw", 101),
    ("raw of one version", 228),
];

/// A segment on its way.
#[derive(Debug, Clone)]
pub(super) struct Packet {
    pub(super) ns: u64,
    /// The last byte of both addresses.
    pub(super) hosts: [u8; 2],
    pub(super) sequence: u32,
    pub(super) acknowledged: Option<u32>,
    pub(super) is_first: bool,
    pub(super) payload: Vec<u8>,
    /// Bytes of the payload that are not captured.
    pub(super) cut_off: usize,
}

impl Packet {
    /// Its bytes on a network, and how many there were.
    pub(super) fn bytes(&self, link: &str, v6: bool) -> (Vec<u8>, usize) {
        let mut tcp = Vec::new();
        for host in self.hosts {
            tcp.extend_from_slice(&(1000 + u16::from(host)).to_be_bytes());
        }
        tcp.extend_from_slice(&self.sequence.to_be_bytes());
        tcp.extend_from_slice(&self.acknowledged.unwrap_or(0).to_be_bytes());
        let flags = u8::from(self.acknowledged.is_some()) << 4 | u8::from(self.is_first) << 1;
        // With options of four bytes.
        tcp.extend_from_slice(&[0x60, flags, 1, 0, 0, 0, 0, 0, 1, 1, 1, 0]);
        tcp.extend_from_slice(&self.payload);
        let mut out = Vec::new();
        let ether_type: [u8; 2] = if v6 { [0x86, 0xdd] } else { [8, 0] };
        match link {
            "ethernet" => out.extend_from_slice(&[0; 12]),
            "vlan" => out.extend_from_slice(&[&[0; 12][..], &[0x81, 0, 0, 7]].concat()),
            "two vlans" => {
                out.extend_from_slice(&[&[0; 12][..], &[0x88, 0xa8, 0, 7, 0x81, 0, 0, 9]].concat());
            }
            "null" => out.extend_from_slice(&if v6 { [30, 0, 0, 0] } else { [2, 0, 0, 0] }),
            "loop" => out.extend_from_slice(&if v6 { [0, 0, 0, 24] } else { [0, 0, 0, 2] }),
            "cooked" => out.extend_from_slice(&[0; 14]),
            "cooked 2" => out.extend_from_slice(&[&ether_type[..], &[0; 18]].concat()),
            _ => {}
        }
        if matches!(link, "ethernet" | "vlan" | "two vlans" | "cooked") {
            out.extend_from_slice(&ether_type);
        }
        let bytes = tcp.len() as u16;
        let address = |host: u8| match v6 {
            true => [&[0x20, 1, 0xd, 0xb8][..], &[0; 11], &[host]].concat(),
            false => vec![192, 168, 0, host],
        };
        if v6 {
            // An extension header of eight bytes before TCP.
            out.extend_from_slice(&[0x60, 0, 0, 0]);
            out.extend_from_slice(&(bytes + 8).to_be_bytes());
            out.extend_from_slice(&[60, 64]);
        } else {
            out.extend_from_slice(&[0x45, 0]);
            out.extend_from_slice(&(bytes + 20).to_be_bytes());
            out.extend_from_slice(&[0, 0, 0x40, 0, 64, 6, 0, 0]);
        }
        for host in self.hosts {
            out.extend_from_slice(&address(host));
        }
        if v6 {
            out.extend_from_slice(&[6, 0, 1, 4, 0, 0, 0, 0]);
        }
        out.extend_from_slice(&tcp);
        let whole = out.len();
        out.truncate(whole - self.cut_off);
        // Short frames of an Ethernet are filled up.
        if link == "ethernet" && whole < 60 {
            out.resize(60, 0xee);
            return (out, 60);
        }
        (out, whole)
    }
}

/// Formats of capture files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Micros,
    MicrosBig,
    Nanos,
    NanosBig,
    Ng,
    NgBig,
}

pub(super) const FORMATS: [Format; 6] = [
    Format::Micros,
    Format::MicrosBig,
    Format::Nanos,
    Format::NanosBig,
    Format::Ng,
    Format::NgBig,
];

/// A capture file.
pub(super) fn file(format: Format, link: &str, v6: bool, packets: &[Packet]) -> Vec<u8> {
    let is_big = matches!(format, Format::MicrosBig | Format::NanosBig | Format::NgBig);
    let word = |word: u32| {
        if is_big {
            word.to_be_bytes()
        } else {
            word.to_le_bytes()
        }
    };
    let half = |half: u16| {
        if is_big {
            half.to_be_bytes()
        } else {
            half.to_le_bytes()
        }
    };
    let number = LINKS
        .iter()
        .find(|(name, _)| *name == link)
        .map_or(1, |link| link.1);
    let mut out = Vec::new();
    let block = |out: &mut Vec<u8>, kind: u32, body: &[u8]| {
        let bytes = word(12 + body.len() as u32);
        out.extend_from_slice(&[&word(kind)[..], &bytes, body, &bytes].concat());
    };
    match format {
        Format::Ng | Format::NgBig => {
            let section = [&word(0x1a2b_3c4d)[..], &half(1), &half(0), &[0xff; 8]].concat();
            block(&mut out, 0x0a0d_0d0a, &section);
            // Nanoseconds.
            let options = [&half(9)[..], &half(1), &[9, 0, 0, 0], &word(0)].concat();
            block(
                &mut out,
                1,
                &[&half(number)[..], &half(0), &word(0), &options].concat(),
            );
            block(&mut out, 5, &[0; 12]);
        }
        _ => {
            let is_nanos = matches!(format, Format::Nanos | Format::NanosBig);
            let magic = if is_nanos { 0xa1b2_3c4d } else { 0xa1b2_c3d4 };
            out.extend_from_slice(
                &[word(magic), word(0), word(0), word(0), word(1 << 18)].concat(),
            );
            out.extend_from_slice(&word(u32::from(number)));
        }
    }
    for packet in packets {
        let (bytes, whole) = packet.bytes(link, v6);
        let (captured, whole) = (word(bytes.len() as u32), word(whole as u32));
        if let Format::Ng | Format::NgBig = format {
            let time = [word((packet.ns >> 32) as u32), word(packet.ns as u32)].concat();
            let mut body = [&word(0)[..], &time, &captured, &whole, &bytes].concat();
            body.resize(body.len().next_multiple_of(4), 0);
            block(&mut out, 6, &body);
            continue;
        }
        let unit = match format {
            Format::Micros | Format::MicrosBig => 1000,
            _ => 1,
        };
        let seconds = (packet.ns / 1_000_000_000) as u32;
        let rest = (packet.ns % 1_000_000_000 / unit) as u32;
        out.extend_from_slice(&[word(seconds), word(rest), captured, whole].concat());
        out.extend_from_slice(&bytes);
    }
    out
}
