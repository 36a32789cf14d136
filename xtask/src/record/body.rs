//! What a record asks of its results.

use anyhow::Result;

use super::Made;

/// Results of one kind.
pub(crate) trait Body {
    /// Writes them as Markdown.
    fn write(&self, out: &mut String) -> Result<()>;

    /// What was measured, if the results state it one by one.
    fn made(&self) -> Vec<Made> {
        Vec::new()
    }

    /// What they are missing.
    fn faults(&self) -> Vec<String> {
        Vec::new()
    }

    /// The text for the machine if the record has none.
    fn machine(&self) -> &'static str {
        "not recorded"
    }
}
