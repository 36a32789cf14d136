//! Statistics as tables of a report.

use std::path::PathBuf;

use fixcore::SOH;
use latency::Recorder;
use latency::report::{Table, Unit};

use crate::commands::fix::stats::Stats;
use crate::export::names;

/// Sender and target of a session, as a report names them.
pub(super) fn name(key: &[u8]) -> String {
    let names = key.split(|byte| *byte == SOH);
    let names: Vec<_> = names.map(|name| name.escape_ascii().to_string()).collect();
    names.join(" → ")
}

impl Stats {
    /// The tables, the distribution of the waits, and how much was not followed.
    pub(crate) fn finish(mut self, files: &[PathBuf]) -> (Vec<Table>, Recorder, u64) {
        let mut tables = vec![self.mix(), self.sequences()];
        if !self.gaps.is_empty() {
            tables.push(self.gaps(files));
        }
        (tables, self.waits, self.unfollowed)
    }

    fn mix(&mut self) -> Table {
        let columns = [
            ("type", Unit::Text),
            ("messages", Unit::Count),
            ("bytes", Unit::Bytes),
        ];
        let mut mix = Table::new("messages", &columns);
        let mut types: Vec<_> = self.types.drain().collect();
        types.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        for (msg_type, (count, bytes)) in types {
            let name = msg_type.escape_ascii().to_string();
            mix.rows.push(vec![name.into(), count.into(), bytes.into()]);
        }
        mix
    }

    fn sequences(&mut self) -> Table {
        let columns = [
            ("session", Unit::Text),
            ("messages", Unit::Count),
            ("gaps", Unit::Count),
            ("missing", Unit::Count),
            ("duplicates", Unit::Count),
            ("resend_requests", Unit::Count),
            ("resent", Unit::Count),
            ("storms", Unit::Count),
            ("storm_longest", Unit::Count),
        ];
        let mut sessions = Table::new("sessions", &columns);
        let mut found: Vec<_> = self.sessions.drain().collect();
        found.sort_by(|a, b| a.0.cmp(&b.0));
        for (key, sequence) in found {
            sessions.rows.push(vec![
                name(&key).into(),
                sequence.messages.into(),
                sequence.gaps.into(),
                sequence.missing.into(),
                sequence.duplicates.into(),
                sequence.requests.into(),
                sequence.resent.into(),
                sequence.storms.into(),
                sequence.storm_longest.into(),
            ]);
        }
        sessions
    }

    fn gaps(&mut self, files: &[PathBuf]) -> Table {
        let columns = [
            ("session", Unit::Text),
            ("file", Unit::Text),
            ("offset", Unit::Count),
            ("expected", Unit::Count),
            ("got", Unit::Count),
        ];
        let mut table = Table::new("gaps", &columns);
        for gap in self.gaps.drain(..) {
            let file = files.get(gap.file);
            table.rows.push(vec![
                gap.session.into(),
                file.map_or(String::new(), |path| names::path(path)).into(),
                gap.offset.into(),
                gap.expected.into(),
                gap.got.into(),
            ]);
        }
        table
    }
}
