//! Messages for benchmarks and tests: four samples, random messages of a dictionary, logs, and messages of
//! [`shapes`] (feature `workload`).

mod generated;
mod log;
pub mod shapes;

pub use generated::{Generator, shuffled};
pub use log::{Harm, Log, Mix};

use crate::encoder::{Encoder, Slot, Template};
use crate::names::named;
use crate::value::Decimal;

/// A sample message of the benchmarks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Sample {
    /// A heartbeat: 83 bytes, 8 fields.
    Heartbeat,
    /// A new order: 197 bytes, 19 fields.
    NewOrder,
    /// An execution report: 303 bytes, 29 fields.
    Execution,
    /// A market data refresh of 24 entries: 1,920 bytes, 202 fields.
    MarketData,
}

named!(Sample, "sample message");

impl Sample {
    /// All of them, the shortest first.
    pub const ALL: [Self; 4] = [
        Self::Heartbeat,
        Self::NewOrder,
        Self::Execution,
        Self::MarketData,
    ];

    /// Its name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Heartbeat => "hb",
            Self::NewOrder => "nos",
            Self::Execution => "er",
            Self::MarketData => "md",
        }
    }

    /// Its bytes.
    #[must_use]
    pub fn bytes(self) -> Vec<u8> {
        let mut encoder = Encoder::new("FIX.4.4");
        let (msg_type, seq) = match self {
            Self::Heartbeat => ("0", 12),
            Self::NewOrder => ("D", 31_415),
            Self::Execution => ("8", 31_416),
            Self::MarketData => ("X", 27_182),
        };
        let mut message = encoder
            .start(msg_type)
            .bytes(49, b"ALPHADESK")
            .bytes(56, b"MARKET01")
            .unsigned(34, seq)
            .bytes(52, b"20260305-14:15:16.789");
        let fields: &[(u32, &str)] = match self {
            Self::Heartbeat | Self::MarketData => &[],
            Self::NewOrder => &NEW_ORDER,
            Self::Execution => &EXECUTION,
        };
        for (tag, value) in fields {
            message = message.bytes(*tag, value.as_bytes());
        }
        if self == Self::MarketData {
            message = message.bytes(262, b"SUB-7").unsigned(268, 24);
            for entry in 0..24 {
                let price = Decimal {
                    mantissa: 512_000 + 25 * entry,
                    scale: 2,
                };
                let id = format!("LVL{entry:05}");
                message = message
                    .unsigned(279, 0)
                    .unsigned(269, entry as u64 % 2)
                    .bytes(278, id.as_bytes())
                    .bytes(55, b"NQM6")
                    .decimal(270, price)
                    .unsigned(271, 10 + entry as u64)
                    .bytes(273, b"14:15:16.789")
                    .unsigned(290, 1 + entry as u64);
            }
        }
        // All of these values can be written.
        message.finish().map(<[u8]>::to_vec).unwrap_or_default()
    }
}

const NEW_ORDER: [(u32, &str); 11] = [
    (11, "ORD00000271828"),
    (1, "FUND-0071"),
    (21, "1"),
    (55, "MSFT"),
    (54, "1"),
    (60, "20260305-14:15:16.789"),
    (38, "2500"),
    (40, "2"),
    (44, "412.75"),
    (59, "0"),
    (207, "XNYS"),
];

const EXECUTION: [(u32, &str); 21] = [
    (37, "VENUE0000314159"),
    (11, "ORD00000271828"),
    (17, "TRADE000161"),
    (150, "F"),
    (39, "1"),
    (1, "FUND-0071"),
    (55, "MSFT"),
    (54, "1"),
    (38, "2500"),
    (40, "2"),
    (44, "412.75"),
    (59, "0"),
    (32, "700"),
    (31, "412.70"),
    (151, "1800"),
    (14, "700"),
    (6, "412.70"),
    (60, "20260305-14:15:16.789123"),
    (30, "XNYS"),
    (851, "1"),
    (58, "Part filled."),
];

/// A template of [`Sample::NewOrder`], and the values that reproduce the sample.
#[must_use]
pub fn new_order() -> (Template, [Slot<'static>; 7]) {
    // Slots and constants in the order of the sample.
    let mut builder = Template::builder("FIX.4.4", "D")
        .constant(49, b"ALPHADESK")
        .constant(56, b"MARKET01")
        .slot(34)
        .slot(52);
    for (tag, value) in NEW_ORDER {
        builder = match tag {
            11 | 55 | 60 | 38 | 44 => builder.slot(tag),
            _ => builder.constant(tag, value.as_bytes()),
        };
    }
    let time = b"20260305-14:15:16.789";
    let price = Decimal {
        mantissa: 41_275,
        scale: 2,
    };
    let values = [
        Slot::Unsigned(31_415),
        Slot::Bytes(time),
        Slot::Bytes(b"ORD00000271828"),
        Slot::Bytes(b"MSFT"),
        Slot::Bytes(time),
        Slot::Unsigned(2500),
        Slot::Decimal(price),
    ];
    (builder.build(), values)
}
