//! The zstd program reads what perfkit writes and the reverse; a full disk leaves nothing.
//!
//! These tests need programs that a user's machine may lack. Each then reports `ignored`.

use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;

use crate::common::{directory, feed, file, names, pipe, run, samples, words};
use crate::{common, peer};

/// A little over 1 GB of zeros and a few numbers: sparse on disk, long in time only for a decoder.
const LARGE_BYTES: u64 = (1 << 30) + 12_345;

/// The tests, each with whether what it needs is here.
pub(crate) fn trials() -> Vec<Trial> {
    let zstd = peer::has_zstd();
    let mount =
        peer::works(Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "none", "/mnt"]));
    peer::trials![
        zstd => [
            zstd_reads_every_setting,
            perfkit_reads_every_zstd_setting,
            several_frames_both_ways,
            dictionaries_and_patches_both_ways,
            segments_of_a_patch_are_frames_with_a_prefix,
            a_gigabyte_both_ways,
            listings_agree,
        ],
        mount => [
            a_full_disk_leaves_nothing,
        ],
    ]
}

/// Runs the peer; it must succeed.
fn zstd(arguments: &str, input: &[u8]) -> Vec<u8> {
    let mut command = Command::new("zstd");
    command.args(words(arguments));
    let output = feed(command, input);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "zstd {arguments}: {stderr}");
    output.stdout
}

fn zstd_reads_every_setting() {
    let dir = directory();
    for (name, data) in samples(900_001) {
        for line in [
            "compress -1",
            "compress -3 --no-check",
            "compress -9 -T2",
            "compress -19",
            "compress --long=27",
            "compress --long=27 -T2",
            "compress --fast=7",
            "compress --no-content-size",
        ] {
            let packed = pipe(dir.path(), words(line), &data).expect(0).stdout;
            assert_eq!(zstd("-dc", &packed), data, "{name}: {line}");
        }
        let path = file(dir.path(), name, &data);
        run(dir.path(), ["compress", "-f", "-3", name]).expect(0);
        let packed = path.with_file_name(format!("{name}.zst"));
        zstd(&format!("-t {}", packed.display()), b"");
    }
}

fn perfkit_reads_every_zstd_setting() {
    let dir = directory();
    for (name, data) in samples(900_001) {
        for line in [
            "-1 -c",
            "-3 -c --no-check",
            "-9 -c -T2",
            "-19 -c",
            "--ultra -22 -c",
            "--long=27 -c",
            "--fast=7 -c",
            "-3 -c --no-content-size",
            "-3 -c --rsyncable -T2",
        ] {
            let packed = zstd(line, &data);
            let back = pipe(dir.path(), ["decompress"], &packed).expect(0).stdout;
            assert_eq!(back, data, "{name}: {line}");
        }
    }
}

fn several_frames_both_ways() {
    let dir = directory();
    let (mut theirs, mut ours, mut content) = (Vec::new(), Vec::new(), Vec::new());
    for (_, data) in samples(300_000) {
        theirs.extend(zstd("-5 -c", &data));
        ours.extend(pipe(dir.path(), ["compress", "-5"], &data).expect(0).stdout);
        content.extend(data);
    }
    assert_eq!(
        pipe(dir.path(), ["decompress"], &theirs).expect(0).stdout,
        content
    );
    assert_eq!(zstd("-dc", &ours), content);
}

fn dictionaries_and_patches_both_ways() {
    let dir = directory();
    for (name, data) in samples(3_000_000).into_iter().take(5) {
        let (older, newer) = data.split_at(1_800_000);
        let older = file(dir.path(), "older", older);
        let newer = file(dir.path(), "newer", newer);
        let path = |name: &str| dir.path().join(name).display().to_string();
        for flag in ["-D ", "--patch-from="] {
            let theirs = format!("{flag}{} {}", older.display(), newer.display());
            zstd(&format!("-q -f {theirs} -o {}", path("theirs.zst")), b"");
            let (key, _) = flag.split_at(flag.len() - 1);
            let ours = |line: &str| {
                let mut line = words(line);
                line.extend([key.to_owned(), "older".to_owned()]);
                run(dir.path(), line).expect(0);
            };
            ours("compress -f newer -o ours.zst");
            ours("decompress -f theirs.zst -o back");
            assert!(
                peer::works(Command::new("cmp").arg(&newer).arg(path("back"))),
                "{name} {flag}"
            );
            let line = format!(
                "-q -d -f {flag}{} {} -o {}",
                older.display(),
                path("ours.zst"),
                path("back")
            );
            zstd(&line, b"");
            assert!(
                peer::works(Command::new("cmp").arg(&newer).arg(path("back"))),
                "{name} {flag}"
            );
        }
    }
}

