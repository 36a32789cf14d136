//! Who we are to a server of NATS: flags that `betree` and `stress` share.

use std::path::PathBuf;

use clap::Args;
use files::conflicts::Files;

/// Who we are to a server of NATS. Secrets come from files or the environment.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Access")]
pub(crate) struct AccessArgs {
    /// Credentials file, as `nsc generate creds` writes it; or NATS_CREDS
    #[arg(long, value_name = "FILE", conflicts_with_all = ["user", "token_file"], hide_short_help = true)]
    pub(crate) creds: Option<PathBuf>,
    /// User; or NATS_USER. The password is in --password-file or NATS_PASSWORD
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with = "token_file",
        hide_short_help = true
    )]
    pub(crate) user: Option<String>,
    /// File with the password of --user
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) password_file: Option<PathBuf>,
    /// File with a token; or NATS_TOKEN
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) token_file: Option<PathBuf>,
    /// Certificates of authorities to trust in place of the system's, as PEM; or NATS_CA
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) tls_ca: Option<PathBuf>,
    /// Certificate to show to the server, as PEM
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) tls_cert: Option<PathBuf>,
    /// Key of --tls-cert, as PEM
    #[arg(long, value_name = "FILE", hide_short_help = true)]
    pub(crate) tls_key: Option<PathBuf>,
}

impl AccessArgs {
    /// A flag of these that is stated.
    #[cfg(feature = "kafka")]
    pub(crate) fn stated(&self) -> Option<&'static str> {
        let stated = [
            ("--creds", self.creds.is_some()),
            ("--user", self.user.is_some()),
            ("--password-file", self.password_file.is_some()),
            ("--token-file", self.token_file.is_some()),
            ("--tls-ca", self.tls_ca.is_some()),
            ("--tls-cert", self.tls_cert.is_some()),
            ("--tls-key", self.tls_key.is_some()),
        ];
        let mut stated = stated.into_iter().filter(|(_, is_stated)| *is_stated);
        stated.next().map(|(flag, _)| flag)
    }

    /// What it reads.
    pub(crate) fn files<'a>(&'a self, files: Files<'a>) -> Files<'a> {
        files
            .reads_some("--creds", &self.creds)
            .reads_some("--password-file", &self.password_file)
            .reads_some("--token-file", &self.token_file)
            .reads_some("--tls-ca", &self.tls_ca)
            .reads_some("--tls-cert", &self.tls_cert)
            .reads_some("--tls-key", &self.tls_key)
    }
}
