//! Flags that name dictionaries.

use std::path::PathBuf;

use clap::Args;
use files::conflicts::Files;

/// Dictionaries in place of built-in ones.
#[derive(Debug, Default, Clone, Args)]
pub(crate) struct DictionaryArgs {
    /// QuickFIX XML dictionary, instead of the built-in one of its version
    ///
    /// Repeat it for several versions; those of other versions stay built in. Of FIX 5.0 and later, messages have FIXT 1.1
    /// for their session: a dictionary of each may be given.
    #[arg(long, value_name = "FILE")]
    pub(crate) dictionary: Vec<PathBuf>,
    /// QuickFIX XML dictionary of headers, trailers and session messages (FIXT 1.1)
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "dictionary",
        hide_short_help = true
    )]
    pub(crate) transport_dictionary: Option<PathBuf>,
    /// QuickFIX XML dictionary of the application messages of FIXT 1.1
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with = "dictionary",
        hide_short_help = true
    )]
    pub(crate) application_dictionary: Option<PathBuf>,
}

impl DictionaryArgs {
    /// Adds what is read.
    pub(crate) fn files<'a>(&'a self, files: Files<'a>) -> Files<'a> {
        let own = self.dictionary.iter();
        own.fold(files, |files, path| files.reads("--dictionary", path))
            .reads_some("--transport-dictionary", &self.transport_dictionary)
            .reads_some("--application-dictionary", &self.application_dictionary)
    }
}
