//! A dictionary: its fields, messages and groups, looked up by tag or type.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use super::data_type::DataType;
use super::error::DictionaryError;
use super::expand::Expander;
use super::layout::{Bits, Group, Layout};
use super::source::{Source, SourceField};
use super::xml;
use crate::data::DataPairs;
use crate::decoder::{Entries, Entry};
use crate::error::Result;

/// Tags below this are looked up in a table.
const TABLE_TAGS: usize = 1 << 16;
/// How many dictionaries were made.
static DICTIONARIES: AtomicU64 = AtomicU64::new(0);
/// No field.
const NONE: u32 = u32::MAX;

/// A field of a dictionary.
#[derive(Debug, Clone)]
pub struct FieldSpec {
    pub(super) tag: u32,
    name: String,
    pub(super) data_type: DataType,
    /// Values with their names, sorted.
    pub(super) values: Vec<(String, String)>,
    /// The listed values of one byte, as bits.
    short: [u64; 4],
}

impl FieldSpec {
    /// Its tag.
    #[must_use]
    pub fn tag(&self) -> u32 {
        self.tag
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its data type.
    #[must_use]
    pub fn data_type(&self) -> DataType {
        self.data_type
    }

    /// The values that it may have, with their names; empty if it may have any value.
    #[must_use]
    pub fn values(&self) -> &[(String, String)] {
        &self.values
    }

    /// The name of a value.
    #[must_use]
    pub fn value_name(&self, value: &[u8]) -> Option<&str> {
        let found = self
            .values
            .binary_search_by(|known| known.0.as_bytes().cmp(value));
        found
            .ok()
            .and_then(|at| self.values.get(at))
            .map(|known| known.1.as_str())
    }

    #[inline]
    pub(super) fn lists(&self, value: &[u8]) -> bool {
        match value {
            [byte] => self.short[usize::from(byte / 64)] >> (byte % 64) & 1 != 0,
            _ => self.value_name(value).is_some(),
        }
    }
}

/// A message of a dictionary.
#[derive(Debug, Clone)]
pub struct MessageSpec {
    msg_type: String,
    name: String,
    admin: bool,
    pub(crate) layout: Layout,
}

impl MessageSpec {
    /// Its MsgType (35).
    #[must_use]
    pub fn msg_type(&self) -> &str {
        &self.msg_type
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it is an administrative message of the session.
    #[must_use]
    pub fn is_admin(&self) -> bool {
        self.admin
    }
}

/// A dictionary of fields, messages and groups: a version of FIX, or a variant that two parties agreed
/// on.
#[doc(alias = "DataDictionary")]
#[derive(Debug, Clone)]
pub struct Dictionary {
    /// Its number: clones, which are equal, share it.
    pub(super) id: u64,
    begin_string: String,
    service_pack: u8,
    pub(super) fields: Vec<FieldSpec>,
    table: Vec<u32>,
    others: HashMap<u32, u32>,
    messages: Vec<MessageSpec>,
    by_type: HashMap<Vec<u8>, usize>,
    /// The messages whose type is one byte.
    by_letter: Box<[u32; 256]>,
    pub(crate) header: Layout,
    pub(crate) trailer: Layout,
    pub(crate) groups: Vec<Group>,
    /// Fields that count the entries of any group.
    pub(super) counts: Bits,
}

impl Dictionary {
    /// Reads a dictionary in the XML format of QuickFIX.
    ///
    /// # Errors
    /// If the file does not have this format, or refers to undefined fields or components, with the
    /// byte.
    pub fn from_xml(xml: &str) -> std::result::Result<Self, DictionaryError> {
        Self::put_together(xml::read(xml)?)
    }

    /// The compact text of a QuickFIX dictionary, the format of the built-in ones.
    ///
    /// # Errors
    /// As for [`from_xml`](Self::from_xml).
    pub fn compact(xml: &str) -> std::result::Result<String, DictionaryError> {
        let source = xml::read(xml)?;
        let text = source.to_text();
        Self::put_together(source)?;
        Ok(text)
    }

    pub(super) fn put_together(mut source: Source) -> std::result::Result<Self, DictionaryError> {
        source.fields.sort_by_key(|field| field.tag);
        source.fields.dedup_by_key(|field| field.tag);
        let numbers = (0..)
            .zip(&source.fields)
            .map(|(number, field)| (field.tag, number));
        let numbers: HashMap<u32, usize> = numbers.collect();
        let mut expander = Expander::new(&source, &numbers);
        let header = expander.layout(&source.header)?;
        let trailer = expander.layout(&source.trailer)?;
        let mut messages = Vec::with_capacity(source.messages.len());
        for message in &source.messages {
            messages.push(MessageSpec {
                msg_type: message.msg_type.clone(),
                name: message.name.clone(),
                admin: message.admin,
                layout: expander.layout(&message.items)?,
            });
        }
        let groups = expander.groups;
        let mut counts = Bits::new(source.fields.len());
        let of_groups = groups.iter().map(|group| &group.layout);
        let of_messages = messages.iter().map(|message| &message.layout);
        for layout in of_groups.chain(of_messages).chain([&header, &trailer]) {
            for (count, _) in &layout.groups {
                counts.set(*count as usize);
            }
        }
        let mut table = Vec::new();
        let mut others = HashMap::new();
        for (number, field) in (0..).zip(&source.fields) {
            let tag = field.tag as usize;
            if tag < TABLE_TAGS {
                table.resize(table.len().max(tag + 1), NONE);
                table[tag] = number;
            } else {
                others.insert(field.tag, number);
            }
        }
        let mut by_letter = Box::new([NONE; 256]);
        // As in the map, the last of two messages of a type counts.
        for (at, message) in (0..).zip(&messages) {
            if let [letter] = message.msg_type.as_bytes() {
                by_letter[usize::from(*letter)] = at;
            }
        }
        let by_type = messages.iter().enumerate();
        let by_type = by_type.map(|(at, message)| (message.msg_type.clone().into_bytes(), at));
        let old = matches!(source.begin_string.as_str(), "FIX.4.0" | "FIX.4.1");
        Ok(Self {
            id: DICTIONARIES.fetch_add(1, Ordering::Relaxed),
            fields: source
                .fields
                .into_iter()
                .map(|field| field_type(field, old))
                .collect(),
            begin_string: source.begin_string,
            service_pack: source.service_pack,
            table,
            others,
            by_type: by_type.collect(),
            by_letter,
            messages,
            header,
            trailer,
            groups,
            counts,
        })
    }

