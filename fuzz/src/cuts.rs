//! Files given to a decoder in parts: what the targets over decoders without I/O share.

/// What one call of a decoder did: bytes consumed, bytes produced, and whether it has more output from input that it
/// has consumed.
pub(crate) type Step = (usize, usize, bool);

/// The content of a file that a decoder gets in parts of at most `input` bytes, with room for `room` bytes a call;
/// none if it is longer than `limit`.
pub(crate) fn read<E>(
    file: &[u8],
    (input, room): (usize, usize),
    limit: usize,
    mut step: impl FnMut(&[u8], &mut [u8]) -> Result<Step, E>,
) -> Option<Result<Vec<u8>, E>> {
    let (input, room) = (input.max(1), room.max(1));
    let mut out = Vec::new();
    for mut part in file.chunks(input) {
        loop {
            let filled = out.len();
            if filled > limit {
                return None;
            }
            out.resize(filled + room, 0);
            let (consumed, produced, has_more) = match step(part, &mut out[filled..]) {
                Ok(step) => step,
                Err(error) => return Some(Err(error)),
            };
            assert!(
                consumed + produced > 0 || part.is_empty() || has_more,
                "it stands still"
            );
            out.truncate(filled + produced);
            part = &part[consumed..];
            if part.is_empty() && !has_more {
                break;
            }
        }
    }
    Some(Ok(out))
}
