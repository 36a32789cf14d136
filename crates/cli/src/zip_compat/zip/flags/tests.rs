//! How command lines of `zip` are read.

use super::*;

fn read(line: &str) -> Ended<Line> {
    let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
    parse(&words)
}

#[test]
fn letters_share_words_and_lists_end_at_options() {
    let line = read("-rq9 a.zip src -x *.c *.h -y -i x @ more").unwrap();
    assert!(line.quiet && line.links);
    assert_eq!((line.level, line.walk), (9, Walk::Paths));
    assert_eq!(line.names, ["src", "more"]);
    assert_eq!(line.excludes.unmet().count(), 2);
    let line = read("-FSr a.zip src").unwrap();
    assert_eq!(line.action, Action::Merge(Merge::Sync));
    let line = read("--recurse-paths a.zip src --exclude *.c").unwrap();
    assert_eq!((line.walk, line.excludes.unmet().count()), (Walk::Paths, 1));
    assert!(!read("-X- a.zip src").unwrap().bare);
    assert_eq!(
        read("-t 2021-01-01 a.zip b").unwrap().after,
        read("-t 01012021 a.zip b").unwrap().after
    );
}

#[test]
fn parts_line_ends_and_names_of_dos() {
    let line = read("-s 64k -ll -k a.zip b").unwrap();
    assert_eq!(line.split, Split::Parts(64 << 10));
    assert_eq!((line.ends, line.dos_names), (Some(LineEnds::Unix), true));
    let line = read("-s0 -ll -l a.zip b").unwrap();
    assert_eq!(
        (line.split, line.ends),
        (Split::Joined, Some(LineEnds::Dos))
    );
}

#[test]
fn mistakes_and_what_is_not_served_name_the_option() {
    for line in [
        "-s 64 a.zip b -sp",
        "-s 63k a.zip b",
        "-k- a.zip b",
        "-l- a.zip b",
        "-W a.zip b",
        "--bogus a.zip",
        "-fu a.zip b",
        "-r- a.zip b",
        "a.zip b -x",
        "-t never a.zip",
        "-- a.zip b",
    ] {
        let stop = read(line).unwrap_err();
        assert_eq!(stop.code, code::USAGE, "{line}");
        assert!(
            stop.failure
                .is_some_and(|failure| failure.help_text().is_some())
        );
    }
}
