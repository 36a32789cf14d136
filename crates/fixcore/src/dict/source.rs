//! A dictionary as it was read: fields, components and messages before they are expanded, and the
//! compact text format of the built-in dictionaries.
//!
//! Each line is a version (`V`), a field with its values (`F`), a component (`C`), a message (`M`), the
//! header (`H`) or the trailer (`T`). Their contents are words: a tag, `@` and the name of a component,
//! or a tag and `(` to `)` for a group; `!` follows what is required.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::data_type::DataType;
use super::error::DictionaryError;

/// An item of a component, a message or a group. A group is enclosed by two items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    Field { tag: u32, required: bool },
    Component { number: usize, required: bool },
    Group { tag: u32, required: bool },
    GroupEnd,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourceField {
    pub(super) tag: u32,
    pub(super) name: String,
    pub(super) data_type: DataType,
    /// Values and their names.
    pub(super) values: Vec<(String, String)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SourceMessage {
    pub(super) msg_type: String,
    pub(super) name: String,
    pub(super) admin: bool,
    pub(super) items: Vec<Item>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Source {
    pub(super) begin_string: String,
    pub(super) service_pack: u8,
    pub(super) fields: Vec<SourceField>,
    pub(super) components: Vec<(String, Vec<Item>)>,
    pub(super) messages: Vec<SourceMessage>,
    pub(super) header: Vec<Item>,
    pub(super) trailer: Vec<Item>,
}

/// A word without separators.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            ' ' | '%' | '=' | '\n' | '\r' | '\t' => {
                let _ = write!(out, "%{:02x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out
}

fn unescaped(word: &str) -> Option<String> {
    let mut parts = word.split('%');
    let mut out = parts.next()?.to_owned();
    for part in parts {
        let code = u8::from_str_radix(part.get(..2)?, 16).ok()?;
        out.push(char::from(code));
        out.push_str(part.get(2..)?);
    }
    Some(out)
}

impl Source {
    /// Writes the compact text.
    pub(super) fn to_text(&self) -> String {
        let mut out = format!("V {} {}\n", self.begin_string, self.service_pack);
        for field in &self.fields {
            let _ = write!(
                out,
                "F {} {} {}",
                field.tag,
                escaped(&field.name),
                field.data_type.name()
            );
            for (value, name) in &field.values {
                let _ = write!(out, " {}={}", escaped(value), escaped(name));
            }
            out.push('\n');
        }
        for (name, items) in &self.components {
            let _ = write!(out, "C {}", escaped(name));
            self.items_to_text(items, &mut out);
        }
        for message in &self.messages {
            let (msg_type, name) = (escaped(&message.msg_type), escaped(&message.name));
            let class = if message.admin { "admin" } else { "app" };
            let _ = write!(out, "M {msg_type} {name} {class}");
            self.items_to_text(&message.items, &mut out);
        }
        out.push('H');
        self.items_to_text(&self.header, &mut out);
        out.push('T');
        self.items_to_text(&self.trailer, &mut out);
        out
    }

    fn items_to_text(&self, items: &[Item], out: &mut String) {
        let mark = |required: bool| if required { "!" } else { "" };
        for item in items {
            let _ = match item {
                Item::Field { tag, required } => write!(out, " {tag}{}", mark(*required)),
                Item::Component { number, required } => {
                    let name = self.components.get(*number).map_or("", |found| &found.0);
                    write!(out, " @{}{}", escaped(name), mark(*required))
                }
                Item::Group { tag, required } => write!(out, " {tag}({}", mark(*required)),
                Item::GroupEnd => write!(out, " )"),
            };
        }
        out.push('\n');
    }

    /// Reads the compact text.
    pub(super) fn from_text(text: &str) -> Result<Self, DictionaryError> {
        let mut source = Self::default();
        // Components may be used before they are defined.
        let mut numbers = HashMap::new();
        for line in text.lines().filter(|line| line.starts_with("C ")) {
            let name = line
                .split(' ')
                .nth(1)
                .and_then(unescaped)
                .unwrap_or_default();
            numbers.insert(name.clone(), source.components.len());
            source.components.push((name, Vec::new()));
        }
        let mut offset = 0;
        let mut component = 0;
        for line in text.lines() {
            let wrong = || DictionaryError::new("invalid line of a dictionary", offset);
            let mut words = line.split(' ');
            match words.next().unwrap_or("") {
                "V" => {
                    source.begin_string = words.next().ok_or_else(wrong)?.to_owned();
                    let pack = words.next().and_then(|word| word.parse().ok());
                    source.service_pack = pack.ok_or_else(wrong)?;
                }
                "F" => source.fields.push(field(words).ok_or_else(wrong)?),
                "C" => {
                    words.next();
                    let items = items(words, &numbers).ok_or_else(wrong)?;
                    if let Some(slot) = source.components.get_mut(component) {
                        slot.1 = items;
                    }
                    component += 1;
                }
                "M" => {
                    let mut word = || words.next().and_then(unescaped).ok_or_else(wrong);
                    let (msg_type, name, class) = (word()?, word()?, word()?);
                    source.messages.push(SourceMessage {
                        msg_type,
                        name,
                        admin: class == "admin",
                        items: items(words, &numbers).ok_or_else(wrong)?,
                    });
                }
                "H" => source.header = items(words, &numbers).ok_or_else(wrong)?,
                "T" => source.trailer = items(words, &numbers).ok_or_else(wrong)?,
                "" => {}
                _ => return Err(wrong()),
            }
            offset += line.len() + 1;
        }
        Ok(source)
    }
}

fn field<'t>(mut words: impl Iterator<Item = &'t str>) -> Option<SourceField> {
    let tag = words.next()?.parse().ok()?;
    let name = unescaped(words.next()?)?;
    let data_type = DataType::from_name(words.next()?);
    let value = |word: &str| {
        let (value, name) = word.split_once('=')?;
        Some((unescaped(value)?, unescaped(name)?))
    };
    Some(SourceField {
        tag,
        name,
        data_type,
        values: words.map(value).collect::<Option<_>>()?,
    })
}

fn items<'t>(
    words: impl Iterator<Item = &'t str>,
    numbers: &HashMap<String, usize>,
) -> Option<Vec<Item>> {
    let item = |word: &str| {
        let (word, required) = match word.strip_suffix('!') {
            Some(word) => (word, true),
            None => (word, false),
        };
        if word == ")" {
            return Some(Item::GroupEnd);
        }
        if let Some(name) = word.strip_prefix('@') {
            let number = *numbers.get(&unescaped(name)?)?;
            return Some(Item::Component { number, required });
        }
        Some(match word.strip_suffix('(') {
            Some(tag) => Item::Group {
                tag: tag.parse().ok()?,
                required,
            },
            None => Item::Field {
                tag: word.parse().ok()?,
                required,
            },
        })
    };
    words.map(item).collect()
}
