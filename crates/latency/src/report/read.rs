//! Reading the JSON of a report.

use serde::Deserialize;

use super::{FloorKind, Report, RowFloor, SCHEMA};
use crate::check::check;
use crate::read::{Place, ReadError, ReadErrorKind};

/// Only what distinguishes a report from other JSON.
#[derive(Deserialize)]
struct Head {
    schema: Option<serde_json::Value>,
}

/// Reads a JSON report.
///
/// Checks the schema name first, so that the error for a foreign file is not about its first unknown field.
/// Then checks every row against its histogram, and orders and ranges, so that a truncated or edited report
/// does not pass for a measurement.
///
/// # Errors
/// When the bytes are not JSON, have no schema name or another one, have unknown or missing fields, or
/// contradict themselves; in the last case [`ReadError::place`] is the row and field.
pub fn read_json(bytes: &[u8]) -> Result<Report, ReadError> {
    let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    if first != Some(&b'{') {
        let message = match first {
            None => "not a perfkit report: the file is empty",
            Some(_) => "not a perfkit report: it does not start with the { of a JSON object",
        };
        return Err(ReadError::new(
            ReadErrorKind::Foreign,
            Place::Whole,
            message,
        ));
    }
    let head: Head = serde_json::from_slice(bytes)?;
    match head.schema {
        Some(serde_json::Value::String(name)) if name == SCHEMA => {}
        Some(serde_json::Value::String(name)) => {
            let shown: String = name.chars().take(60).collect();
            let message = format!("unsupported schema: stated `{shown}`, supported `{SCHEMA}`");
            return Err(ReadError::new(
                ReadErrorKind::Foreign,
                Place::Whole,
                message,
            ));
        }
        _ => {
            let message =
                format!("not a perfkit report: no `\"schema\": \"{SCHEMA}\"` in this JSON");
            return Err(ReadError::new(
                ReadErrorKind::Foreign,
                Place::Whole,
                message,
            ));
        }
    }
    let mut report = serde_json::from_slice(bytes)?;
    check(&report)?;
    floors_of_older(&mut report);
    Ok(report)
}

/// Gives rows and tables the clock floor of their run, in a report of a version that stated it of the machine alone.
/// What it was put together from may have been measured elsewhere, and gets none.
fn floors_of_older(report: &mut Report) {
    let states = report.latencies.iter().any(|row| !row.floors.is_empty())
        || report
            .tables
            .iter()
            .any(|table| table.clock_floor_ns.is_some());
    let kind = report.workload.kind.as_str();
    let is_own = !matches!(kind, "report" | "report, merged");
    let floor = report.environment.clock_floor_ns;
    let Some(ns) = floor.filter(|_| is_own && !states) else {
        return;
    };
    for row in &mut report.latencies {
        let kind = FloorKind::Clock;
        row.floors.push(RowFloor { kind, ns });
    }
    // It times short operations in batches: its tables are of means.
    if kind != "compress-bench" {
        for table in report.tables.iter_mut().filter(|table| table.has_times()) {
            table.clock_floor_ns = Some(ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Table, Unit};

    #[test]
    fn foreign_json_is_called_foreign() {
        let error = read_json(br#"{"results": [1, 2]}"#).unwrap_err();
        assert_eq!(error.kind(), ReadErrorKind::Foreign);
        let error = read_json(br#"{"schema": "perfkit.report/9", "x": 1}"#).unwrap_err();
        assert_eq!(error.kind(), ReadErrorKind::Foreign);
        assert!(error.to_string().contains("perfkit.report/9"), "{error}");
    }

    #[test]
    fn broken_json_names_line_and_column() {
        let error = read_json(b"{\n  \"schema\": \"perfkit.report/1\",\n  \"complete\": maybe\n}")
            .unwrap_err();
        assert_eq!(error.kind(), ReadErrorKind::Malformed);
        assert!(
            matches!(error.place(), Place::Line { line: 3, .. }),
            "{error}"
        );
        assert_eq!(error.to_string().matches("line 3").count(), 1, "{error}");
    }

    #[test]
    fn unknown_fields_are_refused() {
        let error = read_json(br#"{"schema": "perfkit.report/1", "surprise": 1}"#).unwrap_err();
        assert!(error.message().contains("surprise"), "{error}");
    }

    #[test]
    fn errors_are_one_bearable_line() {
        let name = "x\\n".repeat(5_000);
        let text = format!("{{\"schema\": \"perfkit.report/1\", \"{name}\": 1}}");
        let message = read_json(text.as_bytes()).unwrap_err().to_string();
        assert!(message.len() < 1_500 && !message.contains('\n'));
    }

    #[test]
    fn deep_nesting_is_an_error() {
        let mut hostile = b"{\"schema\":".to_vec();
        hostile.extend(std::iter::repeat_n(b'[', 1 << 16));
        assert!(read_json(&hostile).is_err());
    }

    #[test]
    fn a_report_comes_back_to_the_last_bit() {
        let mut recorder = crate::Recorder::new(
            crate::Spec::new(crate::LatencyName::Hold, "call"),
            std::time::Instant::now(),
        );
        (0..1_000u64).for_each(|i| recorder.record_ns(i * i * 7_919 % 1_000_003));
        let mut report = crate::testing::report(vec![recorder.finish().latency()]);
        report.environment.load_before = Some(0.1 + 0.2);
        let text = serde_json::to_vec(&report).unwrap();
        assert_eq!(read_json(&text).unwrap(), report);
    }

    #[test]
    fn rows_of_an_older_report_get_the_floor_of_their_machine() {
        let row = || {
            let spec = crate::Spec::new(crate::LatencyName::Hold, "call");
            let mut recorder = crate::Recorder::new(spec, std::time::Instant::now());
            recorder.record_ns(40);
            recorder.finish().latency()
        };
        let read = |kind: &str, floors: Vec<RowFloor>| {
            let mut report = crate::testing::report(vec![row()]);
            for unit in [Unit::Nanoseconds, Unit::Count] {
                report.tables.push(Table::new("t", &[("x", unit)]));
            }
            report.workload.kind = kind.to_owned();
            report.environment.clock_floor_ns = Some(25);
            report.latencies[0].floors = floors;
            let read = read_json(&serde_json::to_vec(&report).unwrap()).unwrap();
            assert_eq!(read.tables[1].clock_floor_ns, None);
            let floors = read.latencies[0].floors.iter().map(|floor| floor.ns);
            (floors.collect::<Vec<_>>(), read.tables[0].clock_floor_ns)
        };
        let own = RowFloor {
            kind: FloorKind::Clock,
            ns: 7,
        };
        assert_eq!(read("compress", Vec::new()), (vec![25], Some(25)));
        assert_eq!(read("compress-bench", Vec::new()), (vec![25], None));
        assert_eq!(read("report", Vec::new()), (vec![], None));
        assert_eq!(read("report, merged", Vec::new()), (vec![], None));
        assert_eq!(read("compress", vec![own]), (vec![7], None));
    }

    #[test]
    #[cfg(feature = "schema")]
    fn the_schema_knows_every_key_of_a_report() {
        let schema = crate::report::schema();
        let report = serde_json::to_value(crate::testing::report(Vec::new())).unwrap();
        for key in report.as_object().unwrap().keys() {
            assert!(schema["properties"].get(key).is_some(), "{key}");
        }
        assert_eq!(schema["additionalProperties"], false);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
            let _ = read_json(&bytes);
        }
    }
}
