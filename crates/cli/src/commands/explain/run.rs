//! `perfkit explain`: prints a page, or the names of all.

use anstyle::Style;
use report::ExitStatus;
use report::topics::{self, TOPICS, Topic};

use crate::commands::explain::flags::ExplainArgs;
use crate::failure::{Failure, Result};
use crate::term::message;

const TITLE: Style = Style::new().bold();

/// Runs the command.
pub(crate) fn run(args: &ExplainArgs) -> Result<ExitStatus> {
    let text = match args.topic.as_deref() {
        None => list(),
        Some(name) => page(topics::find(&name.to_lowercase()).ok_or_else(|| unknown(name))?),
    };
    message::output(text.as_bytes())?;
    Ok(ExitStatus::Ok)
}

fn page(topic: &Topic) -> String {
    format!("{TITLE}{}{TITLE:#}\n\n{}\n", topic.title(), topic.body())
}

fn list() -> String {
    let longest = TOPICS.iter().map(|topic| topic.name.len()).max();
    let wide = longest.unwrap_or_default();
    let lines = TOPICS
        .iter()
        .map(|topic| format!("  {:wide$}  {}\n", topic.name, topic.title()));
    format!(
        "{TITLE}Topics{TITLE:#}\n{}\n`perfkit explain TOPIC` shows one.\n",
        lines.collect::<String>()
    )
}

fn unknown(name: &str) -> Failure {
    let asked = name.to_lowercase();
    let far = |topic: &&Topic| {
        let whole = strsim::damerau_levenshtein(topic.name, &asked);
        // "omission" means "coordinated-omission".
        let part = asked.len() > 2 && topic.name.contains(&asked);
        if part { 0 } else { whole }
    };
    let nearest = TOPICS.iter().min_by_key(far).map_or("", |topic| topic.name);
    Failure::usage(format!("unknown topic '{name}'")).help(format!(
        "the nearest is '{nearest}'; `perfkit explain` lists all"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_topic_is_named() {
        for (asked, nearest) in [
            ("percentile", "percentiles"),
            ("omission", "coordinated-omission"),
            ("Verdict", "verdicts"),
            ("openloop", "open-loop"),
        ] {
            let help = unknown(asked).help_text().map(str::to_owned);
            let help = help.unwrap_or_default();
            assert!(help.contains(&format!("'{nearest}'")), "{asked}: {help}");
        }
    }

    #[test]
    fn the_list_has_every_topic() {
        let list = list();
        assert!(TOPICS.iter().all(|topic| list.contains(topic.name)));
    }
}
