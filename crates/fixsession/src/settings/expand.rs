//! Environment variables and escapes in values: `$(NAME)`, `${NAME}`, `\t`.

/// A value with its variables and escapes replaced, or the name of a variable that is not set.
///
/// `\t`, `\r`, `\n`, `\\` and `\$` are escapes; any other backslash is an ordinary character.
pub(super) fn expand(value: &str, env: &dyn Fn(&str) -> Option<String>) -> Result<String, String> {
    let mut out = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find(['\\', '$']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        if let Some((plain, after)) = escape(from) {
            out.push(plain);
            rest = after;
        } else if let Some((name, after)) = variable(from) {
            out.push_str(&env(name).ok_or_else(|| name.to_owned())?);
            rest = after;
        } else {
            let mut one = from.chars();
            out.extend(one.next());
            rest = one.as_str();
        }
    }
    out.push_str(rest);
    Ok(out)
}

fn escape(text: &str) -> Option<(char, &str)> {
    let mut after = text.strip_prefix('\\')?.chars();
    let plain = match after.next()? {
        't' => '\t',
        'r' => '\r',
        'n' => '\n',
        same @ ('\\' | '$') => same,
        _ => return None,
    };
    Some((plain, after.as_str()))
}

fn variable(text: &str) -> Option<(&str, &str)> {
    let braced = text.strip_prefix("${").map(|rest| (rest, '}'));
    let (rest, end) = braced.or_else(|| text.strip_prefix("$(").map(|rest| (rest, ')')))?;
    rest.split_once(end).filter(|(name, _)| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_and_escapes_are_replaced_and_nothing_else() {
        let env = |name: &str| (name == "HOME").then(|| "/home/fix".to_owned());
        let of = |value: &str| expand(value, &env);
        assert_eq!(of("$(HOME)/store").unwrap(), "/home/fix/store");
        assert_eq!(of("a${HOME}b$(HOME)").unwrap(), "a/home/fixb/home/fix");
        assert_eq!(of(r"\${HOME} \\ a\tb").unwrap(), "${HOME} \\ a\tb");
        assert_eq!(of(r"C:\users\fix").unwrap(), r"C:\users\fix");
        assert_eq!(of("pa$$word$ ${ $() $(x").unwrap(), "pa$$word$ ${ $() $(x");
        assert_eq!(of("${NONE}").unwrap_err(), "NONE");
        assert_eq!(of("\\").unwrap(), "\\");
    }
}
