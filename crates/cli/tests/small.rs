//! Many small files: done several at a time, told in the order of their names, with the bytes and
//! the errors of one at a time.

use std::path::{Path, PathBuf};

use crate::common::{self, directory, file, names, perfkit, run, samples, words};

/// Directories of small files, with some that are not small among them.
fn tree(root: &Path) {
    for (number, (name, bytes)) in samples(3_000_000).into_iter().enumerate() {
        let dir = root.join(name);
        std::fs::create_dir_all(&dir).expect("made");
        for at in 0..40 {
            let start = (at * 5_000).min(bytes.len());
            let end = (start + at * 97 + number).min(bytes.len());
            file(&dir, &format!("f{at:02}"), &bytes[start..end]);
        }
        file(&dir, "f05-large", &bytes);
        file(&dir, "f06-block", &bytes[..bytes.len().min(200_000)]);
    }
}

/// Every file below, with what it holds.
fn contents(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for name in names(root) {
        let path = root.join(name);
        match path.is_dir() {
            true => all.extend(contents(&path)),
            false => all.push((path.clone(), std::fs::read(&path).expect("read"))),
        }
    }
    all
}

fn below(root: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let relative = |(path, bytes): (PathBuf, Vec<u8>)| {
        let path = path.strip_prefix(root).expect("below").to_owned();
        (path, bytes)
    };
    contents(root).into_iter().map(relative).collect()
}

#[test]
fn a_tree_comes_out_the_same_on_any_number_of_threads_and_back() {
    let (one, two) = (directory(), directory());
    tree(one.path());
    tree(two.path());
    let before = below(one.path());
    let mut reports = Vec::new();
    for (dir, threads) in [(&one, "-T1"), (&two, "-T3")] {
        let line = "compress -r . --verify --export-json - -q";
        let mut report = run(
            dir.path(),
            words(line).into_iter().chain([threads.to_owned()]),
        )
        .expect(0)
        .json();
        assert_eq!(report["workload"]["inputs_total"], before.len());
        assert_eq!(report["validation"]["checked"], before.len());
        let rows = report["latencies"].as_array().expect("rows");
        // With threads inside a large file its chunks are other ones; whole files are counted once.
        assert_eq!(rows[2]["series"], "whole files");
        assert_eq!(rows[2]["n"], before.len());
        reports.push(report["workload"]["inputs"].take());
    }
    assert_eq!(
        reports[0], reports[1],
        "the inputs, in order, with their hashes"
    );
    let compressed = below(one.path());
    let small = |all: &[(PathBuf, Vec<u8>)]| -> Vec<_> {
        let is_small = |path: &Path| !path.to_string_lossy().contains("large");
        all.iter()
            .filter(|(path, _)| is_small(path))
            .cloned()
            .collect()
    };
    assert_eq!(small(&compressed), small(&below(two.path())));
    for (dir, flags) in [(&one, "-T1"), (&two, "-T3"), (&two, "-f -T3")] {
        for (path, _) in &before {
            let kept = dir.path().join(path);
            if !flags.contains("-f") {
                std::fs::remove_file(kept).expect("removed");
            }
        }
        let line = format!("decompress -qq -r . {flags}");
        run(dir.path(), words(&line)).expect(0);
        let after: Vec<_> = below(dir.path())
            .into_iter()
            .filter(|(path, _)| path.extension().is_none())
            .collect();
        assert_eq!(after, before, "{flags}");
    }
}

#[cfg(unix)]
#[test]
fn targets_get_mode_and_times_and_sources_go_where_that_is_asked_for() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = directory();
    for at in 0..20 {
        let path = file(dir.path(), &format!("f{at:02}"), b"content");
        let mode = std::fs::Permissions::from_mode(if at % 2 == 0 { 0o640 } else { 0o604 });
        std::fs::set_permissions(&path, mode).expect("set");
        let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000 + at);
        let opened = std::fs::File::options()
            .write(true)
            .open(&path)
            .expect("opened");
        opened.set_modified(old).expect("set");
    }
    let elsewhere = directory();
    let kept = file(elsewhere.path(), "kept", b"what a link leads to");
    std::os::unix::fs::symlink(&kept, dir.path().join("f03.zst")).expect("linked");
    run(dir.path(), words("compress -qq -r . -T2 --rm -f")).expect(0);
    for at in 0..20 {
        let metadata = std::fs::metadata(dir.path().join(format!("f{at:02}.zst"))).expect("there");
        let mode = if at % 2 == 0 { 0o640 } else { 0o604 };
        assert_eq!(metadata.permissions().mode() & 0o7777, mode, "{at}");
        let modified = metadata.modified().expect("a time");
        let since = modified
            .duration_since(std::time::UNIX_EPOCH)
            .expect("after");
        assert_eq!(since.as_secs(), 1_000_000_000 + at);
        assert!(!dir.path().join(format!("f{at:02}")).exists());
    }
    assert!(
        !dir.path().join("f03.zst").is_symlink(),
        "a link is replaced, as by zstd and gzip"
    );
    assert_eq!(std::fs::read(kept).expect("read"), b"what a link leads to");
}

