//! Where a server listens, as text.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

/// Where a server listens.
///
/// ```
/// use matcher::http::Address;
///
/// let tcp: Address = "127.0.0.1:8080".parse()?;
/// assert_eq!(tcp.to_string(), "http://127.0.0.1:8080");
/// let unix: Address = "unix:/run/matcher.sock".parse()?;
/// assert_eq!(unix.to_string(), "unix:/run/matcher.sock");
/// # Ok::<(), matcher::http::ParseAddressError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Address {
    /// An address of this machine and a port; port 0 is any free one.
    Tcp(SocketAddr),
    /// A socket in the file system.
    Unix(PathBuf),
}

/// A text is no address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected an address and a port, as in 127.0.0.1:8080 or [::1]:0, or unix:PATH")]
pub struct ParseAddressError;

impl FromStr for Address {
    type Err = ParseAddressError;

    fn from_str(text: &str) -> Result<Self, ParseAddressError> {
        match text.strip_prefix("unix:") {
            Some("") => Err(ParseAddressError),
            Some(path) => Ok(Self::Unix(path.into())),
            None => text.parse().map(Self::Tcp).map_err(|_| ParseAddressError),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "http://{address}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}
