//! Reads dictionaries in the XML format of QuickFIX.

use std::collections::HashMap;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::data_type::DataType;
use super::error::DictionaryError;
use super::source::{Item, Source, SourceField, SourceMessage};

/// How deep elements may nest.
const DEPTH_MAX: usize = 64;

/// An item by name, because fields are defined after the messages that use them.
enum Named {
    Field(String, bool),
    Component(String, bool),
    Group(String, bool),
    GroupEnd,
}

/// What the current items belong to.
#[derive(Clone, PartialEq, Eq)]
enum Owner {
    Header,
    Trailer,
    Message(usize),
    Component(usize),
}

#[derive(Default)]
struct Reading {
    source: Source,
    path: Vec<String>,
    owner: Option<Owner>,
    /// Items with their places in the file.
    items: Vec<(Named, usize)>,
    read: Vec<(Owner, Vec<(Named, usize)>)>,
    offset: usize,
}

/// Reads a dictionary.
pub(super) fn read(xml: &str) -> Result<Source, DictionaryError> {
    let mut reader = Reader::from_str(xml);
    let mut reading = Reading::default();
    loop {
        reading.offset = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        let event = reader.read_event();
        match event.map_err(|error| reading.wrong(&error.to_string()))? {
            Event::Start(element) => {
                reading.open(&element)?;
                if reading.path.len() > DEPTH_MAX {
                    return Err(reading.wrong("elements nest too deep"));
                }
            }
            Event::Empty(element) => {
                reading.open(&element)?;
                reading.close();
            }
            Event::End(_) => reading.close(),
            Event::Eof => break,
            _ => {}
        }
    }
    if reading.source.begin_string.is_empty() {
        return Err(reading.wrong("not a QuickFIX dictionary"));
    }
    if !reading.path.is_empty() {
        return Err(reading.wrong("unexpected end of file inside an element"));
    }
    reading.resolve()
}

impl Reading {
    fn wrong(&self, message: &str) -> DictionaryError {
        DictionaryError::new(message, self.offset)
    }

    fn attribute(&self, element: &BytesStart<'_>, name: &str) -> Result<String, DictionaryError> {
        let found = self.optional(element, name)?;
        found.ok_or_else(|| self.wrong(&format!("missing attribute '{name}'")))
    }

    fn optional(
        &self,
        element: &BytesStart<'_>,
        name: &str,
    ) -> Result<Option<String>, DictionaryError> {
        for attribute in element.attributes() {
            let attribute = attribute.map_err(|error| self.wrong(&error.to_string()))?;
            if attribute.key.as_ref() == name.as_bytes() {
                let value = std::str::from_utf8(&attribute.value)
                    .map_err(|_| self.wrong("attribute is not UTF-8"))?;
                let value = quick_xml::escape::unescape(value);
                let value = value.map_err(|error| self.wrong(&error.to_string()))?;
                return Ok(Some(value.into_owned()));
            }
        }
        Ok(None)
    }

    fn open(&mut self, element: &BytesStart<'_>) -> Result<(), DictionaryError> {
        let name = String::from_utf8_lossy(element.name().as_ref()).into_owned();
        let parents: Vec<&str> = self.path.iter().map(String::as_str).collect();
        match (parents.as_slice(), name.as_str()) {
            ([], "fix") => self.version(element)?,
            ([], _) => {
                return Err(self.wrong("not a QuickFIX dictionary: the first element is not <fix>"));
            }
            (["fix"], "header") => self.owner = Some(Owner::Header),
            (["fix"], "trailer") => self.owner = Some(Owner::Trailer),
            (["fix", "messages"], "message") => {
                self.owner = Some(Owner::Message(self.source.messages.len()));
                let class = self.optional(element, "msgcat")?;
                let message = SourceMessage {
                    msg_type: self.attribute(element, "msgtype")?,
                    name: self.attribute(element, "name")?,
                    admin: class.as_deref() == Some("admin"),
                    items: Vec::new(),
                };
                self.source.messages.push(message);
            }
            (["fix", "components"], "component") => {
                self.owner = Some(Owner::Component(self.source.components.len()));
                let name = self.attribute(element, "name")?;
                self.source.components.push((name, Vec::new()));
            }
            (["fix", "fields"], "field") => self.field(element)?,
            (["fix", "fields", "field"], "value") => {
                let value = self.attribute(element, "enum")?;
                let name = self.optional(element, "description")?.unwrap_or_default();
                if let Some(field) = self.source.fields.last_mut() {
                    field.values.push((value, name));
                }
            }
            (_, "field" | "group" | "component") if self.owner.is_some() => {
                self.item(element, &name)?;
            }
            _ => {}
        }
        self.path.push(name);
        Ok(())
    }

