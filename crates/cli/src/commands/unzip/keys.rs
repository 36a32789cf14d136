//! The password of an archive: read first if it is in a file, otherwise asked for once when an entry needs
//! it.

use zipstream::{Decryption, Password};

use crate::args::password::PasswordSource;
use crate::commands::unzip::flags::UnzipPlan;
use crate::failure::Result;
use crate::term::password;

/// Decrypts entries.
pub(super) struct Keys {
    /// `None` as long as the user has not been asked.
    password: Option<Option<Password>>,
    early: bool,
}

impl Keys {
    /// Reads the password file, if there is one.
    pub(super) fn new(plan: &UnzipPlan) -> Result<Self> {
        let password = match &plan.password {
            PasswordSource::File(path) => Some(Some(password::read(path)?)),
            PasswordSource::Terminal => None,
        };
        Ok(Self {
            password,
            early: plan.early,
        })
    }

    /// The password, asked for if there is a terminal; without one, entries fail and say that they need it.
    pub(super) fn get(&mut self) -> Result<Option<Decryption>> {
        let password = match &self.password {
            Some(password) => password.clone(),
            None => {
                let asked = password::ask("password of the archive:")?;
                self.password.insert(asked).clone()
            }
        };
        Ok(password.map(|password| Decryption::new(password).release_early(self.early)))
    }
}
