//! `compress` and `decompress` over files, directories and pipes give back what they were given.

use crate::common::{directory, file, names, pipe, run, samples, words};

#[test]
fn every_kind_of_data_survives_files_and_pipes() {
    let dir = directory();
    for (name, data) in samples(700_001) {
        file(dir.path(), name, &data);
        run(dir.path(), ["compress", "-3", name]).expect(0);
        run(
            dir.path(),
            ["decompress", &format!("{name}.zst"), "-o", "back"],
        )
        .expect(0);
        assert_eq!(
            std::fs::read(dir.path().join("back")).expect("read"),
            data,
            "{name}"
        );
        std::fs::remove_file(dir.path().join("back")).expect("removed");
        let packed = pipe(dir.path(), ["compress", "-"], &data).expect(0).stdout;
        let back = pipe(dir.path(), ["decompress", "-"], &packed)
            .expect(0)
            .stdout;
        assert_eq!(back, data, "{name} through pipes");
        run(dir.path(), ["decompress", "-t", &format!("{name}.zst")]).expect(0);
    }
}

#[test]
fn settings_change_the_frame_and_never_the_content() {
    let dir = directory();
    let (_, data) = samples(1_500_003).swap_remove(0);
    for line in [
        "compress -1",
        "compress -19",
        "compress --ultra -20",
        "compress --fast=5",
        "compress -T2",
        "compress -T0 -9",
        "compress --long",
        "compress --long=24 -T2",
        "compress --no-check",
        "compress --no-content-size",
        "compress --verify",
        "compress --verify -T2 -5",
        "compress --stream-size 1500003",
        "compress --recipe fast",
        "compress --recipe balanced --no-check",
        "compress --recipe binary",
        "compress --recipe text --long",
        "compress --recipe structured-data",
        "compress --recipe maximum",
        "compress --recipe auto -T2",
        "compress --recipe text -12",
        "compress --recipe text --recipe-compat exzstandard",
        "compress --block-size 4K",
        "compress -B 1M -T2",
        "compress -B1M -T2 --rsyncable",
    ] {
        let packed = pipe(dir.path(), words(line), &data).expect(0).stdout;
        assert!(packed.len() < data.len() / 2, "{line}");
        let back = pipe(dir.path(), ["decompress"], &packed).expect(0).stdout;
        assert_eq!(back, data, "{line}");
    }
}

#[test]
fn a_directory_is_walked_and_a_second_walk_does_nothing_new() {
    let dir = directory();
    std::fs::create_dir_all(dir.path().join("tree/sub")).expect("made");
    for (name, data) in samples(50_000) {
        file(&dir.path().join("tree/sub"), name, &data);
    }
    run(dir.path(), ["compress", "-r", "tree"]).expect(0);
    let after = names(&dir.path().join("tree/sub"));
    assert_eq!(after.len(), 16, "{after:?}");
    let again = run(dir.path(), ["compress", "-r", "tree"]).expect(1);
    assert!(again.stderr.contains("exists already"), "{}", again.stderr);
    assert!(
        again
            .stderr
            .contains("8 files that end in .zst were passed over")
    );
    assert_eq!(names(&dir.path().join("tree/sub")), after);
    for (name, _) in samples(0) {
        std::fs::remove_file(dir.path().join("tree/sub").join(name)).expect("removed");
    }
    run(dir.path(), ["decompress", "-r", "--rm", "tree"]).expect(0);
    for (name, data) in samples(50_000) {
        assert_eq!(
            std::fs::read(dir.path().join("tree/sub").join(name)).expect("read"),
            data
        );
    }
    assert_eq!(
        names(&dir.path().join("tree/sub")).len(),
        8,
        "--rm removed the sources"
    );
}

