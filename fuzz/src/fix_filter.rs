//! Filters of FIX logs: expressions that users write.

use std::sync::LazyLock;

use fixcore::Decoder;
use fixcore::workload::Sample;
use fixlog::{Expression, Filter, Moment};

/// Messages that every expression is asked about.
static MESSAGES: LazyLock<Vec<Vec<u8>>> =
    LazyLock::new(|| Sample::ALL.into_iter().map(Sample::bytes).collect());

/// Any text as an expression: an error has a place within the text, or the expression and its opposite
/// disagree about every message, and so do filters. The same text as a time is a time or not.
pub fn fix_filter(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Some(moment) = Moment::parse(text) {
        assert!(!Filter::new().from(moment).is_empty());
    }
    let wanted = match Expression::parse(text, None) {
        Ok(wanted) => wanted,
        Err(error) => return place(&error.to_string(), text),
    };
    let opposite = Expression::parse(&format!("not ({text}\n)"), None).ok();
    let mut decoder = Decoder::new();
    for bytes in MESSAGES.iter() {
        let message = decoder.parse(bytes).expect("a sample is valid");
        let holds = wanted.holds(&message);
        // It may have as many parentheses as are allowed.
        if let Some(opposite) = &opposite {
            assert_ne!(holds, opposite.holds(&message), "{text}");
        }
        let filter = Filter::new().expression(wanted.clone());
        assert_eq!(filter.matches(&message), holds, "{text}");
    }
}

/// The column that an error states is one of the text, or the one behind it.
fn place(error: &str, text: &str) {
    let (_, column) = error.rsplit_once(" at column ").expect(error);
    let digits = column.find(|c: char| !c.is_ascii_digit());
    let column = column[..digits.unwrap_or(column.len())].parse::<usize>();
    let columns = 1..=text.chars().count() + 1;
    assert!(columns.contains(&column.expect(error)), "{error}");
}
