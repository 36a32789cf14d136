//! Archives of objects, and objects of archives, in a store that speaks the protocol of S3.
//!
//! Without `s3s-fs` these tests report `ignored`. `PERFKIT_OBJECTS=1000` is their full size.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use libtest_mimic::Trial;

use crate::common::signals::until;
use crate::common::{directory, file, names, samples};
use crate::object_store::{Store, is_here};
use crate::peer;

/// The tests, each with whether what it needs is here.
pub(crate) fn trials() -> Vec<Trial> {
    peer::trials![
        is_here() => [
            objects_are_packed_under_their_keys,
            a_list_of_keys_becomes_one_archive_whoever_dies,
            what_is_missing_costs_its_entry_or_the_archive,
            an_archive_becomes_objects_once_whoever_dies,
            a_damaged_entry_becomes_no_object,
            names_that_lead_out_and_links_become_no_objects,
            keys_are_what_names_say_to_the_letter,
        ],
    ]
}

fn count() -> usize {
    let stated = std::env::var("PERFKIT_OBJECTS").ok();
    stated.and_then(|value| value.parse().ok()).unwrap_or(200)
}

fn bucket(store: &Store) -> PathBuf {
    store.root.path().join("bucket")
}

/// Files `in/0000.json` and so on below a directory, as many as that.
fn files(below: &Path, count: usize) -> Vec<String> {
    let (_, content) = samples(40_000 + count).swap_remove(0);
    std::fs::create_dir(below.join("in")).expect("made");
    let names: Vec<String> = (0..count).map(|nth| format!("in/{nth:04}.json")).collect();
    for (nth, name) in names.iter().enumerate() {
        file(below, name, &content[nth..nth + 2_000 + nth * 7 % 30_000]);
    }
    names
}

fn spawn(store: &Store, dir: &Path, line: &str) -> Child {
    let mut command = store.perfkit(dir, line);
    let command = command.stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().expect("it runs")
}

/// A list of the keys of these names.
fn list(dir: &Path, names: &[String]) {
    let lines: String = names
        .iter()
        .map(|name| format!("s3://bucket/{name}\n"))
        .collect();
    file(dir, "keys", lines.as_bytes());
}

fn objects_are_packed_under_their_keys() {
    let (store, dir) = (Store::start(), directory());
    std::fs::create_dir(bucket(&store).join("deep")).expect("made");
    for (name, content) in samples(300_000) {
        file(&bucket(&store).join("deep"), name, &content);
    }
    let line = "zip -q s3://bucket/a.zip s3://bucket/deep/json s3://bucket/deep/html";
    store.run(dir.path(), line).expect(0);
    let listed = store
        .run(dir.path(), "unzip -1 s3://bucket/a.zip")
        .expect(0);
    assert_eq!(listed.text(), "deep/json\ndeep/html\n");
    let printed = store
        .run(dir.path(), "unzip -q -p s3://bucket/a.zip deep/json")
        .expect(0);
    assert!(printed.stdout == std::fs::read(bucket(&store).join("deep/json")).expect("read"));
    // The same objects make the same bytes: their times are those of the store.
    let again = line.replace("a.zip", "b.zip");
    store.run(dir.path(), &again).expect(0);
    assert!(store.object("a.zip") == store.object("b.zip"));
    // To a file, without directories, and more of them.
    let line = "zip -qj here.zip s3://bucket/deep/json";
    store.run(dir.path(), line).expect(0);
    let more = "zip -qj --append here.zip s3://bucket/deep/html";
    store.run(dir.path(), more).expect(0);
    let listed = store.run(dir.path(), "unzip -1 here.zip").expect(0);
    assert_eq!(listed.text(), "json\nhtml\n");
    for (line, said) in [
        (
            "zip -qm new.zip s3://bucket/deep/json",
            "--move is for files",
        ),
        (
            "zip -qu here.zip s3://bucket/deep/json",
            "--update is for files",
        ),
        ("zip -q new.zip s3://bucket/deep/", "is a prefix"),
    ] {
        let refused = store.run(dir.path(), line);
        assert!(refused.stderr.contains(said), "{line}: {}", refused.stderr);
    }
}

fn a_list_of_keys_becomes_one_archive_whoever_dies() {
    let (store, dir) = (Store::start(), directory());
    let names = files(&bucket(&store), count());
    list(dir.path(), &names);
    let line = "zip -qX --skip-existing s3://bucket/all.zip --from-file keys";
    let mut first = spawn(&store, dir.path(), line);
    std::thread::sleep(std::time::Duration::from_millis(300));
    first.kill().expect("killed");
    first.wait().expect("ended");
    // Two do it at once; one of them may find it done.
    let others = [
        spawn(&store, dir.path(), line),
        spawn(&store, dir.path(), line),
    ];
    for other in others {
        let ended = other.wait_with_output().expect("it ends");
        assert!(
            ended.status.success(),
            "{}",
            String::from_utf8_lossy(&ended.stderr)
        );
    }
    let here = dir.path().join("here.zip").display().to_string();
    store
        .run(&bucket(&store), &format!("zip -qXrD {here} in"))
        .expect(0);
    assert!(store.object("all.zip") == std::fs::read(here).expect("read"));
    let before = store.object("all.zip");
    store.run(dir.path(), line).expect(0);
    assert!(store.object("all.zip") == before);
}

