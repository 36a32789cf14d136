//! Who may log on: names and passwords of a file, and their check in a Logon.

use std::collections::HashMap;

use crate::application::{Received, Refusal};

/// Names and passwords of those who may log on, as Username (553) and Password (554) state them.
#[derive(Clone, Default)]
pub struct Credentials {
    /// Lines with an empty password.
    unprotected: Vec<u32>,
    passwords: HashMap<Box<[u8]>, Box<[u8]>>,
}

/// Why a line of a file of users cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CredentialsError {
    /// There is no colon, or nothing before it.
    #[error("line {line}: expected NAME:PASSWORD")]
    Form {
        /// The line, from 1.
        line: u32,
    },
    /// A name is there twice.
    #[error("line {line}: its name is on an earlier line, too")]
    Twice {
        /// The line, from 1.
        line: u32,
    },
}

impl Credentials {
    /// Reads lines `NAME:PASSWORD`. Empty lines, and lines that begin with `#`, are left out.
    ///
    /// ```
    /// let users = fixsession::Credentials::parse(b"# desk\nalice:secret\n")?;
    /// assert_eq!(users.len(), 1);
    /// # Ok::<(), fixsession::CredentialsError>(())
    /// ```
    ///
    /// # Errors
    /// A line has another form, or a name is there twice. The error has no part of a password.
    pub fn parse(text: &[u8]) -> Result<Self, CredentialsError> {
        let mut unprotected = Vec::new();
        let mut passwords: HashMap<Box<[u8]>, Box<[u8]>> = HashMap::new();
        for (line, content) in (1..).zip(text.split(|byte| *byte == b'\n')) {
            let content = content.strip_suffix(b"\r").unwrap_or(content);
            if content.is_empty() || content.starts_with(b"#") {
                continue;
            }
            let colon = content.iter().position(|byte| *byte == b':');
            let colon = colon
                .filter(|at| *at > 0)
                .ok_or(CredentialsError::Form { line })?;
            let (name, rest) = content.split_at(colon);
            let password = rest.get(1..).unwrap_or(&[]);
            if password.is_empty() {
                unprotected.push(line);
            }
            if passwords.insert(name.into(), password.into()).is_some() {
                return Err(CredentialsError::Twice { line });
            }
        }
        Ok(Self {
            unprotected,
            passwords,
        })
    }

    /// The lines whose password is empty: a Logon of these names without Password (554) is accepted.
    #[must_use]
    pub fn unprotected(&self) -> &[u32] {
        &self.unprotected
    }

    /// How many names there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.passwords.len()
    }

    /// Whether there are none: every Logon is refused.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.passwords.is_empty()
    }

    /// Checks a Logon; to be called from [`from_admin`](crate::Application::from_admin). Other messages pass.
    ///
    /// # Errors
    /// The Logon has no Username and Password of these. The text that goes to the counterparty does not say which
    /// is wrong.
    pub fn check(&self, received: &Received<'_>) -> Result<(), Refusal> {
        let message = received.message;
        if message.msg_type() != b"A" {
            return Ok(());
        }
        let known = message.get(553).and_then(|name| self.passwords.get(name));
        let stated = message.get(554).unwrap_or(&[]);
        // All bytes are compared, so that the time does not tell how many are right.
        let is_right = known.is_some_and(|known| {
            let pairs = known.iter().zip(stated);
            let differ = pairs.fold(0_u8, |differ, (one, other)| differ | (one ^ other));
            known.len() == stated.len() && differ == 0
        });
        match is_right {
            true => Ok(()),
            false => Err(Refusal::Logon(
                "Username (553) or Password (554) is wrong".to_owned(),
            )),
        }
    }
}

/// Names only.
impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials")
            .field("names", &self.passwords.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_names_and_passwords() {
        let users = Credentials::parse(b"a:b:c\r\n\n#x\nd:\n").unwrap();
        assert_eq!(users.len(), 2);
        assert_eq!(users.unprotected(), [4]);
        let errors =
            ["a", ":b", "a:b\na:c"].map(|text| Credentials::parse(text.as_bytes()).unwrap_err());
        assert_eq!(errors[0], CredentialsError::Form { line: 1 });
        assert_eq!(errors[1], CredentialsError::Form { line: 1 });
        assert_eq!(errors[2], CredentialsError::Twice { line: 2 });
    }
}
