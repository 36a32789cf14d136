//! A connection to servers of NATS, and requests about their streams.

use std::error::Error as _;
use std::time::Duration;

use async_nats::jetstream::{self, Context, ErrorCode};
use async_nats::{Client, ConnectErrorKind, ConnectOptions, Event};

use crate::error::{Error, Result};
use crate::nats::access::Access;
use crate::nats::address::Address;

/// How long a server may take to answer a request, or to acknowledge a message, before it is asked again.
pub(super) const ANSWER: Duration = Duration::from_secs(5);

/// A connection, which comes back by itself.
#[derive(Debug, Clone)]
pub struct Connection {
    pub(super) client: Client,
    pub(super) context: Context,
    address: Address,
}

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
        let tell = std::sync::Arc::new(tell);
        let mut options = ConnectOptions::new()
            .name("perfkit")
            .connection_timeout(ANSWER)
            .request_timeout(Some(ANSWER))
            .require_tls(address.wants_tls())
            .event_callback(move |event| {
                let tell = std::sync::Arc::clone(&tell);
                async move {
                    match event {
                        Event::Disconnected => tell("the connection is lost; it is opened again"),
                        Event::Connected => tell("connected"),
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
        let client = options.connect(servers).await.map_err(|error| {
            let reason = reasons(&error);
            let message = format!("cannot connect to {address}: {reason}");
            let help = match error.kind() {
                ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation => {
                    "see --creds, --user, --password-file and --token-file"
                }
                ConnectErrorKind::Tls => {
                    "see --tls-ca, and use tls:// where the server wants TLS at once"
                }
                ConnectErrorKind::ServerParse => "an address is nats://HOST[:PORT]/NAME",
                _ => "see that the server runs, and its port (4222 unless stated)",
            };
            Error::refused(message, help)
        })?;
        let mut context = jetstream::new(client.clone());
        context.set_timeout(ANSWER);
        Ok(Self {
            client,
            context,
            address: address.clone(),
        })
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

    /// Waits until everything is sent, for a few seconds at most.
    pub async fn flush(&self) {
        let _ = tokio::time::timeout(ANSWER, self.client.flush()).await;
    }
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
