//! In place of `tls` without the feature of that name: there is no connection with TLS.

use std::convert::Infallible;
use std::io;

use crate::settings::TlsOptions;

const LACKS: &str = "this program was built without the feature `tls`";

#[derive(Debug, Clone)]
pub(super) struct Config(Infallible);

#[derive(Debug)]
pub(super) struct Tls(Infallible);

pub(super) fn server(_: &TlsOptions) -> Result<Config, String> {
    Err(LACKS.to_owned())
}

pub(super) fn client(_: &TlsOptions) -> Result<Config, String> {
    Err(LACKS.to_owned())
}

impl Config {
    pub(super) fn connect(&self, _: &str) -> Result<Tls, String> {
        match self.0 {}
    }
}

impl Tls {
    pub(super) fn received(&mut self, _: &[u8], _: &mut Vec<u8>) -> io::Result<()> {
        match self.0 {}
    }

    pub(super) fn write(&mut self, _: &[u8]) -> usize {
        match self.0 {}
    }

    pub(super) fn pull(&mut self, _: &mut Vec<u8>) {
        match self.0 {}
    }

    pub(super) fn close(&mut self) {
        match self.0 {}
    }
}
