//! A message against a dictionary: which fields it may and must have, their types and values, groups.
//!
//! One pass with a stack of open groups, as deep as the dictionary's groups; the message decides
//! nothing but how far the pass goes.

use super::builtin::Version;
use super::dictionary::Dictionary;
use super::layout::{Bits, Group, Layout};
use crate::decoder::{Field, Message};
use crate::error::{Error, ErrorKind, Result};
use crate::value;

/// Tags from here on are free for parties to agree on.
const USER_TAGS: u32 = 5000;

/// What a validator passes over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rules {
    /// Refuse tags from 5000 on that the dictionary does not have.
    pub user_tags: bool,
    /// Refuse fields of the header or trailer elsewhere.
    pub order: bool,
    /// Refuse values that the dictionary does not list.
    pub values: bool,
}

impl Default for Rules {
    /// Everything but tags from 5000 on.
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

/// A group that is open.
#[derive(Debug)]
struct Open<'v> {
    group: &'v Group,
    stated: u64,
    entries: u64,
    offset: usize,
    seen: Bits,
}

/// Where in a message the pass is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Section {
    Header,
    Body,
    Trailer,
}

/// Validates messages over the same buffers.
#[derive(Debug)]
pub struct Validator<'v> {
    transport: &'v Dictionary,
    /// Of messages that the transport does not have.
    application: Option<&'v Dictionary>,
    rules: Rules,
    /// Sets of fields for groups that will be opened.
    spare: Vec<Bits>,
    header: Bits,
    body: Bits,
    trailer: Bits,
}

impl<'v> Validator<'v> {
    /// Of messages of one dictionary.
    #[must_use]
    pub fn new(dictionary: &'v Dictionary, rules: Rules) -> Self {
        Self::with_application(dictionary, None, rules)
    }

    /// Of messages whose frame one dictionary describes, and whose body another one does unless the
    /// first knows it: FIXT 1.1 and a version of applications.
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

    /// The built-in versions that fit a message: of its frame, and of its body where that is another.
    /// `None`: there are none for its BeginString.
    #[must_use]
    pub fn versions(message: &Message<'_, '_>) -> Option<(Version, Option<Version>)> {
        let version = Version::of_begin_string(message.begin_string())?;
        let named = || message.get(1128).and_then(Version::of_appl_ver_id);
        let application =
            (version == Version::Fixt11).then(|| named().unwrap_or(Version::Fix50Sp2));
        Some((version, application))
    }

    /// Of messages of built-in versions.
    #[must_use]
    pub fn of_versions((frame, body): (Version, Option<Version>), rules: Rules) -> Option<Self> {
        let body = body.and_then(Version::dictionary);
        Some(Self::with_application(frame.dictionary()?, body, rules))
    }

    /// The built-in dictionaries that fit a message. `None`: there are none for its BeginString.
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

    /// A field in no group.
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

    /// The type and the value of a field; a group is opened by the number of its entries.
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
                // That the message is there was seen before; not all of them are listed.
                _ if field.tag == 35 => true,
                // A value that is listed may have blanks itself.
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

    /// Ends the innermost group.
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

/// Whether what is required is there.
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
