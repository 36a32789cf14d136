//! Random messages of a dictionary: all required and some optional fields, with nested groups, data
//! fields, and `=` in values.

use crate::data::Role;
use crate::dict::{DataType, Dictionary, FieldSpec, GroupId, Layout, Version};
use crate::encoder::{Encoder, MessageWriter};
use crate::error::Result;
use crate::{DataPairs, Decimal};
use rand_xoshiro::SplitMix64;
use rand_xoshiro::rand_core::{Rng as _, SeedableRng as _};

/// Groups nested this deep have only required fields.
const DEPTH: usize = 4;

/// Generates messages from a seed, the same bytes on every platform.
#[derive(Debug)]
pub struct Generator<'d> {
    transport: &'d Dictionary,
    application: &'d Dictionary,
    pairs: DataPairs,
    encoder: Encoder,
    random: SplitMix64,
}

impl<'d> Generator<'d> {
    /// Messages of an application dictionary in the frame of a transport dictionary; for FIX 4 pass the
    /// same twice.
    #[must_use]
    pub fn new(transport: &'d Dictionary, application: &'d Dictionary, seed: u64) -> Self {
        let mut pairs = application.data_pairs().pairs().to_vec();
        pairs.extend_from_slice(transport.data_pairs().pairs());
        pairs.sort_unstable();
        pairs.dedup();
        Self {
            encoder: Encoder::new(transport.begin_string()),
            pairs: DataPairs::new(&pairs),
            transport,
            application,
            random: SplitMix64::seed_from_u64(seed),
        }
    }

    fn next(&mut self) -> u64 {
        self.random.next_u64()
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// A valid message of a type, by its position in the application's messages.
    ///
    /// # Errors
    /// Only if a message cannot contain the dictionary's names or values.
    pub fn message(&mut self, number: usize) -> Result<Vec<u8>> {
        let messages = self.application.messages();
        let Some(message) = messages.get(number % messages.len().max(1)) else {
            return Ok(Vec::new());
        };
        let mut fields = Vec::new();
        let (transport, application) = (self.transport, self.application);
        self.layout(transport, &transport.header, 0, &mut fields);
        self.layout(application, &message.layout, 0, &mut fields);
        self.layout(transport, &transport.trailer, 0, &mut fields);
        let mut writing = self.encoder.start(message.msg_type());
        for field in &fields {
            writing = field.write(writing);
        }
        writing.finish().map(<[u8]>::to_vec)
    }

    fn layout(
        &mut self,
        dictionary: &'d Dictionary,
        layout: &'d Layout,
        depth: usize,
        out: &mut Vec<Generated>,
    ) {
        for (at, number) in layout.order.iter().enumerate() {
            let number = *number as usize;
            let Some(field) = dictionary.fields().get(number) else {
                continue;
            };
            let (tag, required) = (field.tag(), layout.required.has(number));
            // The encoder writes the frame, and a length field with its data. The first field of an
            // entry is always present. A field that is listed twice is written once.
            let role = self.pairs.role(tag);
            if matches!(tag, 8 | 9 | 35 | 10) || matches!(role, Role::LengthOf(_)) {
                continue;
            }
            if layout
                .order
                .iter()
                .take(at)
                .any(|other| *other as usize == number)
            {
                continue;
            }
            let first = depth > 0 && at == 0;
            let some = depth < DEPTH && self.below(4) == 0;
            if !(required || first || some) {
                continue;
            }
            if role == Role::Data {
                self.data(tag, out);
                continue;
            }
            match layout.group(number) {
                Some(group) => self.group(dictionary, tag, group, depth, out),
                None => {
                    let value = self.value(field);
                    out.push(Generated::Field(tag, value));
                }
            }
        }
    }

    fn group(
        &mut self,
        dictionary: &'d Dictionary,
        tag: u32,
        group: GroupId,
        depth: usize,
        out: &mut Vec<Generated>,
    ) {
        let mut entries = 1 + self.below(3);
        // Some versions list the allowed numbers of entries.
        let listed = dictionary.field(tag).map_or(&[][..], FieldSpec::values);
        if let Some((number, _)) = listed.get(self.below(listed.len())) {
            entries = number.parse().unwrap_or(1);
        }
        out.push(Generated::Field(tag, entries.to_string().into_bytes()));
        if let Some(group) = dictionary.groups.get(group as usize) {
            for _ in 0..entries {
                self.layout(dictionary, &group.layout, depth + 1, out);
            }
        }
    }

    fn data(&mut self, tag: u32, out: &mut Vec<Generated>) {
        let pairs = self.pairs.pairs().iter();
        let length = pairs.filter(|pair| pair.1 == tag).map(|pair| pair.0).next();
        let content = (0..1 + self.below(30)).map(|_| b"a\x01=38\x0110=\xff"[self.below(10)]);
        let content: Vec<u8> = content.collect();
        out.extend(length.map(|length| Generated::Data(length, tag, content)));
    }

    fn value(&mut self, field: &FieldSpec) -> Vec<u8> {
        if !field.values().is_empty() {
            let at = self.below(field.values().len());
            let value = field.values().get(at).map_or("", |value| &value.0);
            return value.as_bytes().to_vec();
        }
        let small = self.below(28) + 1;
        let text = match field.data_type() {
            DataType::Boolean => "Y".to_owned(),
            DataType::Char => "c".to_owned(),
            DataType::Int => format!("-{small}"),
            DataType::Length | DataType::SeqNum | DataType::NumInGroup | DataType::DayOfMonth => {
                small.to_string()
            }
            DataType::Float
            | DataType::Qty
            | DataType::Price
            | DataType::PriceOffset
            | DataType::Amt
            | DataType::Percentage => {
                let mantissa = (self.next() >> 24) as i64;
                let scale = self.below(7) as u8;
                Decimal { mantissa, scale }.to_string()
            }
            DataType::UtcTimestamp | DataType::Time => {
                format!("202603{small:02}-14:15:16.{small:03}")
            }
            DataType::UtcTimeOnly => format!("14:15:{small:02}"),
            DataType::UtcDateOnly | DataType::UtcDate | DataType::LocalMktDate | DataType::Date => {
                format!("202603{small:02}")
            }
            DataType::MonthYear => ["202603", "20260305", "202603w2"][small % 3].to_owned(),
            DataType::TzTimeOnly => format!("07:{small:02}+02"),
            DataType::TzTimestamp => format!("20260305-07:{small:02}:00-05:30"),
            _ => ["x", "a=b=c", "two words", "=", "0"][small % 5].to_owned(),
        };
        text.into_bytes()
    }
}

/// Messages of random types of a built-in version, so that caches and branch predictors cannot learn
/// them. `None` if the version has no dictionary.
#[must_use]
pub fn shuffled(version: Version, count: usize, seed: u64) -> Option<Vec<Vec<u8>>> {
    let dictionary = version.dictionary()?;
    let mut generator = Generator::new(dictionary, dictionary, seed);
    let messages = (0..count).map(|_| {
        let number = generator.below(dictionary.messages().len());
        generator.message(number)
    });
    messages.collect::<Result<_>>().ok()
}

/// A field to write.
#[derive(Debug)]
enum Generated {
    Field(u32, Vec<u8>),
    Data(u32, u32, Vec<u8>),
}

impl Generated {
    fn write<'e>(&self, writer: MessageWriter<'e>) -> MessageWriter<'e> {
        match self {
            Self::Field(tag, value) => writer.bytes(*tag, value),
            Self::Data(length, tag, content) => writer.data(*length, *tag, content),
        }
    }
}
