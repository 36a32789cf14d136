//! TLS on a connection, by rustls: bytes in, bytes out, without a socket.

use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer, ServerName};
use rustls::server::WebPkiClientVerifier;
use rustls::{
    ClientConfig, ClientConnection, Connection, RootCertStore, ServerConfig, ServerConnection,
    SupportedProtocolVersion,
};

use crate::settings::{ClientVerify, TlsOptions};

/// Where systems keep the certificates of public authorities.
const SYSTEM: [&str; 3] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
];
/// Decrypted bytes that are taken at a time.
const PLAIN_BYTES: usize = 16 << 10;

/// The settings of one side, read and checked.
#[derive(Debug, Clone)]
pub(super) enum Config {
    Server(Arc<ServerConfig>),
    Client(Arc<ClientConfig>, Option<String>),
}

/// The state of one connection.
#[derive(Debug)]
pub(super) struct Tls {
    connection: Connection,
}

fn wrong(path: &Path, why: &dyn std::fmt::Display) -> String {
    format!("cannot read {}: {why}", path.display())
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let read = CertificateDer::pem_file_iter(path).map_err(|error| wrong(path, &error))?;
    let all: Result<Vec<_>, _> = read.collect();
    let all = all.map_err(|error| wrong(path, &error))?;
    match all.is_empty() {
        true => Err(wrong(path, &"it has no certificate in PEM form")),
        false => Ok(all),
    }
}

fn key(path: &Path) -> Result<PrivateKeyDer<'static>, String> {
    PrivateKeyDer::from_pem_file(path).map_err(|error| wrong(path, &error))
}

fn roots(options: &TlsOptions) -> Result<Arc<RootCertStore>, String> {
    let system = || SYSTEM.iter().map(Path::new).find(|path| path.exists());
    let path = options.authorities.as_deref().or_else(system);
    let path = path.ok_or("CertificationAuthoritiesFile is not set, and the system has none")?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path)? {
        roots
            .add(certificate)
            .map_err(|error| wrong(path, &error))?;
    }
    Ok(Arc::new(roots))
}

fn revoked(options: &TlsOptions) -> Result<Vec<CertificateRevocationListDer<'static>>, String> {
    let Some(path) = &options.revocations else {
        return Ok(Vec::new());
    };
    let read = CertificateRevocationListDer::pem_file_iter(path);
    let all: Result<Vec<_>, _> = read.map_err(|error| wrong(path, &error))?.collect();
    all.map_err(|error| wrong(path, &error))
}

fn versions(options: &TlsOptions) -> Vec<&'static SupportedProtocolVersion> {
    let tls12 = options.tls12.then_some(&rustls::version::TLS12);
    let tls13 = options.tls13.then_some(&rustls::version::TLS13);
    tls12.into_iter().chain(tls13).collect()
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

/// What an acceptor needs.
pub(super) fn server(options: &TlsOptions) -> Result<Config, String> {
    let text = |error: rustls::Error| error.to_string();
    let builder = ServerConfig::builder_with_provider(provider());
    let builder = builder
        .with_protocol_versions(&versions(options))
        .map_err(text)?;
    let builder = match options.verify_client {
        ClientVerify::No => builder.with_no_client_auth(),
        asks => {
            let verifier = WebPkiClientVerifier::builder_with_provider(roots(options)?, provider())
                .with_crls(revoked(options)?);
            let verifier = match asks {
                ClientVerify::Optional => verifier.allow_unauthenticated(),
                _ => verifier,
            };
            builder.with_client_cert_verifier(verifier.build().map_err(|e| e.to_string())?)
        }
    };
    let (Some(certificate), Some(key_path)) = (&options.certificate, &options.key) else {
        return Err("ServerCertificateFile is not set".to_owned());
    };
    let config = builder.with_single_cert(certificates(certificate)?, key(key_path)?);
    let config = config.map_err(|error| wrong(certificate, &error))?;
    Ok(Config::Server(Arc::new(config)))
}

/// What an initiator needs. It always verifies the server.
pub(super) fn client(options: &TlsOptions) -> Result<Config, String> {
    let text = |error: rustls::Error| error.to_string();
    let builder = ClientConfig::builder_with_provider(provider());
    let builder = builder
        .with_protocol_versions(&versions(options))
        .map_err(text)?;
    let verifier = WebPkiServerVerifier::builder_with_provider(roots(options)?, provider())
        .with_crls(revoked(options)?)
        .build()
        .map_err(|error| error.to_string())?;
    let builder = builder.with_webpki_verifier(verifier);
    let mut config = match (&options.certificate, &options.key) {
        (Some(certificate), Some(key_path)) => builder
            .with_client_auth_cert(certificates(certificate)?, key(key_path)?)
            .map_err(|error| wrong(certificate, &error))?,
        _ => builder.with_no_client_auth(),
    };
    config.enable_sni = options.use_sni;
    Ok(Config::Client(
        Arc::new(config),
        options.server_name.clone(),
    ))
}

impl Config {
    /// A connection; an initiator's is to this host.
    pub(super) fn connect(&self, host: &str) -> Result<Tls, String> {
        let connection = match self {
            Self::Server(config) => ServerConnection::new(Arc::clone(config)).map(Connection::from),
            Self::Client(config, name) => {
                let name = name.as_deref().unwrap_or(host);
                let name =
                    ServerName::try_from(name.to_owned()).map_err(|error| error.to_string())?;
                ClientConnection::new(Arc::clone(config), name).map(Connection::from)
            }
        };
        let connection = connection.map_err(|error| error.to_string())?;
        Ok(Tls { connection })
    }
}

impl Tls {
    /// Takes bytes from the network, and appends what they say to `plain`. Answers are [pulled](Self::pull)
    /// afterwards, also after an error.
    pub(super) fn received(&mut self, mut bytes: &[u8], plain: &mut Vec<u8>) -> io::Result<()> {
        while !bytes.is_empty() {
            if self.connection.read_tls(&mut bytes)? == 0 {
                break;
            }
            let state = self.connection.process_new_packets();
            state.map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
            loop {
                let at = plain.len();
                plain.resize(at + PLAIN_BYTES, 0);
                let read = self
                    .connection
                    .reader()
                    .read(plain.get_mut(at..).unwrap_or(&mut []));
                let count = *read.as_ref().unwrap_or(&0);
                plain.truncate(at + count);
                match read {
                    Ok(0) => break,
                    Ok(_) => {}
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }

    /// Encrypts as many of these bytes as fit; how many that were.
    pub(super) fn write(&mut self, plain: &[u8]) -> usize {
        self.connection.writer().write(plain).unwrap_or(0)
    }

    /// Appends what is to be sent to the network.
    pub(super) fn pull(&mut self, out: &mut Vec<u8>) {
        while self.connection.wants_write() {
            if self.connection.write_tls(out).is_err() {
                break;
            }
        }
    }

    /// Says to the peer that nothing more comes.
    pub(super) fn close(&mut self) {
        self.connection.send_close_notify();
    }
}
