//! The application messages of a log on their way to live sessions: read on a thread of its own, for no timer of
//! a session may wait for a file.

use std::collections::BTreeMap;
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
    /// A message of a session that the settings do not have: its BeginString, SenderCompID and TargetCompID.
    Foreign([String; 3]),
    /// The end of the log, after this number of bytes.
    Ended(u64, Option<Error>),
}

/// Reads a log for these sessions.
pub(super) fn start(
    file: PathBuf,
    separator: Separator,
    decoder: Decoder,
    routes: Routes,
) -> std::io::Result<Receiver<Fed>> {
    let (to, fed) = sync_channel(AHEAD_MAX);
    std::thread::Builder::new()
        .name("feed".to_owned())
        .spawn(move || read(file, separator, decoder, routes, &to))?;
    Ok(fed)
}

fn read(
    file: PathBuf,
    separator: Separator,
    mut decoder: Decoder,
    mut routes: Routes,
    to: &SyncSender<Fed>,
) {
    let files = [file];
    let mut blocks = Blocks::new(Inputs::new(&files), separator);
    let (mut block, mut messages) = (Block::default(), Messages::new());
    // The receiver is gone when the command ends.
    let mut gone = false;
    while !gone && blocks.next(&mut block, &|| false) {
        messages.each(&block, &mut |offset, found| {
            let (offset, mut is_message) = (block.file_offset(offset), true);
            let fed = match found {
                Found::Lost(lost) => Fed::Bad(offset, lost.text.clone()),
                Found::Bad(why) => Fed::Bad(offset, why.to_string()),
                Found::Message(bytes, _) => match fixlog::parse(&mut decoder, bytes) {
                    Ok(message) => to_send(&message, &mut routes),
                    Err(error) => {
                        is_message = false;
                        Fed::Bad(offset, error.to_string())
                    }
                },
                _ => return true,
            };
            gone = gone || to.send(fed).is_err();
            is_message
        });
        if let Some(ended) = block.take_ended() {
            gone = gone || to.send(Fed::Ended(ended.bytes, ended.error)).is_err();
        }
    }
}

/// Which session a message of the log is sent in.
#[derive(Debug)]
pub(super) struct Routes {
    /// The sessions, and the DefaultApplVerID of those of FIXT.
    sessions: Vec<(SessionId, Option<String>)>,
    /// DefaultApplVerID (1137) of the last Logon of these names in the log: those that a session has.
    logons: BTreeMap<(Vec<u8>, Vec<u8>), Vec<u8>>,
}

impl Routes {
    /// Routes to these sessions.
    pub(super) fn new(sessions: Vec<(SessionId, Option<String>)>) -> Self {
        Self {
            sessions,
            logons: BTreeMap::new(),
        }
    }

    /// Notes the version that a Logon states.
    fn logon(&mut self, message: &Message<'_, '_>) {
        let name = |tag| message.get(tag).unwrap_or_default();
        let is_it = |known: &(SessionId, _)| has_names(&known.0, name(49), name(56));
        if let Some(version) = message.get(1137)
            && self.sessions.iter().any(is_it)
        {
            let names = (name(49).to_vec(), name(56).to_vec());
            self.logons.insert(names, version.to_vec());
        }
    }

    /// The session with the names and the version of a message, by its place.
    fn of(&self, message: &Message<'_, '_>) -> Option<usize> {
        // A log of other names is sent under those of the only session.
        if self.sessions.len() == 1 {
            return Some(0);
        }
        let name = |tag| message.get(tag).unwrap_or_default();
        let (sender, target) = (name(49), name(56));
        let names = (sender.to_vec(), target.to_vec());
        let version = message.get(1128).or_else(|| Some(self.logons.get(&names)?));
        let is_it = |known: &&(usize, &(SessionId, Option<String>))| {
            let (id, _) = known.1;
            id.begin_string.as_bytes() == message.begin_string() && has_names(id, sender, target)
        };
        let found: Vec<_> = self.sessions.iter().enumerate().collect();
        let found: Vec<_> = found.iter().filter(is_it).collect();
        let states = |known: &&&(usize, &(SessionId, Option<String>))| {
            let stated = known.1.1.as_deref().map(str::as_bytes);
            version.is_none() || stated == version
        };
        let best = found.iter().find(states).or(found.first())?;
        Some(best.0)
    }
}

fn has_names(id: &SessionId, sender: &[u8], target: &[u8]) -> bool {
    id.sender.as_bytes() == sender && id.target.as_bytes() == target
}

/// What to do with a message.
fn to_send(message: &Message<'_, '_>, routes: &mut Routes) -> Fed {
    let msg_type = message.msg_type();
    if msg_type == b"A" {
        routes.logon(message);
    }
    if matches!(msg_type, b"0" | b"1" | b"2" | b"3" | b"4" | b"5" | b"A") {
        return Fed::PassedOver;
    }
    let name = |tag| message.get(tag).unwrap_or_default();
    let (sender, target) = (name(49), name(56));
    let is = |of: fn(&SessionId, &[u8], &[u8]) -> bool| {
        let mut ids = routes.sessions.iter().map(|known| &known.0);
        ids.any(|id| of(id, sender, target))
    };
    let is_ours = is(has_names);
    if !is_ours && is(|id, sender, target| has_names(id, target, sender)) {
        return Fed::PassedOver;
    }
    let Some(session) = routes.of(message) else {
        let text = |name| String::from_utf8_lossy(name).into_owned();
        return Fed::Foreign([text(message.begin_string()), text(sender), text(target)]);
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
