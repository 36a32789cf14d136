//! Bad input: each case has its exit code, one line that says what and where, and leaves no file.

use crate::common::{self, directory, file, names, perfkit, pipe, run, samples};

fn json_sample() -> Vec<u8> {
    samples(900_000).swap_remove(0).1
}

#[test]
fn a_missing_file_is_named() {
    let dir = directory();
    for command in ["compress", "decompress"] {
        let failed = run(dir.path(), [command, "gone.zst"]).expect(1);
        assert_eq!(
            failed.stderr.lines().next(),
            Some("perfkit: cannot read 'gone.zst': no such file or directory")
        );
        assert!(failed.stderr.contains("help: "), "{}", failed.stderr);
    }
    assert!(names(dir.path()).is_empty());
}

#[test]
fn a_directory_needs_a_flag() {
    let dir = directory();
    std::fs::create_dir(dir.path().join("tree")).expect("made");
    let failed = run(dir.path(), ["compress", "tree"]).expect(1);
    assert!(
        failed
            .stderr
            .starts_with("perfkit: 'tree' is a directory\nhelp: add -r")
    );
}

#[test]
fn a_truncated_frame_is_named_with_its_last_byte_and_leaves_nothing() {
    let dir = directory();
    let packed = pipe(dir.path(), ["compress"], &json_sample())
        .expect(0)
        .stdout;
    for cut in [1, 5, packed.len() / 2, packed.len() - 1] {
        file(dir.path(), "cut.zst", &packed[..cut]);
        for mode in ["-f", "-t", "-l"] {
            let failed = run(dir.path(), ["decompress", mode, "cut.zst"]).expect(1);
            assert!(
                failed.stderr.contains(&format!("{cut}")),
                "{mode} {cut}: {}",
                failed.stderr
            );
            assert!(failed.stderr.contains("cut.zst"), "{}", failed.stderr);
        }
        assert_eq!(names(dir.path()), ["cut.zst"]);
    }
}

#[test]
fn a_flipped_bit_is_named_with_its_byte_and_leaves_the_target_untouched() {
    let dir = directory();
    let mut packed = pipe(dir.path(), ["compress"], &json_sample())
        .expect(0)
        .stdout;
    let checksum_at = packed.len() - 4;
    packed[checksum_at] ^= 1;
    file(dir.path(), "x.zst", &packed);
    file(dir.path(), "x", b"precious");
    let failed = run(dir.path(), ["decompress", "-f", "x.zst"]).expect(1);
    let first = failed.stderr.lines().next().unwrap_or_default();
    assert!(
        first.starts_with(&format!(
            "perfkit: cannot decompress 'x.zst': frame checksum mismatch at byte {checksum_at} (stored "
        )),
        "{first}"
    );
    assert_eq!(
        std::fs::read(dir.path().join("x")).expect("read"),
        b"precious"
    );
    assert_eq!(names(dir.path()), ["x", "x.zst"]);
    run(dir.path(), ["decompress", "--no-check", "-f", "x.zst"]).expect(0);
}

#[test]
fn what_is_no_zstd_is_refused() {
    let dir = directory();
    file(dir.path(), "plain.zst", b"this is no zstd stream at all");
    file(dir.path(), "empty.zst", b"");
    let failed = run(dir.path(), ["decompress", "plain.zst"]).expect(1);
    assert!(failed.stderr.contains("byte 0"), "{}", failed.stderr);
    let failed = run(dir.path(), ["decompress", "empty.zst"]).expect(1);
    assert!(failed.stderr.contains("it is empty"), "{}", failed.stderr);
    let mut trailing = pipe(dir.path(), ["compress"], b"content").expect(0).stdout;
    let length = trailing.len();
    trailing.extend(b"garbage");
    let failed = pipe(dir.path(), ["decompress"], &trailing).expect(1);
    assert!(
        failed.stderr.contains(&format!("byte {length}")),
        "{}",
        failed.stderr
    );
    assert_eq!(names(dir.path()), ["empty.zst", "plain.zst"]);
}