fn what_is_missing_costs_its_entry_or_the_archive() {
    let (store, dir) = (Store::start(), directory());
    file(&bucket(&store), "one", b"one");
    let line = "zip -q s3://bucket/a.zip s3://bucket/one s3://bucket/none";
    let partial = store.run(dir.path(), line).expect(3);
    let said = "cannot read 's3://bucket/none': the server answered 404";
    assert!(partial.stderr.contains(said), "{}", partial.stderr);
    let listed = store
        .run(dir.path(), "unzip -1 s3://bucket/a.zip")
        .expect(0);
    assert_eq!(listed.text(), "one\n");
    // A later run would take it for done.
    let line = "zip -q --skip-existing s3://bucket/b.zip s3://bucket/one s3://bucket/none";
    let refused = store.run(dir.path(), line).expect(3);
    assert!(
        refused.stderr.contains("no archive was made"),
        "{}",
        refused.stderr
    );
    assert_eq!(store.objects(), ["a.zip", "one"]);
    // A key that no entry can be called is named, and left out if that is asked for.
    file(&bucket(&store), "o\\dd", b"odd");
    let line = "zip -q --skip-existing s3://bucket/c.zip s3://bucket/one s3://bucket/o%5Cdd";
    let refused = store.run(dir.path(), line).expect(3).stderr;
    for said in [
        "the name has a backslash",
        "no archive was made",
        "mend what failed, or leave it out (-x), and run it again",
    ] {
        assert!(refused.contains(said), "{refused}");
    }
    store.run(dir.path(), &format!("{line} -x *dd")).expect(0);
    assert_eq!(store.objects(), ["a.zip", "c.zip", "o\\dd", "one"]);
}

/// Every file of a directory is an object below `out/`, with the same bytes.
fn assert_extracted(store: &Store, from: &Path, names: &[String]) {
    let out = bucket(store).join("out");
    let found = crate::common::names(&out.join("in"));
    assert_eq!(found.len(), names.len());
    for name in names {
        let [there, here] = [&out, from].map(|path| std::fs::read(path.join(name)).expect("read"));
        assert!(there == here, "{name} differs");
    }
    assert!(store.unfinished().is_empty(), "{:?}", store.unfinished());
}

fn an_archive_becomes_objects_once_whoever_dies() {
    let (store, dir) = (Store::start(), directory());
    let mut names = files(dir.path(), count());
    // One that goes in parts.
    let (_, noise) = samples(20_000_000).remove(5);
    file(dir.path(), "in/noise", &noise);
    names.push("in/noise".to_owned());
    store
        .run(dir.path(), "zip -qr s3://bucket/a.zip in")
        .expect(0);
    let line = "unzip --skip-existing s3://bucket/a.zip -d s3://bucket/out/ --report json";
    let mut first = spawn(&store, dir.path(), line);
    let made = bucket(&store).join("out/in");
    until("a quarter is done", || {
        std::fs::read_dir(&made).map_or(0, Iterator::count) >= count() / 4
    });
    first.kill().expect("killed");
    first.wait().expect("ended");
    let second = store.run(dir.path(), line).expect(0);
    assert_extracted(&store, dir.path(), &names);
    let start = second.stderr.find("\n{").map_or(0, |at| at + 1);
    let report: serde_json::Value =
        serde_json::from_str(second.stderr[start..].trim()).expect("JSON");
    let kept = report["workload"]["params"]["targets_kept"]
        .as_u64()
        .expect("some");
    assert!(
        kept >= count() as u64 / 4 && kept < names.len() as u64,
        "{kept}"
    );
    // From a file, by several threads, over what is there: refused, or replaced.
    store.run(dir.path(), "zip -qr a.zip in").expect(0);
    let line = "unzip -q -T4 a.zip -d s3://bucket/out";
    let refused = store.run(dir.path(), line).expect(3);
    let said = "'s3://bucket/out/in/0000.json' exists already";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
    // That says nothing about what the archive holds.
    let refused = store.run(dir.path(), &format!("{line} --report text"));
    let refused = refused.expect(3).stderr;
    assert!(!refused.contains("WRONG"), "{refused}");
    file(&bucket(&store), "out/in/0000.json", b"another");
    store
        .run(dir.path(), &format!("{line} --overwrite"))
        .expect(0);
    assert_extracted(&store, dir.path(), &names);
}

