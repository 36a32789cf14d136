//! A store of QuickFIX becomes one of perfkit: the same numbers, the same messages.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use fixcore::store::{Durability, Options, Store, StoreError, is_store};
use fixcore::{Frame, Framer, Timestamp};

use super::parts::{FileFormat, ForeignError, Index, Numbers, Place, found, path, prefix_of};
use super::{quickfix, quickfix_j};

/// What was taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Imported {
    /// Whose files they were.
    pub format: FileFormat,
    /// How many messages there are.
    pub messages: u64,
    /// Their total size.
    pub message_bytes: u64,
    /// How many messages were left out, because a later one has their number.
    pub replaced: u64,
    /// The number of the next message to send.
    pub next_sender: u64,
    /// The number expected in the next message from the other side.
    pub next_target: u64,
    /// When the numbers began.
    pub created: Timestamp,
    /// The last message had the number that was to be sent next: the engine was stopped between both writes. The next
    /// number is the one after it.
    pub is_raised: bool,
    /// The message that was to be sent next was stated, and not written: the engine was stopped before. It was not sent,
    /// and is left out.
    pub is_dropped: bool,
}

/// The longest message that is taken over.
const MESSAGE_BYTES_MAX: u64 = 8 << 20;
/// The size of the segments of the new store.
const SEGMENT_BYTES: usize = 16 << 20;

/// Takes over the files of QuickFIX or QuickFIX/J whose names begin with `prefix` into a new store in `dir`,
/// which must not exist or be empty; with `overwrite` it may be a store that is not open, which is replaced. Every
/// message is checked; the store is on the disk, or nothing has changed.
///
/// # Errors
///
/// There are no such files, one is damaged (with its place), `dir` has something in it, or the system refuses.
pub fn import(prefix: &Path, dir: &Path, overwrite: bool) -> Result<Imported, ForeignError> {
    let prefix = prefix_of(prefix);
    let (index, numbers, format) = match found(&prefix) {
        None => return Err(ForeignError::NotFound { prefix }),
        Some(FileFormat::QuickFixJ) => {
            let numbers = quickfix_j::numbers(&prefix)?;
            (quickfix_j::index(&prefix)?, numbers, FileFormat::QuickFixJ)
        }
        Some(FileFormat::QuickFix | FileFormat::QuickFix115) => {
            let (numbers, format) = quickfix::numbers(&prefix)?;
            (quickfix::index(&prefix)?, numbers, format)
        }
    };
    let mut index = index;
    let is_dropped = drop_unwritten(&prefix, &mut index, numbers.next_sender)?;
    let (numbers, is_raised) = raised(&prefix, &index, numbers)?;
    let made = Made::new(dir, overwrite)?;
    let message_bytes = fill(&prefix, &index, numbers, &made.temporary)?;
    made.rename()?;
    Ok(Imported {
        format,
        messages: index.places.len() as u64,
        message_bytes,
        replaced: index.replaced,
        next_sender: numbers.next_sender,
        next_target: numbers.next_target,
        created: numbers.created,
        is_raised,
        is_dropped,
    })
}

/// Drops the message that was to be sent next if its bytes are not in the body: the engine was stopped after it had
/// stated the place and before it had written the message, which it sends only then. Returns whether there was one.
fn drop_unwritten(prefix: &Path, index: &mut Index, next: u64) -> Result<bool, ForeignError> {
    let body = path(prefix, "body");
    let metadata = fs::metadata(&body).map_err(ForeignError::io("read", &body))?;
    let is_unwritten = index.places.get(&next).is_some_and(|place| {
        let end = place.offset.checked_add(place.bytes);
        place.offset <= metadata.len() && end.is_some_and(|end| end > metadata.len())
    });
    if is_unwritten {
        index.places.remove(&next);
    }
    Ok(is_unwritten)
}

/// The numbers, if no message has one that is not used yet. An engine keeps a message before it raises the next
/// number: one message may be ahead.
fn raised(prefix: &Path, index: &Index, numbers: Numbers) -> Result<(Numbers, bool), ForeignError> {
    let next = numbers.next_sender;
    let mut ahead = index.places.range(next..);
    match (ahead.next(), ahead.next()) {
        (None, _) => Ok((numbers, false)),
        (Some((number, _)), None) if *number == next && next < u64::MAX => {
            let next_sender = next + 1;
            let numbers = Numbers {
                next_sender,
                ..numbers
            };
            Ok((numbers, true))
        }
        (Some((number, place)), _) => {
            let what = format!("message {number}, but the next number to send is {next}");
            let header = path(prefix, "header");
            Err(ForeignError::damaged(&header, place.stated_at, what))
        }
    }
}

/// A directory that gets its name when it is complete.
struct Made {
    temporary: PathBuf,
    dir: PathBuf,
    is_done: bool,
}

