//! Finds the name that was meant by a mistyped one.

use crate::error::quoted;

/// Longer names are not compared.
const CHARACTERS_MAX: usize = 64;

/// `did you mean 'age'?`, where a name is near enough to a word.
pub(crate) fn did_you_mean<'n>(
    word: &str,
    names: impl IntoIterator<Item = &'n str>,
) -> Option<String> {
    let length = word.chars().count();
    if length > CHARACTERS_MAX {
        return None;
    }
    // One letter in three may be wrong.
    let most = length.max(3) / 3;
    let near = names.into_iter().filter_map(|name| {
        let distance = distance(word, name);
        (distance <= most).then_some((distance, name))
    });
    let (_, name) = near.min_by_key(|(distance, _)| *distance)?;
    Some(format!("did you mean {}?", quoted(name)))
}

/// How many letters must be inserted, removed, replaced or swapped with their neighbour to make a word of another.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if b.len() > 2 * CHARACTERS_MAX {
        return usize::MAX;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, one) in a.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, other) in b.iter().enumerate() {
            let mut least = (row[j] + usize::from(one != other))
                .min(row[j + 1] + 1)
                .min(next[j] + 1);
            if i > 0 && j > 0 && *one == b[j - 1] && a[i - 1] == *other {
                least = least.min(before[j - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_missing_too_many_wrong_or_swapped() {
        for (a, b, expected) in [
            ("", "", 0),
            ("age", "age", 0),
            ("ag", "age", 1),
            ("aage", "age", 1),
            ("fligth", "flight", 1),
            ("nmae", "name", 1),
            ("kitten", "sitting", 3),
            ("", "abc", 3),
            ("é", "e", 1),
        ] {
            assert_eq!(distance(a, b), expected, "{a} {b}");
            assert_eq!(distance(b, a), expected, "{b} {a}");
        }
    }

    #[test]
    fn only_near_names_are_meant() {
        let names = ["country", "age", "tags"];
        let meant = |word: &str| did_you_mean(word, names);
        assert_eq!(meant("cuontry").as_deref(), Some("did you mean 'country'?"));
        assert_eq!(meant("tag").as_deref(), Some("did you mean 'tags'?"));
        assert_eq!(meant("zzzzzz"), None);
        assert_eq!(meant(&"age".repeat(100)), None);
        assert_eq!(did_you_mean("x", []), None);
    }
}
