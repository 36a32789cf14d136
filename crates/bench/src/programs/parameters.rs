//! Parameters of command lines: `{name}` in a line stands for a value.

use super::Error;
use super::plan::Program;

/// Most values of a scan.
const VALUES_MAX: i128 = 100_000;
/// Most digits behind the point.
const SCALE_MAX: u32 = 28;

/// The values of a list: what is between commas. `\,` is a comma in a value, and `\\` a backslash.
#[must_use]
pub fn values(list: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut letters = list.chars().peekable();
    while let Some(letter) = letters.next() {
        let escaped = match letter {
            '\\' => letters.next_if(|next| matches!(next, ',' | '\\')),
            _ => None,
        };
        match (letter, escaped, found.last_mut()) {
            (_, Some(escaped), Some(last)) => last.push(escaped),
            (',', None, _) => found.push(String::new()),
            (letter, None, Some(last)) => last.push(letter),
            (_, _, None) => {}
        }
    }
    found
}

/// Every command with every combination of values: commands change fastest, then the first parameter.
///
/// # Errors
///
/// [`Error::Settings`] for a name that comes twice, for too many combinations, and for names of commands that
/// are neither none, nor one, nor one for each.
pub fn lists(
    commands: &[String],
    parameters: &[(String, Vec<String>)],
    names: &[String],
) -> Result<Vec<Program>, Error> {
    for (at, (name, _)) in parameters.iter().enumerate() {
        if parameters[..at].iter().any(|(before, _)| before == name) {
            return Err(Error::Settings(format!(
                "the parameter '{name}' is given twice"
            )));
        }
    }
    let sizes = parameters.iter().map(|(_, values)| values.len());
    let all = sizes
        .clone()
        .try_fold(commands.len(), usize::checked_mul)
        .filter(|all| *all as u128 <= VALUES_MAX as u128)
        .ok_or_else(|| Error::Settings("the parameters have too many combinations".to_owned()))?;
    let mut programs = Vec::with_capacity(all);
    for number in 0..all {
        let command = number % commands.len();
        let mut rest = number / commands.len();
        let mut chosen = Vec::with_capacity(parameters.len());
        for (name, values) in parameters {
            chosen.push((name.clone(), values[rest % values.len()].clone()));
            rest /= values.len();
        }
        programs.push(Program::new(&commands[command]).parameters(chosen));
    }
    named(programs, names)
}

/// Every value from `from` to `to` in steps of `step` with every command: commands change fastest.
///
/// Without a step, the values are whole numbers.
///
/// # Errors
///
/// [`Error::Settings`] for what is no number, a range without values or with too many, and names as in [`lists`].
pub fn scan(
    commands: &[String],
    name: &str,
    [from, to]: [&str; 2],
    step: Option<&str>,
    names: &[String],
) -> Result<Vec<Program>, Error> {
    let wrong = |what: &str| Error::Settings(format!("--parameter-scan {name}: {what}"));
    let number = |text: &str| {
        Decimal::parse(text).ok_or_else(|| wrong(&format!("'{text}' is not a decimal number")))
    };
    let (first, last) = (number(from)?, number(to)?);
    let step = match step {
        Some(step) => number(step)?,
        None if first.scale == 0 && last.scale == 0 => Decimal { units: 1, scale: 0 },
        None => {
            return Err(wrong(
                "a range between decimal fractions needs a step (-D STEP)",
            ));
        }
    };
    let scale = first.scale.max(last.scale).max(step.scale);
    let beyond = || wrong("a number has too many digits");
    let at = |number: Decimal| number.units_at(scale).ok_or_else(beyond);
    let (start, end, width) = (at(first)?, at(last)?, at(step)?);
    if end < start {
        return Err(wrong("the range is empty: its end is below its start"));
    }
    if width <= 0 {
        return Err(wrong("the step must be above 0"));
    }
    let steps = end.checked_sub(start).ok_or_else(beyond)? / width;
    if steps >= VALUES_MAX {
        return Err(wrong(&format!(
            "the range has more than {VALUES_MAX} values"
        )));
    }
    let mut programs = Vec::new();
    for number in 0..=steps {
        let shown = match number {
            0 => first,
            // In steps of `scale`, of which the end's own digits are no part.
            _ => Decimal {
                units: start + number * width,
                scale,
            }
            .rescaled(first.scale.max(step.scale)),
        };
        let value = shown.to_string();
        for command in commands {
            let parameter = (name.to_owned(), value.clone());
            programs.push(Program::new(command).parameters(vec![parameter]));
        }
    }
    named(programs, names)
}

/// One name for all, or one for each.
fn named(mut programs: Vec<Program>, names: &[String]) -> Result<Vec<Program>, Error> {
    if names.len() > 1 && names.len() != programs.len() {
        return Err(Error::Settings(format!(
            "--command-name is given {} times: with parameters it names all {} benchmarks once, or each of them",
            names.len(),
            programs.len()
        )));
    }
    for (at, program) in programs.iter_mut().enumerate() {
        program.name = names.get(at).or(names.first()).cloned();
    }
    Ok(programs)
}

