//! Shapes of real traffic, and of boundaries.

use super::{Fault, Item, Shape, Tag, Value};

/// Faults of every message.
const ALWAYS: u32 = 1000;
/// EncodedText with the length before it, and RawData.
const ENCODED: (u32, u32) = (354, 355);
const RAW: (u32, u32) = (95, 96);

pub(super) fn shape(name: &str, msg_type: &'static str, items: Vec<Item>) -> Shape {
    Shape {
        name: name.to_owned(),
        begin_string: "FIX.4.4",
        msg_type,
        has_header: true,
        items,
        faults: Vec::new(),
        faulty: 0,
    }
}

impl Shape {
    pub(super) fn with_faults(mut self, faulty: u32, faults: &[Fault]) -> Self {
        self.faults = faults.to_vec();
        self.faulty = faulty;
        self
    }
}

pub(super) fn field(tag: u32, value: Value) -> Item {
    Item::Field(Tag::Is(tag), value)
}

pub(super) fn data((length_tag, tag): (u32, u32), bytes: u32) -> Item {
    Item::Data(length_tag, tag, (bytes, bytes))
}

pub(super) fn times(count: u32, tag: Tag, value: Value) -> Item {
    Item::Times((count, count), vec![Item::Field(tag, value)])
}

/// The fields of a new order.
pub(super) fn order() -> Vec<Item> {
    vec![
        field(11, Value::Text(14, 14)),
        field(1, Value::Text(9, 9)),
        field(21, Value::Is("1")),
        field(55, Value::Text(2, 6)),
        field(54, Value::Is("1")),
        field(60, Value::Time),
        field(38, Value::Number(1, 6)),
        field(40, Value::Is("2")),
        field(44, Value::Price),
        field(59, Value::Is("0")),
        field(207, Value::Is("XNYS")),
    ]
}

fn execution() -> Vec<Item> {
    let mut items = order();
    items.extend([
        field(37, Value::Text(15, 15)),
        field(17, Value::Text(8, 12)),
        field(150, Value::Is("F")),
        field(39, Value::Is("1")),
        field(32, Value::Number(1, 5)),
        field(31, Value::Price),
        field(151, Value::Number(1, 5)),
        field(14, Value::Number(1, 5)),
        field(6, Value::Price),
        field(58, Value::Text(5, 40)),
    ]);
    items
}

/// An entry of a market data snapshot.
pub(super) fn entry() -> Vec<Item> {
    vec![
        field(269, Value::Number(1, 1)),
        field(278, Value::Text(8, 8)),
        field(270, Value::Price),
        field(271, Value::Number(1, 5)),
        field(273, Value::Is("14:15:16.789")),
        field(290, Value::Number(1, 2)),
    ]
}

/// A snapshot of this many entries.
pub(super) fn snapshot(entries: u32) -> Vec<Item> {
    vec![
        field(262, Value::Text(5, 5)),
        field(55, Value::Is("NQM6")),
        Item::Group(268, (entries, entries), entry()),
    ]
}

fn and(mut items: Vec<Item>, more: Vec<Item>) -> Vec<Item> {
    items.extend(more);
    items
}

/// All named shapes.
#[must_use]
pub fn named() -> Vec<Shape> {
    let mut out = traffic();
    out.extend(with_data());
    out.extend(tags());
    out.extend(lengths());
    out.extend(faulty());
    out
}

fn traffic() -> Vec<Shape> {
    let text = |item: Item| match item {
        Item::Field(tag, Value::Number(..)) => Item::Field(tag, Value::Text(1, 6)),
        Item::Field(tag, Value::Price) => Item::Field(tag, Value::Text(6, 6)),
        Item::Field(tag, Value::Time) => Item::Field(tag, Value::Text(21, 21)),
        other => other,
    };
    let party = vec![
        field(448, Value::Text(4, 10)),
        field(447, Value::Is("D")),
        field(452, Value::Number(1, 2)),
    ];
    let leg = vec![
        field(600, Value::Text(4, 8)),
        field(624, Value::Is("1")),
        Item::Group(539, (1, 3), party.clone()),
        field(566, Value::Price),
    ];
    let mut logon = shape(
        "logon with FIXT.1.1",
        "A",
        vec![
            field(98, Value::Is("0")),
            field(108, Value::Is("30")),
            field(141, Value::Is("Y")),
            field(1137, Value::Is("9")),
            field(553, Value::Text(6, 10)),
            field(554, Value::Text(12, 20)),
        ],
    );
    logon.begin_string = "FIXT.1.1";
    let mut old = shape("order with FIX.4.0", "D", order());
    old.begin_string = "FIX.4.0";
    let mut bare = shape("MsgType only", "0", Vec::new());
    bare.has_header = false;
    vec![
        shape("heartbeat", "0", Vec::new()),
        bare,
        shape("order", "D", order()),
        shape(
            "order, all of it text",
            "D",
            order().into_iter().map(text).collect(),
        ),
        old,
        shape("execution report", "8", execution()),
        shape(
            "order with parties",
            "D",
            and(order(), vec![Item::Group(453, (1, 6), party)]),
        ),
        shape(
            "order with legs with parties",
            "AB",
            and(order(), vec![Item::Group(555, (2, 8), leg)]),
        ),
        logon,
        shape("snapshot of 10 entries", "W", snapshot(10)),
        shape("snapshot of 100 entries", "W", snapshot(100)),
        shape("snapshot of 1,000 entries", "W", snapshot(1000)),
        shape(
            "any number of short fields",
            "8",
            vec![Item::Times(
                (0, 120),
                vec![Item::Field(Tag::Digits(3), Value::Text(1, 12))],
            )],
        ),
    ]
}

