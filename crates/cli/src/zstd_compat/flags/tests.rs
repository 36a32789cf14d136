//! How command lines of the zstd program are read.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use files::plan::Place;
use zstdkit::dictionary::{Cover, TrainMethod};
use zstdkit::{LongDistance, Parameters, Strategy};

use crate::commands::compress::flags::CompressPlan;
use crate::commands::decompress::flags::DecompressPlan;
use crate::commands::formats::Format;
use crate::commands::formats::settings::Lz4Settings;
use crate::failure::Result;
use crate::zstd_compat::flags::{Action, Name, Variables, ZstdPlan, parse};

fn read(line: &str) -> Result<ZstdPlan> {
    let argv: Vec<OsString> = line.split_whitespace().map(OsString::from).collect();
    let name = Name::of(&argv[0]).expect("a name");
    parse(name, &argv, &Variables::default())
}

fn compress(line: &str) -> CompressPlan {
    match read(line).map(|plan| plan.action) {
        Ok(Action::Compress(plan)) => plan,
        other => panic!("{line}: {other:?}"),
    }
}

fn decompress(line: &str) -> (DecompressPlan, ZstdPlan) {
    match read(line) {
        Ok(
            ref whole @ ZstdPlan {
                action: Action::Decompress(ref plan),
                ..
            },
        ) => (plan.clone(), whole.clone()),
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn names_are_known_wherever_they_lie() {
    for (program, name) in [
        ("zstd", Some(Name::Zstd)),
        ("/usr/bin/zstdcat", Some(Name::Zstdcat)),
        ("./unzstd.exe", Some(Name::Unzstd)),
        ("zstdmt", Some(Name::Zstdmt)),
        ("unxz", None),
        ("lz4", Some(Name::Lz4)),
        ("zstdgrep", Some(Name::Zstdgrep)),
        ("gzip", None),
        ("perfkit", None),
        ("zstd2", None),
        ("", None),
    ] {
        assert_eq!(Name::of(OsStr::new(program)), name, "{program}");
    }
}

#[test]
fn clusters_are_read_letter_by_letter() {
    let plan = compress("zstd -19T2kqf a");
    assert_eq!((plan.encoder.level, plan.threads), (19, 2));
    let plan = read("zstd -vvf9o out a").expect("read");
    assert_eq!((plan.verbosity, plan.targets.force), (4, true));
    assert_eq!(plan.targets.output.as_deref(), Some(Path::new("out")));
    let (plan, whole) = decompress("zstd -dcfM64M a.zst");
    assert_eq!(plan.decoder.window_limit, Some(64 << 20));
    assert_eq!(plan.decoder.window_log_max, 26);
    assert!(plan.pass_through && whole.targets.stdout);
    assert_eq!(whole.verbosity, 1);
    assert_eq!(compress("zstd -B1M -T0 a").encoder.job_size, Some(1 << 20));
    assert_eq!(compress("zstd -D=dict -0 a").encoder.level, 3);
}

#[test]
fn levels_out_of_range_are_brought_back_with_a_word() {
    let plan = read("zstd -22 a").expect("read");
    assert_eq!(plan.notes.len(), 1);
    assert_eq!(compress("zstd -22 a").encoder.level, 19);
    assert_eq!(compress("zstd --ultra -22 a").encoder.level, 22);
    assert_eq!(compress("zstd --ultra -99 a").encoder.level, 22);
    assert_eq!(compress("zstd --fast=5 a").encoder.level, -5);
    assert_eq!(compress("zstd --fast -2 a").encoder.level, 2);
    assert_eq!(compress("zstd --fast=999999 a").encoder.level, -131_072);
}

#[test]
fn formats_come_by_flags_and_names() {
    for (line, format, level) in [
        ("zstd --format=gzip -19 a", Format::Gzip, 9),
        ("zstd --format=lz4 a", Format::Lz4, 3),
        ("zstd --format=xz --fast a", Format::Xz, 0),
        ("zstd --format=lzma --format=zstd a", Format::Zstd, 3),
        ("lz4 -m a", Format::Lz4, 1),
        ("lz4 -12 a", Format::Lz4, 12),
    ] {
        let plan = compress(line);
        assert_eq!((plan.format, plan.encoder.level), (format, level), "{line}");
    }
    for (line, rm) in [("lz4 --rm a", true), ("unlz4 a.lz4", false)] {
        assert_eq!(read(line).expect("read").targets.rm, rm, "{line}");
    }
}

#[test]
fn lines_of_lz4_have_their_own_settings() {
    let of = |line: &str| compress(line).packing.lz4;
    assert_eq!(of("lz4 -m a"), Lz4Settings::default());
    assert!(!compress("lz4 -m a").encoder.content_size);
    assert!(compress("lz4 --content-size -m a").encoder.content_size);
    assert!(!compress("lz4 --no-frame-crc -m a").encoder.checksum);
    for (line, block, linked, sums) in [
        ("lz4 -B4 -m a", 4, false, false),
        ("lz4 -BD7X -m a", 7, true, true),
        ("lz4 -B5 -BD -BI -m a", 5, false, false),
        ("lz4 -B64 -m a", 4, false, false),
        ("lz4 -B100000 -m a", 5, false, false),
        ("lz4 -B99M -m a", 7, false, false),
    ] {
        let own = of(line);
        let found = (own.block, own.linked, own.block_sums);
        assert_eq!(found, (block, linked, sums), "{line}");
    }
    assert!(of("lz4 -lm a").legacy);
    assert_eq!(of("lz4 --fast -m a").acceleration, 1);
    assert_eq!(of("lz4 --fast=7 -m a").acceleration, 7);
    assert_eq!(compress("lz4 --best -m a").encoder.level, 12);
    let writes = |line: &str| matches!(read(line).expect(line).action, Action::Decompress(_));
    assert!(writes("lz4 a.lz4") && writes("lz4 a.lz4 b") && writes("unlz4 a"));
    assert!(!writes("lz4 -z a.lz4") && !writes("lz4 -m a.lz4") && !writes("lz4 a b.lz4"));
    for line in [
        "lz4 -BQ a",
        "lz4 -B a",
        "lz4 -B8 a",
        "lz4 --fast=0 a",
        "lz4 -D d a",
    ] {
        assert!(read(line).is_err(), "{line}");
    }
}

#[test]
fn advanced_settings_come_one_by_one() {
    let encoder =
        compress("zstd --zstd=wlog=23,clog=22,hlog=21,slog=3,mml=4,tlen=16,strat=5 a").encoder;
    assert_eq!(encoder.window_log, Some(23));
    let expected = Parameters::default()
        .with_chain_log(22)
        .with_hash_log(21)
        .with_search_log(3)
        .with_min_match(4)
        .with_target_length(16)
        .with_strategy(Strategy::Lazy2);
    assert_eq!(encoder.parameters, expected);
    assert_eq!(compress("zstd --zstd=wlog=0 a").encoder.window_log, None);
    for line in ["wlog=99", "strat=10", "foo=1", "wlog", "wlog=", ""] {
        assert!(read(&format!("zstd --zstd={line} a")).is_err(), "{line}");
    }
}

#[test]
fn frames_are_made_as_told() {
    let encoder = compress(
        "zstd --target-compressed-block-size=1 --no-compress-literals --row-match-finder --size-hint=5K \
         --long=20 --zstd=lhlog=20,lmml=32,lblog=4,lhrlog=5,ovlog=20 a",
    )
    .encoder;
    assert_eq!(encoder.target_block_bytes, Some(1340));
    assert_eq!(
        (encoder.literals, encoder.row_match_finder),
        (Some(false), Some(true))
    );
    assert_eq!(
        (encoder.size_hint, encoder.overlap_log),
        (Some(5120), Some(9))
    );
    assert_eq!(
        (encoder.window_log, encoder.long_distance),
        (Some(20), true)
    );
    let long = LongDistance::default().with_hash_log(20).with_min_match(32);
    let long = long.with_bucket_log(4).with_hash_rate_log(5);
    assert_eq!(encoder.long_distance_parameters, long);
    let plan = compress("zstd --adapt=min=-5,max=9 -19 a");
    let adapt = plan.adapt.expect("adapted");
    assert_eq!((adapt.min, adapt.max, plan.encoder.level), (-5, 9, 9));
    assert_eq!(plan.encoder.window_log, Some(23));
    let most = compress("zstd --max a").encoder;
    assert_eq!(
        (most.level, most.window_log, most.long_distance),
        (3, Some(31), true)
    );
    assert_eq!(compress("zstd --long -22 a").encoder.level, 22);
    assert_eq!(compress("zstd --fast=1K a").encoder.level, -1024);
    let whole = read("zstd -of x --show-default-cparams --trace log a").expect("read");
    assert!(whole.targets.force && whole.shows_settings);
    assert_eq!(whole.targets.output.as_deref(), Some(Path::new("x")));
    assert_eq!(whole.trace.as_deref(), Some(Path::new("log")));
}

#[test]
fn benchmarks_have_their_letters() {
    let bench = |line: &str| match read(line).expect(line).action {
        Action::Bench(plan) => plan,
        other => panic!("{line}: {other:?}"),
    };
    let plan = bench("zstd -b2e5i1 -S -B100K a b");
    assert_eq!((plan.encoder.level, plan.last_level), (2, 5));
    assert_eq!((plan.time.as_secs(), plan.block_bytes), (1, 100 << 10));
    assert!(plan.each_file && !plan.decodes_only);
    assert!(bench("zstd -b -d a.zst").decodes_only);
    assert_eq!(bench("zstd -b9 -e3 a").last_level, 9);
}

#[test]
fn samples_become_a_dictionary() {
    let plan = |line: &str| match read(line).map(|plan| plan.action) {
        Ok(Action::Train(plan)) => plan,
        other => panic!("{line}: {other:?}"),
    };
    let all = plan("zstd --train -r dir -f --maxdict=4K --dictID 7 -o d");
    assert_eq!((all.size_bytes, all.id.map(Into::into)), (4096, Some(7)));
    assert!(all.force && all.recursive && !all.judged && all.output == Path::new("d"));
    let plain = plan("zstd --train-fastcover=d=8,steps=4 a b");
    assert_eq!((plain.size_bytes, plain.id), (112_640, None));
    assert_eq!(plain.output, Path::new("dictionary"));
    let cover = plan("zstd --train-cover=k=32,d=6,steps=3,split=80,shrink a -B1K -5").method;
    let settings = Cover::default().with_k(32).with_d(6).with_steps(3);
    let settings = settings.with_split_percent(80).with_shrink(1);
    assert_eq!(cover, Some(TrainMethod::Cover(settings)));
    let cut = plan("zstd --train -B1K -M2M -7 a");
    assert_eq!(
        (cut.sample_bytes, cut.samples_bytes_max),
        (Some(1024), Some(2 << 20))
    );
    assert_eq!(cut.encoder.level, 7);
    let legacy = plan("zstd --train-legacy=s=7 a").method;
    assert_eq!(legacy, Some(TrainMethod::Legacy { selectivity: 7 }));
    let legacy = plan("zstd --train-legacy -s8 a").method;
    assert_eq!(legacy, Some(TrainMethod::Legacy { selectivity: 8 }));
    for line in [
        "zstd --train-cover=k=32,f=6 a",
        "zstd --train-cover=k=32,d a",
        "zstd --train-legacy=9 a",
        "zstd --train=k=9 a",
        "zstd --train a -c",
        "zstd --train a -o -",
        "zstd --train -",
        "zstd --train --maxdict=100 a",
        "zstd --train --dictID=x a",
    ] {
        assert!(read(line).is_err(), "{line}");
    }
}

#[test]
fn the_last_of_two_opposite_words_wins() {
    assert!(!read("zstd --rm -k a").expect("read").targets.rm);
    assert!(read("zstd -k --rm a").expect("read").targets.rm);
    let plan = read("zstd -c -o out a").expect("read");
    assert!(!plan.targets.stdout);
    assert!(read("zstd -o out -c a").expect("read").targets.stdout);
    assert!(!compress("zstd -C --no-check a").encoder.checksum);
    assert!(compress("zstd -d -z a").encoder.checksum);
}

#[test]
fn standard_input_goes_to_standard_output() {
    for (line, stdout) in [
        ("zstd", true),
        ("zstd -", true),
        ("zstd - a", false),
        ("zstd a -", false),
        ("zstd -o out", false),
        ("zstd --filelist=list", false),
        ("zstdcat a", true),
        ("unzstd a.zst", false),
    ] {
        assert_eq!(read(line).expect(line).targets.stdout, stdout, "{line}");
    }
}

#[test]
fn values_stand_behind_a_sign_or_in_the_next_word() {
    for line in ["zstd --threads=3 a", "zstd --threads 3 a", "zstd -T3 a"] {
        assert_eq!(compress(line).threads, 3, "{line}");
    }
    let plan = read("zstd --patch-from old new").expect("read");
    assert_eq!(plan.reference.patch_from.as_deref(), Some(Path::new("old")));
    let plan = read("zstd --output-dir-flat=o -- -a -").expect("read");
    assert_eq!(plan.targets.place, Place::Flat("o".into()));
    assert_eq!(plan.files, [Path::new("-a"), Path::new("./-")]);
}

#[test]
fn mistakes_name_the_word() {
    for (line, told) in [
        ("zstd --bad a", "Incorrect parameter: --bad"),
        ("zstd -X a", "Incorrect parameter: -X"),
        ("zstd --fast=0 a", "--fast=0"),
        ("zstd --fast=-3 a", "--fast=-3"),
        ("zstd --long=x a", "--long=x"),
        ("zstd --long=99 a", "window_log"),
        ("zstd -d --long=99 a", "window_log"),
        ("zstd --rm=1 a", "--rm=1"),
        ("zstd -Dxyz", "-D needs a value"),
        ("zstd --adapt=min=3,max=2 a", "--adapt=min=3,max=2"),
        ("zstd --adapt --single-thread a", "Adaptive mode"),
        ("zstd --zstd=lmml=3 a", "min_match"),
        (
            "zstd --target-compressed-block-size=200K a",
            "target_block_bytes",
        ),
        ("zstd -d -M100 a", "-M"),
        ("zstd --fake-stdin-is-console", "stdin is a console"),
        ("zstd a -o", "-o needs a value"),
        ("zstd a -o -f", "-o and its value"),
        ("zstd --threads=x a", "--threads needs a number"),
        ("zstd --memory=99999999999999999999 a", "--memory needs"),
        ("zstd -T99999999999 a", "-T99999999999"),
        ("zstd --format=brotli a", "--format=brotli"),
        ("zstd -b3 --format=gzip a", "benchmark"),
        ("zstd -l", "--list does not read"),
        ("zstd --patch-from=a b c", "one file"),
        ("zstd --patch-from=a -D d b", "do not go together"),
        ("zstd --single-thread --rsyncable b", "do not go together"),
    ] {
        let failure = read(line).expect_err(line);
        assert!(failure.message().contains(told), "{line}: {failure}");
        assert!(failure.help_text().is_some(), "{line}");
    }
}

#[test]
fn the_environment_speaks_first_and_is_not_believed_blindly() {
    let argv = ["zstd", "a"].map(OsString::from);
    let plan = |level: &str, threads: &str| {
        let variables = Variables {
            level: Some(level.to_owned()),
            threads: Some(threads.to_owned()),
        };
        let plan = parse(Name::Zstd, &argv, &variables).expect("read");
        match plan.action {
            Action::Compress(one) => (one.encoder.level, one.threads, plan.notes.len()),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(plan("-7", "2"), (-7, 2, 0));
    assert_eq!(plan("many", "2x"), (3, 1, 2));
}

#[test]
fn help_and_version_are_found_before_later_mistakes() {
    let asked = |line: &str| read(line).expect(line).action;
    assert_eq!(asked("zstd -h --bad"), Action::Help { long: false });
    assert_eq!(asked("zstd --help"), Action::Help { long: true });
    assert_eq!(asked("zstd -qV"), Action::Version { bare: true });
    assert_eq!(asked("zstdcat --version"), Action::Version { bare: true });
    assert_eq!(asked("zstd -l --version"), Action::Version { bare: false });
}
