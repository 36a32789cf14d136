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

impl Access {
    /// Who we are, without a secret.
    pub(super) fn identity(&self) -> String {
        match (&self.credentials, &self.token, &self.user) {
            (Some(_), ..) => "a credentials file".to_owned(),
            (_, Some(_), _) => "a token".to_owned(),
            (.., Some((user, _))) => format!("the user '{user}' with a password"),
            _ => "no credentials".to_owned(),
        }
    }

    /// Whom we trust.
    pub(super) fn trust(&self) -> String {
        match &self.authorities {
            Some(path) => format!("trusted is '{}'", path.display()),
            None => "trusted are the authorities of this system".to_owned(),
        }
    }
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
        let nobody = Access::default();
        assert_eq!(nobody.identity(), "no credentials");
        let user = Access {
            user: access.user.clone(),
            ..nobody
        };
        assert_eq!(user.identity(), "the user 'me' with a password");
        assert!(!access.identity().contains("s3cret"));
    }
}