fn with_data() -> Vec<Shape> {
    let encoded = |bytes| data(ENCODED, bytes);
    let entry_with_text = and(entry(), vec![encoded(20)]);
    let first = vec![encoded(20)];
    vec![
        shape(
            "order with 20 bytes of EncodedText",
            "D",
            and(order(), vec![encoded(20)]),
        ),
        shape(
            "order that begins with EncodedText",
            "D",
            and(first, order()),
        ),
        shape(
            "snapshot of 1,000 entries and one EncodedText",
            "W",
            and(snapshot(1000), vec![encoded(20)]),
        ),
        shape(
            "snapshot of 100 entries, each with EncodedText",
            "W",
            vec![
                field(262, Value::Text(5, 5)),
                Item::Group(268, (100, 100), entry_with_text),
            ],
        ),
        shape(
            "50 data fields",
            "W",
            vec![Item::Times((50, 50), vec![encoded(20)])],
        ),
        shape("raw data of one byte", "A", vec![data(RAW, 1)]),
        shape("raw data of 4 KB", "B", vec![data(RAW, 4096)]),
        shape("raw data of 64 KB", "B", vec![data(RAW, 65_536)]),
    ]
}

fn tags() -> Vec<Shape> {
    let fifty = |digits| vec![times(50, Tag::Digits(digits), Value::Text(1, 8))];
    // 1,024 more than tags of data fields, and between the smallest of them.
    let alike = [1119, 1120, 1378, 1379, 253, 254, 255, 256, 257, 258, 259];
    let alike = alike.map(|tag| field(tag, Value::Text(4, 10)));
    vec![
        shape(
            "order with one tag of 5 digits",
            "D",
            and(order(), vec![field(20_001, Value::Text(8, 8))]),
        ),
        shape(
            "snapshot of 1,000 entries and one tag of 5 digits",
            "W",
            and(snapshot(1000), vec![field(20_001, Value::Text(8, 8))]),
        ),
        shape(
            "order with one tag of 9 digits",
            "D",
            and(order(), vec![field(201_239_999, Value::Text(8, 8))]),
        ),
        shape("50 tags of 1 digit", "D", fifty(1)),
        shape("50 tags of 4 digits", "D", fifty(4)),
        shape("50 tags of 5 digits", "D", fifty(5)),
        shape("50 tags of 7 digits", "D", fifty(7)),
        shape("50 tags of 9 digits", "D", fifty(9)),
        shape("tags like those of data, modulo 1,024", "D", alike.to_vec()),
        shape(
            "300 fields",
            "8",
            vec![times(300, Tag::From(100), Value::Text(1, 10))],
        ),
        shape(
            "5,000 fields",
            "8",
            vec![times(5000, Tag::From(1000), Value::Text(1, 10))],
        ),
        shape(
            "5,000 fields with tags of 5 digits",
            "8",
            vec![times(5000, Tag::From(20_000), Value::Text(1, 10))],
        ),
    ]
}

fn lengths() -> Vec<Shape> {
    let ten = |bytes| vec![times(10, Tag::Digits(3), Value::Text(bytes, bytes))];
    let text = |bytes| and(order(), vec![field(58, Value::Text(bytes, bytes))]);
    vec![
        shape(
            "100 values of one byte",
            "8",
            vec![times(100, Tag::Digits(2), Value::Text(1, 1))],
        ),
        shape(
            "50 values of 1 to 40 bytes",
            "8",
            vec![times(50, Tag::Digits(3), Value::Text(1, 40))],
        ),
        shape("10 values of 64 bytes", "8", ten(64)),
        shape("10 values of 300 bytes", "8", ten(300)),
        // What an encoder reserves at first, and one byte more.
        shape("order with 700 bytes of text", "D", text(700)),
        shape("order with 1,023 bytes of text", "D", text(1023)),
        shape("order with 1,024 bytes of text", "D", text(1024)),
        shape("order with 1,025 bytes of text", "D", text(1025)),
        shape("order with 4 KB of text", "D", text(4096)),
        shape("news of 64 KB of text", "B", text(65_536)),
    ]
}

fn faulty() -> Vec<Shape> {
    let orders = |name, fault| shape(name, "D", order()).with_faults(ALWAYS, &[fault]);
    vec![
        orders("orders with a wrong CheckSum", Fault::CheckSum),
        orders("orders with a wrong BodyLength", Fault::BodyLength),
        orders("orders with an invalid tag", Fault::Tag),
        orders("orders with an empty value", Fault::Empty),
        orders("orders that are cut off", Fault::Truncated),
        orders("orders without CheckSum", Fault::NoCheckSum),
        orders("orders with a field before MsgType", Fault::Order),
        shape(
            "orders with a wrong length of data",
            "D",
            and(order(), vec![data(ENCODED, 20)]),
        )
        .with_faults(ALWAYS, &[Fault::DataLength]),
        shape(
            "orders with EncodedText and a wrong CheckSum",
            "D",
            and(order(), vec![data(ENCODED, 20)]),
        )
        .with_faults(ALWAYS, &[Fault::CheckSum]),
        shape("snapshots with an invalid tag", "W", snapshot(100))
            .with_faults(ALWAYS, &[Fault::Tag]),
        shape("snapshots with a wrong CheckSum", "W", snapshot(1000))
            .with_faults(ALWAYS, &[Fault::CheckSum]),
        shape("orders, some with faults", "D", order()).with_faults(100, &Fault::ALL),
    ]
}
