//! Archives field by field: each field of each record can say anything. What is left alone agrees.

/// 1000 times `x`, deflated: written down, for the crate's own bytes change as it gets better.
pub(crate) const DEFLATED: &[u8] = &[
    0xab, 0xa8, 0x18, 0x05, 0xa3, 0x60, 0x14, 0x0c, 0x77, 0x00, 0x00,
];
/// 2020-01-02 03:04:06, in the fields of DOS.
pub(crate) const TIME: u16 = 3 << 11 | 4 << 5 | 3;
pub(crate) const DATE: u16 = 40 << 9 | 1 << 5 | 2;
/// The same in seconds since 1970, read as UTC.
pub(crate) const SECONDS: i32 = 1_577_934_246;

pub(crate) fn crc32(content: &[u8]) -> u32 {
    let mut sum = zipstream::Crc32::new();
    sum.update(content);
    sum.sum()
}

/// An extra field.
pub(crate) fn field(id: u16, data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).expect("short");
    [&id.to_le_bytes()[..], &length.to_le_bytes(), data].concat()
}

/// A ZIP64 field of these values.
pub(crate) fn zip64(values: &[u64]) -> Vec<u8> {
    let data: Vec<u8> = values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect();
    field(1, &data)
}

/// A Unicode Path field: the name that it states, and the one that its checksum belongs to.
pub(crate) fn unicode(name: &[u8], of: &[u8]) -> Vec<u8> {
    field(0x7075, &[&[1][..], &crc32(of).to_le_bytes(), name].concat())
}

/// What local headers and directory records share.
#[derive(Debug, Clone)]
pub(crate) struct Header {
    pub(crate) needed: u16,
    pub(crate) flags: u16,
    pub(crate) method: u16,
    pub(crate) time: u16,
    pub(crate) date: u16,
    pub(crate) crc32: u32,
    pub(crate) compressed: u32,
    pub(crate) content: u32,
    pub(crate) name: Vec<u8>,
    pub(crate) extra: Vec<u8>,
    /// The stated length of the extra fields, where it is not theirs.
    pub(crate) extra_bytes: Option<u16>,
}

impl Header {
    fn put(&self, out: &mut Vec<u8>) {
        for value in [self.needed, self.flags, self.method, self.time, self.date] {
            out.extend_from_slice(&value.to_le_bytes());
        }
        for value in [self.crc32, self.compressed, self.content] {
            out.extend_from_slice(&value.to_le_bytes());
        }
        let extra = self.extra_bytes.unwrap_or(self.extra.len() as u16);
        for value in [self.name.len() as u16, extra] {
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
}

/// A directory record.
#[derive(Debug, Clone)]
pub(crate) struct Record {
    pub(crate) made_by: u16,
    pub(crate) header: Header,
    pub(crate) disk: u16,
    pub(crate) internal: u16,
    pub(crate) attributes: u32,
    pub(crate) offset: Option<u32>,
    pub(crate) comment: Vec<u8>,
}

/// An entry: its local header, its bytes, what follows them, and its record.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Bytes before its local header.
    pub(crate) before: Vec<u8>,
    pub(crate) local: Header,
    pub(crate) data: Vec<u8>,
    pub(crate) descriptor: Vec<u8>,
    /// Whether the directory has it.
    pub(crate) listed: bool,
    pub(crate) record: Record,
}

impl Entry {
    /// A stored entry.
    pub(crate) fn stored(name: &[u8], content: &[u8]) -> Self {
        let header = Header {
            needed: 20,
            flags: 0,
            method: 0,
            time: TIME,
            date: DATE,
            crc32: crc32(content),
            compressed: content.len() as u32,
            content: content.len() as u32,
            name: name.to_vec(),
            extra: Vec::new(),
            extra_bytes: None,
        };
        let directory = name.ends_with(b"/");
        Self {
            before: Vec::new(),
            local: header.clone(),
            data: content.to_vec(),
            descriptor: Vec::new(),
            listed: true,
            record: Record {
                made_by: 0x031e,
                header,
                disk: 0,
                internal: 0,
                attributes: if directory {
                    0o040_755 << 16 | 0x10
                } else {
                    0o100_644 << 16
                },
                offset: None,
                comment: Vec::new(),
            },
        }
    }

