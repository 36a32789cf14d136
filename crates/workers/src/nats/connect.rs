//! A connection to servers of NATS, and requests about their streams.

use std::error::Error as _;
use std::io::Read as _;
use std::net::{TcpStream, ToSocketAddrs as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
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
    /// The last thing that the server did not permit.
    denied: Arc<Mutex<Option<String>>>,
}

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
        let denied = Arc::new(Mutex::new(None));
        let denials = Arc::clone(&denied);
        let shut_out = Arc::new(AtomicBool::new(false));
        let mut options = ConnectOptions::new()
            .name("perfkit")
            .connection_timeout(ANSWER)
            .request_timeout(Some(ANSWER))
            .require_tls(address.wants_tls())
            .event_callback(move |event| {
                let (tell, denials) = (Arc::clone(&tell), Arc::clone(&denials));
                let shut_out = Arc::clone(&shut_out);
                async move {
                    match event {
                        Event::Disconnected => tell("the connection is lost; it is opened again"),
                        Event::Connected => {
                            shut_out.store(false, Ordering::Relaxed);
                            tell("connected");
                        }
                        // It comes at each attempt.
                        Event::ClientError(ClientError::Other(said))
                            if is_shut_out(&said) && !shut_out.swap(true, Ordering::Relaxed) =>
                        {
                            tell(&format!(
                                "the server no longer takes our credentials, and is asked again: {said}"
                            ));
                        }
                        Event::ServerError(ServerError::Other(said)) if is_denial(&said) => {
                            tell(&format!("the server does not permit it: {said}"));
                            *denials.lock().unwrap_or_else(PoisonError::into_inner) = Some(said);
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
            Err(error) => return Err(no_connection(address, &error).await),
        };
        let mut context = jetstream::new(client.clone());
        context.set_timeout(ANSWER);
        Ok(Self {
            client,
            context,
            address: address.clone(),
            denied,
        })
    }

    /// What failed, and will again where the server does not permit it.
    pub(super) fn later(&self, error: &dyn std::error::Error) -> Error {
        match self.denied() {
            None => Error::Later(reasons(error)),
            Some(denied) => Error::refused(denied, PERMIT),
        }
    }

    /// The same, of what is not tried again, with what to do.
    pub(super) fn refused(&self, message: String, help: &str) -> Error {
        match self.denied() {
            None => Error::refused(message, help),
            Some(denied) => Error::refused(format!("{message}: {denied}"), PERMIT),
        }
    }

    /// That the server did not permit something since the last call.
    pub(super) fn check_permitted(&self) -> Result<()> {
        match self.denied() {
            None => Ok(()),
            Some(denied) => Err(Error::refused(denied, PERMIT)),
        }
    }

    fn denied(&self) -> Option<String> {
        let mut denied = self.denied.lock().unwrap_or_else(PoisonError::into_inner);
        denied.take()
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

/// Whether an attempt to connect again failed for the credentials.
fn is_shut_out(said: &str) -> bool {
    let kinds = [
        ConnectErrorKind::Authentication,
        ConnectErrorKind::AuthorizationViolation,
    ];
    kinds.iter().any(|kind| said.contains(&kind.to_string()))
}

/// Why there is no connection.
async fn no_connection(address: &Address, error: &ConnectError) -> Error {
    let message = format!("cannot connect to {address}: {}", reasons(error));
    let help = match error.kind() {
        ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
            "see --creds, --user, --password-file and --token-file"
        }
        _ if address.wants_tls() && lacks_tls(address).await => {
            return Error::refused(
                format!("cannot connect to {address}: the server has no TLS at this port"),
                "give the server a `tls` block or name its port for TLS; nats:// connects without, in a network that you \
                 trust",
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
