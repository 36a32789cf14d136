//! A log as one call: its messages and faults, in order.

use std::io::Read;

use fixcore::Decoder;

use crate::{Block, Blocks, Error, Found, Logs, Messages, Readers, Separator, next_inside, parse};

/// Reads a log to its end and calls `visit` for what is found, with its byte offset. Of a message that is not valid, what
/// begins inside it is found too.
///
/// ```
/// use fixlog::{Found, Separator, split};
///
/// let log = b"10:00:01 8=FIX.4.4|9=5|35=0|10=163|\n10:00:02 8=FIX.4.4|9=5|35";
/// let mut found = Vec::new();
/// split(&log[..], Separator::Auto, |offset, what| match what {
///     Found::Message(bytes, separator) => found.push((offset, bytes.len(), separator)),
///     Found::Bad(_) => found.push((offset, 0, &[])),
///     _ => {}
/// })?;
/// assert_eq!(found[0], (9, 26, &b"|"[..]));
/// assert_eq!(found[1].0, 45);
/// # Ok::<(), fixlog::Error>(())
/// ```
///
/// # Errors
/// [`Error::Read`]. What was found before is visited.
pub fn split(
    log: impl Read + Send,
    separator: Separator,
    mut visit: impl FnMut(u64, Found<'_>),
) -> Result<(), Error> {
    each(Readers::new([log]), separator, &mut |_, offset, found| {
        visit(offset, found);
        true
    })
}

/// The first messages of logs, at most `most` of them.
///
/// # Errors
/// Those of opening and reading a log.
pub fn collect(logs: impl Logs, separator: Separator, most: usize) -> Result<Vec<Vec<u8>>, Error> {
    let mut messages = Vec::new();
    each(logs, separator, &mut |_, _, found| {
        if let Found::Message(bytes, _) = found
            && messages.len() < most
        {
            messages.push(bytes.to_vec());
        }
        messages.len() < most
    })?;
    Ok(messages)
}

/// Visits what is found until a block ends in which `visit` returned `false`.
fn each(
    logs: impl Logs,
    separator: Separator,
    visit: &mut dyn FnMut(usize, u64, Found<'_>) -> bool,
) -> Result<(), Error> {
    let mut blocks = Blocks::new(logs, separator);
    let (mut block, mut messages, mut more) = (Block::default(), Messages::new(), true);
    let mut decoder = Decoder::new();
    while more && blocks.next(&mut block, &|| false) {
        messages.each(&block, &mut |offset, found| {
            more &= visit(block.log(), offset, found);
            match found {
                Found::Message(bytes, _) if next_inside(bytes).is_some() => {
                    parse(&mut decoder, bytes).is_ok()
                }
                _ => true,
            }
        });
        if let Some(error) = block.take_ended().and_then(|ended| ended.error) {
            return Err(error);
        }
    }
    Ok(())
}
