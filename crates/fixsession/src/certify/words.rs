//! The words of a line of the table: fields, values, times.

use std::time::Duration;

use super::scenario::{Part, Rule, Span, Value, What, Window};

/// The most that `{x*N}` repeats.
const REPEAT_MAX: usize = 1 << 20;

/// The words of a line. A word may contain spaces between double quotes, which are left out.
pub(super) fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ' ' if !is_quoted => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            _ => word.push(letter),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// `1.5s` is a second and a half, `1.5h` one and a half times HeartBtInt.
pub(super) fn time(word: &str) -> Option<Span> {
    let seconds = |number: &str| Duration::try_from_secs_f64(number.parse().ok()?).ok();
    if let Some(number) = word.strip_suffix('h') {
        let thousandths = u32::try_from(seconds(number)?.as_millis()).ok()?;
        let fixed = Duration::ZERO;
        return Some(Span { fixed, thousandths });
    }
    Some(Span {
        fixed: seconds(word.strip_suffix('s')?)?,
        thousandths: 0,
    })
}

/// `0.5s..2s`.
pub(super) fn window(word: &str) -> Option<Window> {
    let (from, until) = word.split_once("..")?;
    Some(Window {
        from: time(from)?,
        until: Some(time(until)?),
    })
}

/// What a word says of a field.
pub(super) fn rule(word: &str) -> Option<Rule> {
    let of = |tag: &str, what| {
        let tag = tag.to_owned();
        (!tag.is_empty()).then_some(Rule { tag, what })
    };
    if let Some(appended) = word.strip_prefix('+') {
        let (tag, text) = appended.split_once('=')?;
        return of(tag, What::Append(value(text)?));
    }
    if let Some(tag) = word.strip_prefix('-') {
        return of(tag, What::Absent);
    }
    let Some(at) = word.find(['=', '~']) else {
        return of(word, What::Present);
    };
    let (tag, rest) = word.split_at(at);
    let text = rest.get(1..)?;
    if rest.starts_with('~') {
        return of(tag, What::Text(value(text)?));
    }
    if let Some(name) = text.strip_prefix(">?") {
        return of(tag, What::KeepIfThere(name.to_owned()));
    }
    if let Some(name) = text.strip_prefix('>') {
        return of(tag, What::Keep(name.to_owned()));
    }
    if let Some(name) = text.strip_prefix('$') {
        return of(tag, What::Kept(name.to_owned()));
    }
    match text.contains('|') {
        true => {
            let values: Option<Vec<_>> = text.split('|').map(value).collect();
            of(tag, What::OneOf(values?))
        }
        false => of(tag, What::Is(value(text)?)),
    }
}

/// A value of its text.
pub(super) fn value(text: &str) -> Option<Value> {
    if let Some(number) = text.strip_prefix('#') {
        return Some(Value(vec![Part::Number(number.parse().ok()?)]));
    }
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        if !before.is_empty() {
            parts.push(Part::Text(before.to_owned()));
        }
        parts.push(part(name)?);
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(Part::Text(rest.to_owned()));
    }
    Some(Value(parts))
}

fn part(name: &str) -> Option<Part> {
    // `now-150`: a name and a number with its sign.
    let at = name.find(['+', '-', ':', '*']).unwrap_or(name.len());
    let (word, rest) = name.split_at(at);
    let offset = || match rest {
        "" => Some(0),
        _ => rest.parse::<i64>().ok(),
    };
    let after_colon = || rest.strip_prefix(':')?.parse::<i64>().ok();
    Some(match word {
        "now" => Part::Now(offset()?),
        "len" => Part::Length(offset()?),
        "sum" => Part::Sum(u8::try_from(offset()?).ok()?),
        "out" => Part::Ours(after_colon()?),
        "in" => Part::Theirs(after_colon()?),
        "begin" => Part::BeginString,
        "us" => Part::Us,
        "them" => Part::Them,
        "appl" => Part::ApplVerId,
        "open" => Part::Open,
        _ => {
            let mut letters = word.chars();
            let (Some(letter), None) = (letters.next(), letters.next()) else {
                return None;
            };
            let count = rest.strip_prefix('*')?.parse().ok()?;
            (count <= REPEAT_MAX).then_some(Part::Repeat(letter, count))?
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_what_is_quoted() {
        let found = words("< 5 58~\"Incorrect BeginString\"  x");
        assert_eq!(found, ["<", "5", "58~Incorrect BeginString", "x"]);
    }

    #[test]
    fn values_have_parts() {
        let found = value("a {out:4} {now-150}").expect("parts");
        let text = |text: &str| Part::Text(text.to_owned());
        let parts = [text("a "), Part::Ours(4), text(" "), Part::Now(-150)];
        assert_eq!(found.0, parts);
        assert_eq!(
            value("#7").map(|value| value.0),
            Some(vec![Part::Number(7)])
        );
        for wrong in ["{nonsense}", "{now", "#x", "{x*99999999}"] {
            assert_eq!(value(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn negative_tags_can_be_appended() {
        let found = rule("+-1=X").expect("a rule");
        assert_eq!(found.tag, "-1");
        assert!(matches!(found.what, What::Append(_)));
    }
}
