//! A connection to servers of NATS, and requests about their streams.

use std::error::Error as _;
use std::io::Read as _;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_nats::connection::State;
use async_nats::jetstream::{self, Context, ErrorCode};
use async_nats::{
    Client, ClientError, ConnectError, ConnectErrorKind, ConnectOptions, Event, ServerError,
};

use tokio::time::{Instant, sleep};

use crate::engine::AWAY;
use crate::error::{Error, Result};
use crate::nats::access::Access;
use crate::nats::address::Address;

/// How long a server may take to answer a request, or to acknowledge a message, before it is asked again.
pub(super) const ANSWER: Duration = Duration::from_secs(5);

/// How often to look whether a server is away.
const AWAY_LOOK: Duration = Duration::from_millis(50);

/// How long to look for what a server says first.
const GREETING: Duration = Duration::from_secs(2);

/// A connection, which comes back by itself.
#[derive(Debug, Clone)]
pub struct Connection {
    pub(super) client: Client,
    pub(super) context: Context,
    address: Address,
    refusals: Arc<Mutex<Refusals>>,
}

/// How long what the server did not permit is the reason why a request got no answer.
const DENIED: Duration = Duration::from_secs(10);
/// How often it is said, if it goes on.
const DENIED_SAID: Duration = Duration::from_secs(60);
/// How long a server that does not let us in any more is asked again: its users may just be read again.
const SHUT_OUT: Duration = Duration::from_secs(5);

/// What a server has refused.
#[derive(Debug, Default)]
struct Refusals {
    /// The last thing that it did not permit.
    denied: Option<(Instant, String)>,
    /// When that was said, and how often it has come since.
    said: Option<(Instant, u64)>,
    /// Since when it does not let us in any more, and what it says.
    shut_out: Option<(Instant, String)>,
}

impl Refusals {
    /// The server did not permit something. What to say of it: the first time, and then now and then with a number.
    fn deny(&mut self, text: String, now: Instant) -> Option<String> {
        let line = match &mut self.said {
            Some((at, more)) if now - *at < DENIED_SAID => {
                *more += 1;
                None
            }
            Some((_, more)) => Some(format!(
                "the server does not permit it, {} times more since this was said: {text}",
                *more + 1
            )),
            None => Some(format!("the server does not permit it: {text}")),
        };
        if line.is_some() {
            self.said = Some((now, 0));
        }
        self.denied = Some((now, text));
        line
    }

    /// The server did not let us in again. True if this is news.
    fn shut_out(&mut self, text: String, now: Instant) -> bool {
        let is_news = self.shut_out.is_none();
        let since = self.shut_out.take().map_or(now, |(since, _)| since);
        self.shut_out = Some((since, text));
        is_news
    }

    /// What will be refused again, and what to do.
    fn last(&self, now: Instant) -> Option<(String, &'static str)> {
        let shut_out = self.shut_out.as_ref();
        let shut_out = shut_out.filter(|(since, _)| now - *since >= SHUT_OUT);
        let shut_out = shut_out.map(|(_, text)| {
            let text = format!("the server no longer takes our credentials: {text}");
            (text, RENEW)
        });
        let denied = self.denied.as_ref();
        let denied = denied.filter(|(at, _)| now - *at < DENIED);
        shut_out.or_else(|| denied.map(|(_, text)| (text.clone(), PERMIT)))
    }
}

/// What to do where a server does not let us in any more.
const RENEW: &str = "renew the credentials, or the user at the server, and start again";

/// What to do where the server does not permit something.
const PERMIT: &str = "allow this user what the server names: of subjects, `$JS.API.>` and `$JS.ACK.>` and those of the \
                      streams to publish to, and `_INBOX.>` to subscribe to";

