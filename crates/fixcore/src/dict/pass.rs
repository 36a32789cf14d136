//! One pass over the fields of a message, with a stack of open groups, which gets as deep as the
//! dictionary's groups whatever the message contains.

use super::conditions;
use super::dictionary::Dictionary;
use super::field_check::{check_value, wrong};
use super::known_shape::{Key, Known, Shapes, check_values};
use super::layout::{Bits, Group, GroupId, Layout};
use super::rules::Rules;
use crate::decoder::{Field, Message};
use crate::error::{Error, ErrorKind, Result};
use crate::value;

/// Tags from here on are user-defined.
const USER_TAGS: u32 = 5000;

/// An open group.
#[derive(Debug)]
struct Open {
    group: GroupId,
    /// Whether the group is one of the transport dictionary.
    of_transport: bool,
    stated: u64,
    entries: u64,
    offset: usize,
    seen: Bits,
    /// Where the last field of the entry is in the dictionary's order.
    place: usize,
    /// Whether its entries cannot be counted, because of a fault that was found.
    is_uncounted: bool,
}

/// What becomes of a fault.
pub(super) trait Sink {
    /// Takes a fault; an error ends the pass.
    fn found(&mut self, error: Error) -> Result<()>;
}

/// The first fault ends the pass.
struct First;

impl Sink for First {
    #[inline]
    fn found(&mut self, error: Error) -> Result<()> {
        Err(error)
    }
}

/// The pass goes on behind a fault, as if the field had been right.
struct All<'a> {
    found: &'a mut Vec<Error>,
    most: usize,
}

impl Sink for All<'_> {
    fn found(&mut self, error: Error) -> Result<()> {
        if self.found.len() >= self.most {
            return Err(error);
        }
        self.found.push(error);
        Ok(())
    }
}

/// What a pass needs, reused from message to message.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    open: Vec<Open>,
    /// Unused sets of fields, for groups that open later.
    spare: Vec<Bits>,
    header: Bits,
    body: Bits,
    trailer: Bits,
    shapes: Shapes,
}

/// The current section of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Section {
    Header,
    Body,
    Trailer,
}

/// The dictionary and the layout of a message's body.
pub(super) fn body_layout<'v>(
    (transport, application): (&'v Dictionary, Option<&'v Dictionary>),
    message: &Message<'_, '_>,
) -> Result<(&'v Dictionary, &'v Layout)> {
    let msg_type = message.msg_type();
    let found = |dictionary: &'v Dictionary| {
        let found = dictionary.message(msg_type)?;
        Some((dictionary, &found.layout))
    };
    let layout = found(transport).or_else(|| found(application?));
    layout.ok_or_else(|| {
        let offset = message.field(2).map_or(0, |field| field.offset);
        Error::new(ErrorKind::UnknownMessage, offset).tag_is(35)
    })
}

impl Buffers {
    /// Validates a message in the order of its fields.
    pub(super) fn validate(
        &mut self,
        dictionaries: (&Dictionary, Option<&Dictionary>),
        rules: Rules,
        message: &Message<'_, '_>,
    ) -> Result<()> {
        let (dictionary, layout) = body_layout(dictionaries, message)?;
        let transport = dictionaries.0;
        let key = Key {
            transport: transport.id,
            dictionary: dictionary.id,
            rules,
        };
        if let Some(shape) = self.shapes.find(key, message) {
            check_values(&shape.fields, (transport, dictionary), rules, message)?;
            return conditions::check(&shape.pending, message);
        }
        self.clear(transport, dictionary);
        let mut pass = Pass {
            transport,
            dictionary,
            layout,
            rules,
            section: Section::Header,
            has_groups: false,
            is_unknown: false,
            buffers: self,
            sink: First,
        };
        for field in message.fields() {
            pass.field(&field)?;
        }
        pass.finish(message.bytes().len())?;
        let has_groups = pass.has_groups;
        let allows = |tag| allows(transport, dictionary, layout, tag);
        let pending = match rules.conditions {
            true => conditions::pending(message, allows),
            false => Vec::new(),
        };
        let held = conditions::check(&pending, message);
        if !has_groups {
            let known = |tag| known(transport, dictionary, layout, tag);
            self.shapes.keep(key, message, known, pending);
        }
        held
    }

