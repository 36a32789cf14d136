//! What `zip` prints of its work.

use std::collections::HashMap;
use std::fs::File;

use zipstream::{ArchiveReader, name};

use crate::term::color::write_stdout_plain;
use crate::term::message;
use crate::zip_compat::shown;
use crate::zip_compat::zip::decide::{Plan, Step};
use crate::zip_compat::zip::flags::{Action, Line};
use crate::zip_compat::zip::log;
use crate::zip_compat::zip::sources::Found;
use crate::zip_compat::zip::write::Done;

/// Prints a text; that its reader went away does not end the work.
pub(super) fn print(text: &str, to_stderr: bool) {
    log::said(text);
    if to_stderr {
        text.lines().for_each(message::status);
    } else {
        let _ = write_stdout_plain(&name::to_bytes(text));
    }
}

/// What compression saved, in whole percent.
fn percent(content: u64, compressed: u64) -> i64 {
    if content == 0 {
        return 0;
    }
    let difference = i128::from(content) - i128::from(compressed);
    let half = 200 * difference / i128::from(content);
    i64::try_from((half + half.signum()) / 2).unwrap_or(0)
}

/// A line per entry that was added, replaced or deleted.
pub(super) fn changes(
    line: &Line,
    found: &Found,
    plan: &Plan,
    done: &Done,
    written: Option<&ArchiveReader<&File>>,
) -> String {
    let mut sizes = HashMap::new();
    if let Some(written) = written {
        for entry in written.entries().flatten() {
            sizes.insert(
                entry.name_lossy().into_owned(),
                (
                    entry.content_bytes(),
                    entry.compressed_bytes(),
                    entry.method(),
                ),
            );
        }
    }
    let mut text = String::new();
    let repeated = plan.steps.iter().filter_map(|step| match step {
        Step::Repeat { item, .. } if !done.unread.contains(item) => Some(&found.items[*item].name),
        _ => None,
    });
    for name in plan.deleted.iter().chain(repeated) {
        text.push_str(&format!("deleting: {}\n", shown::name(name)));
    }
    for (item, replaces) in plan.packed() {
        if done.unread.contains(&item) {
            continue;
        }
        let name = &found.items[item].name;
        let what = match (replaces, line.action) {
            (false, _) => "  adding",
            (true, Action::Merge(zipstream::Merge::Freshen)) => "freshening",
            (true, _) => "updating",
        };
        let how = sizes.get(name).map(|(content, compressed, method)| {
            let how = match method {
                zipstream::Method::Stored => "stored",
                _ => "deflated",
            };
            format!(" ({how} {}%)", percent(*content, *compressed))
        });
        let name = shown::name(name);
        text.push_str(&format!("{what}: {name}{}\n", how.unwrap_or_default()));
    }
    text
}

/// What `-sf` prints.
pub(super) fn shown<'a>(title: &str, names: impl Iterator<Item = (&'a str, u64)>) -> String {
    let mut text = format!("{title}\n");
    let (mut count, mut bytes) = (0_u64, 0_u64);
    for (name, size) in names {
        count += 1;
        bytes = bytes.saturating_add(size);
        text.push_str(&format!("  {}\n", shown::name(name)));
    }
    text.push_str(&format!("Total {count} entries ({bytes} bytes)\n"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percents_are_rounded() {
        assert_eq!(percent(1892, 887), 53);
        assert_eq!(percent(0, 2), 0);
        assert_eq!(percent(6, 8), -33);
    }
}