    fn version(&mut self, element: &BytesStart<'_>) -> Result<(), DictionaryError> {
        let family = self.optional(element, "type")?.unwrap_or("FIX".to_owned());
        let major = self.attribute(element, "major")?;
        let minor = self.attribute(element, "minor")?;
        self.source.begin_string = format!("{family}.{major}.{minor}");
        let pack = self.optional(element, "servicepack")?;
        self.source.service_pack = pack.and_then(|pack| pack.parse().ok()).unwrap_or(0);
        Ok(())
    }

    fn field(&mut self, element: &BytesStart<'_>) -> Result<(), DictionaryError> {
        let number = self.attribute(element, "number")?;
        let tag = number
            .parse()
            .ok()
            .filter(|tag| (1..1_000_000_000).contains(tag));
        let tag = tag.ok_or_else(|| self.wrong(&format!("invalid tag '{number}'")))?;
        let field = SourceField {
            tag,
            name: self.attribute(element, "name")?,
            data_type: DataType::from_name(&self.attribute(element, "type")?),
            values: Vec::new(),
        };
        self.source.fields.push(field);
        Ok(())
    }

    fn item(&mut self, element: &BytesStart<'_>, kind: &str) -> Result<(), DictionaryError> {
        let name = self.attribute(element, "name")?;
        let required = self.optional(element, "required")?.as_deref() == Some("Y");
        let item = match kind {
            "field" => Named::Field(name, required),
            "group" => Named::Group(name, required),
            _ => Named::Component(name, required),
        };
        self.items.push((item, self.offset));
        Ok(())
    }

    fn close(&mut self) {
        let Some(name) = self.path.pop() else {
            return;
        };
        // An item is a direct child of its owner or nested deeper; an owner is at most the third element.
        let ends = match self.path.len() {
            1 => matches!(name.as_str(), "header" | "trailer"),
            2 => matches!(name.as_str(), "message" | "component"),
            _ => false,
        };
        if ends {
            if let Some(owner) = self.owner.take() {
                self.read.push((owner, std::mem::take(&mut self.items)));
            }
        } else if name == "group" && self.owner.is_some() {
            self.items.push((Named::GroupEnd, self.offset));
        }
    }

    /// Replaces names by tags and numbers.
    fn resolve(mut self) -> Result<Source, DictionaryError> {
        let fields = self.source.fields.iter();
        let tags: HashMap<&str, u32> = fields
            .map(|field| (field.name.as_str(), field.tag))
            .collect();
        let components = self.source.components.iter().enumerate();
        let numbers: HashMap<&str, usize> = components
            .map(|(number, component)| (component.0.as_str(), number))
            .collect();
        let tag = |name: &str, offset| {
            let missing = || DictionaryError::new(format!("undefined field '{name}'"), offset);
            tags.get(name).copied().ok_or_else(missing)
        };
        let mut resolved = Vec::new();
        for (owner, items) in self.read {
            let mut out = Vec::with_capacity(items.len());
            for (item, offset) in items {
                out.push(match item {
                    Named::Field(name, required) => Item::Field {
                        tag: tag(&name, offset)?,
                        required,
                    },
                    Named::Group(name, required) => Item::Group {
                        tag: tag(&name, offset)?,
                        required,
                    },
                    Named::GroupEnd => Item::GroupEnd,
                    Named::Component(name, required) => {
                        let number = numbers.get(name.as_str()).copied();
                        let missing = format!("undefined component '{name}'");
                        let number = number.ok_or(DictionaryError::new(missing, offset))?;
                        Item::Component { number, required }
                    }
                });
            }
            resolved.push((owner, out));
        }
        for (owner, items) in resolved {
            let slot = match owner {
                Owner::Header => Some(&mut self.source.header),
                Owner::Trailer => Some(&mut self.source.trailer),
                Owner::Message(at) => self
                    .source
                    .messages
                    .get_mut(at)
                    .map(|found| &mut found.items),
                Owner::Component(at) => {
                    self.source.components.get_mut(at).map(|found| &mut found.1)
                }
            };
            if let Some(slot) = slot {
                *slot = items;
            }
        }
        Ok(self.source)
    }
}
