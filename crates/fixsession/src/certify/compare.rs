//! Compares a message of the engine with what a scenario expects: by fields, not by bytes.

use std::collections::BTreeMap;

use fixcore::Timestamp;

use super::message::Context;
use super::scenario::{Kind, Part, Pattern, RefTag, RejectRule, Rule, Value, What};
use super::seen::Seen;
use super::versions::{appl_ver_id, begin_string, has_reason, has_references};

/// SendingTime (52) of the engine may be this far off.
const APART_NS_MAX: u64 = 120_000_000_000;

/// The header that every message of the engine has to have.
pub(super) fn header(seen: &Seen, cx: &Context<'_>) -> Result<(), String> {
    equal(seen, "8", begin_string(cx.version).as_bytes())?;
    equal(seen, "49", cx.engine.target.as_bytes())?;
    equal(seen, "56", cx.engine.sender.as_bytes())?;
    let Some(time) = seen.get("52").and_then(Timestamp::parse) else {
        return Err(format!("SendingTime (52) is no time: {}", seen.text("52")));
    };
    if time.0.abs_diff(cx.utc.0) > APART_NS_MAX {
        let found = seen.text("52");
        return Err(format!("SendingTime (52) is more than 120 s off: {found}"));
    }
    Ok(())
}

/// Whether a message is the expected one. Keeps the values that the scenario asks for.
pub(super) fn message(
    seen: &Seen,
    pattern: &Pattern,
    cx: &Context<'_>,
    keeps: &mut BTreeMap<String, Vec<u8>>,
) -> Result<(), String> {
    let rule = |tag: &str| pattern.fields.iter().find(|rule| rule.tag == tag);
    match &pattern.kind {
        Kind::Type(msg_type) => equal(seen, "35", msg_type.as_bytes())?,
        Kind::Reject(reject) => self::reject(seen, reject, cx)?,
    }
    if rule("34").is_none() {
        equal(seen, "34", cx.numbers.expected.to_string().as_bytes())?;
    }
    if rule("43").is_none() && seen.is_poss_dup() {
        return Err("43=Y, although it was not asked for".to_owned());
    }
    if seen.is("A") && appl_ver_id(cx.version).is_some() && rule("1137").is_none() {
        present(seen, "1137")?;
    }
    if let (true, Some(first)) = (seen.is_poss_dup(), seen.get("122")) {
        let times = (
            Timestamp::parse(first),
            seen.get("52").and_then(Timestamp::parse),
        );
        match times {
            (Some(first), Some(time)) if first.0 <= time.0 => {}
            _ => {
                return Err(
                    "OrigSendingTime (122) is no time, or after SendingTime (52)".to_owned(),
                );
            }
        }
    }
    for rule in &pattern.fields {
        field(seen, rule, cx, keeps)?;
    }
    Ok(())
}

fn field(
    seen: &Seen,
    rule: &Rule,
    cx: &Context<'_>,
    keeps: &mut BTreeMap<String, Vec<u8>>,
) -> Result<(), String> {
    let tag = &*rule.tag;
    let is = |value: &Value| match tag {
        "16" if value.0 == [Part::Open] && ends_at_gap(seen, cx) => Ok(()),
        _ => equal(seen, tag, &cx.resolve(tag, value)),
    };
    match &rule.what {
        What::Is(value) | What::Append(value) => is(value),
        What::Text(value) if cx.engine.compares_texts => is(value),
        What::Text(_) => Ok(()),
        What::OneOf(values) => {
            let mut last = Ok(());
            for value in values {
                last = is(value);
                if last.is_ok() {
                    return last;
                }
            }
            last
        }
        What::Present => present(seen, tag),
        What::Absent => absent(seen, tag),
        What::Keep(name) => {
            present(seen, tag)?;
            let value = seen.get(tag).unwrap_or_default();
            keeps.insert(name.clone(), value.to_vec());
            Ok(())
        }
        What::KeepIfThere(name) => {
            match seen.get(tag) {
                Some(value) => keeps.insert(name.clone(), value.to_vec()),
                None => keeps.remove(name),
            };
            Ok(())
        }
        What::Kept(name) => equal(seen, tag, cx.kept.get(name).map_or(&[], Vec::as_slice)),
    }
}

/// Whether a ResendRequest ends with a number that was sent, or with 0 or 999999 for all: the versions differ in
/// which of the two it is, and engines take both.
fn ends_at_gap(seen: &Seen, cx: &Context<'_>) -> bool {
    let number = |tag| seen.get(tag).and_then(fixcore::value::unsigned);
    let (Some(begin), Some(end)) = (number("7"), number("16")) else {
        return false;
    };
    matches!(end, 0 | 999_999) || (begin <= end && end < cx.numbers.out)
}

/// A Reject (35=3) as its version has it.
fn reject(seen: &Seen, rule: &RejectRule, cx: &Context<'_>) -> Result<(), String> {
    equal(seen, "35", b"3")?;
    equal(seen, "45", &cx.resolve("45", &rule.of))?;
    let has_references = has_references(cx.version);
    if has_references {
        match &rule.tag {
            RefTag::Any => {}
            RefTag::None => absent(seen, "371")?,
            RefTag::Is(tag) => equal(seen, "371", tag.as_bytes())?,
        }
        // It is optional, but it may not be wrong.
        if seen.get("372").is_some() {
            equal(seen, "372", rule.msg_type.as_bytes())?;
        }
    } else {
        absent(seen, "371")?;
        absent(seen, "372")?;
    }
    match has_reason(cx.version, rule.reason) {
        true => equal(seen, "373", rule.reason.to_string().as_bytes())?,
        false => absent(seen, "373")?,
    }
    if !cx.engine.compares_texts {
        return Ok(());
    }
    let text = match &rule.tag {
        RefTag::Is(tag) if !has_references => format!("{} ({tag})", rule.text),
        _ => rule.text.clone(),
    };
    // Before there was a tag for it, engines differ in whether they name one.
    let is_open = !has_references && rule.tag == RefTag::Any;
    match seen.get("58") {
        Some(found) if is_open && found.starts_with(text.as_bytes()) => Ok(()),
        _ => equal(seen, "58", text.as_bytes()),
    }
}

fn equal(seen: &Seen, tag: &str, value: &[u8]) -> Result<(), String> {
    if seen.get(tag) == Some(value) {
        return Ok(());
    }
    let expected = String::from_utf8_lossy(value);
    Err(match seen.get(tag) {
        Some(_) => format!("expected {tag}={expected}, found {tag}={}", seen.text(tag)),
        None => format!("expected {tag}={expected}, found no {tag}"),
    })
}

fn present(seen: &Seen, tag: &str) -> Result<(), String> {
    match seen.get(tag) {
        Some(_) => Ok(()),
        None => Err(format!("expected {tag}, found none")),
    }
}

fn absent(seen: &Seen, tag: &str) -> Result<(), String> {
    match seen.get(tag) {
        None => Ok(()),
        Some(_) => Err(format!("expected no {tag}, found {tag}={}", seen.text(tag))),
    }
}