impl Connection {
    /// Connects. `tell` hears when the connection is lost and when it is back.
    ///
    /// # Errors
    ///
    /// If no server answers, or none lets us in.
    pub async fn open(
        address: &Address,
        access: &Access,
        tell: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Self> {
        let tell = Arc::new(tell);
        let refusals = Arc::new(Mutex::new(Refusals::default()));
        let refused = Arc::clone(&refusals);
        let mut options = ConnectOptions::new()
            .name("perfkit")
            .connection_timeout(ANSWER)
            .request_timeout(Some(ANSWER))
            .require_tls(address.wants_tls())
            .event_callback(move |event| {
                let (tell, refused) = (Arc::clone(&tell), Arc::clone(&refused));
                async move {
                    let now = Instant::now();
                    let refused = || refused.lock().unwrap_or_else(PoisonError::into_inner);
                    match event {
                        Event::Disconnected => tell("the connection is lost; it is opened again"),
                        Event::Connected => {
                            refused().shut_out = None;
                            tell("connected");
                        }
                        // It comes at each attempt.
                        Event::ClientError(ClientError::Other(said)) if is_shut_out(&said) => {
                            let is_news = refused().shut_out(said.clone(), now);
                            if is_news {
                                tell(&format!(
                                    "the server no longer takes our credentials, and is asked again: {said}"
                                ));
                            }
                        }
                        Event::ServerError(ServerError::Other(said)) if is_denial(&said) => {
                            let line = refused().deny(said, now);
                            if let Some(line) = line {
                                tell(&line);
                            }
                        }
                        Event::LameDuckMode => tell("the server shuts down; another is looked for"),
                        _ => {}
                    }
                }
            });
        if let Some(credentials) = &access.credentials {
            options = options.credentials(credentials).map_err(|_| {
                // What it says of the content may quote it.
                Error::refused(
                    "the credentials are none",
                    "give a file as `nsc generate creds` writes it: a JWT and a seed between their marks",
                )
            })?;
        }
        if let Some(token) = &access.token {
            options = options.token(token.clone());
        }
        if let Some((user, password)) = &access.user {
            options = options.user_and_password(user.clone(), password.clone());
        }
        if let Some(path) = &access.authorities {
            options = options.add_root_certificates(path.clone());
        }
        if let Some((certificate, key)) = &access.certificate {
            options = options.add_client_certificate(certificate.clone(), key.clone());
        }
        let servers: Vec<String> = address.servers().collect();
        let client = options.connect(servers).await;
        let client = match client {
            Ok(client) => client,
            Err(error) => return Err(no_connection(address, access, &error).await),
        };
        let mut context = jetstream::new(client.clone());
        context.set_timeout(ANSWER);
        Ok(Self {
            client,
            context,
            address: address.clone(),
            refusals,
        })
    }

    /// What failed, and will again where the server does not permit it.
    pub(super) fn later(&self, error: &dyn std::error::Error) -> Error {
        match self.check_permitted() {
            Ok(()) => Error::Later(reasons(error)),
            Err(refused) => refused,
        }
    }

    /// The same, of what is not tried again, with what to do.
    pub(super) fn refused(&self, message: String, help: &str) -> Error {
        match self.last_refusal() {
            None => Error::refused(message, help),
            Some((said, help)) => Error::refused(format!("{message}: {said}"), help),
        }
    }

    /// That the server has just not permitted something, or does not let us in any more.
    pub(super) fn check_permitted(&self) -> Result<()> {
        match self.last_refusal() {
            None => Ok(()),
            Some((said, help)) => Err(Error::refused(said, help)),
        }
    }

    /// What was not permitted does not matter.
    pub(super) fn forgive(&self) {
        self.refusals().denied = None;
    }

    fn last_refusal(&self) -> Option<(String, &'static str)> {
        self.refusals().last(Instant::now())
    }

    fn refusals(&self) -> MutexGuard<'_, Refusals> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it is connected to.
    #[must_use]
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// The longest message that the server takes.
    #[must_use]
    pub fn payload_max(&self) -> usize {
        self.client.server_info().max_payload
    }

    /// The version of the server.
    #[must_use]
    pub fn server_version(&self) -> String {
        self.client.server_info().version
    }

    /// Waits until there has been no connection for a moment.
    pub(super) async fn lost(&self) {
        let mut since = None;
        loop {
            since = match self.client.connection_state() {
                State::Connected => None,
                _ => since.or_else(|| Some(Instant::now())),
            };
            if since.is_some_and(|since| since.elapsed() >= AWAY) {
                return;
            }
            sleep(AWAY_LOOK).await;
        }
    }

    /// Waits until everything is sent, for a few seconds at most.
    pub async fn flush(&self) {
        let _ = tokio::time::timeout(ANSWER, self.client.flush()).await;
    }
}

fn is_denial(said: &str) -> bool {
    said.to_ascii_lowercase().contains("permissions violation")
}

/// Whether an attempt to connect failed for the credentials.
fn is_shut_out(said: &str) -> bool {
    let kinds = [
        ConnectErrorKind::Authentication,
        ConnectErrorKind::AuthorizationViolation,
    ];
    let said = said.to_ascii_lowercase();
    let words = kinds
        .iter()
        .map(|kind| kind.to_string().to_ascii_lowercase());
    let words = words.chain(SHUT_OUT_SAID.map(str::to_owned));
    words.into_iter().any(|word| said.contains(&word))
}

/// What else a server says to credentials that it does not take.
const SHUT_OUT_SAID: [&str; 3] = [
    "user authentication",
    "account authentication",
    "authentication revoked",
];

/// Whether a connection failed for a certificate, or for what else TLS could not agree on: it will again.
fn has_tls_failed(error: &ConnectError) -> bool {
    let is_tls = |error: &std::io::Error| {
        let inner = error.get_ref();
        inner.is_some_and(|inner| inner.is::<async_nats::rustls::Error>())
    };
    let mut source = error.source();
    while let Some(error) = source {
        if error.downcast_ref::<std::io::Error>().is_some_and(is_tls) {
            return true;
        }
        source = error.source();
    }
    false
}

/// Why there is no connection.
async fn no_connection(address: &Address, access: &Access, error: &ConnectError) -> Error {
    let message = format!("cannot connect to {address}: {}", reasons(error));
    if is_shut_out(&message) {
        return Error::refused(
            format!("{message} (it was shown {})", access.identity()),
            "see --creds, --user, --password-file and --token-file",
        );
    }
    let help = match error.kind() {
        _ if address.wants_tls() && lacks_tls(address).await => {
            return Error::refused(
                format!("cannot connect to {address}: the server has no TLS at this port"),
                "give the server a `tls` block or name its port for TLS; nats:// connects without, in a network that you \
                 trust",
            );
        }
        _ if has_tls_failed(error) => {
            return Error::refused(
                format!("{message} ({})", access.trust()),
                "name the authority that signed the server's certificate with --tls-ca, and the server by a name that its \
                 certificate has; where the server wants a certificate of ours, --tls-cert and --tls-key",
            );
        }
        ConnectErrorKind::Tls => "see --tls-ca, and use tls:// where the server wants TLS at once",
        ConnectErrorKind::ServerParse => "an address is nats://HOST[:PORT]/NAME",
        _ => {
            let help = "see that the server runs, and its port (4222 unless stated)";
            return Error::absent(message, help);
        }
    };
    Error::refused(message, help)
}

/// Whether what a server says first tells that it has no TLS.
async fn lacks_tls(address: &Address) -> bool {
    let address = address.clone();
    // It looks a name up and waits for an answer.
    let said = tokio::task::spawn_blocking(move || greeting(&address)).await;
    said.ok().flatten().is_some_and(|said| !has_tls(&said))
}

/// What a server says first, in plain text, whatever it wants then.
fn greeting(address: &Address) -> Option<String> {
    let host = address.servers().next()?;
    let host = host.split_once("://")?.1.to_owned();
    let end = host.rsplit_once(']').map_or(host.as_str(), |(_, end)| end);
    let host = match end.contains(':') {
        true => host,
        false => format!("{host}:4222"),
    };
    let place = host.to_socket_addrs().ok()?.next()?;
    let mut server = TcpStream::connect_timeout(&place, GREETING).ok()?;
    server.set_read_timeout(Some(GREETING)).ok()?;
    let mut said = [0; 4096];
    let length = server.read(&mut said).ok()?;
    let said = String::from_utf8_lossy(&said[..length]).into_owned();
    said.starts_with("INFO ").then_some(said)
}

/// Whether a server that says this first has TLS.
fn has_tls(said: &str) -> bool {
    let said = said.replace(' ', "");
    ["\"tls_required\":true", "\"tls_available\":true"]
        .iter()
        .any(|has| said.contains(has))
}

/// An error and what it came from, each once.
pub(super) fn reasons(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let reason = error.to_string();
        if !text.contains(&reason) {
            text = format!("{text}: {reason}");
        }
        source = error.source();
    }
    text
}

