//! Nothing outside a message is read: the memory before and after it is inaccessible.
//!
//! `FIX_CASES` sets how many lengths are tested.

#![allow(unsafe_code, reason = "pages that must not be touched are mapped")]
#![allow(
    clippy::unwrap_used,
    reason = "a test that unwraps fails with the place in hand"
)]

use std::ffi::c_void;
use std::ptr;

use crate::common::{cases, framed, oracle};
use fixcore::workload::Sample;
use fixcore::{Decoder, Index, Isa, Scanner, Separators, Slot, Template};
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

/// The largest default page size of processors with these instruction sets.
const PAGE_BYTES: usize = 1 << 16;

/// A page of bytes between two inaccessible pages.
struct Guarded(*mut c_void);

impl Guarded {
    fn new() -> Self {
        let (protection, flags) = (ProtFlags::empty(), MapFlags::PRIVATE);
        // SAFETY: new memory at an address that the system chooses; only its middle is made accessible.
        unsafe {
            let start = mmap_anonymous(ptr::null_mut(), 3 * PAGE_BYTES, protection, flags).unwrap();
            let open = MprotectFlags::READ | MprotectFlags::WRITE;
            mprotect(start.cast::<u8>().add(PAGE_BYTES).cast(), PAGE_BYTES, open).unwrap();
            Self(start)
        }
    }

    fn page(&mut self) -> &mut [u8] {
        // SAFETY: the middle page, borrowed like `self`.
        unsafe {
            let start = self.0.cast::<u8>().add(PAGE_BYTES);
            std::slice::from_raw_parts_mut(start, PAGE_BYTES)
        }
    }

    /// A copy of the bytes that ends this far before the inaccessible page after it.
    fn before_end(&mut self, bytes: &[u8], gap: usize) -> &[u8] {
        let end = PAGE_BYTES - gap;
        let place = &mut self.page()[end - bytes.len()..end];
        place.copy_from_slice(bytes);
        place
    }

    /// A copy of the bytes that begins this far after the inaccessible page before it.
    fn after_start(&mut self, bytes: &[u8], gap: usize) -> &[u8] {
        let place = &mut self.page()[gap..gap + bytes.len()];
        place.copy_from_slice(bytes);
        place
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: exactly the mapped memory, which nothing borrows any more.
        unsafe { munmap(self.0, 3 * PAGE_BYTES).unwrap() };
    }
}

struct Paths {
    each: Vec<(Scanner, Decoder, Template)>,
    found: Separators,
    right: Separators,
    index: Index,
}

impl Paths {
    fn new() -> Self {
        let each = Isa::ALL.into_iter().filter_map(|isa| {
            let template = Template::builder("FIX.4.4", "D").slot(58).build();
            Some((
                Scanner::with_isa(isa)?,
                Decoder::with_isa(isa)?,
                template.with_isa(isa)?,
            ))
        });
        Self {
            each: each.collect(),
            found: Separators::new(),
            right: Separators::new(),
            index: Index::new(),
        }
    }

    /// Runs everything that reads a message on bytes with inaccessible memory around them.
    fn read(&mut self, bytes: &[u8]) {
        let fields = oracle(bytes).map(|fields| fields.len());
        let plain = Scanner::with_isa(Isa::Scalar).unwrap();
        plain.separators(bytes, &mut self.right).unwrap();
        for (scanner, decoder, template) in &mut self.each {
            scanner.separators(bytes, &mut self.found).unwrap();
            assert_eq!(self.found.soh(), self.right.soh());
            assert_eq!(self.found.equals(), self.right.equals());
            assert_eq!(self.found.sum(), self.right.sum());
            assert_eq!(scanner.sum(bytes), self.right.sum());
            scanner.positions(bytes, &mut self.found).unwrap();
            assert_eq!(self.found.soh(), self.right.soh());
            scanner.index(bytes, &mut self.index).unwrap();
            let parsed = decoder.parse(bytes).ok();
            assert_eq!(parsed.map(|message| message.len()), fields);
            // The bytes as a value that is copied into a message.
            let is_text = !bytes.is_empty() && !bytes.contains(&1);
            let written = template.encode(&[Slot::Bytes(bytes)]);
            assert_eq!(written.is_ok(), is_text);
        }
    }
}

#[test]
fn nothing_around_a_message_is_read_at_any_length_and_alignment() {
    let (mut guarded, mut paths) = (Guarded::new(), Paths::new());
    let content = Sample::MarketData.bytes();
    let text = vec![b'x'; content.len()];
    let lengths = cases(10_000).min(40_000) as usize / 20;
    for length in (0..=content.len()).filter(|length| *length < 300 || *length % 97 < lengths / 20)
    {
        for bytes in [&content[..length], &text[..length]] {
            // Every alignment of the start with a fixed end, and the other way round.
            paths.read(guarded.before_end(bytes, 0));
            paths.read(guarded.after_start(bytes, 0));
        }
    }
    for length in (0..200).step_by(if lengths < 1_000 { 13 } else { 1 }) {
        for gap in 1..=64 {
            paths.read(guarded.before_end(&content[..length], gap));
            paths.read(guarded.after_start(&content[..length], gap));
        }
    }
    for length in 1..lengths.min(PAGE_BYTES / 2) {
        let body = [b"35=D\x0158=", &vec![b'a'; length][..], b"\x01"].concat();
        let bytes = framed(&body);
        assert!(oracle(&bytes).is_some());
        paths.read(guarded.before_end(&bytes, 0));
        paths.read(guarded.after_start(&bytes, 0));
    }
}
