//! Archives and files in a store that speaks the protocol of S3: `s3s-fs`, a program of its own, on a
//! port of this machine.
//!
//! Without that program (`cargo install s3s-fs --features binary`) these tests report `ignored`.

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use libtest_mimic::Trial;
use nix::sys::signal::Signal;

use crate::common::signals::{send, until};
use crate::common::{Run, directory, file, names, perfkit, samples};
use crate::peer;

/// The tests, each with whether what it needs is here.
pub(crate) fn trials() -> Vec<Trial> {
    peer::trials![
        is_here() => [
            archives_are_packed_listed_and_read_in_place,
            large_ones_go_in_parts_that_are_one_object,
            what_exists_is_replaced_by_force_only,
            an_interrupt_leaves_neither_object_nor_parts,
            a_store_that_refuses_is_told,
            frames_go_there_and_come_back,
            what_appears_meanwhile_is_not_replaced,
            the_server_copies_what_is_merged,
            a_hundred_archives_are_merged,
            a_list_of_keys_is_done_once_whoever_dies,
            archives_that_are_there_are_kept_if_that_is_asked_for,
            a_command_line_that_skips_what_is_there_is_run_again_as_it_is,
        ],
    ]
}

/// Whether stores can be started.
pub(crate) fn is_here() -> bool {
    peer::works(Command::new("s3s-fs").arg("--version"))
}

/// A store of one bucket, for as long as the test runs.
pub(crate) struct Store {
    process: Child,
    pub(crate) root: tempfile::TempDir,
    url: String,
}

impl Store {
    pub(crate) fn start() -> Self {
        let root = directory();
        std::fs::create_dir(root.path().join("bucket")).expect("made");
        // Free a moment ago, and asked for at once.
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|listener| listener.local_addr())
            .expect("a port")
            .port();
        let process = Command::new("s3s-fs")
            .args(["--host", "127.0.0.1", "--port", &port.to_string()])
            .args(["--access-key", "anyone", "--secret-key", "knows"])
            .arg(root.path())
            .env_remove("RUST_LOG")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it runs");
        until("the store listens", || {
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        Self {
            process,
            root,
            url: format!("http://127.0.0.1:{port}"),
        }
    }

    pub(crate) fn perfkit(&self, dir: &Path, words: &str) -> Command {
        let mut command = perfkit();
        command
            .current_dir(dir)
            .args(words.split_whitespace())
            .env("AWS_ENDPOINT_URL", &self.url)
            .env("AWS_ALLOW_HTTP", "true")
            .env("AWS_ACCESS_KEY_ID", "anyone")
            .env("AWS_SECRET_ACCESS_KEY", "knows")
            .env("AWS_REGION", "us-east-1");
        command
    }

    pub(crate) fn run(&self, dir: &Path, words: &str) -> Run {
        let output = self.perfkit(dir, words).output();
        output.expect("perfkit runs").into()
    }

    pub(crate) fn objects(&self) -> Vec<String> {
        names(&self.root.path().join("bucket"))
    }

    pub(crate) fn object(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.root.path().join("bucket").join(name)).expect("it is there")
    }

