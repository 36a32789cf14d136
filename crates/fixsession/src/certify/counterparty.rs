//! What is known of the engine that is certified.

use std::time::Duration;

use crate::options::Role;

/// How the numbers of both sides come to 1 before a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reset {
    /// The engine begins at 1 with each connection: `ResetOnLogon=Y` in QuickFIX.
    #[default]
    Engine,
    /// Logon with `ResetSeqNumFlag` (141) and Logout precede each scenario, and the engine keeps its
    /// numbers otherwise. From FIX 4.1 on.
    Flag,
}

/// The engine that is certified: its names and what it can do.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Counterparty {
    /// SenderCompID (49) of what this side sends.
    pub sender: String,
    /// TargetCompID (56) of what this side sends.
    pub target: String,
    /// Its application sends orders back as they came. Default: yes.
    pub echoes: bool,
    /// It checks messages against dictionaries. Default: yes.
    pub has_dictionaries: bool,
    /// Whether Text (58) is compared, too. Default: no.
    pub compares_texts: bool,
    /// Which side the engine is. An initiator connects to this side, which answers its Logon. Default: acceptor.
    pub role: Role,
    /// How its numbers are reset. Default: by itself.
    pub reset: Reset,
    /// How long an answer may take. Default: 5 s.
    pub timeout: Duration,
    /// How long it may take to notice that a connection ended, before it is connected to again. Default:
    /// 100 ms.
    pub settle: Duration,
}

impl Counterparty {
    /// An engine that knows this side as `sender`, and is itself `target`.
    #[must_use]
    pub fn new(sender: &str, target: &str) -> Self {
        Self {
            sender: sender.to_owned(),
            target: target.to_owned(),
            echoes: true,
            has_dictionaries: true,
            compares_texts: false,
            role: Role::Acceptor,
            reset: Reset::Engine,
            timeout: Duration::from_secs(5),
            settle: Duration::from_millis(100),
        }
    }
}
