//! Reads the table of scenarios. Its format is described at the top of `scenarios.txt`.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use fixcore::dict::Version;

use super::error::TableError;
use super::scenario::{
    Action, Connection, Cut, Kind, Needs, Pattern, RefTag, RejectRule, Rule, Scenario, Step, What,
    Window,
};
use super::versions::VERSIONS;
use super::words::{rule, time, value, window, words};

/// The scenarios that this build knows.
///
/// ```
/// assert!(fixsession::certify::scenarios().len() > 80);
/// ```
#[must_use]
pub fn scenarios() -> &'static [Scenario] {
    static TABLE: OnceLock<Vec<Scenario>> = OnceLock::new();
    // A test reads it: it is never empty.
    TABLE.get_or_init(|| read(include_str!("scenarios.txt")).unwrap_or_default())
}

/// A table of its text.
pub(super) fn read(text: &str) -> Result<Vec<Scenario>, TableError> {
    let mut table = Table::default();
    for (line, text) in (1..).zip(text.lines()) {
        let wrong = |what| TableError { line, what };
        table.line(text).map_err(wrong)?;
    }
    Ok(table.scenarios)
}

#[derive(Default)]
struct Table {
    scenarios: Vec<Scenario>,
    reasons: BTreeMap<u32, String>,
    templates: Vec<(String, Vec<Version>, String, Vec<Rule>)>,
}

