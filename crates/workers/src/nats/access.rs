//! Who somebody is to a server. The secrets are the caller's to read, from files or the environment; nothing here
//! prints them.

use std::fmt;
use std::path::PathBuf;

/// What a server may ask for. Without anything it is asked for nothing.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Access {
    /// The content of a credentials file.
    pub credentials: Option<String>,
    /// A token.
    pub token: Option<String>,
    /// A user and a password.
    pub user: Option<(String, String)>,
    /// Certificates of authorities to trust in place of the system's, as PEM.
    pub authorities: Option<PathBuf>,
    /// A certificate and its key, as PEM, to show to the server.
    pub certificate: Option<(PathBuf, PathBuf)>,
}

impl fmt::Debug for Access {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Only whether there are any.
        out.debug_struct("Access")
            .field("credentials", &self.credentials.is_some())
            .field("token", &self.token.is_some())
            .field("user", &self.user.is_some())
            .field("authorities", &self.authorities)
            .field(
                "certificate",
                &self.certificate.as_ref().map(|(path, _)| path),
            )
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_not_printed() {
        let access = Access {
            credentials: Some("s3cret".to_owned()),
            token: Some("s3cret".to_owned()),
            user: Some(("me".to_owned(), "s3cret".to_owned())),
            ..Access::default()
        };
        let text = format!("{access:?}");
        assert!(!text.contains("s3cret") && text.contains("true"), "{text}");
    }
}