#[test]
fn errors_are_told_in_order_and_cost_no_other_file() {
    let dir = directory();
    let mut line = words("compress -T3");
    for at in 0..200 {
        let name = format!("f{at:03}");
        match at {
            20 | 150 => {}
            90 => drop(file(dir.path(), &name, &samples(3_000_000)[0].1)),
            _ => drop(file(dir.path(), &name, name.as_bytes())),
        }
        line.push(name);
    }
    file(dir.path(), "f070.zst", b"theirs");
    std::fs::create_dir(dir.path().join("f100.zst")).expect("made");
    let failed = run(dir.path(), line).expect(3);
    let told: Vec<&str> = failed
        .stderr
        .lines()
        .filter_map(|line| line.strip_prefix("perfkit: "))
        .collect();
    assert_eq!(
        told,
        [
            "cannot read 'f020': no such file or directory",
            "'f070.zst' exists already",
            "'f100.zst' is a directory",
            "cannot read 'f150': no such file or directory",
        ]
    );
    assert_eq!(
        std::fs::read(dir.path().join("f070.zst")).expect("read"),
        b"theirs"
    );
    assert_eq!(names(dir.path()).len(), 198 + 198);
    // Of what is corrupt or cut short there is no target, and all else is there.
    let decompressed = directory();
    for at in 0..100 {
        let frame = std::fs::read(dir.path().join("f001.zst")).expect("read");
        let bytes: &[u8] = match at {
            33 => b"no frame at all",
            66 => &frame[..frame.len() - 1],
            _ => &frame,
        };
        file(decompressed.path(), &format!("f{at:03}.zst"), bytes);
    }
    let failed = run(
        decompressed.path(),
        words("decompress -r . -T2 --report json"),
    )
    .expect(3);
    let bad: Vec<&str> = failed
        .stderr
        .lines()
        .filter(|line| line.starts_with("perfkit: "))
        .collect();
    assert!(
        matches!(&bad[..], [a, b] if a.contains("f033.zst") && b.contains("f066.zst")),
        "{bad:?}"
    );
    assert_eq!(names(decompressed.path()).len(), 100 + 98);
    let tested = run(decompressed.path(), words("decompress -t -q -r . -T2")).expect(3);
    assert_eq!(tested.stderr.matches("perfkit: ").count(), 2);
}

#[test]
fn frames_with_a_window_too_large_for_several_at_a_time_are_left_to_one() {
    let dir = directory();
    let content = samples(500_000).swap_remove(2).1;
    let frame = common::pipe(dir.path(), words("compress -q --long=27 -"), &content).expect(0);
    assert!(frame.stdout.len() < 250_000);
    for at in 0..20 {
        file(dir.path(), &format!("f{at}.zst"), &frame.stdout);
    }
    run(dir.path(), words("decompress -qq -T2 -r .")).expect(0);
    for at in 0..20 {
        let back = std::fs::read(dir.path().join(format!("f{at}"))).expect("there");
        assert!(back == content, "f{at}");
    }
    let refused = run(dir.path(), words("decompress -f -q -T2 --long=26 -r .")).expect(1);
    assert_eq!(refused.stderr.matches("perfkit: ").count(), 20);
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_whole_files_and_a_report_of_just_these() {
    use common::signals::{send, until};
    use std::process::Stdio;
    let dir = directory();
    let content = samples(200_000).swap_remove(0).1;
    for at in 0..400 {
        file(dir.path(), &format!("f{at:03}"), &content);
    }
    let child = perfkit()
        .current_dir(dir.path())
        .args(words("compress -19 -r . -T2 --report json"))
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs");
    until("there are some targets", || names(dir.path()).len() > 410);
    send(&child, nix::sys::signal::Signal::SIGINT);
    let ended = common::Run::from(child.wait_with_output().expect("ends")).expect(130);
    let report = latency::report::read_json(ended.stderr.as_bytes()).expect("a valid report");
    let all = names(dir.path());
    let targets: Vec<_> = all.iter().filter(|name| name.ends_with(".zst")).collect();
    assert!(!report.complete && targets.len() < 400, "{}", targets.len());
    assert_eq!(all.len(), 400 + targets.len(), "nothing half done is left");
    assert_eq!(report.workload.inputs_total, targets.len() as u64);
    let listed = report.workload.inputs.iter().map(|input| &input.path);
    assert!(listed.is_sorted());
    run(dir.path(), words("decompress -t -qq -r .")).expect(0);
}
