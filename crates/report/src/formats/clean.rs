//! A report with nothing in it that a terminal would obey, for the formats that people read.

use std::borrow::Cow;
use std::io;

use latency::report::Report;
use serde_json::Value;

use crate::plain::visible;

/// The report with every text in it made [`visible`]: names of files, words of the command line,
/// and whatever a report file brought along.
///
/// # Errors
///
/// Those of serialisation.
pub fn report(report: &Report) -> io::Result<Cow<'_, Report>> {
    let text = serde_json::to_string(report)?;
    // Whatever JSON escapes may be unfit, and nearly no report has any of it.
    if !text.contains('\\') && matches!(visible(&text), Cow::Borrowed(_)) {
        return Ok(Cow::Borrowed(report));
    }
    let mut whole = serde_json::to_value(report)?;
    if !clean(&mut whole) {
        return Ok(Cow::Borrowed(report));
    }
    Ok(Cow::Owned(serde_json::from_value(whole)?))
}

/// Replaces unfit texts; whether there was one. A report is a few levels deep, whoever made it.
fn clean(value: &mut Value) -> bool {
    match value {
        Value::String(text) => {
            let Cow::Owned(shown) = visible(text) else {
                return false;
            };
            *text = shown;
            true
        }
        Value::Array(items) => items
            .iter_mut()
            .fold(false, |found, item| clean(item) | found),
        Value::Object(fields) => {
            let unfit = |key: &String| matches!(visible(key), Cow::Owned(_));
            let renamed = fields.keys().any(unfit);
            if renamed {
                let before = std::mem::take(fields).into_iter();
                fields.extend(before.map(|(key, value)| (visible(&key).into_owned(), value)));
            }
            let cleaned = fields
                .values_mut()
                .fold(false, |found, item| clean(item) | found);
            renamed | cleaned
        }
        _ => false,
    }
}
