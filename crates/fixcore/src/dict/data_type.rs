//! The data types of fields: their names in dictionaries, and the form of their values.

use crate::frame::SOH;
use crate::names::named;
use crate::value::{self, Decimal, Timestamp};

/// Values this short are searched byte by byte.
const SHORT_BYTES: usize = 16;

/// The data type of a field.
#[doc(alias = "datatype")]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names are the standard's")]
pub enum DataType {
    String,
    Char,
    Boolean,
    Int,
    Length,
    SeqNum,
    NumInGroup,
    DayOfMonth,
    Float,
    Qty,
    Price,
    PriceOffset,
    Amt,
    Percentage,
    MultipleValueString,
    MultipleStringValue,
    MultipleCharValue,
    Currency,
    Country,
    Exchange,
    Language,
    MonthYear,
    UtcTimestamp,
    UtcTimeOnly,
    UtcDateOnly,
    UtcDate,
    LocalMktDate,
    Date,
    Time,
    TzTimeOnly,
    TzTimestamp,
    Data,
    XmlData,
}

const NAMES: [(DataType, &str); 33] = [
    (DataType::String, "STRING"),
    (DataType::Char, "CHAR"),
    (DataType::Boolean, "BOOLEAN"),
    (DataType::Int, "INT"),
    (DataType::Length, "LENGTH"),
    (DataType::SeqNum, "SEQNUM"),
    (DataType::NumInGroup, "NUMINGROUP"),
    (DataType::DayOfMonth, "DAYOFMONTH"),
    (DataType::Float, "FLOAT"),
    (DataType::Qty, "QTY"),
    (DataType::Price, "PRICE"),
    (DataType::PriceOffset, "PRICEOFFSET"),
    (DataType::Amt, "AMT"),
    (DataType::Percentage, "PERCENTAGE"),
    (DataType::MultipleValueString, "MULTIPLEVALUESTRING"),
    (DataType::MultipleStringValue, "MULTIPLESTRINGVALUE"),
    (DataType::MultipleCharValue, "MULTIPLECHARVALUE"),
    (DataType::Currency, "CURRENCY"),
    (DataType::Country, "COUNTRY"),
    (DataType::Exchange, "EXCHANGE"),
    (DataType::Language, "LANGUAGE"),
    (DataType::MonthYear, "MONTHYEAR"),
    (DataType::UtcTimestamp, "UTCTIMESTAMP"),
    (DataType::UtcTimeOnly, "UTCTIMEONLY"),
    (DataType::UtcDateOnly, "UTCDATEONLY"),
    (DataType::UtcDate, "UTCDATE"),
    (DataType::LocalMktDate, "LOCALMKTDATE"),
    (DataType::Date, "DATE"),
    (DataType::Time, "TIME"),
    (DataType::TzTimeOnly, "TZTIMEONLY"),
    (DataType::TzTimestamp, "TZTIMESTAMP"),
    (DataType::Data, "DATA"),
    (DataType::XmlData, "XMLDATA"),
];

named!(DataType, "data type");

impl DataType {
    /// All of them.
    pub const ALL: [Self; NAMES.len()] = {
        let mut all = [Self::String; NAMES.len()];
        let mut at = 0;
        while at < all.len() {
            all[at] = NAMES[at].0;
            at += 1;
        }
        all
    };

    /// A type by its name; [`String`](Self::String) for unknown names, as dictionaries need. Use
    /// `FromStr` to detect those.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        let found = NAMES.iter().find(|other| other.1 == name);
        found.map_or(Self::String, |found| found.0)
    }

    /// Its name in dictionaries.
    #[must_use]
    pub fn name(self) -> &'static str {
        let found = NAMES.iter().find(|other| other.0 == self);
        found.map_or("STRING", |found| found.1)
    }

    /// Whether a value may contain any byte.
    #[must_use]
    pub fn is_data(self) -> bool {
        matches!(self, Self::Data | Self::XmlData)
    }

    /// Whether a value is a list of words separated by spaces.
    #[must_use]
    pub fn is_list(self) -> bool {
        matches!(
            self,
            Self::MultipleValueString | Self::MultipleStringValue | Self::MultipleCharValue
        )
    }

    /// Whether a value has the form of this type.
    #[must_use]
    pub fn accepts(self, value: &[u8]) -> bool {
        match self {
            Self::Boolean => value::boolean(value).is_some(),
            Self::Char => value.len() == 1,
            Self::Int => value::signed(value).is_some(),
            Self::Length | Self::SeqNum | Self::NumInGroup => value::unsigned(value).is_some(),
            Self::DayOfMonth => value::unsigned(value).is_some_and(|day| (1..=31).contains(&day)),
            Self::Float
            | Self::Qty
            | Self::Price
            | Self::PriceOffset
            | Self::Amt
            | Self::Percentage => Decimal::parse(value).is_some(),
            Self::UtcTimestamp => Timestamp::parse(value).is_some(),
            Self::UtcTimeOnly => value::time_of_day(value).is_some(),
            Self::UtcDateOnly | Self::UtcDate | Self::LocalMktDate => value::date(value).is_some(),
            // The oldest versions have one type for dates, and one for times with or without a date.
            Self::Date => value::date(value).is_some(),
            Self::Time => Timestamp::parse(value).is_some() || value::time_of_day(value).is_some(),
            Self::MonthYear => month_year(value),
            Self::TzTimeOnly => zoned(value),
            Self::TzTimestamp => value.split_first_chunk::<9>().is_some_and(|(day, time)| {
                day[8] == b'-' && value::date(&day[..8]).is_some() && zoned(time)
            }),
            Self::Data | Self::XmlData => true,
            // A call for a few bytes takes longer than a look at them.
            _ if value.len() < SHORT_BYTES => value.iter().all(|byte| *byte != SOH),
            _ => !value.contains(&SOH),
        }
    }
}

/// `YYYYMM`, `YYYYMMDD` or `YYYYMMwN`.
fn month_year(value: &[u8]) -> bool {
    let Some((month, rest)) = value.split_first_chunk::<6>() else {
        return false;
    };
    let first = [month.as_slice(), b"01"].concat();
    let is_month = value::date(&first).is_some();
    match rest {
        [] | [b'w', b'1'..=b'5'] => is_month,
        _ => value::date(value).is_some(),
    }
}

/// `HH:MM`, or `HH:MM:SS` with an optional fraction, followed by `Z`, `+HH` or `-HH:MM`.
fn zoned(value: &[u8]) -> bool {
    let zone = value
        .iter()
        .position(|byte| matches!(byte, b'Z' | b'+' | b'-'));
    let Some(at) = zone else {
        return false;
    };
    let (time, zone) = value.split_at(at);
    let time_is_right = match time.len() {
        5 => value::time_of_day(&[time, b":00"].concat()).is_some(),
        _ => value::time_of_day(time).is_some(),
    };
    let zone_is_right = match zone {
        b"Z" => true,
        [_, hour @ ..] if hour.len() == 2 => {
            value::time_of_day(&[hour, b":00:00"].concat()).is_some()
        }
        [_, time @ ..] if time.len() == 5 => value::time_of_day(&[time, b":00"].concat()).is_some(),
        _ => false,
    };
    time_is_right && zone_is_right
}
