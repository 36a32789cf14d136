//! The paths of Rust sources, as [`super::tokens`] has their words: what files name, not what it is.

use super::tokens::{Token, is_in_word, tokens};

/// A path in code, and for one of a `use` the name that it gives: the last part, or what follows `as`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CodePath<'c> {
    pub(super) parts: Vec<&'c str>,
    pub(super) name: Option<&'c str>,
}

/// The paths of code that is no test.
pub(super) fn paths(content: &str) -> Vec<CodePath<'_>> {
    let texts = without_tests(&tokens(content));
    let (mut at, mut found) = (0, Vec::new());
    while at < texts.len() {
        let starts = at == 0 || texts[at - 1] != ":";
        if texts[at] == "use" {
            at = use_tree(&texts, at + 1, &[], &mut found);
        } else if starts && texts[at].starts_with(is_in_word) {
            let mut parts = vec![texts[at]];
            while let [":", ":", next, ..] = texts[at + 1..]
                && next.starts_with(is_in_word)
            {
                parts.push(next);
                at += 3;
            }
            at += 1;
            if parts.len() > 1 {
                found.push(CodePath { parts, name: None });
            }
        } else {
            at += 1;
        }
    }
    found
}

/// Reads what follows `use`, or a part of it in braces; returns the place behind it.
fn use_tree<'c>(
    texts: &[&'c str],
    start: usize,
    before: &[&'c str],
    found: &mut Vec<CodePath<'c>>,
) -> usize {
    let (mut at, mut parts) = (start, before.to_vec());
    while let Some(text) = texts.get(at) {
        at += 1;
        if *text == "{" {
            while texts.get(at).is_some_and(|text| *text != "}") {
                at = use_tree(texts, at, &parts, found);
            }
            return at + 1;
        }
        if !text.starts_with(is_in_word) {
            return at;
        }
        parts.push(text);
        match texts.get(at..at + 2) {
            Some([":", ":"]) => at += 2,
            _ => break,
        }
    }
    let renamed = texts.get(at).filter(|text| **text == "as");
    let name = renamed.and_then(|_| texts.get(at + 1));
    at += if name.is_some() { 2 } else { 0 };
    if parts.last() == Some(&"self") {
        parts.pop();
    }
    let name = name.or(parts.last()).copied();
    found.push(CodePath { parts, name });
    at
}

/// The words without the items that have an attribute for tests.
fn without_tests<'c>(tokens: &[Token<'c>]) -> Vec<&'c str> {
    let (mut kept, mut at) = (Vec::new(), 0);
    while let Some(token) = tokens.get(at) {
        let attribute = tokens[at..].iter().take_while(|token| token.text != "]");
        let mut words = attribute.map(|token| token.text);
        if token.text != "#" || words.clone().nth(2) != Some("cfg") {
            kept.push(token.text);
            at += 1;
            continue;
        }
        let is_test = words.clone().any(|word| word == "test") && words.all(|word| word != "not");
        at += tokens[at..]
            .iter()
            .take_while(|token| token.text != "]")
            .count()
            + 1;
        let mut depth = 0_usize;
        while is_test && at < tokens.len() {
            let text = tokens[at].text;
            at += 1;
            match text {
                "{" | "(" | "[" => depth += 1,
                "}" | ")" | "]" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 && matches!(text, "}" | ";") {
                break;
            }
        }
    }
    kept
}
