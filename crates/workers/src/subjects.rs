//! Subjects of messages within those that a stream takes: one for each source and each answer where it takes many, the
//! only one where it does not. Plain texts, so that every form is tested without a server.

use crate::block::token;
use crate::error::{Error, Result};

/// What stands for a `*` that says nothing.
const FILL: &str = "perfkit";

/// The subjects that a stream takes, which may have wildcards.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subjects {
    stream: String,
    patterns: Vec<String>,
}

impl Subjects {
    pub(crate) fn new(stream: &str, patterns: &[String]) -> Self {
        Self {
            stream: stream.to_owned(),
            patterns: patterns.to_vec(),
        }
    }

    /// A subject that no other parts and no other number have. `None` if the stream has a few subjects only.
    pub(crate) fn own(&self, parts: &[&str], number: Option<u64>) -> Option<String> {
        let is_open = |pattern: &&String| pattern.ends_with(".>");
        let open = || self.patterns.iter().filter(is_open);
        let plain = open().find(|pattern| !pattern.contains('*'));
        if let Some(pattern) = plain.or_else(|| open().next()) {
            let start = pattern.trim_end_matches('>').replace('*', FILL);
            return Some(format!("{start}{}", joined(parts, number)));
        }
        if self.patterns.iter().any(|pattern| pattern == ">") {
            return Some(format!("{}.{}", self.stream, joined(parts, number)));
        }
        let pattern = self.patterns.iter().find(|pattern| pattern.contains('*'))?;
        let (start, end) = pattern.rsplit_once('*')?;
        let start = start.replace('*', FILL);
        let number = number.map_or(String::new(), |number| format!("-{number}"));
        Some(format!("{start}{}{number}{end}", token(&parts.join("."))))
    }

    /// A subject for messages that may share one. `None` if the stream takes none.
    pub(crate) fn shared(&self, parts: &[&str]) -> Option<String> {
        let first = || self.patterns.first().cloned();
        self.own(parts, None).or_else(first)
    }

    /// That each of `what` needs a subject of its own.
    pub(crate) fn too_few(&self, what: &str, otherwise: &str) -> Error {
        let Self { stream, patterns } = self;
        let (found, more) = match patterns.as_slice() {
            [] => (
                "it takes no messages (it is a mirror, or has sources)".to_owned(),
                format!("{stream}.>"),
            ),
            _ => (
                format!("its subjects are {}", patterns.join(", ")),
                format!("{},{stream}.>", patterns.join(",")),
            ),
        };
        Error::Settings {
            what: format!("stream {stream}"),
            reason: format!("{found}, and each {what} needs a subject of its own"),
            help: format!("`nats stream edit {stream} --subjects '{more}'`{otherwise}"),
        }
    }

    /// Checks that there is a subject for messages that may share one.
    pub(crate) fn check_shared(&self) -> Result<()> {
        match self.patterns.is_empty() {
            true => Err(self.too_few("message", "")),
            false => Ok(()),
        }
    }
}

fn joined(parts: &[&str], number: Option<u64>) -> String {
    let mut text = parts.join(".");
    if let Some(number) = number {
        text.push_str(&format!(".{number}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subjects(patterns: &[&str]) -> Subjects {
        let patterns: Vec<String> = patterns.iter().map(|text| (*text).to_owned()).collect();
        Subjects::new("OUT", &patterns)
    }

    /// Whether a server would put it into a stream of this pattern.
    fn is_taken(pattern: &str, subject: &str) -> bool {
        let mut tokens = subject.split('.');
        for own in pattern.split('.') {
            match (own, tokens.next()) {
                (">", Some(_)) => return true,
                ("*", Some(token)) if !token.is_empty() => {}
                (own, Some(token)) if own == token => {}
                _ => return false,
            }
        }
        tokens.next().is_none()
    }

    #[test]
    fn whatever_a_stream_takes_is_used() {
        let parts = ["IN-1", "a"];
        for (patterns, own) in [
            (&["OUT.>"][..], Some("OUT.IN-1.a.7")),
            (&["x", "y.*.z.>", "OUT.>"], Some("OUT.IN-1.a.7")),
            (&["x", "y.*.z.>"], Some("y.perfkit.z.IN-1.a.7")),
            (&[">"], Some("OUT.IN-1.a.7")),
            (&["x", "y.*"], None),
            (&["*.y.*.z"], None),
            (&["*"], None),
        ] {
            let subjects = subjects(patterns);
            let found = subjects.own(&parts, Some(7)).expect("one");
            if let Some(own) = own {
                assert_eq!(found, own);
            }
            let taken = |subject: &str| patterns.iter().any(|pattern| is_taken(pattern, subject));
            assert!(taken(&found), "{found} of {patterns:?}");
            let others = [
                subjects.own(&parts, Some(8)),
                subjects.own(&["IN-1", "b"], Some(7)),
                subjects.own(&["IN", "1-a"], Some(7)),
                subjects.shared(&parts),
            ];
            for other in others {
                let other = other.expect("one");
                assert!(taken(&other) && other != found, "{other} and {found}");
            }
        }
    }

    #[test]
    fn one_subject_will_do_for_what_may_share_it() {
        let one = subjects(&["answers", "more"]);
        assert_eq!(one.own(&["IN"], None), None);
        assert_eq!(one.shared(&["IN"]).as_deref(), Some("answers"));
        assert_eq!(one.check_shared(), Ok(()));
        let error = one.too_few("source", "");
        assert!(error.to_string().contains("answers, more"), "{error}");
        let help = "`nats stream edit OUT --subjects 'answers,more,OUT.>'`";
        assert_eq!(error.help(), Some(help));
        assert!(subjects(&[]).check_shared().is_err());
        assert_eq!(subjects(&[]).shared(&["IN"]), None);
    }
}
