//! Results as the XML that programs for continuous integration read, named after JUnit.

use std::fmt::Write as _;

use fixcore::dict::Version;

use super::scenario::Scenario;
use super::verdict::{Finished, Verdict};

/// JUnit's XML: a test suite for each version, a test case for each scenario. A failed one has its
/// messages.
#[must_use]
pub fn junit(results: &[(&Scenario, Version, Finished)]) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    let mut versions: Vec<Version> = Vec::new();
    for (_, version, _) in results {
        if !versions.contains(version) {
            versions.push(*version);
        }
    }
    for version in versions {
        let of: Vec<_> = results
            .iter()
            .filter(|result| result.1 == version)
            .collect();
        suite(&mut xml, version, &of);
    }
    xml.push_str("</testsuites>\n");
    xml
}

fn suite(xml: &mut String, version: Version, results: &[&(&Scenario, Version, Finished)]) {
    let count = |is: fn(&Verdict) -> bool| {
        results
            .iter()
            .filter(|result| is(&result.2.verdict))
            .count()
    };
    let failures = count(|verdict| matches!(verdict, Verdict::Failed { .. }));
    let errors = count(|verdict| matches!(verdict, Verdict::NoConnection(_)));
    let skipped = count(|verdict| matches!(verdict, Verdict::Skipped(_)));
    let seconds: f64 = results
        .iter()
        .map(|result| result.2.took.as_secs_f64())
        .sum();
    let (name, tests) = (version.name(), results.len());
    // Writing to a string does not fail.
    let _ = writeln!(
        xml,
        "  <testsuite name=\"FIX {name}\" tests=\"{tests}\" failures=\"{failures}\" \
         errors=\"{errors}\" skipped=\"{skipped}\" time=\"{seconds:.3}\">"
    );
    for (scenario, _, finished) in results {
        case(xml, scenario, version, finished);
    }
    xml.push_str("  </testsuite>\n");
}

fn case(xml: &mut String, scenario: &Scenario, version: Version, finished: &Finished) {
    let (name, class) = (escaped(scenario.name()), version.name());
    let seconds = finished.took.as_secs_f64();
    let _ = write!(
        xml,
        "    <testcase name=\"{name}\" classname=\"fix.{class}\" time=\"{seconds:.3}\""
    );
    let element = match &finished.verdict {
        Verdict::Passed => {
            xml.push_str("/>\n");
            return;
        }
        Verdict::Failed { .. } => "failure",
        Verdict::Skipped(_) => "skipped",
        Verdict::NoConnection(_) => "error",
    };
    let why = escaped(&finished.verdict.why().unwrap_or_default());
    let _ = write!(xml, ">\n      <{element} message=\"{why}\"");
    if matches!(finished.verdict, Verdict::Skipped(_)) {
        xml.push_str("/>\n    </testcase>\n");
        return;
    }
    let _ = writeln!(xml, ">{}", escaped(scenario.says()));
    for exchange in &finished.exchange {
        let at = exchange.at.as_secs_f64();
        let _ = writeln!(xml, "{at:8.3} {}", escaped(&exchange.to_string()));
    }
    let _ = writeln!(xml, "</{element}>\n    </testcase>");
}

/// Text without what means something in XML, or may not be in it.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => out.push('?'),
            _ if letter.is_control() => out.push('?'),
            _ => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::certify::{Connection, Direction, Exchange, scenarios};

    #[test]
    fn hostile_messages_stay_text() {
        let scenario = scenarios().first().expect("a scenario");
        let exchange = vec![Exchange {
            at: Duration::from_millis(5),
            connection: Connection::A,
            direction: Direction::Received,
            bytes: b"8=FIX.4.4\x0158=]]><x a=\"&\"\x01\x07".to_vec(),
        }];
        let failed = Finished {
            verdict: Verdict::Failed {
                step: "< 5".to_owned(),
                why: "expected 35=5".to_owned(),
            },
            exchange,
            took: Duration::from_millis(7),
        };
        let xml = junit(&[(scenario, Version::Fix44, failed)]);
        assert!(xml.contains("failures=\"1\""), "{xml}");
        assert!(
            xml.contains("&lt; 8=FIX.4.4|58=]]&gt;&lt;x a=&quot;&amp;&quot;|"),
            "{xml}"
        );
        assert!(!xml.contains('\u{7}'), "{xml}");
    }
}
