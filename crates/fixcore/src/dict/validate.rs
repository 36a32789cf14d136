//! Validates a message against a dictionary: allowed and required fields, data types, values, groups.
//!
//! One pass with a stack of open groups, which gets as deep as the dictionary's groups whatever the
//! message contains.

use super::builtin::Version;
use super::dictionary::Dictionary;
use super::layout::{Bits, Group, Layout};
use crate::decoder::{Field, Message};
use crate::error::{Error, ErrorKind, Result};
use crate::value;

/// Tags from here on are user-defined.
const USER_TAGS: u32 = 5000;

/// What a validator checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rules {
    /// Reject tags from 5000 on that the dictionary does not have.
    pub user_tags: bool,
    /// Reject header and trailer fields in other places.
    pub order: bool,
    /// Reject values that the dictionary does not list.
    pub values: bool,
}

impl Default for Rules {
    /// Checks everything except tags from 5000 on.
    fn default() -> Self {
        Self {
            user_tags: false,
            order: true,
            values: true,
        }
    }
}

impl Rules {
    /// Sets [`user_tags`](Self#structfield.user_tags).
    #[must_use]
    pub fn user_tags(mut self, user_tags: bool) -> Self {
        self.user_tags = user_tags;
        self
    }

    /// Sets [`order`](Self#structfield.order).
    #[must_use]
    pub fn order(mut self, order: bool) -> Self {
        self.order = order;
        self
    }

    /// Sets [`values`](Self#structfield.values).
    #[must_use]
    pub fn values(mut self, values: bool) -> Self {
        self.values = values;
        self
    }
}

/// An open group.
#[derive(Debug)]
struct Open<'v> {
    group: &'v Group,
    stated: u64,
    entries: u64,
    offset: usize,
    seen: Bits,
}

/// The current section of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Section {
    Header,
    Body,
    Trailer,
}

/// Validates messages, and reuses its buffers from message to message.
#[derive(Debug)]
pub struct Validator<'v> {
    transport: &'v Dictionary,
    /// For messages that the transport dictionary does not have.
    application: Option<&'v Dictionary>,
    rules: Rules,
    /// Unused sets of fields, for groups that open later.
    spare: Vec<Bits>,
    header: Bits,
    body: Bits,
    trailer: Bits,
}

impl<'v> Validator<'v> {
    /// A validator of messages of one dictionary.
    #[must_use]
    pub fn new(dictionary: &'v Dictionary, rules: Rules) -> Self {
        Self::with_application(dictionary, None, rules)
    }

    /// A validator of messages with a transport and an application dictionary: FIXT 1.1 and an
    /// application version. The transport describes header, trailer and its own messages.
    #[must_use]
    pub fn with_application(
        transport: &'v Dictionary,
        application: Option<&'v Dictionary>,
        rules: Rules,
    ) -> Self {
        let fields = |dictionary: &Dictionary| Bits::new(dictionary.fields.len());
        let largest = application.map_or(0, |other| other.fields.len());
        Self {
            transport,
            application,
            rules,
            spare: Vec::new(),
            header: fields(transport),
            body: Bits::new(largest.max(transport.fields.len())),
            trailer: fields(transport),
        }
    }

    /// The built-in transport and application versions for a message. `None` if there is none for its
    /// BeginString (8).
    #[must_use]
    pub fn versions(message: &Message<'_, '_>) -> Option<(Version, Option<Version>)> {
        let version = Version::of_begin_string(message.begin_string())?;
        let named = || message.get(1128).and_then(Version::of_appl_ver_id);
        let application =
            (version == Version::Fixt11).then(|| named().unwrap_or(Version::Fix50Sp2));
        Some((version, application))
    }

    /// A validator of messages of built-in versions.
    #[must_use]
    pub fn of_versions((frame, body): (Version, Option<Version>), rules: Rules) -> Option<Self> {
        let body = body.and_then(Version::dictionary);
        Some(Self::with_application(frame.dictionary()?, body, rules))
    }

    /// A validator with the built-in dictionaries for a message. `None` if there are none for its
    /// BeginString (8).
    #[must_use]
    pub fn for_message(message: &Message<'_, '_>, rules: Rules) -> Option<Self> {
        Self::of_versions(Self::versions(message)?, rules)
    }

    /// Validates a message.
    ///
    /// # Errors
    /// The first thing that is wrong, with its tag and place.
    pub fn validate(&mut self, message: &Message<'_, '_>) -> Result<()> {
        let msg_type = message.msg_type();
        let of_application = self.application.and_then(|dictionary| {
            let found = dictionary.message(msg_type)?;
            Some((dictionary, found))
        });
        let of_transport = || Some((self.transport, self.transport.message(msg_type)?));
        let Some((dictionary, found)) = of_transport().or(of_application) else {
            let offset = message.field(2).map_or(0, |field| field.offset);
            return Err(Error::new(ErrorKind::UnknownMessage, offset).tag_is(35));
        };
        self.header.clear();
        self.body.clear();
        self.trailer.clear();
        let mut pass = Pass {
            transport: self.transport,
            dictionary,
            layout: &found.layout,
            rules: self.rules,
            section: Section::Header,
            open: Vec::new(),
            spare: &mut self.spare,
            seen: [&mut self.header, &mut self.body, &mut self.trailer],
        };
        for field in message.fields() {
            pass.field(&field)?;
        }
        pass.finish(message.bytes().len())
    }
}

