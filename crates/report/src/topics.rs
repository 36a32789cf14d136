//! How numbers are made and what they mean, a page a topic, for those who read a report.
//!
//! The long form is METHODOLOGY.md of the repository.

/// A page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Topic {
    /// What it is asked for by.
    pub name: &'static str,
    /// Its text: Markdown that reads well as it is, its title first.
    pub text: &'static str,
}

macro_rules! topics {
    ($($name:literal),* $(,)?) => {
        &[$(Topic { name: $name, text: include_str!(concat!("topics/", $name, ".md")) }),*]
    };
}

/// All pages, in the order in which they are best read.
pub const TOPICS: &[Topic] = topics![
    "percentiles",
    "intervals",
    "dependence",
    "gates",
    "verdicts",
    "coordinated-omission",
    "open-loop",
    "hold",
    "floors",
];

impl Topic {
    /// The title of the page.
    #[must_use]
    pub fn title(&self) -> &'static str {
        let first = self.text.lines().next().unwrap_or_default();
        first.trim_start_matches("# ")
    }

    /// What follows the title.
    #[must_use]
    pub fn body(&self) -> &'static str {
        self.text
            .split_once('\n')
            .map_or("", |(_, body)| body.trim())
    }
}

/// Other words that people look for, and the page that explains them.
const WORDS: &[(&str, &str)] = &[
    ("autocorrelation", "dependence"),
    ("ci", "intervals"),
    ("clock", "floors"),
    ("confidence", "intervals"),
    ("equivalence", "verdicts"),
    ("omission", "coordinated-omission"),
    ("quantiles", "percentiles"),
    ("saturated", "open-loop"),
    ("saturation", "open-loop"),
    ("slo", "gates"),
    ("stall", "hold"),
    ("tail", "percentiles"),
];

/// The page of this name, in the singular or the plural, or of a word that it explains: `p99`, `slo`, `tail`.
#[must_use]
pub fn find(name: &str) -> Option<&'static Topic> {
    let name = name.to_ascii_lowercase();
    let named = |wanted: &str| {
        let is =
            |topic: &&Topic| topic.name == wanted || topic.name.strip_suffix('s') == Some(wanted);
        TOPICS.iter().find(is)
    };
    let is_percentile = || {
        let number = name.strip_prefix('p').filter(|rest| !rest.is_empty());
        number.is_some_and(|rest| {
            rest.bytes()
                .all(|byte| byte.is_ascii_digit() || byte == b'.')
        })
    };
    let word = || WORDS.iter().find(|(word, _)| *word == name);
    named(&name)
        .or_else(|| word().and_then(|(_, page)| named(page)))
        .or_else(|| is_percentile().then(|| named("percentiles")).flatten())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_fit_a_terminal_and_refer_to_pages_that_there_are() {
        for topic in TOPICS {
            assert_eq!(find(topic.name), Some(topic));
            assert!(topic.text.starts_with("# ") && !topic.body().is_empty());
            let lines = topic.text.lines();
            assert!(
                lines.clone().count() <= 24,
                "{} is no short page",
                topic.name
            );
            for line in lines {
                assert!(
                    line.len() <= 80 && line.is_ascii(),
                    "{}: {line}",
                    topic.name
                );
            }
            let after = |text: &'static str| text.split("perfkit explain ").skip(1);
            for rest in after(topic.text) {
                let end = rest.find(|c: char| !(c.is_ascii_lowercase() || c == '-'));
                let named = &rest[..end.unwrap_or(rest.len())];
                assert!(find(named).is_some(), "{} refers to {named}", topic.name);
            }
        }
        assert_eq!(find("nonsense"), None);
    }

    #[test]
    fn words_lead_to_the_page_that_explains_them() {
        for (word, page) in WORDS {
            assert_eq!(find(word).map(|topic| topic.name), Some(*page));
        }
        for (word, page) in [
            ("p99", Some("percentiles")),
            ("P99.9", Some("percentiles")),
            ("gate", Some("gates")),
            ("verdict", Some("verdicts")),
            ("p", None),
            ("", None),
            ("s", None),
            ("pages", None),
        ] {
            assert_eq!(find(word).map(|topic| topic.name), page, "{word}");
        }
    }
}