impl Table {
    fn line(&mut self, text: &str) -> Result<(), String> {
        let trimmed = text.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            return Ok(());
        }
        let (word, rest) = trimmed.split_once(' ').unwrap_or((trimmed, ""));
        if !text.starts_with(' ') {
            return self.top(word, rest);
        }
        let last = self.scenarios.last_mut();
        let scenario = last.ok_or("a step before the first scenario")?;
        match word {
            "says" => rest.clone_into(&mut scenario.says),
            "known" => scenario.known = Some(rest.to_owned()),
            "needs" => scenario.needs = needs(rest)?,
            "versions" if rest == "first" => scenario.is_once = true,
            "versions" => scenario.versions = versions(rest)?,
            _ => {
                let step = self.step(trimmed)?;
                if let Some(scenario) = self.scenarios.last_mut() {
                    scenario.steps.extend(step);
                }
            }
        }
        Ok(())
    }

    fn top(&mut self, word: &str, rest: &str) -> Result<(), String> {
        match word {
            "scenario" => {
                if self.scenarios.iter().any(|known| known.name == rest) {
                    return Err(format!("a second scenario {rest}"));
                }
                self.scenarios.push(Scenario {
                    name: rest.to_owned(),
                    says: String::new(),
                    known: None,
                    versions: VERSIONS.to_vec(),
                    is_once: false,
                    needs: Needs::default(),
                    steps: Vec::new(),
                });
            }
            "reason" => {
                let (number, text) = rest.split_once(' ').ok_or("a reason without text")?;
                let number = number.parse().map_err(|_| "a reason that is no number")?;
                self.reasons.insert(number, text.to_owned());
            }
            "template" => {
                let mut words = words(rest).into_iter();
                let mut next = || words.next().ok_or("a template without type");
                let (name, list, msg_type) = (next()?, next()?, next()?);
                let fields = fields(words)?;
                let versions = versions(&list)?;
                self.templates.push((name, versions, msg_type, fields));
            }
            _ => {
                return Err(format!(
                    "expected scenario, reason or template, found {word}"
                ));
            }
        }
        Ok(())
    }

    /// The steps of a line: one for each template that it may stand for.
    fn step(&self, text: &str) -> Result<Vec<Step>, String> {
        let mut only = VERSIONS.to_vec();
        let mut rest = text;
        if let Some((list, after)) = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            only = versions(list)?;
            rest = after.trim_start();
        }
        let mut connection = Connection::A;
        if let Some(after) = rest.strip_prefix("b:") {
            connection = Connection::B;
            rest = after.trim_start();
        }
        let mut found = words(rest);
        let named = found.iter().position(|word| {
            let is_name = |known: &(String, _, _, _)| known.0 == *word;
            self.templates.iter().any(is_name)
        });
        let step = |versions, action| Step {
            text: text.to_owned(),
            versions,
            connection,
            action,
        };
        let Some(at) = named else {
            return Ok(vec![step(only, self.action(&found, &[])?)]);
        };
        let name = found.get(at).cloned().unwrap_or_default();
        let mut steps = Vec::new();
        for (_, versions, msg_type, fields) in self.templates.iter().filter(|known| known.0 == name)
        {
            if let Some(word) = found.get_mut(at) {
                msg_type.clone_into(word);
            }
            let both = versions.iter().filter(|version| only.contains(version));
            let both = both.copied().collect();
            steps.push(step(both, self.action(&found, fields)?));
        }
        Ok(steps)
    }

    fn action(&self, found: &[String], template: &[Rule]) -> Result<Action, String> {
        let mut words = found.iter().map(String::as_str);
        let word = words.next().unwrap_or_default();
        let rest: Vec<&str> = words.collect();
        let first = rest.first().copied();
        let duration = || {
            let found = first.and_then(time);
            found.ok_or_else(|| format!("{word} without a time such as 1.5s"))
        };
        Ok(match (word, first) {
            ("connect", None) => Action::Connect,
            ("close", None) => Action::Close,
            ("closed", None) => Action::Closed(Window::default()),
            ("closed", Some(within)) => {
                let found = window(within);
                Action::Closed(found.ok_or("closed without a time such as 1s..2s")?)
            }
            ("ends", None) => Action::Ends(Window::default()),
            ("ends", Some(within)) => {
                let found = window(within);
                Action::Ends(found.ok_or("ends without a time such as 1s..2s")?)
            }
            ("nothing", _) => Action::Nothing(duration()?),
            ("wait", _) => Action::Wait(duration()?),
            ("logon", _) => Action::Logon(fields(rest.iter())?),
            ("logout", None) => Action::Logout,
            ("alive", None) => Action::Alive,
            ("restart", None) => Action::Restart,
            ("allow", Some("0")) => Action::AllowHeartbeats,
            ("allow", Some(msg_type)) => Action::Allow(Pattern {
                kind: Kind::Type(msg_type.to_owned()),
                fields: fields(rest.iter().skip(1))?,
            }),
            ("came", None) => Action::Came,
            ("next", Some(number)) => {
                let number = number.trim_start_matches('#').parse();
                Action::Next(number.map_err(|_| "next without a number")?)
            }
            (">", Some(_)) => send(&rest, template, Cut::Whole)?,
            ("bytes", Some(">")) => send(rest.get(1..).unwrap_or(&[]), template, Cut::Bytes)?,
            ("glue", Some(">")) => send(rest.get(1..).unwrap_or(&[]), template, Cut::Glue)?,
            ("raw", Some(_)) => Action::Raw(fields(rest.iter())?),
            ("<", Some("reject")) => self.reject(rest.get(1..).unwrap_or(&[]))?,
            ("<", Some(msg_type)) => {
                let (own, within) = fields_and_window(rest.get(1..).unwrap_or(&[]))?;
                // Times are the engine's business: it may write them otherwise.
                let fixed = template.iter().filter(|rule| match &rule.what {
                    What::Is(value) => value.is_fixed(),
                    _ => true,
                });
                let fixed: Vec<Rule> = fixed.cloned().collect();
                let pattern = Pattern {
                    kind: Kind::Type(msg_type.to_owned()),
                    fields: merged(&fixed, own),
                };
                Action::Expect(pattern, within)
            }
            _ => return Err(format!("unknown step: {}", found.join(" "))),
        })
    }

    /// `5 of=#2 type=D tag=21` and fields.
    fn reject(&self, rest: &[&str]) -> Result<Action, String> {
        let (number, rest) = rest.split_first().ok_or("a reject without reason")?;
        let reason = number.parse().map_err(|_| "a reason that is no number")?;
        let text = self.reasons.get(&reason);
        let text = text.ok_or_else(|| format!("the reason {reason} has no text"))?;
        let mut of = value("");
        let mut msg_type = String::new();
        let mut tag = RefTag::Any;
        let mut fields = Vec::new();
        for word in rest {
            match word.split_once('=') {
                Some(("of", number)) => of = value(number),
                Some(("type", name)) => name.clone_into(&mut msg_type),
                Some(("tag", "none")) => tag = RefTag::None,
                Some(("tag", name)) => tag = RefTag::Is(name.to_owned()),
                _ => fields.push(rule(word).ok_or_else(|| format!("no field: {word}"))?),
            }
        }
        let rule = RejectRule {
            reason,
            text: text.clone(),
            of: of.ok_or("of= is no number")?,
            msg_type,
            tag,
        };
        let kind = Kind::Reject(rule);
        Ok(Action::Expect(Pattern { kind, fields }, Window::default()))
    }
}

