//! Body of the target over patches of segments that nobody vouches for.

use std::io::Cursor;

use zstdkit::patch::{self, HEADER_BYTES_MAX, PatchOptions, SegmentHeader};
use zstdkit::{DecoderOptions, Error};

use crate::plan::Plan;
use crate::zstd::check_error;

/// What a test may decode at most.
const OUTPUT_LIMIT: u64 = 4 << 20;

/// Any bytes as a patch to a small older file: it is refused with a typed error, or its headers read as they are
/// written, and so does its content. Any bytes as a newer file: the patch to it gives it back.
pub fn zstd_patch(data: &[u8]) {
    let mut plan = Plan::new(data);
    let older = plan.size(1 << 14);
    let older = plan.take(older);
    let rest = plan.rest();
    if let Ok((header, length)) = SegmentHeader::parse(rest, 0) {
        assert!(length <= HEADER_BYTES_MAX && SegmentHeader::is_at(rest));
        let written = header.to_bytes().expect("it was read");
        assert!(written == rest[..length], "another header was written");
    }
    if let Err(error) = apply(older, rest) {
        check_error(&error, rest.len());
    }
    let options = PatchOptions::default()
        .with_segment_bytes(1 << 10)
        .with_prefix_bytes_max(1 << 10);
    let mut made = Vec::new();
    patch::create(&mut Cursor::new(older), &mut &rest[..], &mut made, &options).expect("made");
    assert!(
        apply(older, &made).expect("whole") == rest,
        "another file came back"
    );
}

fn apply(older: &[u8], patch: &[u8]) -> Result<Vec<u8>, Error> {
    let options = DecoderOptions::default().with_output_limit(OUTPUT_LIMIT);
    let mut newer = Vec::new();
    match patch::apply(
        &mut Cursor::new(older),
        &mut &patch[..],
        &mut newer,
        &options,
    ) {
        Ok(_) => Ok(newer),
        Err(error) => Err(error.downcast::<Error>().expect("only of the patch")),
    }
}
