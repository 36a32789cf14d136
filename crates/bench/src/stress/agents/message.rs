//! What a lead and its agents say to each other: JSON, with the version in front. What comes in is not trusted.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::part::SharedPlan;

/// The version that both sides must have: the form of plans and reports may change with it.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The longest message.
pub const MESSAGE_BYTES_MAX: usize = 512 << 10;
/// The longest piece of a report in a message. Its JSON has quotes, each of which takes two bytes.
pub(super) const PIECE_BYTES: usize = 128 << 10;
/// The most pieces of a report: 16 MiB.
pub(super) const PIECES_MAX: u32 = 128;
/// The longest name or reason.
const TEXT_BYTES_MAX: usize = 300;
/// The longest id.
const ID_BYTES_MAX: usize = 64;

/// An agent says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum FromAgent {
    /// I am here.
    Hello { name: String },
    /// I am in the run of another lead.
    Busy,
    /// I have my part and can do it.
    Ready,
    /// I cannot, or no longer.
    Refused { reason: String },
    /// I have heard when to start.
    Starting,
    /// I live, and this is how far I am.
    Alive { blocks: u64 },
    /// A piece of my report.
    Piece { nth: u32, of: u32, text: String },
}

/// A lead says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum FromLead {
    /// This is your part.
    Plan { plan: Box<SharedPlan> },
    /// Start after this time.
    Start { in_ns: u64 },
    /// I live.
    Alive,
    /// Stop, and report what you have.
    Stop { reason: String },
    /// I have your report.
    Received,
    /// I do not need you.
    Away { reason: String },
}

/// A message with who it is from or for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Envelope<M> {
    perfkit: String,
    /// The run, once an agent is in one.
    pub(super) run: Option<String>,
    pub(super) agent: String,
    pub(super) says: M,
}

/// Why bytes are no message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WrongMessage {
    /// They are something else.
    #[error("not a message between a lead and its agents: {0}")]
    Form(String),
    /// They are longer than any message.
    #[error("a message of {0} bytes is longer than any")]
    Long(usize),
    /// They are of another version of perfkit.
    #[error("its perfkit is version {theirs}, and ours is {VERSION}: all need the same one")]
    Version {
        /// Which.
        theirs: String,
    },
}

impl<M: Serialize + DeserializeOwned> Envelope<M> {
    pub(super) fn new(run: Option<&str>, agent: &str, says: M) -> Self {
        Self {
            perfkit: VERSION.to_owned(),
            run: run.map(str::to_owned),
            agent: agent.to_owned(),
            says,
        }
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        // Names and numbers can always be written.
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub(super) fn read(bytes: &[u8]) -> Result<Self, WrongMessage> {
        /// Only what tells the versions apart.
        #[derive(Deserialize)]
        struct Head {
            perfkit: String,
        }
        if bytes.len() > MESSAGE_BYTES_MAX {
            return Err(WrongMessage::Long(bytes.len()));
        }
        let form = |error: serde_json::Error| WrongMessage::Form(plain(&error.to_string()));
        let head: Head = serde_json::from_slice(bytes).map_err(form)?;
        if head.perfkit != VERSION {
            return Err(WrongMessage::Version {
                theirs: plain(&head.perfkit),
            });
        }
        let read: Self = serde_json::from_slice(bytes).map_err(form)?;
        let has_ids = read.run.as_deref().is_none_or(is_id) && is_id(&read.agent);
        match has_ids {
            true => Ok(read),
            false => Err(WrongMessage::Form("its ids are none".to_owned())),
        }
    }
}

/// Whether it may be an id, which is a part of a subject.
pub(super) fn is_id(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    (1..=ID_BYTES_MAX).contains(&text.len()) && text.bytes().all(fits)
}

/// A text of others as one line of limited length.
pub(super) fn plain(text: &str) -> String {
    let text = text
        .chars()
        .map(|letter| if letter.is_control() { ' ' } else { letter });
    let mut length = 0;
    text.take_while(|letter| {
        length += letter.len_utf8();
        length <= TEXT_BYTES_MAX
    })
    .collect()
}

/// Reads bytes as a message of either side, as whoever gets them does.
///
/// # Errors
///
/// If they are none.
pub fn check_message(bytes: &[u8]) -> Result<(), WrongMessage> {
    let agent = Envelope::<FromAgent>::read(bytes);
    match agent {
        Ok(read) => {
            debug_assert_eq!(Envelope::read(&read.bytes()), Ok(read));
            Ok(())
        }
        Err(_) => {
            let read = Envelope::<FromLead>::read(bytes)?;
            if let FromLead::Plan { plan } = &read.says {
                // Whatever it says, it is a plan or refused.
                let _ = plan.plan();
            }
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_versions_are_known_before_anything_else() {
        let other = br#"{"perfkit":"9.9","something":"new"}"#;
        let error = check_message(other).unwrap_err();
        assert!(error.to_string().contains("version 9.9"), "{error}");
        assert!(matches!(check_message(b"{}"), Err(WrongMessage::Form(_))));
        let long = vec![b' '; MESSAGE_BYTES_MAX + 1];
        assert!(matches!(check_message(&long), Err(WrongMessage::Long(_))));
    }

    #[test]
    fn ids_are_parts_of_subjects() {
        for wrong in ["", "a.b", "a b", "*", ">", "ä", &"x".repeat(65)] {
            let message = Envelope::new(None, wrong, FromAgent::Ready);
            assert!(check_message(&message.bytes()).is_err(), "{wrong}");
        }
        let message = Envelope::new(Some("r-1"), "a_1", FromAgent::Ready);
        assert_eq!(Envelope::read(&message.bytes()), Ok(message));
        assert_eq!(plain("a\nb"), "a b");
        assert_eq!(plain(&"ä".repeat(200)).len(), TEXT_BYTES_MAX);
    }
}
