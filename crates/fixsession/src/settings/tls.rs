//! TLS of connections.

use std::path::PathBuf;

use crate::options::Role;

use super::reader::{Reader, takes};
use super::value::is_host;

/// TLS of the connections of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TlsOptions {
    /// Certificates of this side: `ServerCertificateFile` of an acceptor, `ClientCertificateFile` of an initiator.
    pub certificate: Option<PathBuf>,
    /// Their private key; it may be in the same file.
    pub key: Option<PathBuf>,
    /// `CertificationAuthoritiesFile`. Default: the system's.
    pub authorities: Option<PathBuf>,
    /// `CertificateRevocationListFile`. Default: none.
    pub revocations: Option<PathBuf>,
    /// Whether an acceptor asks for the client's certificate: `CertificateVerifyLevel`, `NeedClientAuth`.
    pub verify_client: ClientVerify,
    /// Whether TLS 1.2 may be spoken. Default: yes.
    pub tls12: bool,
    /// Whether TLS 1.3 may be spoken. Default: yes.
    pub tls13: bool,
    /// `UseSNI`: whether an initiator states the server's name. Default: yes.
    pub use_sni: bool,
    /// `SNIHostName`: the server's name, if it is not the host that is connected to.
    pub server_name: Option<String>,
}

/// Whether an acceptor asks for the client's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientVerify {
    /// It does not.
    No,
    /// A certificate is verified if the client presents one.
    Optional,
    /// There must be one.
    Required,
}

pub(super) fn tls(reader: &Reader<'_>, role: Option<Role>) -> Option<TlsOptions> {
    let server = files(reader, "ServerCertificateFile", "ServerCertificateKeyFile");
    let client = files(reader, "ClientCertificateFile", "ClientCertificateKeyFile");
    let authorities = reader.path("CertificationAuthoritiesFile");
    let verify_client = verify_client(reader);
    let stated = reader.flag("SocketUseSSL");
    let (certificate, key) = match role {
        Some(Role::Acceptor) => server,
        _ => client,
    };
    let implied = match role {
        Some(Role::Acceptor) => certificate.is_some(),
        _ => certificate.is_some() || authorities.is_some(),
    };
    let (tls12, tls13) = versions(reader);
    let use_sni = reader.flag("UseSNI").unwrap_or(true);
    let server_name = reader.stated("SNIHostName");
    if let Some(name) = server_name.as_ref().filter(|name| !is_host(&name.value)) {
        reader.wrong(name, takes("SNIHostName"));
    }
    if !stated.unwrap_or(implied) {
        return None;
    }
    if role == Some(Role::Acceptor) && certificate.is_none() {
        reader.missing("ServerCertificateFile");
    }
    if role == Some(Role::Acceptor) && verify_client != ClientVerify::No && authorities.is_none() {
        reader.missing("CertificationAuthoritiesFile");
    }
    Some(TlsOptions {
        certificate,
        key,
        authorities,
        revocations: reader.path("CertificateRevocationListFile"),
        verify_client,
        tls12,
        tls13,
        use_sni,
        server_name: server_name.map(|name| name.value),
    })
}

/// Certificates and their key, which may be in the same file.
fn files(
    reader: &Reader<'_>,
    certificate: &'static str,
    key: &'static str,
) -> (Option<PathBuf>, Option<PathBuf>) {
    let certificate = reader.path(certificate);
    let key = match (reader.stated(key), &certificate) {
        (Some(stated), None) => {
            reader.conflict(&stated, "its certificates are missing");
            None
        }
        (Some(stated), Some(_)) => Some(stated.value.into()),
        (None, same) => same.clone(),
    };
    (certificate, key)
}

fn verify_client(reader: &Reader<'_>) -> ClientVerify {
    let name = "CertificateVerifyLevel";
    let needs = reader.flag("NeedClientAuth").unwrap_or(false);
    let level = match reader.stated(name) {
        None => ClientVerify::No,
        Some(stated) => match stated.value.as_str() {
            "0" | "3" => ClientVerify::No,
            "1" => ClientVerify::Required,
            "2" => ClientVerify::Optional,
            _ => {
                reader.wrong(&stated, takes(name));
                ClientVerify::Required
            }
        },
    };
    if needs { ClientVerify::Required } else { level }
}

/// Whether 1.2 and 1.3 may be spoken.
fn versions(reader: &Reader<'_>) -> (bool, bool) {
    let mut versions = (true, true);
    if let Some(stated) = reader.stated("SSLProtocol") {
        match ssl_protocol(&stated.value) {
            Some(found) => versions = found,
            None => reader.wrong(&stated, takes("SSLProtocol")),
        }
    }
    if let Some(stated) = reader.stated("EnabledProtocols") {
        match enabled(&stated.value) {
            Some(found) => versions = found,
            None => reader.wrong(&stated, takes("EnabledProtocols")),
        }
    }
    versions
}

/// `all -SSLv2`, `TLSv1_2`, `+TLSv1_2 -TLSv1_3`: words are added or taken away in their order. `None` if nothing
/// is left that can be spoken, or a word is not known.
fn ssl_protocol(stated: &str) -> Option<(bool, bool)> {
    let mut bits = 0_u8;
    for word in stated.split_ascii_whitespace() {
        let (action, name) = match word.split_at_checked(1)? {
            (sign @ ("+" | "-"), name) => (sign, name),
            _ => ("", word),
        };
        let these = match name.to_ascii_lowercase().as_str() {
            "all" => 0b11,
            "tlsv1_2" => 0b01,
            "tlsv1_3" => 0b10,
            "sslv2" | "sslv3" | "tlsv1" | "tlsv1_1" => 0,
            _ => return None,
        };
        bits = match action {
            "+" => bits | these,
            "-" => bits & !these,
            _ => these,
        };
    }
    (bits != 0).then_some((bits & 1 != 0, bits & 2 != 0))
}

/// `TLSv1.2,TLSv1.3`.
fn enabled(stated: &str) -> Option<(bool, bool)> {
    let words = || stated.split(',').map(str::trim);
    let has = |name: &str| words().any(|word| word.eq_ignore_ascii_case(name));
    let versions = (has("TLSv1.2"), has("TLSv1.3"));
    (versions != (false, false)).then_some(versions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_added_and_taken_away() {
        assert_eq!(ssl_protocol("all -SSLv2"), Some((true, true)));
        assert_eq!(ssl_protocol("all -TLSv1_3"), Some((true, false)));
        assert_eq!(ssl_protocol("+TLSv1_3 +TLSv1_1"), Some((false, true)));
        assert_eq!(ssl_protocol("TLSv1_1"), None);
        assert_eq!(ssl_protocol("all -all"), None);
        assert_eq!(ssl_protocol("TLSv9"), None);
        assert_eq!(enabled("TLSv1, TLSv1.2"), Some((true, false)));
        assert_eq!(enabled("TLSv1"), None);
    }
}