    /// The BeginString (8) of its messages, or the application version that it describes.
    #[must_use]
    pub fn begin_string(&self) -> &str {
        &self.begin_string
    }

    /// Its service pack; 0 if it has none.
    #[must_use]
    pub fn service_pack(&self) -> u8 {
        self.service_pack
    }

    /// All messages.
    #[must_use]
    pub fn messages(&self) -> &[MessageSpec] {
        &self.messages
    }

    /// All fields, sorted by tag.
    #[must_use]
    pub fn fields(&self) -> &[FieldSpec] {
        &self.fields
    }

    #[inline]
    pub(super) fn number(&self, tag: u32) -> Option<usize> {
        let number = match self.table.get(tag as usize) {
            Some(number) => *number,
            None => self.others.get(&tag).copied().unwrap_or(NONE),
        };
        (number != NONE).then_some(number as usize)
    }

    /// A field by its tag.
    #[must_use]
    pub fn field(&self, tag: u32) -> Option<&FieldSpec> {
        self.fields.get(self.number(tag)?)
    }

    /// A message by its MsgType (35).
    #[must_use]
    pub fn message(&self, msg_type: &[u8]) -> Option<&MessageSpec> {
        let at = match msg_type {
            [letter] => self.by_letter[usize::from(*letter)] as usize,
            _ => *self.by_type.get(msg_type)?,
        };
        self.messages.get(at)
    }

    /// The fields of a message's body in the dictionary's order, without those in groups.
    pub fn body<'d>(&'d self, message: &'d MessageSpec) -> impl Iterator<Item = &'d FieldSpec> {
        let order = message.layout.order.iter();
        order.filter_map(|number| self.fields.get(*number as usize))
    }

    /// The pairs of length and data fields: the length field of a data field has its name with `Len` or
    /// `Length` appended.
    #[must_use]
    pub fn data_pairs(&self) -> DataPairs {
        DataPairs::new(&self.data_tags())
    }

    /// The same as tags only: the tag of a length field, and that of its data field.
    #[must_use]
    pub fn data_tags(&self) -> Vec<(u32, u32)> {
        let names: HashMap<&str, u32> = self
            .fields
            .iter()
            .map(|field| (field.name.as_str(), field.tag))
            .collect();
        let data = self.fields.iter().filter(|field| field.data_type.is_data());
        let pair = |field: &FieldSpec| {
            let name = |end: &str| format!("{}{end}", field.name);
            let length = names
                .get(name("Len").as_str())
                .or(names.get(name("Length").as_str()));
            length.map(|length| (*length, field.tag))
        };
        data.filter_map(pair).collect()
    }

    /// The entries of a group in a message of this type. `None` if the type has no such group.
    ///
    /// # Errors
    /// As for [`Entry::group`].
    pub fn entries<'a, 'd, 'm>(
        &self,
        of: &Entry<'a, 'd, 'm>,
        msg_type: &[u8],
        count: u32,
    ) -> Result<Option<Entries<'a, 'd, 'm>>> {
        let number = self.number(count);
        let number = number.filter(|number| self.counts.has(*number));
        let Some((number, message)) =
            number.and_then(|number| Some((number, self.message(msg_type)?)))
        else {
            return Ok(None);
        };
        // The group of the message itself, or of one of its groups.
        let mut layouts = vec![&message.layout];
        while let Some(layout) = layouts.pop() {
            let group = layout
                .group(number)
                .and_then(|id| self.groups.get(id as usize));
            if let Some(group) = group {
                let first = self
                    .fields
                    .get(group.first as usize)
                    .map_or(0, |field| field.tag);
                let member = |tag| self.number(tag).is_some_and(|number| group.all.has(number));
                return of.group(count, first, member).map(Some);
            }
            let inner = layout
                .groups
                .iter()
                .filter_map(|(_, id)| self.groups.get(*id as usize));
            layouts.extend(
                inner
                    .filter(|group| group.all.has(number))
                    .map(|group| &group.layout),
            );
        }
        Ok(None)
    }
}

fn field_type(field: SourceField, old: bool) -> FieldSpec {
    let mut values = field.values;
    values.sort();
    values.dedup_by(|a, b| a.0 == b.0);
    let mut short = [0; 4];
    for byte in values
        .iter()
        .filter_map(|(value, _)| match value.as_bytes() {
            [byte] => Some(*byte),
            _ => None,
        })
    {
        short[usize::from(byte / 64)] |= 1 << (byte % 64);
    }
    let words = values.iter().any(|(value, _)| value.len() > 1);
    let data_type = match field.data_type {
        // The oldest versions also use the character type for texts and lists of words.
        DataType::Char if old && !values.is_empty() => DataType::MultipleValueString,
        DataType::Char if old || words => DataType::String,
        data_type => data_type,
    };
    FieldSpec {
        tag: field.tag,
        name: field.name,
        data_type,
        values,
        short,
    }
}
