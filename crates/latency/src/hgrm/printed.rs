//! What wrk2 prints besides its distribution: how many requests there were, at which rate, and how many failed.

use super::unit::is_printed;
use crate::report::{RateKind, Stated, StatedRate};

/// The tool, in what it stated.
const WRK2: &str = "wrk2";
/// What stands before the counts of requests without an answer.
const SOCKET: &str = "Socket errors:";
/// What stands before the count of answers with a status that says that the request failed.
const STATUS: &str = "Non-2xx or 3xx responses:";
/// What stands before the rate.
const RATE: &str = "Requests/sec:";

/// The counts and rates in the output of wrk2; nothing of any other text. Requests that failed are those with a socket
/// error, and those whose status is neither 2xx nor 3xx. wrk2 prints the lines of errors only if there are some.
///
/// ```
/// use perfkit_latency::hgrm::printed;
/// let text = "  Detailed Percentile spectrum:\n  100 requests in 10.00s, 1.00MB read\n  \
///             Socket errors: connect 0, read 2, write 0, timeout 3\n  Non-2xx or 3xx responses: 10\n";
/// let failed = &printed(text).rates[1];
/// assert_eq!((failed.count, failed.of), (Some(15), Some(105)));
/// ```
#[must_use]
pub fn printed(text: &str) -> Stated {
    let mut stated = Stated::default();
    if !is_printed(text) {
        return stated;
    }
    let line = |mark: &str| {
        let mut lines = text.lines().map(str::trim);
        lines.find_map(|line| line.strip_prefix(mark).map(str::trim))
    };
    let answered = text.lines().find_map(|line| {
        let (count, _) = line.trim().split_once(" requests in ")?;
        count.parse::<u64>().ok()
    });
    let per_s = line(RATE).and_then(|rate| rate.parse::<f64>().ok());
    let per_s = per_s.filter(|rate| rate.is_finite() && *rate >= 0.0);
    let unanswered: Vec<(&str, u64)> = line(SOCKET).map_or_else(Vec::new, |errors| {
        let each = errors.split(',').filter_map(|error| {
            let (name, count) = error.trim().split_once(' ')?;
            Some((name, count.trim().parse().ok()?))
        });
        each.collect()
    });
    let refused = line(STATUS).and_then(|count| count.parse::<u64>().ok());
    let rate = |name: &str, kind| StatedRate::new(WRK2, name, kind);
    let unanswered_all = unanswered
        .iter()
        .fold(0_u64, |all, (_, count)| all.saturating_add(*count));
    let all = answered.unwrap_or(0).saturating_add(unanswered_all);
    if answered.is_some() || per_s.is_some() {
        stated.rates.push(StatedRate {
            count: answered.map(|_| all),
            per_s,
            ..rate("requests", RateKind::Operations)
        });
    }
    let failed = unanswered_all.saturating_add(refused.unwrap_or(0));
    if all > 0 {
        let failures = rate("requests that failed", RateKind::Failures);
        stated.rates.push(failures.share_of(failed, all));
    }
    let status = refused.map(|count| ("status neither 2xx nor 3xx".to_owned(), count));
    let errors = unanswered
        .into_iter()
        .map(|(name, count)| (format!("socket error: {name}"), count));
    for (name, count) in status.into_iter().chain(errors) {
        if count > 0 {
            stated.rates.push(StatedRate {
                count: Some(count),
                ..rate(&name, RateKind::Other)
            });
        }
    }
    stated
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::GateVerdict;
    use crate::testing;

    const OUTPUT: &str = "Running 10s test @ http://127.0.0.1:8080/
  Detailed Percentile spectrum:
       Value   Percentile   TotalCount 1/(1-Percentile)

       1.000     1.000000         1000          inf
#[Max     =        1.000, Total count    =         1000]
----------------------------------------------------------
  1000 requests in 10.00s, 1.00MB read
  Socket errors: connect 1, read 2, write 3, timeout 36
  Non-2xx or 3xx responses: 10
Requests/sec:    100.00
Transfer/sec:    102.40KB
";

    fn verdict(text: &str, gate: &str) -> GateVerdict {
        let mut report = testing::report(Vec::new());
        report.stated = printed(text);
        let gate: crate::Gate = gate.parse().expect("a gate");
        gate.decide_report(&report).verdict
    }

    #[test]
    fn errors_of_a_run_are_errors_for_a_gate() {
        let rates = printed(OUTPUT).rates;
        assert_eq!((rates[0].count, rates[0].per_s), (Some(1_042), Some(100.0)));
        assert_eq!((rates[1].count, rates[1].of), (Some(52), Some(1_042)));
        let others: Vec<_> = rates[2..].iter().map(|rate| rate.count).collect();
        assert_eq!(others, [10, 1, 2, 3, 36].map(Some));
        assert_eq!(verdict(OUTPUT, "error_rate<=1%"), GateVerdict::Fail);
        assert_eq!(verdict(OUTPUT, "throughput>=99"), GateVerdict::Pass);
        // Without those lines there were none.
        let errors = |line: &&str| !line.contains("errors:") && !line.contains("Non-2xx");
        let clean: Vec<&str> = OUTPUT.lines().filter(errors).collect();
        let clean = clean.join("\n");
        assert_eq!(printed(&clean).rates[1].count, Some(0));
        assert_eq!(verdict(&clean, "error_rate<=1%"), GateVerdict::Pass);
    }

    #[test]
    fn of_what_is_not_stated_nothing_is_known() {
        assert!(printed("1000 requests in 10.00s\nNon-2xx or 3xx responses: 10\n").is_empty());
        assert!(printed("Detailed Percentile spectrum:\n").is_empty());
        let odd = "Detailed Percentile spectrum:\nx requests in 1s\nSocket errors: read, b x, timeout 18446744073709551615\n\
                   Non-2xx or 3xx responses: 18446744073709551615\nRequests/sec: -1\n";
        let rates = printed(odd).rates;
        assert_eq!(
            (rates[0].share, rates[0].count),
            (Some(1.0), Some(u64::MAX))
        );
        assert_eq!(verdict(odd, "error_rate<=1%"), GateVerdict::Fail);
    }
}