    /// Adds the faults of a message to `found`, until it has as many as `most`.
    #[cold]
    pub(super) fn faults(
        &mut self,
        dictionaries: (&Dictionary, Option<&Dictionary>),
        rules: Rules,
        message: &Message<'_, '_>,
        (found, most): (&mut Vec<Error>, usize),
    ) {
        let transport = dictionaries.0;
        let empty = Layout::default();
        let mut sink = All { found, most };
        let (body, unknown) = match body_layout(dictionaries, message) {
            Ok(body) => (body, None),
            Err(error) => ((dictionaries.1.unwrap_or(transport), &empty), Some(error)),
        };
        let (dictionary, layout) = body;
        if unknown.is_some_and(|error| sink.found(error).is_err()) {
            return;
        }
        self.clear(transport, dictionary);
        let mut pass = Pass {
            transport,
            dictionary,
            layout,
            rules,
            section: Section::Header,
            has_groups: false,
            is_unknown: unknown.is_some(),
            buffers: self,
            sink,
        };
        let mut fields = message.fields();
        let is_whole = fields.all(|field| pass.field(&field).is_ok());
        if is_whole && pass.finish(message.bytes().len()).is_ok() && rules.conditions {
            let allows = |tag| allows(transport, dictionary, layout, tag);
            for pending in conditions::pending(message, allows) {
                if let Some(error) = pending.fault(message)
                    && pass.sink.found(error).is_err()
                {
                    return;
                }
            }
        }
    }

    fn clear(&mut self, transport: &Dictionary, dictionary: &Dictionary) {
        self.header.clear(transport.fields.len());
        self.body.clear(dictionary.fields.len());
        self.trailer.clear(transport.fields.len());
        let open = self.open.drain(..).map(|open| open.seen);
        self.spare.extend(open);
    }

    /// The first required field that a message lacks: of the header, the body or the trailer.
    pub(super) fn missing(
        &mut self,
        (transport, dictionary, layout): (&Dictionary, &Dictionary, &Layout),
        message: &Message<'_, '_>,
    ) -> Result<()> {
        self.clear(transport, dictionary);
        let mut sections = [
            (transport, &transport.header, &mut self.header),
            (dictionary, layout, &mut self.body),
            (transport, &transport.trailer, &mut self.trailer),
        ];
        for tag in message.tags() {
            for (dictionary, layout, seen) in &mut sections {
                let number = dictionary.number(*tag);
                if let Some(number) = number.filter(|number| layout.allowed.has(*number)) {
                    seen.set(number);
                    break;
                }
            }
        }
        let end = message.bytes().len();
        sections
            .into_iter()
            .try_for_each(|(dictionary, layout, seen)| {
                complete(layout, seen, dictionary, end, &mut First)
            })
    }
}

struct Pass<'p, 'v, S> {
    transport: &'v Dictionary,
    dictionary: &'v Dictionary,
    layout: &'v Layout,
    rules: Rules,
    section: Section,
    has_groups: bool,
    /// Whether no dictionary has the type: of the body, only values can be checked.
    is_unknown: bool,
    buffers: &'p mut Buffers,
    sink: S,
}

