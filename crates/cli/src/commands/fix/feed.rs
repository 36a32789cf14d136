//! The application messages of a log on their way to live sessions: read on a thread of its own, for no timer of
//! a session may wait for a file.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use fixcore::{Decoder, Message, Timestamp};
use fixlog::{Block, Blocks, Error, Found, Messages, Separator};
use fixsession::SessionId;

use crate::commands::fix_logs::Inputs;

/// Messages that are read ahead.
const AHEAD_MAX: usize = 1024;

/// A message to send.
#[derive(Debug)]
pub(super) struct Item {
    /// The session, by its place in the list.
    pub(super) session: usize,
    pub(super) msg_type: Vec<u8>,
    pub(super) body: Vec<u8>,
    /// SendingTime (52).
    pub(super) sent: Option<Timestamp>,
}

/// What the thread found.
#[derive(Debug)]
pub(super) enum Fed {
    Item(Item),
    /// An invalid message at this byte.
    Bad(u64, String),
    /// A message that is not sent: an administrative one, or one of the other side.
    PassedOver,
    /// A message of a session that the settings do not have: its SenderCompID and TargetCompID.
    Foreign(String, String),
    /// The end of the log after so many bytes.
    Ended(u64, Option<Error>),
}

/// Reads a log for these sessions.
pub(super) fn start(
    file: PathBuf,
    separator: Separator,
    decoder: Decoder,
    sessions: Vec<SessionId>,
) -> std::io::Result<Receiver<Fed>> {
    let (to, fed) = sync_channel(AHEAD_MAX);
    std::thread::Builder::new()
        .name("feed".to_owned())
        .spawn(move || read(file, separator, decoder, &sessions, &to))?;
    Ok(fed)
}

fn read(
    file: PathBuf,
    separator: Separator,
    mut decoder: Decoder,
    sessions: &[SessionId],
    to: &SyncSender<Fed>,
) {
    let files = [file];
    let mut blocks = Blocks::new(Inputs(&files), separator);
    let (mut block, mut messages) = (Block::default(), Messages::new());
    // The receiver is gone when the command ends.
    let mut gone = false;
    while !gone && blocks.next(&mut block, &|| false) {
        messages.each(&block, &mut |offset, found| {
            let fed = match found {
                Found::Bad(why) => Fed::Bad(offset, why.to_string()),
                Found::Message(bytes, _) => match decoder.parse(bytes) {
                    Ok(message) => to_send(&message, sessions),
                    Err(error) => Fed::Bad(offset, error.to_string()),
                },
                _ => return,
            };
            gone = gone || to.send(fed).is_err();
        });
        if let Some(ended) = block.take_ended() {
            gone = gone || to.send(Fed::Ended(ended.bytes, ended.error)).is_err();
        }
    }
}

/// What to do with a message.
fn to_send(message: &Message<'_, '_>, sessions: &[SessionId]) -> Fed {
    let msg_type = message.msg_type();
    if matches!(msg_type, b"0" | b"1" | b"2" | b"3" | b"4" | b"5" | b"A") {
        return Fed::PassedOver;
    }
    let name = |tag| message.get(tag).unwrap_or_default();
    let (sender, target) = (name(49), name(56));
    let is = |id: &SessionId, sender: &[u8], target: &[u8]| {
        id.sender.as_bytes() == sender && id.target.as_bytes() == target
    };
    let session = sessions.iter().position(|id| is(id, sender, target));
    if session.is_none() && sessions.iter().any(|id| is(id, target, sender)) {
        return Fed::PassedOver;
    }
    // A log of other names is sent under those of the only session.
    let Some(session) = session.or((sessions.len() == 1).then_some(0)) else {
        let text = |name| String::from_utf8_lossy(name).into_owned();
        return Fed::Foreign(text(sender), text(target));
    };
    item(message, session).map_or(Fed::PassedOver, Fed::Item)
}

/// What to send of a message.
fn item(message: &Message<'_, '_>, session: usize) -> Option<Item> {
    // Behind 8, 9 and 35, before 10.
    let (start, end) = (message.field(3)?.offset, message.fields().last()?.offset);
    Some(Item {
        session,
        msg_type: message.msg_type().to_vec(),
        body: message.bytes().get(start..end)?.to_vec(),
        sent: message.get_timestamp(52).ok().flatten(),
    })
}
