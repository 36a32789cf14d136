//! What operators of sessions have to see: why a Logon, a message or a connection was refused, by whom. And what
//! `ScreenLogShow…` of the settings asks for.

use std::collections::HashMap;

use fixcore::SOH;
use fixsession::settings::{ScreenOptions, SessionSettings};
use fixsession::{
    Application, Credentials, DoNotSend, Event, Outbox, Outgoing, Received, Refusal, SessionId,
};

use crate::term::message;

/// Events that are shown; further ones are in the log of their session only.
pub(super) const SHOWN_MAX: u32 = 1000;
/// The longest reason of a peer that is shown.
const REASON_CHARS_MAX: usize = 200;

/// What each session shows, where its settings choose something.
#[derive(Debug, Default)]
pub(super) struct Screens {
    of: HashMap<SessionId, ScreenOptions>,
    templates: Vec<SessionSettings>,
}

impl Screens {
    /// Those of these settings.
    pub(super) fn new(sessions: &[SessionSettings]) -> Self {
        let mut screens = Self::default();
        for settings in sessions {
            let screen = settings.log.screen;
            match settings.is_template {
                _ if screen == ScreenOptions::default() => {}
                true => screens.templates.push(settings.clone()),
                false => drop(screens.of.insert(settings.session.id.clone(), screen)),
            }
        }
        screens
    }

    /// What a session shows; `None` if its settings choose nothing.
    fn of(&self, id: &SessionId) -> Option<ScreenOptions> {
        let template = || {
            let mut templates = self.templates.iter();
            let found = templates.find(|template| template.matches(id))?;
            Some(found.log.screen)
        };
        match self.of.is_empty() && self.templates.is_empty() {
            true => None,
            false => self.of.get(id).copied().or_else(template),
        }
    }
}

/// An application whose sessions are watched.
pub(super) struct Shown<'a, A> {
    pub(super) app: &'a mut A,
    /// How many events are still shown.
    pub(super) left: &'a mut u32,
    pub(super) screens: &'a Screens,
    /// Set when a store fails.
    pub(super) failed: &'a mut bool,
    /// Who may log on; `None` for everybody.
    pub(super) users: Option<&'a Credentials>,
    pub(super) refused: &'a mut Refused,
}

/// What peers refused of what was sent.
#[derive(Debug, Default)]
pub(super) struct Refused {
    /// How many messages.
    pub(super) count: u64,
    /// The last reason of each session.
    pub(super) last: HashMap<SessionId, String>,
}

impl<A> Shown<'_, A> {
    /// Counts a Reject (35=3) or BusinessMessageReject (35=j), and shows its reason.
    fn refused(&mut self, id: &SessionId, received: &Received<'_>) {
        let message = received.message;
        let refuses = matches!(message.msg_type(), b"3" | b"j");
        if !refuses || received.poss_dup {
            return;
        }
        let text = |tag| {
            message
                .get(tag)
                .map(|value| value.escape_ascii().to_string())
        };
        let mut why = "the peer refused".to_owned();
        why += &text(45).map_or_else(String::new, |number| format!(" message {number}"));
        why += &text(372).map_or_else(String::new, |kind| format!(" (35={kind})"));
        why += &text(371).map_or_else(String::new, |tag| format!(", tag {tag}"));
        let code = [373, 380]
            .into_iter()
            .find_map(|tag| Some(format!("{tag}={}", text(tag)?)));
        let said = text(58).or(code).unwrap_or_else(|| "no reason".to_owned());
        why = format!("{why}: {said}")
            .chars()
            .take(REASON_CHARS_MAX)
            .collect();
        self.refused.count += 1;
        self.remark(&format!("{id}: {why}"));
        self.refused.last.insert(id.clone(), why);
    }

    /// Shows what an operator has to see, as long as that is not too much.
    fn remark(&mut self, text: &str) {
        if *self.left == 0 {
            return;
        }
        *self.left -= 1;
        message::remark(text);
        if *self.left == 0 {
            message::remark("further events are in the logs of the sessions only");
        }
    }
}

impl<A: Application> Application for Shown<'_, A> {
    fn on_logon(&mut self, id: &SessionId, out: &mut Outbox) {
        self.app.on_logon(id, out);
    }

    fn on_logout(&mut self, id: &SessionId) {
        self.app.on_logout(id);
    }

    fn to_admin(&mut self, id: &SessionId, message: &mut Outgoing<'_>) {
        self.app.to_admin(id, message);
    }

    fn to_app(&mut self, id: &SessionId, message: &mut Outgoing<'_>) -> Result<(), DoNotSend> {
        self.app.to_app(id, message)
    }

    fn from_admin(
        &mut self,
        id: &SessionId,
        message: &Received<'_>,
        out: &mut Outbox,
    ) -> Result<(), Refusal> {
        if let Some(users) = self.users {
            users.check(message)?;
        }
        self.refused(id, message);
        self.app.from_admin(id, message, out)
    }

    fn from_app(
        &mut self,
        id: &SessionId,
        message: &Received<'_>,
        out: &mut Outbox,
    ) -> Result<(), Refusal> {
        if message.message.msg_type() == b"j" {
            self.refused(id, message);
            // No application has an answer to it.
            return Ok(());
        }
        self.app.from_app(id, message, out)
    }

    fn event(&mut self, id: &SessionId, event: &Event<'_>) {
        self.app.event(id, event);
        *self.failed |= matches!(event, Event::Store(_));
        match self.screens.of(id).and_then(|screen| screen.events) {
            Some(true) => return message::status(&format!("{id}: {event}")),
            Some(false) => return,
            None => {}
        }
        if event.is_trouble() {
            self.remark(&format!("{id}: {event}"));
        }
    }

    fn incoming(&mut self, id: &SessionId, bytes: &[u8]) {
        if let Some(screen) = self.screens.of(id).filter(|screen| screen.incoming) {
            show(id, "incoming", bytes, screen);
        }
        self.app.incoming(id, bytes);
    }

    fn outgoing(&mut self, id: &SessionId, bytes: &[u8]) {
        if let Some(screen) = self.screens.of(id).filter(|screen| screen.outgoing) {
            show(id, "outgoing", bytes, screen);
        }
        self.app.outgoing(id, bytes);
    }
}

/// Writes a message, with `|` between its fields.
fn show(id: &SessionId, way: &str, bytes: &[u8], screen: ScreenOptions) {
    let msg_type = bytes.split(|byte| *byte == SOH).nth(2);
    if !screen.heartbeats && msg_type == Some(b"35=0") {
        return;
    }
    let text = String::from_utf8_lossy(bytes).replace(char::from(SOH), "|");
    let time = jiff::Timestamp::now().strftime("%Y%m%d-%H:%M:%S%.3f");
    message::status(&format!("{time} {id} {way}: {text}"));
}