fn send(rest: &[&str], template: &[Rule], cut: Cut) -> Result<Action, String> {
    let (msg_type, rest) = rest.split_first().ok_or("a message without type")?;
    let pattern = Pattern {
        kind: Kind::Type((*msg_type).to_owned()),
        fields: merged(template, fields(rest.iter())?),
    };
    Ok(Action::Send(pattern, cut))
}

/// The fields of a template, with those of the line in their place or behind them.
fn merged(template: &[Rule], own: Vec<Rule>) -> Vec<Rule> {
    let mut fields = template.to_vec();
    for rule in own {
        let same = fields.iter_mut().find(|known| known.tag == rule.tag);
        match same.filter(|_| !matches!(rule.what, What::Append(_))) {
            Some(known) => *known = rule,
            None => fields.push(rule),
        }
    }
    fields
}

fn fields<W: AsRef<str>>(found: impl Iterator<Item = W>) -> Result<Vec<Rule>, String> {
    let one = |word: W| {
        let word = word.as_ref();
        rule(word).ok_or_else(|| format!("no field: {word}"))
    };
    found.map(one).collect()
}

fn fields_and_window(found: &[&str]) -> Result<(Vec<Rule>, Window), String> {
    let within = found.last().and_then(|word| window(word));
    let count = found.len() - usize::from(within.is_some());
    let own = fields(found.iter().take(count))?;
    Ok((own, within.unwrap_or_default()))
}

fn needs(list: &str) -> Result<Needs, String> {
    let mut needs = Needs::default();
    for word in list.split(' ') {
        match word {
            "echo" => needs.echo = true,
            "dictionary" => needs.dictionary = true,
            "kept-numbers" => needs.kept_numbers = true,
            "connect" => needs.connect = true,
            "listen" => needs.listen = true,
            _ => return Err(format!("unknown need: {word}")),
        }
    }
    Ok(needs)
}

/// `4.0-4.1`, `4.2+`, `FIXT`, `4.4`.
fn versions(list: &str) -> Result<Vec<Version>, String> {
    let place = |name: &str| {
        let found = VERSIONS.iter().position(|version| version.name() == name);
        found.ok_or_else(|| format!("unknown version: {name}"))
    };
    let (from, to) = match list.split_once('-') {
        _ if list == "FIXT" => (place("5.0")?, VERSIONS.len() - 1),
        Some((from, to)) => (place(from)?, place(to)?),
        None => match list.strip_suffix('+') {
            Some(from) => (place(from)?, VERSIONS.len() - 1),
            None => (place(list)?, place(list)?),
        },
    };
    Ok(VERSIONS.get(from..=to).unwrap_or(&[]).to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_read() {
        let found = read(include_str!("scenarios.txt")).expect("a table");
        for scenario in &found {
            assert!(!scenario.says.is_empty(), "{} says nothing", scenario.name);
            assert!(!scenario.versions.is_empty(), "{}", scenario.name);
            assert!(!scenario.steps.is_empty(), "{}", scenario.name);
        }
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (text, line) in [
            ("scenario a\n  > 1 112=x\n  wat", 3),
            ("scenario a\n  < reject 77 of=#1", 2),
            ("scenario a\nscenario a", 2),
            ("scenario a\n  versions 4.9", 2),
            ("  connect", 1),
            ("scenario a\n  nothing soon", 2),
        ] {
            let found = read(text).expect_err(text);
            assert_eq!(found.line, line, "{found}");
        }
    }
}