#[test]
fn an_existing_target_is_kept_without_force() {
    let dir = directory();
    file(dir.path(), "a", b"content");
    file(dir.path(), "a.zst", b"precious");
    let failed = run(dir.path(), ["compress", "a"]).expect(1);
    assert!(
        failed
            .stderr
            .starts_with("perfkit: 'a.zst' exists already\nhelp: add -f")
    );
    assert_eq!(
        std::fs::read(dir.path().join("a.zst")).expect("read"),
        b"precious"
    );
    run(dir.path(), ["compress", "-f", "a"]).expect(0);
    assert_ne!(
        std::fs::read(dir.path().join("a.zst")).expect("read"),
        b"precious"
    );
}

#[test]
fn an_existing_export_is_kept_without_force_and_no_work_is_done() {
    let dir = directory();
    file(dir.path(), "a", b"content");
    file(dir.path(), "r.json", b"precious");
    run(dir.path(), ["compress", "a", "--export-json", "r.json"]).expect(1);
    assert_eq!(
        std::fs::read(dir.path().join("r.json")).expect("read"),
        b"precious"
    );
    assert_eq!(names(dir.path()), ["a", "r.json"]);
}

#[test]
fn some_failed_and_some_done_is_partial() {
    let dir = directory();
    file(dir.path(), "a", b"content");
    let partial = run(
        dir.path(),
        ["compress", "gone", "a", "--export-json", "r.json"],
    )
    .expect(3);
    assert!(partial.stderr.contains("'gone'"));
    assert!(dir.path().join("a.zst").exists());
    let report = std::fs::read(dir.path().join("r.json")).expect("a report");
    let report: serde_json::Value = serde_json::from_slice(&report).expect("JSON");
    assert_eq!(report["exit_code"], 3);
    assert_eq!(report["complete"], false);
}

#[test]
fn wrong_words_are_usage_errors() {
    let dir = directory();
    for line in [
        &["compress", "-20", "a"][..],
        &["compress", "--level=99", "a"],
        &["compress", "--fast=0", "a"],
        &["compress", "--long=99", "a"],
        &["compress", "-o", "x", "a", "b"],
        &["compress", "--slo", "p99<=fast", "a"],
        &["decompress", "-t", "-l", "a"],
        &["compare", "one.json"],
        &["compare", "--interleave", "3x1", "--", "true"],
        &["nonsense"],
        &[],
    ] {
        let failed = run(dir.path(), line.iter()).expect(2);
        assert!(!failed.stderr.is_empty(), "{line:?} says nothing");
    }
}

#[test]
fn limits_stop_bombs() {
    let dir = directory();
    let zeros = vec![0; 64 << 20];
    let bomb = pipe(dir.path(), ["compress", "--long"], &zeros)
        .expect(0)
        .stdout;
    assert!(bomb.len() < 20_000);
    file(dir.path(), "bomb.zst", &bomb);
    let failed = run(dir.path(), ["decompress", "--max-output", "1M", "bomb.zst"]).expect(1);
    assert!(failed.stderr.contains("1048576"), "{}", failed.stderr);
    let failed = run(
        dir.path(),
        ["decompress", "--memory-limit", "1M", "bomb.zst"],
    )
    .expect(1);
    assert!(failed.stderr.contains("window") || failed.stderr.contains("memory"));
    assert_eq!(names(dir.path()), ["bomb.zst"]);
}

#[test]
fn a_missed_slo_is_a_failed_gate_and_a_small_sample_decides_nothing() {
    let dir = directory();
    file(dir.path(), "a", &samples(60_000_000).swap_remove(0).1);
    let failed = run(dir.path(), ["compress", "-f", "a", "--slo", "p99<=1ns"]).expect(4);
    assert!(failed.stderr.contains("FAIL"), "{}", failed.stderr);
    // However much samples depend on each other, the greatest is known.
    run(dir.path(), ["compress", "-f", "a", "--slo", "max<=1h"]).expect(0);
    file(dir.path(), "b", b"one operation earns no percentile");
    let unsure = ["compress", "-f", "b", "--slo", "p99<=1s"];
    let undecided = run(dir.path(), unsure.iter().chain(&["-qq"])).expect(5);
    assert!(
        undecided
            .stderr
            .contains("p99<=1s not decided: p99: 1 sample, 299 needed"),
        "{}",
        undecided.stderr
    );
    run(
        dir.path(),
        unsure.iter().chain(&["--slo-undecided", "fail"]),
    )
    .expect(5);
    run(dir.path(), unsure.iter().chain(&["--slo-undecided=pass"])).expect(0);
}

