//! Headers and directory records as they are written, in forms that all programs read.

use super::meta::Meta;
use crate::format::central::{CENTRAL_BYTES, Central, OFFSET_AT};
use crate::format::{CENTRAL_SIGNATURE, LOCAL_SIGNATURE, MAX32, extra, flag, le16};
use crate::method::Method;

/// The version that a reader of ZIP64 needs, times ten.
const ZIP64_VERSION: u16 = 45;

/// Checksum and sizes of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Sizes {
    pub(crate) crc32: u32,
    pub(crate) compressed: u64,
    pub(crate) content: u64,
}

impl Sizes {
    fn is_wide(&self) -> bool {
        self.compressed.max(self.content) >= MAX32.into()
    }
}

/// How a local header states the sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// It contains them.
    Known(Sizes),
    /// A descriptor of 32 bits follows the content.
    Descriptor,
    /// A descriptor of 64 bits follows the content.
    Descriptor64,
}

impl Shape {
    pub(crate) fn is_wide(&self) -> bool {
        match self {
            Self::Known(sizes) => sizes.is_wide(),
            Self::Descriptor => false,
            Self::Descriptor64 => true,
        }
    }

    fn flags(&self) -> u16 {
        match self {
            Self::Known(_) => 0,
            Self::Descriptor | Self::Descriptor64 => flag::DESCRIPTOR,
        }
    }
}

fn version(meta: &Meta, method: Method, wide: bool) -> u16 {
    let least = if wide { ZIP64_VERSION } else { 0 };
    meta.version(method).max(least)
}

fn flags(name: &[u8], meta: &Meta, shape: &Shape) -> u16 {
    let encrypted = meta.encryption.map_or(0, |_| flag::ENCRYPTED);
    // What is neither is a name of a system whose names are bytes.
    let is_utf8 = !name.is_ascii() && std::str::from_utf8(name).is_ok();
    shape.flags() | encrypted | if is_utf8 { flag::UTF8 } else { 0 }
}

/// The value of a 32-bit field.
fn narrow(value: u64) -> [u8; 4] {
    u32::try_from(value).unwrap_or(MAX32).to_le_bytes()
}

/// Appends a local header.
pub(crate) fn put_local(out: &mut Vec<u8>, name: &[u8], meta: &Meta, method: Method, shape: Shape) {
    let wide = shape.is_wide();
    let (sizes, stated) = match shape {
        Shape::Known(sizes) if wide => (sizes, [MAX32.to_le_bytes(); 2]),
        Shape::Known(sizes) => (sizes, [narrow(sizes.compressed), narrow(sizes.content)]),
        Shape::Descriptor => (Sizes::default(), [[0; 4]; 2]),
        Shape::Descriptor64 => (Sizes::default(), [MAX32.to_le_bytes(); 2]),
    };
    let extra_bytes = meta.extra_bytes() + if wide { 20 } else { 0 };
    let mut fixed = [0; 30];
    fixed[..4].copy_from_slice(&LOCAL_SIGNATURE.to_le_bytes());
    fixed[4..6].copy_from_slice(&version(meta, method, wide).to_le_bytes());
    fixed[6..8].copy_from_slice(&flags(name, meta, &shape).to_le_bytes());
    fixed[8..10].copy_from_slice(&meta.method_code(method).to_le_bytes());
    fixed[10..12].copy_from_slice(&meta.dos.0.to_le_bytes());
    fixed[12..14].copy_from_slice(&meta.dos.1.to_le_bytes());
    fixed[14..18].copy_from_slice(&meta.stated_crc(sizes.crc32).to_le_bytes());
    fixed[18..22].copy_from_slice(&stated[0]);
    fixed[22..26].copy_from_slice(&stated[1]);
    // The name's length was checked, and the extra fields are short.
    fixed[26..28].copy_from_slice(&(name.len() as u16).to_le_bytes());
    fixed[28..30].copy_from_slice(&(extra_bytes as u16).to_le_bytes());
    out.extend_from_slice(&fixed);
    out.extend_from_slice(name);
    if let Some(modified) = meta.modified {
        extra::put_times(out, modified);
    }
    if let Some(owner) = meta.owner {
        owner.put(out);
    }
    if wide {
        extra::put_zip64(out, &[sizes.content, sizes.compressed]);
    }
    // It comes last: it ends with the method, which may still change.
    if let Some(encryption) = meta.encryption {
        encryption.field(method).put(out);
    }
}