#[test]
fn several_frames_and_skippable_ones_are_one_stream() {
    let dir = directory();
    let mut stream = Vec::new();
    let mut content = Vec::new();
    for (index, (_, data)) in samples(200_000).into_iter().enumerate() {
        stream.extend(pipe(dir.path(), ["compress"], &data).expect(0).stdout);
        stream.extend([0x50 + index as u8, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
        content.extend(data);
    }
    assert_eq!(
        pipe(dir.path(), ["decompress"], &stream).expect(0).stdout,
        content
    );
    file(dir.path(), "all.zst", &stream);
    let listed = run(dir.path(), ["decompress", "-l", "--json", "all.zst"])
        .expect(0)
        .json();
    let row = &listed["tables"][0]["rows"][0];
    assert_eq!((row[0].as_u64(), row[1].as_u64()), (Some(8), Some(8)));
    assert_eq!(row[2].as_u64(), Some(stream.len() as u64));
    let full = run(dir.path(), ["decompress", "-l", "-v", "--json", "all.zst"])
        .expect(0)
        .json();
    assert_eq!(full["tables"][0]["rows"].as_array().map(Vec::len), Some(16));
}

#[test]
fn several_inputs_join_on_standard_output() {
    let dir = directory();
    file(dir.path(), "a", b"first ");
    file(dir.path(), "b", b"second");
    let joined = run(dir.path(), ["compress", "-c", "a", "b"])
        .expect(0)
        .stdout;
    let back = pipe(dir.path(), ["decompress"], &joined).expect(0).stdout;
    assert_eq!(back, b"first second");
    assert_eq!(names(dir.path()), ["a", "b"], "-c writes no file");
}

#[cfg(unix)]
#[test]
fn mode_and_time_of_the_source_go_to_the_target() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let dir = directory();
    let path = file(dir.path(), "a", b"content");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).expect("set");
    let then = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    let source = std::fs::File::options()
        .write(true)
        .open(&path)
        .expect("opened");
    source.set_modified(then).expect("set");
    run(dir.path(), ["compress", "a"]).expect(0);
    let metadata = dir.path().join("a.zst").metadata().expect("there");
    assert_eq!(metadata.mode() & 0o777, 0o640);
    assert_eq!(metadata.modified().expect("a time"), then);
}

#[cfg(target_os = "linux")]
#[test]
fn zeros_become_holes_in_files_unless_told_otherwise() {
    use std::os::unix::fs::MetadataExt as _;
    let dir = directory();
    let mut data = vec![0_u8; 8 << 20];
    data[5_000_000] = 1;
    file(dir.path(), "a", &data);
    run(dir.path(), ["compress", "a"]).expect(0);
    for (flag, sparse) in [("--sparse", true), ("--no-sparse", false)] {
        run(
            dir.path(),
            ["decompress", flag, "-f", "a.zst", "-o", "back"],
        )
        .expect(0);
        let back = dir.path().join("back");
        assert_eq!(std::fs::read(&back).expect("read"), data);
        let allocated = back.metadata().expect("there").blocks() * 512;
        assert_eq!(
            allocated < 1 << 20,
            sparse,
            "{flag}: {allocated} bytes allocated"
        );
    }
}

#[test]
fn a_dictionary_and_an_older_version_are_needed_on_both_sides() {
    let dir = directory();
    let (_, data) = samples(60_000).swap_remove(0);
    let (older, newer) = data.split_at(40_000);
    file(dir.path(), "older", older);
    file(dir.path(), "other", b"nothing in common");
    file(dir.path(), "none", b"");
    // A patch needs to know how long its content is.
    let sized = format!("--stream-size={}", newer.len());
    for flag in ["-D", "--patch-from"] {
        let plain = pipe(dir.path(), ["compress"], newer).expect(0).stdout;
        let line = ["compress", "--verify", &sized, flag, "older"];
        let packed = pipe(dir.path(), line, newer).expect(0).stdout;
        assert!(packed.len() < plain.len(), "{flag}");
        let back = pipe(dir.path(), ["decompress", flag, "older"], &packed).expect(0);
        assert_eq!(back.stdout, newer, "{flag}");
        for wrong in [&["decompress"][..], &["decompress", flag, "other"]] {
            pipe(dir.path(), wrong, &packed).expect(1);
        }
        pipe(dir.path(), ["compress", &sized, flag, "none"], newer).expect(1);
        pipe(dir.path(), ["compress", &sized, flag, "missing"], newer).expect(1);
    }
    pipe(
        dir.path(),
        words("compress -D older --patch-from older"),
        newer,
    )
    .expect(2);
}