/// A decimal number: `units` / 10^`scale`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Decimal {
    units: i128,
    scale: u32,
}

impl Decimal {
    fn parse(text: &str) -> Option<Self> {
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => (-1, digits),
            None => (1, text.strip_prefix('+').unwrap_or(text)),
        };
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let all = [whole, fraction].concat();
        let is_number = !all.is_empty() && all.bytes().all(|byte| byte.is_ascii_digit());
        let scale = u32::try_from(fraction.len()).ok()?;
        let units: i128 = all.parse().ok().filter(|_| is_number)?;
        (scale <= SCALE_MAX).then_some(Self {
            units: sign * units,
            scale,
        })
    }

    fn units_at(self, scale: u32) -> Option<i128> {
        let factor = 10_i128.checked_pow(scale.checked_sub(self.scale)?)?;
        self.units.checked_mul(factor)
    }

    /// With fewer digits, of which those that go are zeros.
    fn rescaled(self, scale: u32) -> Self {
        let dropped = self.scale.saturating_sub(scale);
        Self {
            units: self.units / 10_i128.pow(dropped),
            scale: self.scale - dropped,
        }
    }
}

impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.units < 0 { "-" } else { "" };
        let digits = format!(
            "{:0width$}",
            self.units.unsigned_abs(),
            width = self.scale as usize + 1
        );
        let (whole, fraction) = digits.split_at(digits.len() - self.scale as usize);
        match fraction {
            "" => write!(f, "{sign}{whole}"),
            _ => write!(f, "{sign}{whole}.{fraction}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(programs: &[Program]) -> Vec<String> {
        programs.iter().map(Program::line).collect()
    }

    fn scanned(range: [&str; 2], step: Option<&str>) -> Result<Vec<String>, String> {
        let commands = ["a {x}".to_owned()];
        scan(&commands, "x", range, step, &[])
            .map(|programs| lines(&programs))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn lists_have_commas_in_values() {
        for (list, expected) in [
            ("", &[""][..]),
            ("a", &["a"]),
            ("a,b", &["a", "b"]),
            ("a\\,b,c\\\\", &["a,b", "c\\"]),
            ("\\n,", &["\\n", ""]),
            ("\\", &["\\"]),
        ] {
            assert_eq!(values(list), expected, "{list}");
        }
    }

    #[test]
    fn commands_change_fastest() {
        let owned = |words: &[&str]| {
            words
                .iter()
                .map(|word| (*word).to_owned())
                .collect::<Vec<_>>()
        };
        let parameters = [
            ("x".to_owned(), owned(&["1", "2"])),
            ("y".to_owned(), owned(&["{x}", "q"])),
        ];
        let commands = owned(&["a {x}{y}", "b {y}"]);
        let programs = lists(&commands, &parameters, &[]).unwrap();
        // What a value brings is not replaced again.
        assert_eq!(
            lines(&programs),
            [
                "a 1{x}", "b {x}", "a 2{x}", "b {x}", "a 1q", "b q", "a 2q", "b q"
            ]
        );
        assert_eq!(programs[1].label(), "b {x} (x = 1)");
        let twice = [parameters[0].clone(), parameters[0].clone()];
        assert!(lists(&commands, &twice, &[]).is_err());
        assert!(lists(&commands, &parameters, &owned(&["n", "m"])).is_err());
        let named = lists(&commands, &parameters, &owned(&["n{x}"])).unwrap();
        assert_eq!(named[2].name(), "n2");
        let many = ("z".to_owned(), vec![String::new(); 60_000]);
        assert!(lists(&commands, &[many], &[]).is_err());
    }

    #[test]
    fn scans_go_in_steps_and_keep_their_digits() {
        for (range, step, expected) in [
            (["1", "3"], None, &["a 1", "a 2", "a 3"][..]),
            (["0", "10"], Some("4"), &["a 0", "a 4", "a 8"]),
            (["0.3", "0.7"], Some("0.2"), &["a 0.3", "a 0.5", "a 0.7"]),
            (["0", "0.25"], Some("0.10"), &["a 0", "a 0.10", "a 0.20"]),
            (["-1", "0"], Some("0.5"), &["a -1", "a -0.5", "a 0.0"]),
            (["5", "5"], None, &["a 5"]),
        ] {
            let expected: Vec<String> = expected.iter().map(|line| (*line).to_owned()).collect();
            assert_eq!(scanned(range, step), Ok(expected), "{range:?}");
        }
        for (range, step, why) in [
            (["3", "1"], None, "empty"),
            (["1", "3"], Some("0"), "above 0"),
            (["1", "3"], Some("-1"), "above 0"),
            (["0.1", "1"], None, "needs a step"),
            (["1", "x"], None, "not a decimal number"),
            (["1", ""], None, "not a decimal number"),
            (["0", "100000"], None, "more than"),
            (["0", "1e9"], None, "not a decimal number"),
            (["0", &"9".repeat(60)], None, "not a decimal number"),
        ] {
            let error = scanned(range, step).unwrap_err();
            assert!(error.contains(why), "{range:?}: {error}");
        }
        assert_eq!(scanned(["0", "99999"], None).unwrap().len(), 100_000);
    }
}