impl<'v, S: Sink> Pass<'_, 'v, S> {
    fn dictionary(&self, of_transport: bool) -> &'v Dictionary {
        match of_transport {
            true => self.transport,
            false => self.dictionary,
        }
    }

    fn field(&mut self, field: &Field<'_>) -> Result<()> {
        while let Some(of_transport) = self.buffers.open.last().map(|open| open.of_transport) {
            let dictionary = self.dictionary(of_transport);
            if let Some(open) = self.buffers.open.last_mut()
                && let Some(group) = dictionary.groups.get(open.group as usize)
                && let Some(number) = dictionary.number(field.tag)
                && group.layout.allowed.has(number)
            {
                if number == group.first as usize {
                    entry_is_whole(open, group, dictionary, field.offset, &mut self.sink)?;
                    open.entries += 1;
                    open.seen.clear(dictionary.fields.len());
                }
                if open.entries == 0 {
                    self.sink.found(wrong(ErrorKind::GroupOrder, field))?;
                    (open.entries, open.is_uncounted) = (1, true);
                }
                if self.rules.group_order {
                    let mut order = group.layout.order.iter();
                    let place = order.position(|member| *member as usize == number);
                    let place = place
                        .filter(|_| number != group.first as usize)
                        .unwrap_or(0);
                    if place < open.place && place > 0 {
                        self.sink.found(wrong(ErrorKind::GroupOrder, field))?;
                    }
                    open.place = place;
                }
                if !open.seen.set(number) {
                    self.sink.found(wrong(ErrorKind::RepeatedTag, field))?;
                }
                return self.value(of_transport, &group.layout, number, field);
            }
            self.close(field.offset)?;
        }
        self.outside(field)
    }

    /// Checks a field outside groups.
    fn outside(&mut self, field: &Field<'_>) -> Result<()> {
        let (transport, dictionary, layout) = (self.transport, self.dictionary, self.layout);
        let of_transport = transport.number(field.tag);
        let of_body = match std::ptr::eq(transport, dictionary) {
            true => of_transport,
            false => dictionary.number(field.tag),
        };
        if let Some(number) = of_transport.filter(|number| transport.header.allowed.has(*number)) {
            self.enter(Section::Header, number, field)?;
            return self.value(true, &transport.header, number, field);
        }
        if let Some(number) = of_body.filter(|number| layout.allowed.has(*number)) {
            self.enter(Section::Body, number, field)?;
            return self.value(false, layout, number, field);
        }
        if let Some(number) = of_transport.filter(|number| transport.trailer.allowed.has(*number)) {
            self.enter(Section::Trailer, number, field)?;
            return self.value(true, &transport.trailer, number, field);
        }
        let known = of_transport.or(of_body);
        let kind = match known {
            _ if field.value.is_empty() && !self.rules.empty => ErrorKind::EmptyValue,
            _ if field.tag >= USER_TAGS && !self.rules.user_tags && known.is_none() => {
                return Ok(());
            }
            _ if field.tag < USER_TAGS && !self.rules.unexpected => return Ok(()),
            None => ErrorKind::UnknownTag,
            Some(_) if self.is_unknown => {
                let (dictionary, number) = match of_body {
                    Some(number) => (dictionary, number),
                    None => (transport, of_transport.unwrap_or(usize::MAX)),
                };
                return match check_value(dictionary, self.rules, number, field) {
                    Ok(()) => Ok(()),
                    Err(error) => self.sink.found(error),
                };
            }
            Some(_) => ErrorKind::UnexpectedTag,
        };
        self.sink.found(wrong(kind, field))
    }

    /// A field of a section: it must be in its place, and not there already.
    #[inline]
    fn enter(&mut self, section: Section, number: usize, field: &Field<'_>) -> Result<()> {
        if section < self.section && self.rules.order {
            self.sink.found(wrong(ErrorKind::FieldOrder, field))?;
        }
        self.section = self.section.max(section);
        let seen = match section {
            Section::Header => &mut self.buffers.header,
            Section::Body => &mut self.buffers.body,
            Section::Trailer => &mut self.buffers.trailer,
        };
        match seen.set(number) {
            true => Ok(()),
            false => self.sink.found(wrong(ErrorKind::RepeatedTag, field)),
        }
    }

    /// Checks the data type and the value of a field; a count field opens a group.
    #[inline]
    fn value(
        &mut self,
        of_transport: bool,
        layout: &'v Layout,
        number: usize,
        field: &Field<'_>,
    ) -> Result<()> {
        let dictionary = self.dictionary(of_transport);
        if let Err(error) = check_value(dictionary, self.rules, number, field) {
            self.sink.found(error)?;
        }
        if field.value.is_empty() {
            return Ok(());
        }
        if !dictionary.counts.has(number) {
            return Ok(());
        }
        let Some(group) = layout.group(number) else {
            return Ok(());
        };
        self.has_groups = true;
        let stated = value::unsigned(field.value);
        // What is no number is wrong here if its type allowed it.
        if stated.is_none() && allows_text(dictionary, number, field) {
            self.sink.found(wrong(ErrorKind::Value, field))?;
        }
        let mut seen = self.buffers.spare.pop().unwrap_or_default();
        seen.clear(dictionary.fields.len());
        self.buffers.open.push(Open {
            group,
            of_transport,
            stated: stated.unwrap_or(0),
            entries: 0,
            offset: field.offset,
            seen,
            place: 0,
            is_uncounted: stated.is_none(),
        });
        Ok(())
    }

    /// Closes the innermost group.
    fn close(&mut self, at: usize) -> Result<()> {
        let Some(open) = self.buffers.open.pop() else {
            return Ok(());
        };
        let dictionary = self.dictionary(open.of_transport);
        if let Some(group) = dictionary.groups.get(open.group as usize) {
            entry_is_whole(&open, group, dictionary, at, &mut self.sink)?;
            if open.entries != open.stated && self.rules.counts && !open.is_uncounted {
                let count = dictionary.fields.get(group.count as usize);
                let tag = count.map_or(0, |field| field.tag);
                let error = Error::group_count(open.offset, tag, open.stated, open.entries);
                self.sink.found(error)?;
            }
        }
        self.buffers.spare.push(open.seen);
        Ok(())
    }

    fn finish(&mut self, end: usize) -> Result<()> {
        while !self.buffers.open.is_empty() {
            self.close(end)?;
        }
        let (transport, dictionary) = (self.transport, self.dictionary);
        for (layout, dictionary, seen) in [
            (&transport.header, transport, &self.buffers.header),
            (self.layout, dictionary, &self.buffers.body),
            (&transport.trailer, transport, &self.buffers.trailer),
        ] {
            complete(layout, seen, dictionary, end, &mut self.sink)?;
        }
        Ok(())
    }
}