#[test]
fn any_number_of_the_report_can_be_limited() {
    let dir = directory();
    file(dir.path(), "a", &samples(1_000_000).swap_remove(0).1);
    for (gate, code) in [
        ("ratio>=1.5", 0),
        ("ratio>=1000", 4),
        ("rss<=1k", 4),
        ("rss>=1k", 0),
        ("throughput.bytes_in>=1000", 0),
        ("throughput.bytes_in_per_s>=1", 0),
        ("resources.page_faults_major>=1000000000", 4),
        ("error_rate<=1%", 5),
        ("load.rate_target_per_s>=1", 5),
        ("ratio>=2ms", 2),
        ("nothing>=2", 2),
    ] {
        let ended = run(dir.path(), ["compress", "-qqf", "a", "--slo", gate]).expect(code);
        assert_eq!(
            ended.stderr.is_empty(),
            code == 0,
            "{gate}: {}",
            ended.stderr
        );
    }
    run(
        dir.path(),
        [
            "compress",
            "-qqf",
            "a",
            "--export-json",
            "r.json",
            "--slo",
            "ratio>=1.5",
        ],
    )
    .expect(0);
    let line = "report r.json --slo resources.rss_max_bytes<=1k --report json";
    let report = run(dir.path(), common::words(line)).expect(4).json();
    assert_eq!(report["gates"][0]["limit"], 1024.0);
    assert!(report["gates"][0]["limit_ns"].is_null());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_device_is_told_in_words() {
    let dir = directory();
    file(dir.path(), "a", &json_sample());
    for target in ["-c", "-o"] {
        let mut command = perfkit();
        command.current_dir(dir.path()).args(["compress", "a"]);
        if target == "-c" {
            let full = std::fs::File::options()
                .write(true)
                .open("/dev/full")
                .expect("opened");
            command.arg("-c").stdout(full);
        } else {
            command.args(["-o", "/dev/full"]);
        }
        let failed = common::Run::from(command.output().expect("runs")).expect(1);
        assert!(
            failed.stderr.contains("no space left on device"),
            "{}",
            failed.stderr
        );
    }
    assert_eq!(names(dir.path()), ["a"]);
}

#[cfg(unix)]
#[test]
fn a_closed_pipe_is_a_quiet_success() {
    use std::process::Stdio;
    let dir = directory();
    let data = samples(20_000_000).swap_remove(4).1;
    file(dir.path(), "a", &data);
    let mut child = perfkit()
        .current_dir(dir.path())
        .args(["compress", "-1", "-c", "a"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs");
    drop(child.stdout.take());
    let ended = common::Run::from(child.wait_with_output().expect("ends")).expect(0);
    assert!(!ended.stderr.contains("perfkit:"), "{}", ended.stderr);
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_a_valid_partial_report_and_no_half_file() {
    use common::signals::{send, until};
    use std::io::Write as _;
    use std::process::Stdio;
    let dir = directory();
    let mut child = perfkit()
        .current_dir(dir.path())
        .args([
            "compress",
            "-19",
            "-",
            "-o",
            "out.zst",
            "--export-json",
            "r.json",
        ])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    // More than what is read ahead and what the pipe holds, so that something is done when all of it is written; the
    // pipe stays open, so that it is not all.
    stdin
        .write_all(&samples(2_000_000).swap_remove(0).1)
        .expect("written");
    until("the files are there", || !names(dir.path()).is_empty());
    send(&child, nix::sys::signal::Signal::SIGINT);
    let ended = common::Run::from(child.wait_with_output().expect("ends")).expect(130);
    assert_eq!(names(dir.path()), ["r.json"], "{}", ended.stderr);
    let report = std::fs::read(dir.path().join("r.json")).expect("a report");
    let report = latency::report::read_json(&report).expect("a valid report");
    assert!(!report.complete);
    assert_eq!(report.exit_code, 130);
    assert!(report.throughput.bytes_in > 0, "what was read is told");
}

#[cfg(unix)]
#[test]
fn no_permission_is_told_in_words() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = directory();
    let path = file(dir.path(), "secret", b"content");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).expect("set");
    if std::fs::File::open(&path).is_ok() {
        // The superuser may read anything: a file below a directory that is a file cannot exist.
        let failed = run(dir.path(), ["compress", "secret/file"]).expect(1);
        assert!(
            failed.stderr.contains("not a directory"),
            "{}",
            failed.stderr
        );
        return;
    }
    let failed = run(dir.path(), ["compress", "secret"]).expect(1);
    assert!(
        failed.stderr.contains("permission denied"),
        "{}",
        failed.stderr
    );
}

#[test]
fn a_source_is_never_its_own_target_however_it_is_spelled() {
    let dir = directory();
    let path = file(dir.path(), "f", b"the only copy");
    for target in ["f", "./f", &path.display().to_string()] {
        let failed = run(dir.path(), ["compress", "-f", "--rm", "-o", target, "f"]).expect(2);
        assert!(
            failed.stderr.contains("would become itself"),
            "{}",
            failed.stderr
        );
        assert_eq!(std::fs::read(&path).expect("read"), b"the only copy");
    }
}

#[cfg(unix)]
#[test]
fn a_source_is_not_removed_for_a_device_and_a_link_is_replaced_alone() {
    let dir = directory();
    let path = file(dir.path(), "f", b"the only copy");
    run(dir.path(), ["compress", "--rm", "-o", "/dev/null", "f"]).expect(0);
    assert!(path.exists());
    file(dir.path(), "real", b"old");
    std::os::unix::fs::symlink("real", dir.path().join("link")).expect("linked");
    run(dir.path(), ["compress", "-f", "-o", "link", "f"]).expect(0);
    assert!(!dir.path().join("link").is_symlink());
    let kept = std::fs::read(dir.path().join("real")).expect("read");
    assert_eq!(kept, b"old");
}

#[test]
fn what_cannot_be_patched_is_refused_before_anything_is_read() {
    let dir = directory();
    for name in ["old", "a", "b"] {
        file(dir.path(), name, b"some content");
    }
    let before = names(dir.path());
    let refused = |line: &str, code, told: &str| {
        let failed = run(dir.path(), common::words(line)).expect(code);
        assert!(failed.stderr.contains(told), "{line}: {}", failed.stderr);
        assert!(failed.stderr.contains("\nhelp: "), "{line}");
        assert_eq!(names(dir.path()), before, "{line}");
    };
    refused(
        "compress --patch-from old a b",
        2,
        "exactly one file, but 2 were named",
    );
    refused(
        "compress -c --patch-from old -",
        2,
        "the size of standard input",
    );
    let sized = common::words("compress -qq -c --stream-size 3 --patch-from old -");
    pipe(dir.path(), sized, b"new").expect(0);
    #[cfg(unix)]
    for line in [
        "compress --patch-from /dev/zero a",
        "decompress -c --patch-from /dev/zero a",
    ] {
        refused(line, 1, "'/dev/zero': it is not a regular file");
    }
}

#[cfg(not(feature = "cloud"))]
#[test]
fn urls_are_refused_by_a_binary_that_does_not_read_them() {
    let dir = directory();
    let mut urls = vec![("s3://bucket/a.zst", "cloud")];
    if cfg!(not(feature = "web")) {
        urls.push(("https://host.invalid/a.zst", "web"));
    }
    for line in [
        "compress -q",
        "decompress -q -c",
        "decompress -q -c --range 0..1",
        "decompress -l",
    ] {
        for (url, feature) in &urls {
            let ran = run(dir.path(), common::words(&format!("{line} {url}"))).expect(1);
            let told = format!("cannot read '{url}': built without the feature '{feature}'");
            assert!(ran.stderr.contains(&told), "{line}: {}", ran.stderr);
            let help = format!("build perfkit with --features {feature}");
            assert!(ran.stderr.contains(&help), "{line}: {}", ran.stderr);
        }
    }
    assert!(names(dir.path()).is_empty());
}