struct Pass<'p, 'v> {
    transport: &'v Dictionary,
    dictionary: &'v Dictionary,
    layout: &'v Layout,
    rules: Rules,
    section: Section,
    open: Vec<(Open<'v>, &'v Dictionary)>,
    spare: &'p mut Vec<Bits>,
    seen: [&'p mut Bits; 3],
}

fn wrong(kind: ErrorKind, field: &Field<'_>) -> Error {
    Error::new(kind, field.offset).tag_is(field.tag)
}

impl<'v> Pass<'_, 'v> {
    fn field(&mut self, field: &Field<'_>) -> Result<()> {
        while let Some((open, dictionary)) = self.open.last_mut() {
            let dictionary = *dictionary;
            let number = dictionary.number(field.tag);
            if let Some(number) = number.filter(|number| open.group.layout.allowed.has(*number)) {
                if number == open.group.first as usize {
                    entry_is_whole(open, dictionary, field.offset)?;
                    open.entries += 1;
                    open.seen.clear();
                }
                if open.entries == 0 {
                    return Err(wrong(ErrorKind::FieldOrder, field));
                }
                if !open.seen.set(number) {
                    return Err(wrong(ErrorKind::RepeatedTag, field));
                }
                let layout = &open.group.layout;
                return self.value(dictionary, layout, number, field);
            }
            self.close(field.offset)?;
        }
        self.outside(field)
    }

    /// Checks a field outside groups.
    fn outside(&mut self, field: &Field<'_>) -> Result<()> {
        let (transport, dictionary, layout) = (self.transport, self.dictionary, self.layout);
        let sections = [
            (transport, &transport.header),
            (dictionary, layout),
            (transport, &transport.trailer),
        ];
        let ranks = [Section::Header, Section::Body, Section::Trailer];
        for (at, ((dictionary, layout), rank)) in sections.into_iter().zip(ranks).enumerate() {
            let number = dictionary.number(field.tag);
            let Some(number) = number.filter(|number| layout.allowed.has(*number)) else {
                continue;
            };
            if rank < self.section && self.rules.order {
                return Err(wrong(ErrorKind::FieldOrder, field));
            }
            self.section = self.section.max(rank);
            if !self.seen[at].set(number) {
                return Err(wrong(ErrorKind::RepeatedTag, field));
            }
            return self.value(dictionary, layout, number, field);
        }
        let known = transport.number(field.tag).or(dictionary.number(field.tag));
        match known {
            _ if field.tag >= USER_TAGS && !self.rules.user_tags && known.is_none() => Ok(()),
            None => Err(wrong(ErrorKind::UnknownTag, field)),
            Some(_) => Err(wrong(ErrorKind::UnexpectedTag, field)),
        }
    }

    /// Checks the data type and the value of a field; a count field opens a group.
    fn value(
        &mut self,
        dictionary: &'v Dictionary,
        layout: &'v Layout,
        number: usize,
        field: &Field<'_>,
    ) -> Result<()> {
        if let Some(known) = dictionary.fields.get(number) {
            if !known.data_type.accepts(field.value) {
                return Err(wrong(ErrorKind::Value, field));
            }
            let listed = match known.data_type.is_list() {
                _ if known.values.is_empty() || !self.rules.values => true,
                // The message type was found before; the values of tag 35 do not list all types.
                _ if field.tag == 35 => true,
                // A listed value may itself contain spaces.
                true if known.lists(field.value) => true,
                true => field
                    .value
                    .split(|byte| *byte == b' ')
                    .all(|word| known.lists(word)),
                false => known.lists(field.value),
            };
            if !listed {
                return Err(wrong(ErrorKind::UnknownValue, field));
            }
        }
        let Some(group) = layout.group(number) else {
            return Ok(());
        };
        let Some(group) = dictionary.groups.get(group as usize) else {
            return Ok(());
        };
        let stated = value::unsigned(field.value).ok_or(wrong(ErrorKind::Value, field))?;
        let fields = dictionary.fields.len();
        let spare = self
            .spare
            .pop()
            .filter(|spare| spare.0.len() == fields.div_ceil(64));
        let mut seen = spare.unwrap_or_else(|| Bits::new(fields));
        seen.clear();
        let open = Open {
            group,
            stated,
            entries: 0,
            offset: field.offset,
            seen,
        };
        self.open.push((open, dictionary));
        Ok(())
    }

    /// Closes the innermost group.
    fn close(&mut self, at: usize) -> Result<()> {
        let Some((open, dictionary)) = self.open.pop() else {
            return Ok(());
        };
        entry_is_whole(&open, dictionary, at)?;
        if open.entries != open.stated {
            let count = dictionary.fields.get(open.group.count as usize);
            let tag = count.map_or(0, |field| field.tag);
            return Err(Error::group_count(
                open.offset,
                tag,
                open.stated,
                open.entries,
            ));
        }
        self.spare.push(open.seen);
        Ok(())
    }

    fn finish(mut self, end: usize) -> Result<()> {
        while !self.open.is_empty() {
            self.close(end)?;
        }
        let (transport, dictionary) = (self.transport, self.dictionary);
        for ((layout, dictionary), seen) in [
            (&transport.header, transport),
            (self.layout, dictionary),
            (&transport.trailer, transport),
        ]
        .into_iter()
        .zip(&self.seen)
        {
            complete(layout, seen, dictionary, end)?;
        }
        Ok(())
    }
}

/// Checks that all required fields are present.
fn complete(layout: &Layout, seen: &Bits, dictionary: &Dictionary, at: usize) -> Result<()> {
    match layout.required.lacking(seen) {
        None => Ok(()),
        Some(missing) => {
            let tag = dictionary.fields.get(missing).map_or(0, |field| field.tag);
            Err(Error::new(ErrorKind::MissingTag, at).tag_is(tag))
        }
    }
}

fn entry_is_whole(open: &Open<'_>, dictionary: &Dictionary, at: usize) -> Result<()> {
    match open.entries {
        0 => Ok(()),
        _ => complete(&open.group.layout, &open.seen, dictionary, at),
    }
}