/// Whether a dictionary gives a count a type that has this value.
fn allows_text(dictionary: &Dictionary, number: usize, field: &Field<'_>) -> bool {
    let known = dictionary.fields.get(number);
    known.is_none_or(|known| known.data_type.accepts(field.value))
}

/// Whether a message may have a field outside of groups.
fn allows(transport: &Dictionary, dictionary: &Dictionary, layout: &Layout, tag: u32) -> bool {
    known(transport, dictionary, layout, tag).number.is_some()
}

/// Where a field outside of groups belongs: the first section that allows it.
fn known(transport: &Dictionary, dictionary: &Dictionary, layout: &Layout, tag: u32) -> Known {
    let sections = [
        (true, transport, &transport.header),
        (false, dictionary, layout),
        (true, transport, &transport.trailer),
    ];
    let mut found = sections
        .into_iter()
        .filter_map(|(of_transport, dictionary, layout)| {
            let number = dictionary.number(tag)?;
            layout.allowed.has(number).then_some(Known {
                number: u32::try_from(number).ok(),
                of_transport,
            })
        });
    found.next().unwrap_or(Known {
        number: None,
        of_transport: true,
    })
}

/// Checks that all required fields are present.
fn complete(
    layout: &Layout,
    seen: &Bits,
    dictionary: &Dictionary,
    at: usize,
    sink: &mut impl Sink,
) -> Result<()> {
    match layout.required.lacking(seen) {
        None => Ok(()),
        Some(_) => missing(layout, seen, dictionary, at, sink),
    }
}

#[cold]
fn missing(
    layout: &Layout,
    seen: &Bits,
    dictionary: &Dictionary,
    at: usize,
    sink: &mut impl Sink,
) -> Result<()> {
    let fields = dictionary.fields.iter().enumerate();
    fields
        .filter(|(number, _)| layout.required.has(*number) && !seen.has(*number))
        .try_for_each(|(_, field)| {
            sink.found(Error::new(ErrorKind::MissingTag, at).tag_is(field.tag))
        })
}

fn entry_is_whole(
    open: &Open,
    group: &Group,
    dictionary: &Dictionary,
    at: usize,
    sink: &mut impl Sink,
) -> Result<()> {
    match open.entries {
        0 => Ok(()),
        _ => complete(&group.layout, &open.seen, dictionary, at, sink),
    }
}
