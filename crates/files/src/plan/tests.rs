//! Which names become which, and what is refused before any work.

use super::*;

const COMPRESS: Direction = Direction::Compress {
    suffix: "zst",
    exclude_compressed: true,
};

#[test]
fn names_follow_the_suffix_both_ways() {
    let files = ["a.txt".into(), "-".into()];
    let found = jobs(&Request::of(&files, COMPRESS)).expect("jobs").jobs;
    assert_eq!(found[0].destination, Destination::File("a.txt.zst".into()));
    assert_eq!(found[1].destination, Destination::Stdout);
    let files = [
        "d/a.txt.zst".into(),
        "b.tzst".into(),
        "c.log.gz".into(),
        "d.tgz".into(),
        ".gz".into(),
        "e.bz2".into(),
        "f.xz".into(),
        "g.tlz4".into(),
        "h.lzma".into(),
    ];
    let found = jobs(&Request::of(&files, Direction::Decompress)).expect("jobs");
    assert_eq!(
        found.jobs[0].destination,
        Destination::File("d/a.txt".into())
    );
    assert_eq!(found.jobs[1].destination, Destination::File("b.tar".into()));
    assert_eq!(found.jobs[2].destination, Destination::File("c.log".into()));
    assert_eq!(found.jobs[3].destination, Destination::File("d.tar".into()));
    assert_eq!(found.jobs[4].destination, Destination::File("f".into()));
    assert_eq!(found.jobs[5].destination, Destination::File("g.tar".into()));
    assert_eq!(found.jobs[6].destination, Destination::File("h".into()));
    assert_eq!(found.failures.len(), 2);
}

#[test]
fn what_a_url_names_becomes_a_file_in_the_current_directory() {
    let files = [
        "https://h/d/a%20b.txt?x=/y".into(),
        "s3://bucket/".into(),
        "file:///d/e".into(),
    ];
    let found = jobs(&Request::of(&files, COMPRESS)).expect("jobs");
    let target = |name: &str| Destination::File(name.into());
    assert_eq!(found.jobs[0].destination, target("a b.txt.zst"));
    assert_eq!(found.jobs[0].source, files[0]);
    assert_eq!(found.jobs[1].destination, target("e.zst"));
    let local = found.jobs[1].source.to_str();
    assert_eq!(local == Some("/d/e"), cfg!(feature = "web"));
    assert_eq!(found.failures.len(), 1);
    let files = ["gs://b/d/a.zst".into()];
    let found = jobs(&Request::of(&files, Direction::Decompress)).expect("jobs");
    assert_eq!(found.jobs[0].destination, target("a"));
}

#[test]
fn one_name_for_two_inputs_is_a_usage_error() {
    let files = ["a".into(), "b".into()];
    let request = Request {
        output: Some(Path::new("o")),
        ..Request::of(&files, COMPRESS)
    };
    assert!(jobs(&request).is_err());
}

#[test]
fn targets_go_to_one_directory_or_to_their_paths_under_it() {
    let files = ["/d/./a".into(), "../b".into(), "c".into()];
    let found = |place| {
        let request = Request {
            place,
            ..Request::of(&files, COMPRESS)
        };
        let found = jobs(&request).expect("jobs");
        let targets = found.jobs.into_iter().map(|job| match job.destination {
            Destination::File(path) => path.display().to_string(),
            other => format!("{other:?}"),
        });
        (targets.collect::<Vec<_>>(), found.failures.len())
    };
    let (flat, failures) = found(Place::Flat("o".into()));
    assert_eq!(
        (flat, failures),
        (
            vec!["o/a.zst".into(), "o/b.zst".into(), "o/c.zst".into()],
            0
        )
    );
    let (mirrored, failures) = found(Place::Mirror("o".into()));
    assert_eq!(
        (mirrored, failures),
        (vec!["o/d/a.zst".into(), "o/c.zst".into()], 1)
    );
}

#[test]
fn keys_are_what_names_say_to_the_letter() {
    let files = ["a#b?c", "50%", "s3://b/d/a%23b"].map(PathBuf::from);
    let found = |place| {
        let request = Request {
            place,
            ..Request::of(&files, COMPRESS)
        };
        let found = jobs(&request).expect("jobs").jobs;
        let destinations = found.into_iter().map(|job| match job.destination {
            Destination::File(path) => path.display().to_string(),
            other => format!("{other:?}"),
        });
        destinations.collect::<Vec<_>>()
    };
    let flat = ["a%23b%3Fc.zst", "50%25.zst", "a%23b.zst"].map(|name| format!("s3://o/{name}"));
    assert_eq!(found(Place::Flat("s3://o/".into())), flat);
    let mirrored =
        ["a%23b%3Fc.zst", "50%25.zst", "d/a%23b.zst"].map(|name| format!("s3://o/p/{name}"));
    assert_eq!(found(Place::Mirror("s3://o/p".into())), mirrored);
}

#[test]
fn several_inputs_become_one_target_only_where_that_is_asked_for() {
    let files = ["a".into(), "b".into()];
    let request = Request {
        output: Some(Path::new("o")),
        join: true,
        ..Request::of(&files, COMPRESS)
    };
    let found = jobs(&request).expect("jobs");
    assert_eq!(found.joined.as_deref(), Some(Path::new("o")));
    assert!(
        found
            .jobs
            .iter()
            .all(|job| job.destination == Destination::Joined)
    );
}

#[test]
fn a_walk_is_sorted_and_passes_over_what_is_compressed() {
    let root = tempfile::tempdir().expect("a directory");
    for name in ["b", "a", "a.zst"] {
        std::fs::write(root.path().join(name), name).expect("written");
    }
    let files = [root.path().to_owned()];
    let request = Request {
        recursive: true,
        ..Request::of(&files, COMPRESS)
    };
    let found = jobs(&request).expect("jobs");
    let names: Vec<_> = found
        .jobs
        .iter()
        .filter_map(|j| j.source.file_name())
        .collect();
    assert_eq!(names, ["a", "b"]);
    assert_eq!(found.passed_over, 1);
}
