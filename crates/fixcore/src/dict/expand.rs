//! Turns a source into layouts: replaces components by their fields, and merges equal groups.

use std::collections::HashMap;

use super::error::DictionaryError;
use super::layout::{Bits, Group, GroupId, Layout};
use super::source::{Item, Source};

/// How deep components and groups may nest.
const DEPTH_MAX: usize = 64;
/// How many items all components together may expand to.
const ITEMS_MAX: usize = 1 << 22;

/// The members of a message or a group while they are collected.
#[derive(Debug, Default, Clone, PartialEq, Eq, Hash)]
struct Members {
    count: Option<(usize, bool)>,
    fields: Vec<(usize, bool, Option<GroupId>)>,
    /// Whether everything around the group is required.
    outside: bool,
}

/// Adds a field to the innermost open group or message.
fn add(members: &mut [Members], field: (usize, bool, Option<GroupId>)) {
    if let Some(last) = members.last_mut() {
        last.fields.push(field);
    }
}

/// Turns items into layouts.
pub(super) struct Expander<'s> {
    source: &'s Source,
    /// The numbers of fields by tag.
    fields: &'s HashMap<u32, usize>,
    pub(super) groups: Vec<Group>,
    known: HashMap<Members, GroupId>,
    left: usize,
}

impl<'s> Expander<'s> {
    pub(super) fn new(source: &'s Source, fields: &'s HashMap<u32, usize>) -> Self {
        Self {
            source,
            fields,
            groups: Vec::new(),
            known: HashMap::new(),
            left: ITEMS_MAX,
        }
    }

    /// The layout of some items.
    pub(super) fn layout(&mut self, items: &[Item]) -> Result<Layout, DictionaryError> {
        let wrong = |message: &str| Err(DictionaryError::new(message, 0));
        // Open lists of items: the rest of each, and whether all of it is required.
        let mut open: Vec<(&[Item], bool)> = vec![(items, true)];
        let mut members = vec![Members::default()];
        while let Some((items, all_required)) = open.last_mut() {
            let Some((item, rest)) = items.split_first() else {
                open.pop();
                continue;
            };
            *items = rest;
            self.left = match self.left.checked_sub(1) {
                Some(left) => left,
                None => return wrong("components expand to too many fields"),
            };
            match *item {
                Item::Field { tag, required } => {
                    let required = required && *all_required;
                    let field = self.field(tag)?;
                    add(&mut members, (field, required, None));
                }
                Item::Group { tag, required } => {
                    let count = Some((self.field(tag)?, required && *all_required));
                    let outside = std::mem::replace(all_required, true);
                    members.push(Members {
                        count,
                        fields: Vec::new(),
                        outside,
                    });
                }
                Item::GroupEnd => {
                    let Some(group) = members.pop().filter(|_| !members.is_empty()) else {
                        return wrong("end of a group that has not begun");
                    };
                    *all_required = group.outside;
                    let (count, required) = group.count.unwrap_or_default();
                    let id = self.group(group)?;
                    add(&mut members, (count, required, Some(id)));
                }
                Item::Component { number, required } => {
                    let required = required && *all_required;
                    let inner = self.source.components.get(number);
                    open.push((inner.map_or(&[][..], |inner| &inner.1), required));
                }
            }
            if open.len() > DEPTH_MAX || members.len() > DEPTH_MAX {
                return wrong("components or groups nest too deep");
            }
        }
        match (members.pop(), members.is_empty()) {
            (Some(whole), true) => Ok(self.finish(&whole)),
            _ => wrong("group without an end"),
        }
    }

    fn field(&self, tag: u32) -> Result<usize, DictionaryError> {
        let found = self.fields.get(&tag).copied();
        found.ok_or_else(|| DictionaryError::new(format!("undefined field: tag {tag}"), 0))
    }

    fn finish(&self, members: &Members) -> Layout {
        let mut layout = Layout {
            allowed: Bits::new(self.fields.len()),
            required: Bits::new(self.fields.len()),
            groups: Vec::new(),
            order: members
                .fields
                .iter()
                .map(|member| member.0 as u32)
                .collect(),
        };
        for (field, required, group) in &members.fields {
            layout.allowed.set(*field);
            if *required {
                layout.required.set(*field);
            }
            layout
                .groups
                .extend(group.map(|group| (*field as u32, group)));
        }
        layout.groups.sort_unstable();
        layout
    }

    /// The number of a group; groups with the same members share one.
    fn group(&mut self, mut members: Members) -> Result<GroupId, DictionaryError> {
        members.outside = true;
        members.count = members.count.map(|count| (count.0, false));
        if let Some(known) = self.known.get(&members) {
            return Ok(*known);
        }
        let Some(first) = members.fields.first() else {
            return Err(DictionaryError::new("group without fields", 0));
        };
        let (first, layout) = (first.0, self.finish(&members));
        let mut all = layout.allowed.clone();
        for (_, inner) in &layout.groups {
            if let Some(inner) = self.groups.get(*inner as usize) {
                all.add(&inner.all);
            }
        }
        let id = self.groups.len() as GroupId;
        self.groups.push(Group {
            count: members.count.unwrap_or_default().0 as u32,
            first: first as u32,
            layout,
            all,
        });
        self.known.insert(members, id);
        Ok(id)
    }
}