/// The code that a server gave to an error, if it did.
pub(super) fn code(error: &async_nats::jetstream::context::PublishError) -> Option<ErrorCode> {
    let source = error.source()?;
    let error = source.downcast_ref::<jetstream::Error>()?;
    Some(error.error_code())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_permitted_is_said_once_and_then_counted() {
        let start = Instant::now();
        let mut refusals = Refusals::default();
        let mut said = Vec::new();
        // Nineteen publications every five seconds.
        for second in (0..=60).step_by(5) {
            for subject in 0..19 {
                let text = format!("Permissions Violation for Publish to \"OUT.{subject}\"");
                said.extend(refusals.deny(text, start + Duration::from_secs(second)));
            }
        }
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[1].contains(", 228 times more since"), "{said:?}");
        // It explains what fails now, and nothing that fails much later.
        let end = start + Duration::from_secs(60);
        assert!(refusals.last(end).is_some_and(|(_, help)| help == PERMIT));
        assert_eq!(refusals.last(end + DENIED), None);
    }

    #[test]
    fn a_server_that_shuts_us_out_is_believed_after_some_seconds() {
        let start = Instant::now();
        let mut refusals = Refusals::default();
        assert!(refusals.shut_out("authorization violation".to_owned(), start));
        assert_eq!(refusals.last(start), None);
        let later = start + SHUT_OUT;
        assert!(!refusals.shut_out("authorization violation".to_owned(), later));
        let (said, help) = refusals.last(later).expect("a refusal");
        assert!(
            said.contains("no longer takes our credentials") && help == RENEW,
            "{said}"
        );
    }

    #[test]
    fn credentials_are_told_apart_from_servers_that_are_away() {
        for (said, is) in [
            ("IO error: nats: user authentication expired", true),
            ("IO error: nats: 'Account Authentication Expired'", true),
            ("authorization violation", true),
            ("failed signing nonce", true),
            ("IO error: nats: maximum connections exceeded", false),
            ("IO error: Connection refused (os error 111)", false),
            ("IO error: nats: authentication timeout", false),
        ] {
            assert_eq!(is_shut_out(said), is, "{said}");
        }
    }
}
