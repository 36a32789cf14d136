//! Parses values of `perfkit stress` flags: rates, faults, ratios.

use std::num::NonZeroU64;
use std::time::Duration;

use bench::stress::Rate;
use latency::RATE_MAX_PER_S;
use stress::Faults;

use crate::args::units;

/// One block or call in this number is faulty by default.
const EVERY: u64 = 1000;
const CONSUMER_PAUSE: Duration = Duration::from_millis(1);

/// One injected fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    Corrupt(NonZeroU64),
    Panic(NonZeroU64),
    Slow(Duration),
    Full,
}

/// All of them together; the last of each kind counts.
pub(super) fn faults(all: &[Fault]) -> Faults {
    let mut faults = Faults::default();
    for fault in all {
        match *fault {
            Fault::Corrupt(every) => faults.corrupt_every = Some(every),
            Fault::Panic(every) => faults.panic_every = Some(every),
            Fault::Slow(pause) => faults.consumer_pause = Some(pause),
            Fault::Full => faults.full_queue = true,
        }
    }
    faults
}

/// `corrupt`, `corrupt=N`, `slow=TIME` and so on.
pub(super) fn fault(text: &str) -> std::result::Result<Fault, String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (text, None),
    };
    let every = || match value {
        None => NonZeroU64::new(EVERY).ok_or_else(String::new),
        Some(value) => value
            .parse()
            .map_err(|_| format!("'{value}' is not a number of blocks or calls above 0")),
    };
    match (name, value) {
        ("corrupt", _) => every().map(Fault::Corrupt),
        ("panic", _) => every().map(Fault::Panic),
        ("slow", None) => Ok(Fault::Slow(CONSUMER_PAUSE)),
        ("slow", Some(value)) => units::duration(value).map(Fault::Slow),
        ("full", None) => Ok(Fault::Full),
        _ => Err("expected corrupt[=N], panic[=N], slow[=TIME] or full".to_owned()),
    }
}

/// `20000`, `80%`.
pub(super) fn rate(text: &str) -> std::result::Result<Rate, String> {
    let (number, share) = match text.strip_suffix('%') {
        Some(number) => (number, true),
        None => (text, false),
    };
    let number = number.trim().parse::<f64>().ok();
    match number.filter(|number| number.is_finite()) {
        Some(percent) if share && percent > 0.0 => Ok(Rate::Share(percent / 100.0)),
        Some(per_s) if !share && per_s > 0.0 && per_s <= RATE_MAX_PER_S => {
            Ok(Rate::PerSecond(per_s))
        }
        Some(per_s) if !share && per_s > RATE_MAX_PER_S => Err(format!(
            "'{text}' is out of range: at most {RATE_MAX_PER_S} per second"
        )),
        _ => Err(format!(
            "'{text}' is not a rate above 0 (such as 20000 or 80%)"
        )),
    }
}

/// No codec reaches it, and larger numbers lose digits.
const RATIO_MAX: f64 = 1e6;

/// A ratio, at least 0.
pub(super) fn ratio(text: &str) -> std::result::Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite());
    number
        .filter(|number| (0.0..=RATIO_MAX).contains(number))
        .ok_or_else(|| format!("'{text}' is not a ratio from 0 to 1000000 (such as 1.86)"))
}
