//! What may help against the commonest mistakes, many of them from other languages.

use super::CapKind;
use super::lexer::Token;
use crate::nearest::did_you_mean;

/// Words that have a meaning in expressions.
const WORDS: [&str; 12] = [
    "not", "and", "or", "true", "false", "in", "is", "null", "empty", "of", "one", "all",
];
/// The functions.
pub(super) const FUNCTIONS: [&str; 7] = [
    "contains",
    "starts_with",
    "ends_with",
    "geo_within_radius",
    "segment_within",
    "segment_before",
    "within_frequency_cap",
];

/// For a token that cannot stand where it does, and the two that come before it, the nearest last.
pub(super) fn token(before: [Token<'_>; 2], found: Token<'_>) -> Option<String> {
    if let Token::Word(word) = found {
        // `NOT a` reads as an attribute and another.
        let word_before = match before[1] {
            Token::Word(word) => lower_case(word),
            _ => None,
        };
        if let Some(hint) = lower_case(word).or(word_before) {
            return Some(hint);
        }
    }
    let is_compared = matches!(before[1], Token::Sign("=" | "<>"));
    let hint = match (before, found) {
        ([_, Token::Sign("=" | "<" | ">" | "<>" | "<=" | ">=")], Token::Sign("=")) => {
            "write '=' once for 'is equal'"
        }
        ([Token::Word(name), _], Token::Word("true" | "false")) if is_compared => {
            return Some(format!(
                "a boolean is a test by itself: `{name}` or `not {name}`"
            ));
        }
        (_, Token::Word("true" | "false")) => {
            "a boolean is a test by itself: its name, or `not` and its name"
        }
        (_, Token::Word("null")) => "write `is null` or `is not null`",
        (_, Token::Word("between")) => "write two comparisons: `age >= 18 and age <= 30`",
        (_, Token::Word("like" | "matches" | "startswith" | "endswith")) => {
            "write `contains(name, \"x\")`, `starts_with(name, \"x\")` or `ends_with(name, \"x\")`"
        }
        (_, Token::Word("contains" | "has" | "includes")) => {
            "write `5 in name` for a list, `contains(name, \"x\")` for a string"
        }
        (_, Token::Word(_)) if is_compared => {
            "attributes are compared with constants; texts have quotes"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

/// For a word of the language in upper case.
pub(crate) fn lower_case(word: &str) -> Option<String> {
    let lower = word.to_ascii_lowercase();
    let is_word = lower != word && WORDS.contains(&lower.as_str());
    is_word.then(|| format!("words of the language are in lower case: '{lower}'"))
}

/// For a function that does not exist.
pub(super) fn function(name: &str) -> String {
    let meant = lower_case(name).or_else(|| did_you_mean(name, FUNCTIONS));
    meant.unwrap_or_else(|| format!("the functions are {}", FUNCTIONS.join(", ")))
}

/// For a type of frequency cap that does not exist.
pub(super) fn cap(word: &str) -> String {
    let kinds = CapKind::ALL.map(|kind| kind.word(false));
    let all = format!("the types are {}, each also with ':ip'", kinds.join(", "));
    let bare = word.strip_suffix(":ip").unwrap_or(word);
    match did_you_mean(bare, kinds.iter().map(String::as_str)) {
        Some(meant) => format!("{meant} {all}"),
        None => all,
    }
}