    /// A deflated entry.
    pub(crate) fn deflated(name: &[u8]) -> Self {
        let mut entry = Self::stored(name, &[b'x'; 1000]);
        entry.data = DEFLATED.to_vec();
        entry.both(|header| {
            header.method = 8;
            header.compressed = DEFLATED.len() as u32;
        });
        entry
    }

    /// Changes both headers.
    pub(crate) fn both(&mut self, change: impl Fn(&mut Header)) {
        change(&mut self.local);
        change(&mut self.record.header);
    }

    /// Checksum and sizes come after the content, as the directory has them.
    pub(crate) fn describe(&mut self, signature: bool, wide: bool) {
        self.both(|header| header.flags |= 8);
        let local = &mut self.local;
        let (crc32, compressed, content) = (local.crc32, local.compressed, local.content);
        (local.crc32, local.compressed, local.content) = (0, 0, 0);
        self.descriptor = descriptor(signature, wide, crc32, compressed, content);
    }
}

/// A descriptor.
pub(crate) fn descriptor(
    signature: bool,
    wide: bool,
    crc32: u32,
    compressed: u32,
    content: u32,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    if signature {
        bytes.extend_from_slice(b"PK\x07\x08");
    }
    bytes.extend_from_slice(&crc32.to_le_bytes());
    for size in [compressed, content] {
        bytes.extend_from_slice(&size.to_le_bytes());
        if wide {
            bytes.extend_from_slice(&[0; 4]);
        }
    }
    bytes
}

/// The end record. What is `None` is what the archive has.
#[derive(Debug, Clone, Default)]
pub(crate) struct End {
    pub(crate) disks: [u16; 2],
    pub(crate) here: Option<u16>,
    pub(crate) total: Option<u16>,
    pub(crate) bytes: Option<u32>,
    pub(crate) offset: Option<u32>,
    pub(crate) comment: Vec<u8>,
    pub(crate) comment_bytes: Option<u16>,
}

/// The ZIP64 end record and its locator.
#[derive(Debug, Clone)]
pub(crate) struct End64 {
    pub(crate) record_bytes: u64,
    pub(crate) made_by: u16,
    pub(crate) needed: u16,
    pub(crate) disks: [u32; 2],
    pub(crate) here: Option<u64>,
    pub(crate) total: Option<u64>,
    pub(crate) bytes: Option<u64>,
    pub(crate) offset: Option<u64>,
    /// Data after the fields.
    pub(crate) more: Vec<u8>,
    /// Whether there is a record.
    pub(crate) present: bool,
    /// Bytes between record and locator.
    pub(crate) between: Vec<u8>,
    pub(crate) locator: Option<Locator>,
}

impl Default for End64 {
    fn default() -> Self {
        Self {
            record_bytes: 44,
            made_by: 0x032d,
            needed: 45,
            disks: [0; 2],
            here: None,
            total: None,
            bytes: None,
            offset: None,
            more: Vec::new(),
            present: true,
            between: Vec::new(),
            locator: Some(Locator {
                disk: 0,
                offset: None,
                disks: 1,
            }),
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Locator {
    pub(crate) disk: u32,
    pub(crate) offset: Option<u64>,
    pub(crate) disks: u32,
}

/// A whole archive.
#[derive(Debug, Clone)]
pub(crate) struct Archive {
    pub(crate) prefix: Vec<u8>,
    /// Whether offsets count from the first byte of the file.
    pub(crate) shifted: bool,
    pub(crate) entries: Vec<Entry>,
    /// Bytes before the directory, in front of its last record, and after it.
    pub(crate) gap: Vec<u8>,
    pub(crate) within: Vec<u8>,
    pub(crate) after: Vec<u8>,
    /// Whether the directory has its records in the opposite order.
    pub(crate) reversed: bool,
    pub(crate) end64: Option<End64>,
    pub(crate) end: End,
    pub(crate) trailing: Vec<u8>,
}

impl Archive {
    /// These entries, and nothing wrong.
    pub(crate) fn of(entries: &[Entry]) -> Self {
        Self {
            prefix: Vec::new(),
            shifted: true,
            entries: entries.to_vec(),
            gap: Vec::new(),
            within: Vec::new(),
            after: Vec::new(),
            reversed: false,
            end64: None,
            end: End::default(),
            trailing: Vec::new(),
        }
    }

    /// Its bytes.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = self.prefix.clone();
        let base = if self.shifted { 0 } else { out.len() };
        let mut records = Vec::new();
        for entry in &self.entries {
            out.extend_from_slice(&entry.before);
            if entry.listed {
                records.push(record(&entry.record, out.len() - base));
            }
            out.extend_from_slice(b"PK\x03\x04");
            entry.local.put(&mut out);
            for part in [
                &entry.local.name,
                &entry.local.extra,
                &entry.data,
                &entry.descriptor,
            ] {
                out.extend_from_slice(part);
            }
        }
        if self.reversed {
            records.reverse();
        }
        out.extend_from_slice(&self.gap);
        let start = out.len();
        for (at, bytes) in records.iter().enumerate() {
            if at + 1 == records.len() {
                out.extend_from_slice(&self.within);
            }
            out.extend_from_slice(bytes);
        }
        let bytes = out.len() - start;
        out.extend_from_slice(&self.after);
        let (start, count) = ((start - base) as u64, records.len() as u64);
        if let Some(wide) = &self.end64 {
            wide.put(&mut out, base, count, bytes as u64, start);
        }
        self.end.put(&mut out, count, bytes as u64, start);
        out.extend_from_slice(&self.trailing);
        out
    }
}

fn record(record: &Record, offset: usize) -> Vec<u8> {
    let mut out = b"PK\x01\x02".to_vec();
    out.extend_from_slice(&record.made_by.to_le_bytes());
    record.header.put(&mut out);
    out.extend_from_slice(&(record.comment.len() as u16).to_le_bytes());
    out.extend_from_slice(&record.disk.to_le_bytes());
    out.extend_from_slice(&record.internal.to_le_bytes());
    out.extend_from_slice(&record.attributes.to_le_bytes());
    out.extend_from_slice(&record.offset.unwrap_or(offset as u32).to_le_bytes());
    for part in [&record.header.name, &record.header.extra, &record.comment] {
        out.extend_from_slice(part);
    }
    out
}

impl End64 {
    fn put(&self, out: &mut Vec<u8>, base: usize, count: u64, bytes: u64, start: u64) {
        let at = (out.len() - base) as u64;
        if self.present {
            out.extend_from_slice(b"PK\x06\x06");
            out.extend_from_slice(&self.record_bytes.to_le_bytes());
            out.extend_from_slice(&self.made_by.to_le_bytes());
            out.extend_from_slice(&self.needed.to_le_bytes());
            for disk in self.disks {
                out.extend_from_slice(&disk.to_le_bytes());
            }
            for value in [
                self.here.unwrap_or(count),
                self.total.unwrap_or(count),
                self.bytes.unwrap_or(bytes),
                self.offset.unwrap_or(start),
            ] {
                out.extend_from_slice(&value.to_le_bytes());
            }
            out.extend_from_slice(&self.more);
        }
        out.extend_from_slice(&self.between);
        if let Some(locator) = &self.locator {
            out.extend_from_slice(b"PK\x06\x07");
            out.extend_from_slice(&locator.disk.to_le_bytes());
            out.extend_from_slice(&locator.offset.unwrap_or(at).to_le_bytes());
            out.extend_from_slice(&locator.disks.to_le_bytes());
        }
    }
}

impl End {
    fn put(&self, out: &mut Vec<u8>, count: u64, bytes: u64, start: u64) {
        out.extend_from_slice(b"PK\x05\x06");
        let [disk, first] = self.disks;
        for value in [
            disk,
            first,
            self.here.unwrap_or(count as u16),
            self.total.unwrap_or(count as u16),
        ] {
            out.extend_from_slice(&value.to_le_bytes());
        }
        for value in [
            self.bytes.unwrap_or(bytes as u32),
            self.offset.unwrap_or(start as u32),
        ] {
            out.extend_from_slice(&value.to_le_bytes());
        }
        let comment = self.comment_bytes.unwrap_or(self.comment.len() as u16);
        out.extend_from_slice(&comment.to_le_bytes());
        out.extend_from_slice(&self.comment);
    }
}
