//! Which programs command lines run, by their content: another one may have their place later.

use std::ffi::OsStr;
use std::path::{MAIN_SEPARATOR, Path};

use latency::report::Input;
use report::saved;

use super::shell::{find, is_executable};

/// Most programs of a command line that are named.
const NAMED_MAX: usize = 16;

/// The programs that a command line runs, as far as it says so: its first word, and further words that are paths of
/// programs, such as that in `taskset -c 1 ./sort`.
#[must_use]
pub fn identities<'w>(words: impl IntoIterator<Item = &'w OsStr>) -> Vec<Input> {
    let words = words.into_iter().enumerate();
    let files = words.filter_map(|(nth, word)| match nth {
        0 => find(word.to_str()?),
        _ => {
            let is_path = word.to_string_lossy().contains(MAIN_SEPARATOR);
            let path = Path::new(word);
            (is_path && is_executable(path)).then(|| path.to_owned())
        }
    });
    files
        .take(NAMED_MAX)
        .filter_map(|path| saved::identity(&path))
        .collect()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn programs_are_the_first_word_and_paths_of_programs() {
        let words = ["sh", "-c", "/bin/sh", "/etc/passwd", "ls", "/no/such"];
        let found = identities(words.map(OsStr::new));
        let names: Vec<_> = found.iter().map(|one| one.path.as_str()).collect();
        assert_eq!((names.len(), names[1]), (2, "/bin/sh"));
        assert!(
            names[0].ends_with("/sh") && names[0].starts_with('/'),
            "{names:?}"
        );
        assert!(found[0].bytes > 0 && found[0].xxh64.is_some());
        assert!(identities([OsStr::new("no-such-program")]).is_empty());
        assert!(identities(std::iter::empty()).is_empty());
    }
}