fn segments_of_a_patch_are_frames_with_a_prefix() {
    let dir = directory();
    let (_, older) = samples(500_000).swap_remove(0);
    let newer = [&older[200_000..], b"something new", &older[..200_000]].concat();
    file(dir.path(), "older", &older);
    file(dir.path(), "newer", &newer);
    let line = "compress -qq --patch-segment 100K --patch-from older newer -o patch";
    run(dir.path(), words(line)).expect(0);
    let patch = std::fs::read(dir.path().join("patch")).expect("written");
    let listed = run(dir.path(), words("decompress -lv --json patch"))
        .expect(0)
        .json();
    let table = |name: &str| {
        let tables = listed["tables"].as_array().expect("tables").iter();
        let mut named = tables.filter(|table| table["name"] == name);
        named.next().expect("it is there")["rows"]
            .as_array()
            .expect("rows")
    };
    let number = |cell: &serde_json::Value| cell.as_u64().expect("a number") as usize;
    let mut content = Vec::new();
    for frame in table("frames").iter().filter(|row| row[1] == "zstd") {
        let offset = number(&frame[0]);
        let mut prefix = Vec::new();
        for range in table("segments").iter().filter(|row| row[0] == frame[0]) {
            let start = number(&range[3]);
            prefix.extend_from_slice(&older[start..start + number(&range[4])]);
        }
        let prefix = file(dir.path(), "prefix", &prefix);
        let line = format!("-dqc --patch-from={}", prefix.display());
        content.extend(zstd(&line, &patch[offset..offset + number(&frame[2])]));
    }
    assert!(content == newer);
}

fn a_gigabyte_both_ways() {
    let dir = directory();
    let path = dir.path().join("large");
    let large = std::fs::File::create(&path).expect("made");
    large.set_len(LARGE_BYTES).expect("sized");
    drop(large);
    overwrite(&path, 500_000_000, b"not all of it is zeros");
    run(dir.path(), ["compress", "-1", "large", "-o", "ours.zst"]).expect(0);
    let line = format!(
        "-q -1 {} -o {}",
        path.display(),
        dir.path().join("theirs.zst").display()
    );
    zstd(&line, b"");
    let (ours, theirs) = (dir.path().join("ours.zst"), dir.path().join("back"));
    zstd(
        &format!("-q -d {} -o {}", ours.display(), theirs.display()),
        b"",
    );
    assert!(peer::works(Command::new("cmp").args([&path, &theirs])));
    std::fs::remove_file(&theirs).expect("removed");
    run(dir.path(), ["decompress", "theirs.zst", "-o", "back"]).expect(0);
    assert!(peer::works(Command::new("cmp").args([&path, &theirs])));
}

fn overwrite(path: &Path, at: u64, bytes: &[u8]) {
    use std::io::{Seek as _, SeekFrom, Write as _};
    let mut file = std::fs::File::options()
        .write(true)
        .open(path)
        .expect("opened");
    file.seek(SeekFrom::Start(at)).expect("sought");
    file.write_all(bytes).expect("written");
}

fn listings_agree() {
    let dir = directory();
    let data = &samples(300_000)[0].1;
    file(dir.path(), "data", data);
    let plain = dir.path().join("data");
    let mut stream = zstd(&format!("-3 -c {}", plain.display()), b"");
    stream.extend(
        run(dir.path(), ["compress", "-3", "-c", "data"])
            .expect(0)
            .stdout,
    );
    let path = file(dir.path(), "two.zst", &stream);
    let theirs = zstd(&format!("-lv {}", path.display()), b"");
    let theirs = String::from_utf8(theirs).expect("text");
    let ours = run(dir.path(), ["decompress", "-l", "--json", "two.zst"])
        .expect(0)
        .json();
    let row = &ours["tables"][0]["rows"][0];
    let number = |index: usize| row[index].as_u64().expect("a number");
    assert!(
        theirs.contains(&format!("# Zstandard Frames: {}", number(0))),
        "{theirs}"
    );
    assert!(theirs.contains(&format!("({} B)", number(2))), "{theirs}");
    assert!(theirs.contains(&format!("({} B)", number(3))), "{theirs}");
    assert_eq!(row[5], "XXH64");
}

/// In a name space of its own, on a file system of 256 KiB.
fn a_full_disk_leaves_nothing() {
    let dir = directory();
    file(dir.path(), "random", &samples(2_000_000)[5].1);
    std::fs::create_dir(dir.path().join("small")).expect("made");
    let script = format!(
        "mount -t tmpfs -o size=256k none small && {} compress random -o small/out.zst; \
         code=$?; ls -A small; exit $code",
        env!("CARGO_BIN_EXE_perfkit")
    );
    let mut command = Command::new("unshare");
    command
        .args(["-rm", "sh", "-c", &script])
        .current_dir(dir.path());
    let ended = common::Run::from(feed(command, b"")).expect(1);
    assert!(
        ended.stderr.contains("no space left on device"),
        "{}",
        ended.stderr
    );
    assert_eq!(ended.text(), "", "nothing is left behind");
    assert_eq!(names(dir.path()), ["random", "small"]);
}