impl Made {
    fn new(dir: &Path, overwrite: bool) -> Result<Self, ForeignError> {
        let exists = || ForeignError::Exists {
            path: dir.to_owned(),
        };
        match fs::read_dir(dir) {
            Ok(mut entries) => {
                let is_replaced = overwrite && is_store(dir)?;
                if entries.next().is_some() && !is_replaced {
                    return Err(exists());
                }
            }
            Err(_) if fs::symlink_metadata(dir).is_ok() => return Err(exists()),
            Err(_) => {}
        }
        // Without a trailing separator and with a parent, whatever the path.
        let dir: PathBuf = dir.components().collect();
        let name = dir.file_name().unwrap_or_default().to_string_lossy();
        let temporary = dir.with_file_name(format!(".{name}.{}.import", std::process::id()));
        if let Some(parent) = temporary
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
        {
            fs::create_dir_all(parent).map_err(ForeignError::io("create", parent))?;
        }
        fs::create_dir(&temporary).map_err(ForeignError::io("create", &temporary))?;
        Ok(Self {
            temporary,
            dir,
            is_done: false,
        })
    }

    fn rename(mut self) -> Result<(), ForeignError> {
        // What is replaced is not open, and is away in one step.
        let old = self.temporary.with_extension("old");
        let is_replaced = self.dir.is_dir() && is_store(&self.dir)?;
        if is_replaced {
            let lock = match Store::open(&self.dir, Options::default()) {
                Err(error @ StoreError::Locked { .. }) => return Err(error.into()),
                other => other.ok(),
            };
            let renamed = fs::rename(&self.dir, &old);
            renamed.map_err(ForeignError::io("rename", &self.dir))?;
            drop(lock);
        }
        let renamed = fs::rename(&self.temporary, &self.dir);
        renamed.map_err(ForeignError::io("rename to", &self.dir))?;
        self.is_done = true;
        sync_parent(&self.dir);
        if is_replaced {
            let _ = fs::remove_dir_all(&old);
        }
        Ok(())
    }
}

/// Makes the name durable. Systems that refuse this keep it by themselves.
pub(super) fn sync_parent(path: &Path) {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let _ = File::open(parent).and_then(|parent| parent.sync_all());
}

impl Drop for Made {
    fn drop(&mut self) {
        if !self.is_done {
            let _ = fs::remove_dir_all(&self.temporary);
        }
    }
}

/// Fills a new store, and returns how many bytes its messages have.
fn fill(prefix: &Path, index: &Index, numbers: Numbers, dir: &Path) -> Result<u64, ForeignError> {
    let body_path = path(prefix, "body");
    let header = path(prefix, "header");
    let mut body = File::open(&body_path).map_err(ForeignError::io("open", &body_path))?;
    let length = body
        .metadata()
        .map_err(ForeignError::io("read", &body_path))?
        .len();
    let options = Options::default()
        .durability(Durability::Batch)
        .segment_bytes(SEGMENT_BYTES)
        .created(numbers.created);
    let mut store = Store::open(dir, options)?;
    let mut message = Vec::new();
    let mut total = 0;
    let mut at = 0;
    for (number, place) in &index.places {
        let Place {
            offset,
            bytes,
            stated_at,
        } = *place;
        let is_within = offset.checked_add(bytes).is_some_and(|end| end <= length);
        if bytes > MESSAGE_BYTES_MAX || !is_within {
            let what = format!(
                "message {number} is stated at byte {offset} of the body with {bytes} bytes, which has {length}"
            );
            return Err(ForeignError::damaged(&header, stated_at, what));
        }
        if at != offset {
            let sought = body.seek(SeekFrom::Start(offset));
            sought.map_err(ForeignError::io("read", &body_path))?;
        }
        message.clear();
        let read = (&mut body).take(bytes).read_to_end(&mut message);
        read.map_err(ForeignError::io("read", &body_path))?;
        at = offset + bytes;
        check(&message, *number).map_err(|what| ForeignError::damaged(&body_path, offset, what))?;
        if *number > store.next_sender() {
            store.set_next_sender(*number)?;
        }
        store.append(*number, &message)?;
        total += bytes;
    }
    if numbers.next_sender > store.next_sender() {
        store.set_next_sender(numbers.next_sender)?;
    }
    store.set_next_target(numbers.next_target)?;
    store.sync()?;
    Ok(total)
}

/// Whether bytes are one message with this number; says what is wrong.
fn check(message: &[u8], number: u64) -> Result<(), String> {
    let mut framer = Framer::new();
    framer.push(message);
    framer.end();
    match framer.next_frame() {
        Some(Frame::Message { bytes, .. }) if bytes.len() == message.len() => {}
        Some(Frame::Skipped { why: Some(why), .. }) => {
            return Err(format!("message {number} is not a FIX message: {why}"));
        }
        _ => return Err(format!("message {number} is not one FIX message")),
    }
    let stated_sum = message
        .len()
        .checked_sub(4)
        .and_then(|at| message.get(at..at + 3));
    let sum = message
        .len()
        .checked_sub(7)
        .and_then(|end| message.get(..end));
    let sum = fixcore::frame::checksum(sum.unwrap_or_default());
    if stated_sum != Some(format!("{sum:03}").as_bytes()) {
        let stated = stated_sum.unwrap_or_default().escape_ascii();
        return Err(format!(
            "CheckSum (10) of message {number}: stated {stated}, computed {sum:03}"
        ));
    }
    let mut fields = message.split(|byte| *byte == fixcore::SOH);
    let stated = fields.find_map(|field| field.strip_prefix(b"34="));
    let stated = stated.unwrap_or_default();
    if super::parts::decimal(stated) != Some(number) {
        let stated = stated.escape_ascii();
        return Err(format!(
            "MsgSeqNum (34) of message {number}: stated '{stated}'"
        ));
    }
    Ok(())
}