/// Appends a directory record.
pub(crate) fn put_central(
    out: &mut Vec<u8>,
    name: &[u8],
    meta: &Meta,
    method: Method,
    shape: Shape,
    sizes: &Sizes,
    offset: u64,
) {
    let mut wide = [0; 3];
    let mut count = 0;
    for value in [sizes.content, sizes.compressed, offset] {
        if value >= MAX32.into() {
            wide[count] = value;
            count += 1;
        }
    }
    let wide = &wide[..count];
    let extra_bytes = meta.extra_bytes() + if count > 0 { 4 + 8 * count } else { 0 };
    let needed = version(meta, method, count > 0 || shape.is_wide());
    let mut fixed = [0; CENTRAL_BYTES];
    fixed[..4].copy_from_slice(&CENTRAL_SIGNATURE.to_le_bytes());
    fixed[4..6].copy_from_slice(&meta.made_by.to_le_bytes());
    fixed[6..8].copy_from_slice(&needed.to_le_bytes());
    fixed[8..10].copy_from_slice(&flags(name, meta, &shape).to_le_bytes());
    fixed[10..12].copy_from_slice(&meta.method_code(method).to_le_bytes());
    fixed[12..14].copy_from_slice(&meta.dos.0.to_le_bytes());
    fixed[14..16].copy_from_slice(&meta.dos.1.to_le_bytes());
    fixed[16..20].copy_from_slice(&meta.stated_crc(sizes.crc32).to_le_bytes());
    fixed[20..24].copy_from_slice(&narrow(sizes.compressed));
    fixed[24..28].copy_from_slice(&narrow(sizes.content));
    fixed[28..30].copy_from_slice(&(name.len() as u16).to_le_bytes());
    fixed[30..32].copy_from_slice(&(extra_bytes as u16).to_le_bytes());
    fixed[36..38].copy_from_slice(&u16::from(meta.text).to_le_bytes());
    fixed[38..42].copy_from_slice(&meta.attributes.to_le_bytes());
    fixed[OFFSET_AT..].copy_from_slice(&narrow(offset));
    out.extend_from_slice(&fixed);
    out.extend_from_slice(name);
    if let Some(modified) = meta.modified {
        extra::put_times(out, modified);
    }
    if let Some(owner) = meta.owner {
        owner.put(out);
    }
    if count > 0 {
        extra::put_zip64(out, wide);
    }
    if let Some(encryption) = meta.encryption {
        encryption.field(method).put(out);
    }
}

/// Appends records whose offsets count from `base`; returns their number.
pub(crate) fn put_shifted(directory: &mut Vec<u8>, mut records: &[u8], base: u64) -> u64 {
    let mut count = 0;
    while let Some(record) = Central::parse(records) {
        let (bytes, after) = records.split_at(record.total_bytes());
        let start = directory.len();
        let offset = base + u64::from(record.offset);
        directory.extend_from_slice(bytes);
        let at = start + OFFSET_AT;
        directory[at..at + 4].copy_from_slice(&narrow(offset));
        if offset >= MAX32.into() {
            extra::put_zip64(directory, &[offset]);
            let extra_bytes = (record.extra.len() + 12) as u16;
            directory[start + 30..start + 32].copy_from_slice(&extra_bytes.to_le_bytes());
            let needed = ZIP64_VERSION.max(le16(bytes, 6));
            directory[start + 6..start + 8].copy_from_slice(&needed.to_le_bytes());
        }
        records = after;
        count += 1;
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::options::{ArchiveOptions, EntryOptions};

    #[test]
    fn records_beyond_4_gib_gain_a_zip64_field() {
        let mut options = EntryOptions::new(Method::Deflate);
        options.modified = Some(1_000_000_000);
        let meta = options.meta(&ArchiveOptions::default()).unwrap();
        let sizes = Sizes {
            crc32: 1,
            compressed: 2,
            content: 3,
        };
        let shape = Shape::Known(sizes);
        for base in [0_u64, u64::from(MAX32) - 5, 1 << 40] {
            let (mut relative, mut shifted, mut direct) = (Vec::new(), Vec::new(), Vec::new());
            for (name, offset) in [(&b"a"[..], 0), (b"bb", 5), (b"ccc", 9)] {
                let method = Method::Deflate;
                put_central(&mut relative, name, &meta, method, shape, &sizes, offset);
                let offset = base + offset;
                put_central(&mut direct, name, &meta, method, shape, &sizes, offset);
            }
            assert_eq!(put_shifted(&mut shifted, &relative, base), 3);
            assert_eq!(shifted, direct, "base {base}");
        }
    }
}
