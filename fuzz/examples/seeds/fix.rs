//! Seeds of the targets over FIX streams, messages and dictionaries.

use fixcore::Encoder;
use fixcore::dict::Version;
use fixcore::workload::{Generator, Sample};
use fixlog::CaptureWriter;

use crate::Seed;

const DICTIONARY: &str = "<fix type='FIX' major='4' minor='4'><header/><messages>\
    <message name='Own' msgtype='U1' msgcat='app'><field name='Own' required='Y'/>\
    <component name='Block' required='N'/></message></messages><trailer/><components>\
    <component name='Block'><group name='NoThings' required='N'><field name='Own' required='N'/>\
    </group></component></components><fields>\
    <field number='20001' name='Own' type='INT'><value enum='1' description='ONE'/></field>\
    <field number='20000' name='NoThings' type='NUMINGROUP'/></fields></fix>";

/// Expressions with everything that they may have.
const FILTERS: [(&str, &str); 6] = [
    (
        "relations",
        "Symbol=MSFT and OrdStatus <> 8 or 38 >= 100.5 && not 44 < -1",
    ),
    ("lists", "MsgType in (D, 8) and 11 not in ('a b', \"c\")"),
    (
        "functions",
        r#"contains(Text, 'no') || starts_with(55, M) or ends_with(11, "\"")"#,
    ),
    ("null", "41 is null and (58 is not null)"),
    ("names", "OrdStatus=REJECTED or Side in (BUY, 2)"),
    ("time", "20260305-14:02:00.5"),
];

/// The body of a message, which the target puts a frame around.
fn body(message: &[u8]) -> Vec<u8> {
    let start = message.windows(4).position(|bytes| bytes == b"\x0135=");
    let start = start.map_or(0, |at| at + 1);
    message[start..message.len() - 7].to_vec()
}