    /// What the store holds of uploads that are not complete.
    pub(crate) fn unfinished(&self) -> Vec<String> {
        let mut names = names(self.root.path());
        names.retain(|name| name.starts_with(".upload"));
        names
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A directory with files of several kinds.
fn sources(bytes: usize) -> tempfile::TempDir {
    let dir = directory();
    std::fs::create_dir(dir.path().join("in")).expect("made");
    for (name, content) in samples(bytes) {
        file(&dir.path().join("in"), name, &content);
    }
    dir
}

fn archives_are_packed_listed_and_read_in_place() {
    let (store, dir) = (Store::start(), sources(300_000));
    store
        .run(dir.path(), "zip -q -r s3://bucket/a.zip in")
        .expect(0);
    assert_eq!(store.objects(), ["a.zip"]);
    let listed = store
        .run(dir.path(), "unzip -l s3://bucket/a.zip --json")
        .expect(0);
    assert_eq!(
        listed.json()["tables"][0]["rows"].as_array().map(Vec::len),
        Some(9)
    );
    let json = std::fs::read(dir.path().join("in/json")).expect("read");
    let printed = store.run(dir.path(), "unzip -q -p s3://bucket/a.zip in/json");
    assert!(printed.expect(0).stdout == json);
    store
        .run(dir.path(), "unzip -q s3://bucket/a.zip -d out")
        .expect(0);
    for (name, content) in samples(300_000) {
        let path = dir.path().join("out/in").join(name);
        assert!(std::fs::read(path).expect("read") == content, "{name}");
    }
    store
        .run(dir.path(), "unzip -q -t s3://bucket/a.zip")
        .expect(0);
    let gone = store
        .run(dir.path(), "unzip -q -t s3://bucket/b.zip")
        .expect(1);
    assert!(gone.stderr.contains("404"), "{}", gone.stderr);
}

fn large_ones_go_in_parts_that_are_one_object() {
    let (store, dir) = (Store::start(), directory());
    // Several parts of 8 MiB, and a rest; and a whole number of parts.
    let (_, noise) = samples(27_000_001).remove(5);
    file(dir.path(), "noise", &noise);
    store
        .run(dir.path(), "zip -q -Z store s3://bucket/a.zip noise")
        .expect(0);
    store
        .run(dir.path(), "zip -q -Z store here.zip noise")
        .expect(0);
    let here = std::fs::read(dir.path().join("here.zip")).expect("read");
    assert!(store.object("a.zip") == here);
    assert!(store.unfinished().is_empty(), "{:?}", store.unfinished());
    store
        .run(dir.path(), "unzip -q -t s3://bucket/a.zip")
        .expect(0);
}

fn what_exists_is_replaced_by_force_only() {
    let (store, dir) = (Store::start(), sources(1000));
    store
        .run(dir.path(), "zip -q s3://bucket/a.zip in/json")
        .expect(0);
    let before = store.object("a.zip");
    let refused = store
        .run(dir.path(), "zip -q s3://bucket/a.zip in/html")
        .expect(1);
    assert!(
        refused.stderr.contains("exists already"),
        "{}",
        refused.stderr
    );
    assert!(store.object("a.zip") == before);
    store
        .run(dir.path(), "zip -q --force s3://bucket/a.zip in/html")
        .expect(0);
    assert!(store.object("a.zip") != before);
}

fn an_interrupt_leaves_neither_object_nor_parts() {
    let (store, dir) = (Store::start(), directory());
    let mut child = store
        .perfkit(dir.path(), "zip -q -Z store s3://bucket/a.zip -")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    let (_, noise) = samples(12_000_000).remove(5);
    stdin.write_all(&noise).expect("taken");
    // The first part is there, the rest waits for more.
    until("an upload is begun", || !store.unfinished().is_empty());
    send(&child, Signal::SIGINT);
    let ended = Run::from(child.wait_with_output().expect("ends"));
    ended.expect(130);
    drop(stdin);
    assert!(store.objects().is_empty(), "{:?}", store.objects());
    assert!(store.unfinished().is_empty(), "{:?}", store.unfinished());
}

fn a_store_that_refuses_is_told() {
    let (store, dir) = (Store::start(), sources(1000));
    for (words, what) in [
        ("zip -q s3://bucket/a.zip in/json", "write"),
        ("zip -q --force s3://bucket/a.zip in/json", "write"),
        ("unzip -q -l s3://bucket/a.zip", "read"),
    ] {
        let mut command = store.perfkit(dir.path(), words);
        let output = command.env("AWS_SECRET_ACCESS_KEY", "guessed").output();
        let ran = Run::from(output.expect("runs")).expect(1);
        let said = format!("cannot {what} 's3://bucket/a.zip': the server answered 403");
        assert!(ran.stderr.contains(&said), "{}", ran.stderr);
        assert!(
            ran.stderr.contains("AWS_SECRET_ACCESS_KEY"),
            "{}",
            ran.stderr
        );
        // The address of this store is without TLS.
        let mut command = store.perfkit(dir.path(), words);
        let output = command.env_remove("AWS_ALLOW_HTTP").output();
        let ran = Run::from(output.expect("runs")).expect(1);
        let said = "is http://, without TLS: set AWS_ALLOW_HTTP=true";
        assert!(ran.stderr.contains(said), "{}", ran.stderr);
    }
    assert!(store.objects().is_empty());
}

fn frames_go_there_and_come_back() {
    let (store, dir) = (Store::start(), sources(3_000_000));
    store
        .run(
            dir.path(),
            "compress -q in/json -o s3://bucket/deep/json.zst",
        )
        .expect(0);
    let json = std::fs::read(dir.path().join("in/json")).expect("read");
    let options = zstdkit::DecoderOptions::default();
    let stored = store.object("deep/json.zst");
    assert!(zstdkit::decompress(&stored, &options).as_deref() == Ok(&json[..]));
    store
        .run(
            dir.path(),
            "decompress -q s3://bucket/deep/json.zst -o s3://bucket/json",
        )
        .expect(0);
    assert!(store.object("json") == json);
}

fn what_appears_meanwhile_is_not_replaced() {
    // In one request, and in parts.
    for bytes in [1000, 20_000_000] {
        let (store, dir) = (Store::start(), directory());
        let mut child = store
            .perfkit(dir.path(), "zip -q -0 s3://bucket/a.zip -")
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("runs");
        let mut stdin = child.stdin.take().expect("a pipe");
        let (_, noise) = samples(bytes).remove(5);
        stdin.write_all(&noise).expect("taken");
        if bytes > 1000 {
            until("an upload is begun", || !store.unfinished().is_empty());
        } else {
            // It has looked, and found nothing.
            std::thread::sleep(std::time::Duration::from_millis(500));
        }
        let other = store.root.path().join("bucket/a.zip");
        std::fs::write(&other, "somebody else's").expect("written");
        drop(stdin);
        let ended = Run::from(child.wait_with_output().expect("ends")).expect(1);
        assert!(ended.stderr.contains("exists already"), "{}", ended.stderr);
        assert!(store.object("a.zip") == b"somebody else's");
        assert!(store.unfinished().is_empty(), "{:?}", store.unfinished());
    }
}

/// The first row of the first table of a report.
fn row(ran: &Run) -> Vec<u64> {
    let report: serde_json::Value = serde_json::from_str(&ran.stderr).expect("JSON");
    let row = report["tables"][0]["rows"][0].as_array().expect("a row");
    row.iter().filter_map(serde_json::Value::as_u64).collect()
}

fn the_server_copies_what_is_merged() {
    let (store, dir) = (Store::start(), directory());
    let mut merged = 0;
    for (name, bytes) in [("one", 12_000_000), ("small", 1000), ("two", 12_000_000)] {
        let (_, noise) = samples(bytes).remove(5);
        file(dir.path(), name, &noise);
        let line = format!("zip -q -0 s3://bucket/{name}.zip {name}");
        store.run(dir.path(), &line).expect(0);
        merged += bytes as u64;
    }
    let line = "zip --report json --merge s3://bucket/all.zip s3://bucket/one.zip s3://bucket/small.zip \
                s3://bucket/two.zip";
    let row = row(&store.run(dir.path(), line).expect(0));
    let [archives, entries, _, bytes, moved, copied] = row[..] else {
        panic!("{row:?}");
    };
    assert_eq!((archives, entries), (1, 3));
    assert_eq!(bytes, store.object("all.zip").len() as u64);
    assert!(bytes > merged && moved + copied == bytes, "{row:?}");
    // The small one and what makes it a part of 5 MiB, and the directory.
    assert!(copied > 18_000_000 && moved < 6_000_000, "{row:?}");
    store
        .run(dir.path(), "unzip -q -t --strict s3://bucket/all.zip")
        .expect(0);
    store
        .run(dir.path(), "unzip -q s3://bucket/all.zip -d out")
        .expect(0);
    for name in ["one", "small", "two"] {
        let read = |path: &str| std::fs::read(dir.path().join(path).join(name)).expect("read");
        assert!(read("out") == read("."), "{name}");
    }
    let refused = store.run(dir.path(), line).expect(1);
    assert!(
        refused.stderr.contains("exists already"),
        "{}",
        refused.stderr
    );
}

fn a_hundred_archives_are_merged() {
    let (store, dir) = (Store::start(), directory());
    let mut line = "zip --report json --merge s3://bucket/all.zip".to_owned();
    for number in 0..100 {
        let name = format!("{number:02}");
        let (_, content) = samples(20_000).swap_remove(number % 5);
        file(dir.path(), &name, &content);
        let archive = format!("{name}.zip");
        common_run(dir.path(), &format!("zip -qq {archive} {name}"));
        let bytes = std::fs::read(dir.path().join(&archive)).expect("read");
        std::fs::write(store.root.path().join("bucket").join(&archive), bytes).expect("written");
        line += &format!(" s3://bucket/{archive}");
    }
    let row = row(&store.run(dir.path(), &line).expect(0));
    assert_eq!(row[1], 100);
    assert_eq!(row[3], store.object("all.zip").len() as u64);
    store
        .run(dir.path(), "unzip -q -t --strict s3://bucket/all.zip")
        .expect(0);
    let printed = store.run(dir.path(), "unzip -qq -p s3://bucket/all.zip 77");
    assert!(printed.expect(0).stdout == std::fs::read(dir.path().join("77")).expect("read"));
}

fn common_run(dir: &Path, line: &str) {
    crate::common::run(dir, crate::common::words(line)).expect(0);
}

/// A list of keys by two processes that both have all of it, from either end: one is killed. Each object is there once,
/// with the bytes that one process makes of the same files here, and what the other found done was not done again.
/// `PERFKIT_OBJECTS=1000` is the full size.
fn a_list_of_keys_is_done_once_whoever_dies() {
    let count: usize = std::env::var("PERFKIT_OBJECTS")
        .ok()
        .and_then(|value| value.parse().ok())
        .unwrap_or(200);
    let (store, dir) = (Store::start(), directory());
    let bucket = store.root.path().join("bucket");
    std::fs::create_dir(bucket.join("in")).expect("made");
    let (_, content) = samples(40_000 + count).swap_remove(0);
    let mut names: Vec<String> = (0..count).map(|nth| format!("{nth:04}.json")).collect();
    for (nth, name) in names.iter().enumerate() {
        file(
            &bucket.join("in"),
            name,
            &content[nth..nth + 2_000 + nth * 7 % 30_000],
        );
    }
    let list = |names: &[String]| -> String {
        names
            .iter()
            .map(|name| format!("s3://bucket/in/{name}\n"))
            .collect()
    };
    file(dir.path(), "forwards", list(&names).as_bytes());
    names.reverse();
    file(dir.path(), "backwards", list(&names).as_bytes());
    let line = |keys: &str| {
        format!(
            "compress --skip-existing --output-dir-flat s3://bucket/out --filelist {keys} --report json"
        )
    };
    let mut first = store
        .perfkit(dir.path(), &line("forwards"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("it runs");
    let second = store
        .perfkit(dir.path(), &line("backwards"))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let out = bucket.join("out");
    let done = || std::fs::read_dir(&out).map_or(0, Iterator::count);
    until("a quarter is done", || done() >= count / 4);
    first.kill().expect("killed");
    first.wait().expect("ended");
    let second: Run = second.wait_with_output().expect("it ends").into();
    let second = second.expect(0);
    // Here, and by one process.
    let sources = bucket.join("in").display().to_string();
    std::fs::create_dir(dir.path().join("single")).expect("made");
    let single = format!("compress -qr {sources} --output-dir-flat single");
    store.run(dir.path(), &single).expect(0);
    names.reverse();
    let objects: Vec<_> = crate::common::names(&out);
    let expected: Vec<_> = names.iter().map(|name| format!("{name}.zst")).collect();
    assert_eq!(objects, expected);
    for name in &expected {
        let [there, here] = [out.join(name), dir.path().join("single").join(name)]
            .map(|path| std::fs::read(path).expect("it is there"));
        assert!(there == here, "{name} differs");
    }
    let report: serde_json::Value = {
        let text = &second.stderr;
        let start = text
            .find("{\n")
            .or_else(|| text.find('{'))
            .expect("a report");
        let end = text.rfind('}').expect("a report");
        serde_json::from_str(&text[start..=end]).expect("JSON")
    };
    let kept = report["workload"]["params"]["targets_kept"].as_u64();
    let written = report["workload"]["inputs_total"].as_u64();
    let (kept, written) = (
        kept.expect("some were there"),
        written.expect("some were not"),
    );
    assert_eq!(kept + written, count as u64);
    // A third run has nothing to do.
    let again = store.run(dir.path(), &line("forwards")).expect(0);
    assert!(
        again
            .stderr
            .contains(&format!("{count} targets were there and are kept")),
        "{}",
        again.stderr
    );
}

/// The same command line does what is left, its report included.
fn a_command_line_that_skips_what_is_there_is_run_again_as_it_is() {
    let (store, dir) = (Store::start(), sources(1000));
    for line in [
        "compress -q --skip-existing --output-dir-flat s3://bucket/out in/json",
        "zip -q --skip-existing s3://bucket/a.zip in/json",
        "unzip -q --skip-existing s3://bucket/a.zip -d s3://bucket/back",
        "decompress -q --skip-existing --output-dir-flat s3://bucket/plain s3://bucket/out/json.zst",
    ] {
        let line = format!("{line} --export-json run.json");
        let report = || std::fs::read(dir.path().join("run.json")).expect("a report");
        store.run(dir.path(), &line).expect(0);
        let first = report();
        store.run(dir.path(), &line).expect(0);
        assert!(report() != first, "{line}");
    }
    // Without it, a report is no more replaced than a target.
    let line = "compress -q --output-dir-flat s3://bucket/new in/json --export-json run.json";
    let refused = store.run(dir.path(), line).expect(1);
    assert!(refused.stderr.contains("run.json"), "{}", refused.stderr);
}

fn archives_that_are_there_are_kept_if_that_is_asked_for() {
    let (store, dir) = (Store::start(), sources(1000));
    let line = "zip -q --skip-existing s3://bucket/a.zip in/json";
    store.run(dir.path(), line).expect(0);
    let before = store.object("a.zip");
    file(&dir.path().join("in"), "json", b"another");
    store.run(dir.path(), line).expect(0);
    assert!(store.object("a.zip") == before);
    store
        .run(dir.path(), "zip -q s3://bucket/a.zip in/json")
        .expect(1);
}
