//! The tags whose values are replaced by default: by the types and names of fields.

use fixcore::dict::{DataType, FieldSpec};

/// What is replaced where nothing else is asked for: parties, persons and how to reach them, accounts,
/// cards, ids of orders, executions, quotes, allocations and reports, free text, passwords,
/// signatures and opaque data. Not among it: what says which instrument, market or kind of a thing.
///
/// All fields of the standard's dictionaries that [`is_private`] names are among these.
pub const TAGS: &[u32] = &[
    1, 2, 3, 11, 17, 19, 23, 26, 37, 41, 49, 50, 56, 57, 58, 66, 69, 70, 72, 76, 79, 86, 89, 91,
    92, 96, 105, 107, 109, 112, 115, 116, 117, 128, 129, 131, 142, 143, 144, 145, 147, 148, 149,
    161, 162, 164, 170, 171, 173, 174, 175, 176, 177, 178, 179, 180, 181, 182, 183, 184, 185, 186,
    187, 196, 198, 213, 214, 217, 262, 278, 280, 282, 283, 284, 288, 289, 299, 302, 320, 322, 324,
    335, 337, 349, 351, 353, 355, 357, 359, 361, 363, 365, 375, 376, 379, 390, 391, 392, 439, 440,
    444, 446, 448, 466, 467, 474, 476, 482, 486, 488, 489, 490, 491, 494, 496, 498, 499, 500, 501,
    502, 503, 505, 508, 509, 511, 513, 523, 524, 526, 527, 535, 536, 545, 548, 551, 553, 554, 568,
    571, 572, 578, 579, 583, 584, 600, 602, 603, 619, 622, 628, 644, 649, 654, 655, 659, 664, 671,
    672, 693, 710, 713, 714, 717, 721, 726, 755, 757, 760, 772, 777, 782, 785, 790, 791, 793, 795,
    817, 818, 820, 821, 824, 830, 833, 848, 859, 868, 880, 881, 894, 902, 904, 907, 908, 909, 913,
    914, 923, 925, 927, 929, 930, 931, 932, 933, 934, 949, 953, 958, 960, 961, 977, 979, 989, 990,
    1003, 1005, 1006, 1007, 1019, 1030, 1040, 1041, 1042, 1053, 1059, 1063, 1080, 1117, 1121, 1126,
    1127, 1139, 1160, 1161, 1163, 1166, 1180, 1185, 1278, 1281, 1283, 1291, 1293, 1297, 1328, 1346,
    1353, 1355, 1356, 1363, 1366, 1369, 1371, 1372, 1393, 1394, 1398, 1402, 1404, 1412, 1415, 1427,
    1433, 1462, 1465, 1466, 1469, 1472, 1476, 1497, 1500, 1501, 1517, 1520, 1523, 1563, 1570, 1576,
    1658, 1691, 1729, 1732, 1806, 1903, 2485, 2520, 2680, 2807, 2816,
];

/// The tags that the standard's dictionaries have: from, to.
pub(super) const KNOWN: &[(u32, u32)] = &[
    (1, 100),
    (102, 260),
    (262, 652),
    (654, 830),
    (832, 994),
    (996, 1003),
    (1005, 1009),
    (1011, 1075),
    (1079, 1232),
    (1234, 1237),
    (1239, 1306),
    (1308, 1358),
    (1361, 1504),
    (1617, 1617),
];

/// Names of fields that say which instrument, market or version, and end like private ones.
const PUBLIC_PARTS: &[&str] = &[
    "SecurityID",
    "SecurityAltID",
    "Symbol",
    "TradingSession",
    "MarketSegmentID",
    "ParentMktSegm",
    "ApplVer",
    "RuleID",
    "CurveName",
];

/// How the names of fields end that say who, or which order, or have free text.
const PRIVATE_ENDS: &[&str] = &[
    "ID",
    "Id",
    "Text",
    "Name",
    "Username",
    "Password",
    "Acct",
    "Account",
    "AcctNum",
    "Number",
    "No",
    "Designation",
    "Destination",
    "Phone",
    "Email",
    "Dtls",
    "Firm",
    "Broker",
    "BrokerOfCredit",
    "Trader",
    "Buyer",
    "Seller",
    "Originator",
    "BrkrCode",
    "InstCode",
    "AgentCode",
    "DepositoryCode",
    "IssNum",
    "PaymentRef",
    "PayRef",
    "Subject",
    "Headline",
    "Link",
    "Parameters",
    "ParameterValue",
    "StationCd",
    "ReasonCd",
    "Inst",
    "Instructions",
    "InputDevice",
    "InputSource",
    "TransferReason",
    "AgreementDesc",
];

/// Dates that say who.
const PRIVATE_DATES: &[&str] = &["DateOfBirth", "CardExpDate", "CardStartDate"];

/// Whether the values of a field are replaced by default: all data, dates of persons and cards, and text
/// that is no name of a choice, where the name of the field says that it is an id, a party, an account or
/// free text.
#[must_use]
pub fn is_private(field: &FieldSpec) -> bool {
    let name = field.name();
    let is_text = field.data_type() == DataType::String && field.values().is_empty();
    let ends = || PRIVATE_ENDS.iter().any(|end| name.ends_with(end));
    let is_public = || PUBLIC_PARTS.iter().any(|part| name.contains(part));
    field.data_type().is_data()
        || PRIVATE_DATES.contains(&name)
        || (is_text && ends() && !is_public())
}

/// Whether a value may say who: it is neither a number, nor a time, nor a code of one or two characters.
pub(super) fn is_telling(value: &[u8]) -> bool {
    let is_number = |byte: &u8| byte.is_ascii_digit() || b"+-.:/,TZ".contains(byte);
    value.len() > CODE_BYTES_MAX && !value.iter().all(is_number)
}

/// Bytes of a code.
const CODE_BYTES_MAX: usize = 2;