/// Records of a store without their checksums: a kind, a number and how many bytes of content.
fn records(records: &[(u8, u64, u32)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (kind, number, content) in records {
        let content_end = bytes.len() + 20 + *content as usize;
        bytes.extend([0; 4]);
        bytes.extend((content | u32::from(*kind) << 24).to_le_bytes());
        bytes.extend(number.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.resize(content_end, b'm');
        bytes.resize(content_end.next_multiple_of(8), 0);
    }
    bytes
}

/// Values of every kind in the slots of a template, each over each: a byte for the kind and the length,
/// then its bytes.
fn kinds() -> Vec<u8> {
    let text = |length: u8| [vec![length << 2], vec![b'x'; length.into()]].concat();
    let number = |kind: u8, bytes: &[u8]| [&[(bytes.len() as u8) << 2 | kind], bytes].concat();
    let mut values = [1, 8, 31, 32, 33, 63].map(text).to_vec();
    values.extend([&[5][..], &[0, 99], &[5, 245, 224, 255], &[255; 8]].map(|b| number(1, b)));
    values.extend(
        [
            &[5][..],
            &[1, 2],
            &[9, 9, 9, 7],
            &[128, 0, 0, 0, 0, 0, 0, 1],
        ]
        .map(|b| number(2, b)),
    );
    values.extend(
        [
            &[0][..],
            &[128, 0, 0, 0, 0, 0, 0, 0],
            &[127, 255, 255, 255, 255, 255, 255, 255],
        ]
        .map(|b| number(3, b)),
    );
    let pairs = values.iter().zip(values.iter().skip(5).chain(&values));
    let messages = pairs.map(|(one, other)| [&one[..], other, one, other, one, other].concat());
    messages.collect::<Vec<_>>().concat()
}

/// A log of lines: a message behind a date, one that is cut off, and one with a wrong sum.
fn log(message: &[u8], separator: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    fixcore::separator::from_soh(message, separator, &mut text);
    let cut = &text[..text.len() / 2];
    let mut wrong = text.clone();
    let at = text.len() / 3;
    wrong[at] = b'7';
    [
        b"10:00:01 in ",
        &text[..],
        b"\n10:00:02 ",
        cut,
        b"\n\xff ",
        &wrong,
        b"\r\n",
    ]
    .concat()
}

/// As many parentheses as there may be.
fn deep() -> String {
    format!("{}55=A{}", "(".repeat(64), ")".repeat(64))
}

/// Messages as a capture.
fn captured(messages: &[&[u8]]) -> Vec<u8> {
    let (mut writer, mut out) = (CaptureWriter::new(), Vec::new());
    for (at, message) in messages.iter().enumerate() {
        writer.message(1_772_720_116_000_000_000 + at as i64, message, &mut out);
    }
    writer.finish(1_772_720_117_000_000_000, &mut out);
    out
}

/// The packets of a pcap file as pcapng.
fn pcapng(pcap: &[u8]) -> Vec<u8> {
    const HEAD: usize = 24;
    const RECORD: usize = 16;
    let block = |kind: u32, body: &[u8]| {
        let bytes = (12 + body.len() as u32).to_le_bytes();
        [&kind.to_le_bytes()[..], &bytes, body, &bytes].concat()
    };
    let section = [
        &0x1a2b_3c4d_u32.to_le_bytes()[..],
        &[1, 0, 0, 0],
        &[0xff; 8],
    ]
    .concat();
    let mut out = block(0x0a0d_0d0a, &section);
    out.extend(block(1, &[1, 0, 0, 0, 0, 0, 0, 0]));
    let mut rest = &pcap[HEAD..];
    while let Some((head, behind)) = rest.split_at_checked(RECORD) {
        let (packet, behind) = behind.split_at(usize::from(u16::from_le_bytes([head[8], head[9]])));
        let mut body = [&[0; 12], &head[8..], packet].concat();
        body.resize(body.len().next_multiple_of(4), 0);
        out.extend(block(6, &body));
        rest = behind;
    }
    out
}

pub(crate) fn seeds() -> Vec<Seed> {
    let samples = Sample::ALL.map(|sample| (sample.name(), sample.bytes()));
    let mut encoder = Encoder::new("FIX.4.2");
    let writing = encoder.start("B").data(95, 96, b"ab\x0138=999");
    let data = writing.finish().expect("it can be written").to_vec();
    let dictionary = Version::Fix44.dictionary().expect("it is built in");
    let mut generator = Generator::new(dictionary, dictionary, 1);
    let any = generator.message(40).expect("it can be written");
    let stream = [
        &b"noise 8=F"[..],
        &samples[0].1,
        &data,
        b"8=FIX.4.4\x019=9\x01",
        &samples[1].1,
    ];
    let mut seeds = vec![
        Seed::new("fix_filter", "deep", deep()),
        Seed::new(
            "fix_capture",
            "pcap",
            captured(&[&samples[0].1, &data, &samples[1].1]),
        ),
        Seed::new("fix_capture", "pcapng", pcapng(&captured(&[&samples[0].1]))),
        Seed::new("fix_frame", "stream", stream.concat()),
        Seed::new("fix_log", "stream", stream.concat()),
        Seed::new("fix_log", "pipes", log(&samples[0].1, b"|")),
        Seed::new("fix_log", "carets", log(&data, b"^A")),
        // A gap that is asked for and filled, a Logout; requests and tests without answers, a Logon without Logout.
        Seed::new(
            "fix_health",
            "filled",
            [
                6, 2, 1, 30, 0, 6, 1, 1, 30, 0, 0, 2, 2, 0, 1, 0, 2, 5, 0, 2, 4, 1, 2, 3, 3, 16, 2,
                3, 0, 4, 53, 2, 4, 5, 5, 7, 2, 6, 0, 6, 7, 1, 3, 0, 6,
            ],
        ),
        Seed::new(
            "fix_health",
            "lost",
            [
                6, 2, 1, 30, 0, 4, 2, 2, 3, 1, 4, 2, 3, 3, 2, 4, 2, 4, 3, 3, 3, 2, 5, 9, 4, 70, 2,
                1, 30, 9, 130, 1, 7, 2, 10, 8, 1, 9, 1, 11,
            ],
        ),
        // An order that is sent on, and the answers; ids that come again.
        Seed::new(
            "fix_orders",
            "relayed",
            [
                0, 4, 1, 0, 1, 32, 137, 1, 0, 2, 17, 6, 1, 0, 3, 17, 1, 1, 0, 4, 1, 1, 1, 2, 5,
            ],
        ),
        Seed::new(
            "fix_orders",
            "replaced",
            [
                0, 4, 1, 0, 1, 10, 4, 10, 0, 2, 25, 1, 10, 3, 3, 11, 4, 19, 0, 4, 4, 1, 19, 0, 5,
                0, 4, 1, 0, 9,
            ],
        ),
        Seed::new("fix_template", "kinds", kinds()),
        Seed::new("fix_dictionary", "own", DICTIONARY),
        Seed::new(
            "fix_store",
            "messages",
            records(&[(1, 1, 30), (2, 5, 0), (1, 2, 4)]),
        ),
        Seed::new(
            "fix_store",
            "skipped",
            records(&[(3, 9, 0), (1, 9, 70), (1, 10, 1)]),
        ),
        Seed::new(
            "fix_store",
            "lost",
            records(&[(1, 1, 9), (1, 3, 9), (1, 4, 9)]),
        ),
        Seed::new("fix_decode", "data", body(&data)),
        Seed::new("fix_decode", "any", body(&any)),
    ];
    let of = |(name, bytes): &(&'static str, Vec<u8>)| Seed::new("fix_decode", name, body(bytes));
    seeds.extend(samples.iter().take(3).map(of));
    seeds.extend(FILTERS.map(|(name, text)| Seed::new("fix_filter", name, text)));
    seeds
}
