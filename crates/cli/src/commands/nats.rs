//! Connections to servers of NATS: secrets from files and the environment, and what is said of connections.

use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use report::ExitStatus;
use workers::nats::{Access, Address, Connection};

use crate::args::nats::AccessArgs;
use crate::failure::{Failure, Result};
use crate::term::message;

/// The longest file with a secret.
const SECRET_BYTES_MAX: u64 = 64 << 10;

/// Reads what a server may ask for: what the flags say, else what the environment says.
pub(crate) fn access(args: &AccessArgs) -> Result<Access> {
    let is_stated = args.creds.is_some() || args.user.is_some() || args.token_file.is_some();
    let environment = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let unstated = |name: &str| environment(name).filter(|_| !is_stated);
    let creds = args
        .creds
        .clone()
        .or_else(|| unstated("NATS_CREDS").map(PathBuf::from));
    let token = match &args.token_file {
        Some(path) => Some(line(path)?),
        None => unstated("NATS_TOKEN"),
    };
    let user = args.user.clone().or_else(|| unstated("NATS_USER"));
    let user = match (user, &args.password_file) {
        (None, None) => None,
        (None, Some(_)) => {
            return Err(Failure::usage("there is a password and no user")
                .help("state --user, or set NATS_USER"));
        }
        (Some(user), Some(path)) => Some((user, line(path)?)),
        (Some(user), None) => {
            let password = environment("NATS_PASSWORD").ok_or_else(|| {
                Failure::usage(format!("there is no password for the user '{user}'"))
                    .help("put it in a file (--password-file) or in NATS_PASSWORD")
            })?;
            Some((user, password))
        }
    };
    let authority = args
        .tls_ca
        .clone()
        .or_else(|| environment("NATS_CA").map(PathBuf::from));
    let certificate = args.tls_cert.clone().zip(args.tls_key.clone());
    if certificate.is_none() && (args.tls_cert.is_some() || args.tls_key.is_some()) {
        return Err(Failure::usage("--tls-cert and --tls-key belong together").help("state both"));
    }
    // The library reads them later; a path that is wrong is said now.
    let paths = authority
        .iter()
        .chain(certificate.iter().flat_map(|(one, other)| [one, other]));
    for path in paths {
        File::open(path).map_err(|error| Failure::io("read", path, &error))?;
    }
    Ok(Access {
        credentials: creds.map(|path| secret(&path)).transpose()?,
        token,
        user,
        authorities: authority,
        certificate,
    })
}

fn secret(path: &Path) -> Result<String> {
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(SECRET_BYTES_MAX).read_to_string(&mut text))
        .map_err(|error| Failure::io("read", path, &error))?;
    Ok(text)
}

/// The only line of a file.
fn line(path: &Path) -> Result<String> {
    let text = secret(path)?;
    let text = text.strip_suffix('\n').unwrap_or(&text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    match text.is_empty() || text.contains('\n') {
        true => {
            let message = format!("'{}' does not hold one line", path.display());
            Err(Failure::usage(message).help("the file must contain only the secret"))
        }
        false => Ok(text.to_owned()),
    }
}

/// Connects, and tells of what becomes of the connection if somebody wants to hear it.
pub(crate) async fn connect(
    address: &Address,
    access: &Access,
    tells: bool,
) -> workers::Result<Connection> {
    let name = address.to_string();
    let was_lost = std::sync::atomic::AtomicBool::new(false);
    let tell = move |what: &str| {
        use std::sync::atomic::Ordering::Relaxed;
        // The first connection is what everybody expects.
        let is_news = what != "connected" || was_lost.load(Relaxed);
        was_lost.store(true, Relaxed);
        if tells && is_news {
            message::remark(&format!("{name}: {what}"));
        }
    };
    Connection::open(address, access, tell).await
}

/// An error of the library.
pub(crate) fn failed(error: workers::Error) -> Failure {
    let failure = Failure::new(error.to_string());
    let failure = match &error {
        workers::Error::Settings { .. } => failure.status(ExitStatus::Usage),
        _ => failure,
    };
    match error.help() {
        Some(help) => failure.help(help),
        None => failure,
    }
}

/// A runtime of this thread alone: matching has threads of its own.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime
        .map_err(|error| Failure::new(format!("cannot start: {}", crate::failure::reason(&error))))
}

/// What people call this process: the name of the machine and a number.
pub(crate) fn process_name() -> String {
    format!("{}-{}", host(), std::process::id())
}

/// The name of this machine.
pub(crate) fn host() -> String {
    #[cfg(unix)]
    let name = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    #[cfg(not(unix))]
    let name = std::env::var("COMPUTERNAME").unwrap_or_default();
    match name.is_empty() {
        true => "here".to_owned(),
        false => name,
    }
}

/// Whether a path stands for standard input.
pub(crate) fn is_standard(path: &Path) -> bool {
    path.as_os_str() == OsStr::new("-")
}
