//! Turns a block of a document into a bash script.

/// The commands of a block, without comments and empty lines; a continued line is one command.
pub(super) fn commands(code: &str) -> Vec<&str> {
    logical_lines(code)
        .into_iter()
        .map(|line| split_exit(line).0.trim())
        .map(|line| {
            line.split_once(" # ")
                .map_or(line, |(command, _)| command.trim_end())
        })
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
}

/// Ends at the first failure. What a block leaves in the background would keep its output open for ever; a
/// signal that can be caught is lost where bash has forked and not yet started the program.
const HEAD: &str = "set -euo pipefail\n\
    trap 'left=$(jobs -p); [ -z \"$left\" ] || kill -KILL $left 2>/dev/null || true' EXIT\n";

/// A script that stops at the first failure and asserts the exit codes that comments name.
pub(super) fn bash(code: &str) -> String {
    let mut script = HEAD.to_owned();
    for line in logical_lines(code) {
        match split_exit(line) {
            (command, Some(code)) => {
                // In a condition `set -e` does not hold, so the code can be looked at.
                script.push_str(&format!(
                    "code=0; {{ {command}\n}} || code=$?\n\
                     [ \"$code\" = {code} ] || {{ echo \"ended with $code, should be {code}\"; exit 1; }}\n"
                ));
            }
            (command, None) => {
                script.push_str(command);
                script.push('\n');
            }
        }
    }
    script
}

/// Lines, those that end with a backslash together with the next.
fn logical_lines(code: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut start = 0;
    let mut at = 0;
    for line in code.split_inclusive('\n') {
        at += line.len();
        if !line.trim_end_matches('\n').ends_with('\\') {
            lines.push(code[start..at].trim_end_matches('\n'));
            start = at;
        }
    }
    if start < code.len() {
        lines.push(&code[start..]);
    }
    lines
}

/// A command and the exit code that the comment behind it names.
fn split_exit(line: &str) -> (&str, Option<u8>) {
    let Some((command, code)) = line.rsplit_once("# exit ") else {
        return (line, None);
    };
    match code.trim().parse() {
        Ok(code) if !command.trim().is_empty() => (command.trim_end(), Some(code)),
        _ => (line, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_told_from_comments() {
        let code =
            "# a comment\ncargo test --workspace\n\nperfkit x | \\\n  cat   # exit 4\nls # why\n";
        assert_eq!(
            commands(code),
            ["cargo test --workspace", "perfkit x | \\\n  cat", "ls"]
        );
    }

    #[test]
    fn an_exit_comment_needs_a_command_and_a_number() {
        assert_eq!(split_exit("a b # exit 4"), ("a b", Some(4)));
        assert_eq!(split_exit("# exit 4"), ("# exit 4", None));
        assert_eq!(split_exit("a # exit early"), ("a # exit early", None));
        assert_eq!(split_exit("a # exit 400"), ("a # exit 400", None));
    }

    #[test]
    fn plain_lines_stay_as_they_are() {
        assert_eq!(bash("a\nb\n"), format!("{HEAD}a\nb\n"));
        assert_eq!(bash("a \\\n b"), format!("{HEAD}a \\\n b\n"));
    }
}
