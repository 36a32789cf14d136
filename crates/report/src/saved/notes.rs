//! What a file does not say and was assumed, and what of it was left out.

use latency::dependence::INTERVALS_MIN;
use latency::hgrm::HgrmUnit;
use latency::hlog::Rows;

/// That values were taken for `unit`, which the file does not say.
pub(super) fn unit(unit: HgrmUnit) -> String {
    let unit = match unit {
        HgrmUnit::Ns => "nanoseconds",
        HgrmUnit::Us => "microseconds",
        HgrmUnit::Ms => "milliseconds",
    };
    format!(
        "The values were taken for {unit}, since the file states no unit (--unit says otherwise)."
    )
}

/// What to know of a log.
pub(super) fn of_log(read: &Rows) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(line) = read.cut_line {
        notes.push(format!(
            "Line {line}, the last, ends within a histogram, and was left out."
        ));
    }
    if read.rows.iter().all(|row| row.n == 0) {
        notes.push("The log has no values.".to_owned());
        return notes;
    }
    if read.unit_assumed {
        notes.push(unit(HgrmUnit::Ns));
    }
    if read.independence_assumed {
        notes.push(format!(
            "Its values were taken for independent: there are fewer than the {INTERVALS_MIN} intervals with values \
             that would show how they depend on each other."
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use latency::hgrm::HgrmUnit;
    use latency::report::Latency;
    use latency::{Histogram, LatencyName, hlog};

    use crate::saved::{Saved, merge, overlay};

    /// A log of intervals with a hundred values each.
    fn log(intervals: u64) -> Vec<u8> {
        let mut histogram = Histogram::<u64>::new_with_bounds(1, 1 << 32, 3).unwrap();
        (1..=100).for_each(|value| histogram.record(value).unwrap());
        let row = Latency::from_histogram(
            LatencyName::Service,
            "call",
            latency::report::Timing::Actual,
            &histogram,
        );
        let start = std::time::SystemTime::UNIX_EPOCH;
        let mut log = Vec::new();
        hlog::write(&mut log, start, &[&row], None).unwrap();
        let text = String::from_utf8(log).unwrap();
        let (head, line) = text.trim_end().rsplit_once('\n').unwrap();
        let payload = line.rsplit(',').next().unwrap();
        let lines = (0..intervals).map(|nth| format!("{nth}.000,1.000,0.000,{payload}\n"));
        (head.to_owned() + "\n" + &lines.collect::<String>()).into_bytes()
    }

    fn notes(name: &str, bytes: &[u8], unit: Option<HgrmUnit>) -> Vec<String> {
        let notes = Saved::parse(Path::new(name), bytes, unit).unwrap().notes;
        notes
            .iter()
            .map(|note| note.split(' ').take(3).collect::<Vec<_>>().join(" "))
            .collect()
    }

    #[test]
    fn what_was_assumed_of_a_file_is_said() {
        let (unit, free) = ("The values were", "Its values were");
        assert_eq!(notes("a.hlog", &log(30), None), [unit]);
        assert_eq!(notes("a.hlog", &log(3), None), [unit, free]);
        assert_eq!(notes("a.hlog", &log(30), Some(HgrmUnit::Ms)), [""; 0]);
        assert_eq!(notes("a.hlog", &log(0), None), ["The log has"]);
        let cut = log(30);
        assert_eq!(
            notes("a.hlog", &cut[..cut.len() - 9], None),
            ["Line 35, the", unit]
        );
        let text = b"Value Percentile TotalCount 1/(1-Percentile)\n\n1.0 1.0 5\n";
        assert_eq!(notes("a.hgrm", text, None), [unit]);
        assert_eq!(notes("a.hgrm", text, Some(HgrmUnit::Us)), [""; 0]);
    }

    #[test]
    fn a_report_says_it_once_for_each_file() {
        let file = || Saved::parse(Path::new("a.hlog"), &log(30), None).unwrap();
        assert_eq!(overlay(vec![file()]).findings, file().notes);
        let both = merge(vec![file(), file()]).unwrap().findings;
        assert_eq!(both.len(), 2);
        assert!(
            both[0].starts_with("a.hlog: The values were taken for nanoseconds"),
            "{both:?}"
        );
    }
}