fn a_damaged_entry_becomes_no_object() {
    let (store, dir) = (Store::start(), directory());
    for (name, bytes) in [("one", 20_000_000), ("two", 1000)] {
        let (_, noise) = samples(bytes).remove(5);
        file(dir.path(), name, &noise);
    }
    store.run(dir.path(), "zip -q0 a.zip one two").expect(0);
    let mut archive = std::fs::read(dir.path().join("a.zip")).expect("read");
    archive[15_000_000] ^= 1;
    file(&bucket(&store), "a.zip", &archive);
    let damaged = store
        .run(dir.path(), "unzip -q s3://bucket/a.zip -d s3://bucket/out")
        .expect(3);
    assert!(damaged.stderr.contains("one"), "{}", damaged.stderr);
    assert_eq!(names(&bucket(&store).join("out")), ["two"]);
    assert!(store.unfinished().is_empty(), "{:?}", store.unfinished());
    // A store that refuses is told with the key.
    let mut command = store.perfkit(dir.path(), "unzip -q a.zip two -d s3://bucket/other");
    let output = command.env("AWS_SECRET_ACCESS_KEY", "guessed").output();
    let refused = crate::common::Run::from(output.expect("runs")).expect(1);
    let said = "cannot write 's3://bucket/other/two': the server answered 403";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
}

fn names_that_lead_out_and_links_become_no_objects() {
    let (store, dir) = (Store::start(), directory());
    file(dir.path(), "plain", b"content");
    std::os::unix::fs::symlink("elsewhere", dir.path().join("link")).expect("made");
    store.run(dir.path(), "zip -q a.zip plain link").expect(0);
    // A name of the same length that leads out.
    let mut evil = std::fs::read(dir.path().join("a.zip")).expect("read");
    for at in 0..evil.len() - 5 {
        if evil[at..].starts_with(b"plain") {
            evil[at..at + 5].copy_from_slice(b"../up");
        }
    }
    file(dir.path(), "a.zip", &evil);
    let ran = store
        .run(dir.path(), "unzip -q a.zip -d s3://bucket/out")
        .expect(1);
    assert!(
        ran.stderr.contains("object stores have no links"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("is not extracted"), "{}", ran.stderr);
    assert!(store.objects().is_empty(), "{:?}", store.objects());
    // What is a link is said last in a pipe.
    let mut command = store.perfkit(dir.path(), "unzip -q - -d s3://bucket/out");
    command.stdin(std::fs::File::open(dir.path().join("a.zip")).expect("opened"));
    let refused = crate::common::Run::from(command.output().expect("runs")).expect(2);
    assert!(
        refused
            .stderr
            .contains("cannot be extracted to an object store"),
        "{}",
        refused.stderr
    );
}

/// Letters that mean something in URLs are letters of keys, in both directions.
fn keys_are_what_names_say_to_the_letter() {
    let (store, dir) = (Store::start(), directory());
    let strange = ["a b", "50%", "a%20b", "x#y?z", "\u{e4}"];
    for name in strange {
        file(dir.path(), name, name.as_bytes());
    }
    let mut command = store.perfkit(dir.path(), "zip -q s3://bucket/a.zip");
    let packed = command.args(strange).output().expect("runs");
    crate::common::Run::from(packed).expect(0);
    store
        .run(dir.path(), "unzip -q s3://bucket/a.zip -d s3://bucket/out")
        .expect(0);
    let mut expected = strange.map(str::to_owned).to_vec();
    expected.sort();
    assert_eq!(names(&bucket(&store).join("out")), expected);
    // And back: a key is the name of its entry, and the entry that of an object, each decoded once.
    let keys = ["a%20b", "50%25", "a%2520b", "x%23y%3Fz", "%C3%A4"];
    let mut command = store.perfkit(dir.path(), "zip -qj s3://bucket/b.zip");
    let keys = keys.map(|key| format!("s3://bucket/out/{key}"));
    let packed = command.args(keys).output().expect("runs");
    crate::common::Run::from(packed).expect(0);
    store
        .run(dir.path(), "unzip -q s3://bucket/b.zip -d s3://bucket/back")
        .expect(0);
    assert_eq!(names(&bucket(&store).join("back")), expected);
    let mut command = store.perfkit(
        dir.path(),
        "compress -q --output-dir-flat s3://bucket/packed",
    );
    let packed = command.args(strange).output().expect("runs");
    crate::common::Run::from(packed).expect(0);
    let expected: Vec<String> = expected.iter().map(|name| format!("{name}.zst")).collect();
    assert_eq!(names(&bucket(&store).join("packed")), expected);
}
