//! What could not be measured, mostly for its program is not installed: said at once, and kept in the record.

use anyhow::{Result, ensure};

/// Rivals and cases that were left out.
#[derive(Debug, Default)]
pub(super) struct Ignored(Vec<String>);

impl Ignored {
    /// Names what is left out because a program is not installed.
    pub(super) fn add(&mut self, what: &str, program: &str) {
        self.add_for(what, &format!("{program} is not installed"));
    }

    /// Names what is left out, and why.
    pub(super) fn add_for(&mut self, what: &str, reason: &str) {
        let line = format!("ignored: {what} ({reason})");
        println!("{line}");
        self.0.push(line);
    }

    /// One line each, for the record.
    pub(super) fn lines(&self) -> &[String] {
        &self.0
    }

    /// Says at the end how many there were; fails where nothing else was measured.
    pub(super) fn finish(&self, measured: usize) -> Result<()> {
        if !self.0.is_empty() {
            println!("{measured} measured, {} ignored:", self.0.len());
            self.0.iter().for_each(|line| println!("  {line}"));
        }
        ensure!(measured > 0, "nothing was measured");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_named_and_nothing_at_all_is_a_failure() {
        let mut ignored = Ignored::default();
        ignored.add("klauspost", "go");
        assert_eq!(
            ignored.lines(),
            ["ignored: klauspost (go is not installed)"]
        );
        assert!(ignored.finish(1).is_ok());
        let error = ignored.finish(0).unwrap_err().to_string();
        assert_eq!(error, "nothing was measured");
    }
}
