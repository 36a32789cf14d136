//! The flags of `zstd -H`, one by one and together, beside the zstd program: each line ends with the same exit code and
//! leaves the same files with the same content.
//!
//! The program is the `zstd` on PATH, or the one that `PEER_ZSTD` names. What 1.5.7 has that an older one lacks is
//! left out with an older one.

use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::Trial;

use crate::common::{directory, feed};
use crate::peer;
use crate::peer::lines::{binary, compare, make, shell};

/// The tests, each with whether what it needs is here.
pub(crate) fn trials() -> Vec<Trial> {
    let here = peer::works(Command::new(original()).arg("--version"));
    peer::trials![
        here => [
            compression_does_what_it_does_with_zstd,
            decompression_does_what_it_does_with_zstd,
            files_go_where_they_go_with_zstd,
            mistakes_end_as_with_zstd,
            training_and_benchmarks_end_as_with_zstd,
            jobs_of_several_commands_come_to_the_same,
            what_differs_is_known,
        ],
    ]
}

fn original() -> PathBuf {
    std::env::var_os("PEER_ZSTD").map_or_else(|| "zstd".into(), PathBuf::from)
}

/// Whether the program is as new as the library that we are built with.
fn is_current() -> bool {
    let output = Command::new(original()).arg("-qV").output();
    let text = output.map(|output| output.stdout).unwrap_or_default();
    let text = String::from_utf8_lossy(&text).into_owned();
    let mut parts = text.trim().split('.').map(|part| part.parse().unwrap_or(0));
    let mut next = || -> u32 { parts.next().unwrap_or(0) };
    (next(), next(), next()) >= (1, 5, 7)
}

/// The files that every line starts from. Archives are made by the real program.
const TREE: &str = r#"
set -e
umask 022
seq 1 20000 > a
seq 5 9000 > b
cat a b > all
seq 100 30000 > newer
printf 'hi' > tiny
: > empty
printf 'no frame at all, only text\n' > plain
cp plain plain.zst
mkdir -p sub/deep out hollow
seq 1 50 > sub/x; seq 1 60 > sub/deep/y; seq 1 70 > sub/z; printf 'packed' > sub/j.gz
printf 'a\nb\n' > list; printf 'a.zst\nb.zst\n' > packed; printf 'a\nmissing\n' > broken
ln -s a link
zstd -q a b empty tiny
zstd -q -19 --no-check a -o best.zst
zstd -q --content-size --long=27 all -o long.zst
zstd -q < all > piped.zst
zstd -qc --long=28 --no-content-size < all > wide.zst
cat a.zst b.zst > two.zst
{ cat a.zst; printf '\120\052\115\030\004\000\000\000skip'; cat b.zst; } > skips.zst
head -c 3000 a.zst > cut.zst
{ cat a.zst; printf 'tail'; } > tail.zst
cp a.zst bad.zst; printf 'XYZ' | dd of=bad.zst bs=1 seek=2000 conv=notrunc 2> /dev/null
cp a.zst sum.zst; printf 'XYZ' | dd of=sum.zst bs=1 seek=$(($(stat -c %s sum.zst) - 3)) conv=notrunc 2> /dev/null
cp a.zst t.tzst
cp b have; printf 'old' > have.zst
seq 1000 3000 | split -l 40 - sample.
zstd -q --train sample.* -o dict --maxdict=2K 2> /dev/null
zstd -q -D dict b -o dicted.zst
zstd -q --patch-from=all newer -o patch.zst
find . -type f -exec touch -d '2020-01-02 03:04:06' {} +
"#;

fn made(dir: &Path) {
    make(TREE, dir);
}

/// Directories with the names of the program: of theirs and of ours.
fn names() -> (tempfile::TempDir, tempfile::TempDir) {
    let all = ["zstd", "unzstd", "zstdcat", "zstdmt"];
    let theirs = directory();
    let found = feed(
        {
            let mut command = Command::new("sh");
            command.args(["-c", "command -v -- \"$0\""]).arg(original());
            command
        },
        b"",
    );
    let found = String::from_utf8(found.stdout).expect("a path");
    for name in all {
        std::os::unix::fs::symlink(found.trim_end(), theirs.path().join(name)).expect("linked");
    }
    (theirs, binary(&all))
}

fn same(lines: &[&str]) {
    let (theirs, ours) = names();
    compare(lines, Some(theirs.path()), ours.path(), made, true);
}

const COMPRESS: &[&str] = &[
    "zstd -q b",
    "zstd -q -1 b",
    "zstd -q -19 b -o x",
    "zstd -q --ultra -22 tiny -o x",
    "zstd -q -22 tiny -o x",
    "zstd -q -0 b -o x",
    "zstd -q --fast b -o x",
    "zstd -q --fast=1 b -o x",
    "zstd -q --fast=131072 b -o x",
    "zstd -q --fast=999999 b -o x",
    "zstd -q --fast=1K b -o x",
    "zstd -q --max b -o x",
    "zstd -q --max -1 tiny -o x",
    "zstd -q --long b -o x",
    "zstd -q --long=20 b -o x",
    "zstd -q --long=31 tiny -o x",
    "zstd -q --long -22 tiny -o x",
    "zstd -q --long=0 b -o x",
    "zstd -q -C b -o x",
    "zstd -q --check b -o x",
    "zstd -q --no-check b -o x && zstd -l x | sed 's/x$//'",
    "zstd -q --content-size b -o x",
    "zstd -q --no-content-size b -o x && zstd -lv x | grep -v Size | grep -v Ratio | grep -v '\\*' | sed 's/ *$//'",
    "zstd -q --stream-size=43885 -c < b > x",
    "zstd -q --stream-size=43K -c < b > x",
    "zstd -q --size-hint=40K -c < b > x",
    "zstd -q --size-hint 40KiB b -o x",
    "zstd -q --size-hint=0 b -o x",
    "zstd -q --target-compressed-block-size=2K b -o x",
    "zstd -q --target-compressed-block-size=1 b -o x",
    "zstd -q --target-compressed-block-size=128K b -o x",
    "zstd -q --compress-literals --fast=5 b -o x",
    "zstd -q --no-compress-literals b -o x",
    "zstd -q --row-match-finder -7 b -o x",
    "zstd -q --no-row-match-finder -7 b -o x",
    "zstd -q --rsyncable b -o x",
    "zstd -q --rsyncable -T2 b -o x",
    "zstd -q -T2 -B512K b -o x",
    "zstd -q -T0 b -o x",
    "zstd -q --threads=2 b -o x",
    "zstd -q --threads 2 b -o x",
    "zstd -q -T999 b -o x",
    "zstd -q --auto-threads=logical -T0 b -o x",
    "zstd -q --auto-threads=physical -T0 b -o x",
    "zstd -q --auto-threads logical b -o x",
    "zstd -q --auto-threads=other b -o x",
    "zstd -q --single-thread b -o x",
    "zstd -q --adapt b -o x",
    "zstd -q --adapt=min=1,max=9 b -o x",
    "zstd -q --adapt=min=-5 -c < b > x",
    "zstd -q --adapt=max=4 -19 b -o x",
    "zstd -q --block-size=1M b -o x",
    "zstd -q --block-size 600K -T2 b -o x",
    "zstd -q -B1 b -o x",
    "zstd -q --zstd=wlog=20,clog=18,hlog=17,slog=3,mml=4,tlen=32,strat=5 b -o x",
    "zstd -q --zstd=windowLog=20,chainLog=18,hashLog=17,searchLog=3,minMatch=4,targetLength=32,strategy=5 b -o x",
    "zstd -q --zstd=ovlog=3 -T2 b -o x",
    "zstd -q --zstd=overlapLog=20 -T2 b -o x",
    "zstd -q --long --zstd=lhlog=18,lmml=32,lblog=4,lhrlog=5 b -o x",
    "zstd -q --long --zstd=ldmHashLog=18,ldmMinMatch=32,ldmBucketSizeLog=4,ldmHashRateLog=5 b -o x",
    "zstd -q --zstd=wlog=0,strat=0 b -o x",
    "zstd -q --zstd=tlen=4K,strat=9 b -o x",
    "zstd -q --zstd=wlog=24 --long=20 tiny -o x",
    "zstd -q -D dict b -o x && zstd -dqc -D dict x",
    "zstd -q -D dict --no-dictID b -o x && zstd -dqc -D dict x",
    "zstd -q -D=dict b -o x && zstd -dqcD dict x",
    "zstd -q --mmap-dict -D dict b -o x && zstd -dqc --mmap-dict -D dict x",
    "zstd -q --no-mmap-dict -D dict b -o x && zstd -dqc -D dict x",
    "zstd -q -D plain b -o x && zstd -dqc -D plain x",
    "zstd -q --patch-from=all newer -o x && zstd -dqc --patch-from=all x",
    "zstd -q --patch-from all newer -o x",
    "zstd -q --patch-from=all --stream-size=$(stat -c %s newer) -c < newer > x && zstd -dqc --patch-from=all x | cmp - newer",
    "zstd -q --exclude-compressed sub/x sub/j.gz && ls sub",
    "zstd -q --exclude-compressed -r sub && ls sub sub/deep",
    "zstd -q --asyncio b -o x",
    "zstd -q --no-asyncio b -o x",
    "zstd -q --progress b -o x",
    "zstd -q --no-progress b -o x",
    "zstd -q --no-sparse b -o x",
    "zstd -q --sparse b -o x",
    "zstd -qn b -o x",
    "zstd --compress -q b -o x",
    "zstd -dzq b -o x",
    "zstd -qfo x b",
    "zstd -qof x b",
    "zstd -qc b > x",
    "zstd -q --stdout b > x",
    "zstd -qc a b tiny",
    "zstd -q < b",
    "zstd -q - < b",
    "cat b | zstd -q -",
    "cat b | zstd -q -o x",
    "zstd -q tiny - -c < b",
    "zstdmt -q b -o x",
    "ZSTD_CLEVEL=19 zstd -q b -o x",
    "ZSTD_CLEVEL=-3 zstd -q b -o x",
    "ZSTD_CLEVEL=99 zstd -q tiny -o x",
    "ZSTD_CLEVEL=many zstd -q b -o x",
    "ZSTD_NBTHREADS=2 zstd -q b -o x",
    "ZSTD_NBTHREADS=x zstd -q b -o x",
    "zstd -q --show-default-cparams b -o x",
    "zstd --show-default-cparams -19 b -o x 2>&1 | grep '^ - '",
    "zstd --show-default-cparams --fast=7 tiny -o x 2>&1 | grep -e '^ - ' -e bytes",
    "zstd --show-default-cparams -9 -D dict a -o x 2>&1 | grep '^ - '",
    "cat b | zstd --show-default-cparams -5 -o x 2>&1 | grep -e '^ - ' -e unknown",
    "zstd -q --trace log b -o x && cut -d, -f1-4,6,8 log && rm log",
    "zstd -qf --trace=log -9 b tiny && cut -d, -f1-4,5,8 log; rm log",
    "zstd -q --trace out/no/log b -o x",
    "zstd -q -5 -D dict --zstd=strat=3 b -o x && zstd -dqc -D dict x",
];

const DECOMPRESS: &[&str] = &[
    "zstd -dqf a.zst",
    "zstd -dq a.zst -o x",
    "zstd --decompress -q a.zst -o x",
    "zstd --uncompress -q a.zst -o x",
    "unzstd -qf a.zst b.zst",
    "unzstd -qc a.zst b.zst",
    "zstdcat a.zst plain b.zst",
    "zstdcat --no-pass-through plain",
    "zstdcat < a.zst",
    "zstd -dqc < two.zst",
    "zstd -dqc skips.zst",
    "zstd -dqc empty.zst tiny.zst",
    "zstd -dq t.tzst",
    "zstd -dqc long.zst",
    "zstd -dqc wide.zst",
    "zstd -dqc --long=28 wide.zst",
    "zstd -dqc --long wide.zst",
    "zstd -dqc -M256M wide.zst",
    "zstd -dqc -M255M wide.zst",
    "zstd -dqc --memory=256M wide.zst",
    "zstd -dqc --memory 256MiB wide.zst",
    "zstd -dqc --memlimit=256MB wide.zst",
    "zstd -dqc --memlimit-decompress=100M wide.zst",
    "zstd -dqc -M1K a.zst",
    "zstd -dqc -M4000M wide.zst",
    "zstd -dqc -M128M long.zst",
    "zstd -dqc -M212779 long.zst",
    "zstd -dqc -M200K long.zst",
    "zstd -dqc --long=10 piped.zst",
    "zstd -dqc --zstd=wlog=28 wide.zst",
    "zstd -dqc cut.zst > x",
    "zstd -dqc bad.zst > /dev/null",
    "zstd -dqc sum.zst > /dev/null",
    "zstd -dqc --no-check sum.zst > x",
    "zstd -dqc --check sum.zst > /dev/null",
    "zstd -dq cut.zst -o x",
    "zstd -dq bad.zst -o x",
    "zstd -dq tail.zst -o x",
    "zstd -dqc tail.zst > /dev/null",
    "zstd -dq plain.zst -o x",
    "zstd -dqf plain -o x",
    "zstd -dqcf plain",
    "zstd -dqc --pass-through plain",
    "zstd -dqcf --no-pass-through plain",
    "zstd -dq --pass-through plain -o x",
    "zstd -dqc dicted.zst > /dev/null",
    "zstd -dqc -D dict dicted.zst",
    "zstd -dqc -D plain dicted.zst > /dev/null",
    "zstd -dqc --patch-from=all patch.zst",
    "zstd -dqc patch.zst > /dev/null",
    "zstd -dqc --patch-from=a patch.zst > /dev/null",
    "zstd -dq a",
    "zstd -dqf a.zst missing.zst b.zst",
    "zstd -dq -T2 best.zst -o x",
    "zstd -dq --single-thread best.zst -o x",
    "zstd -dq --sparse a.zst -o x",
    "zstd -dq --no-sparse a.zst -o x",
    "zstd -dqc --sparse a.zst > x",
    "zstd -tq a.zst b.zst two.zst skips.zst",
    "zstd -tq cut.zst",
    "zstd -tq bad.zst a.zst",
    "zstd -tq sum.zst",
    "zstd -tq plain",
    "zstd -tq missing.zst",
    "zstd --test -q empty.zst",
    "zstd -tq < a.zst",
    "zstd -tqr sub",
    "zstd -tq --rm a.zst && ls a.zst",
    "zstd -t -o x a.zst; ls",
    "zstd -l a.zst b.zst best.zst",
    "zstd --list skips.zst two.zst",
    "zstd -l empty.zst tiny.zst",
    "zstd -lv a.zst best.zst wide.zst | grep -v '\\*' | sed 's/ *$//'",
    "zstd -l plain; true",
    "zstd -lq a.zst > /dev/null",
    "zstd -l plain > /dev/null",
    "zstd -l missing.zst > /dev/null",
    "zstd -l a.zst plain > /dev/null",
    "zstd -l cut.zst > /dev/null",
    "zstd -l < a.zst",
    "zstd -l -",
    "zstd -l",
    "zstd -d --trace log -q a.zst -o x && cut -d, -f1-3,8 log && rm log",
    "zstd -dqn a.zst -o x",
];

const FILES: &[&str] = &[
    "zstd -q --rm b",
    "zstd -q --rm -k b",
    "zstd -qk --rm b",
    "zstd -dq --rm a.zst -o x",
    "zstd -q --rm b -c > x; ls b",
    "zstd -q --rm b missing; ls",
    "zstd -q have",
    "zstd -qf have",
    "zstd -q have < /dev/null",
    "zstd -dq b.zst",
    "zstd -q b -o have.zst",
    "zstd -qf b -o have.zst",
    "zstd -q b -o b",
    "zstd -qf b -o b",
    "zstd -q missing",
    "zstd -q missing b -o x",
    "zstd -q missing b tiny",
    "zstd -q sub",
    "zstd -q sub b -f",
    "zstd -q link",
    "zstd -qf link",
    "zstd -q link b -f",
    "zstd -qc link",
    "zstd -q a b -o x",
    "zstd -qf a b -o x && zstd -dqc x | cmp - all",
    "zstd -q -r sub",
    "zstd -qr sub a -f",
    "zstd -qr hollow",
    "zstd -qr hollow b -f",
    "zstd -qr missing",
    "zstd -qr --rm sub && find sub | sort",
    "zstd -q --output-dir-flat out a b",
    "zstd -q --output-dir-flat=out -r sub",
    "zstd -q --output-dir-flat new a b && ls new",
    "zstd -q --output-dir-flat= a",
    "zstd -dq --output-dir-flat out a.zst b.zst",
    "zstd -q --output-dir-mirror out -r sub",
    "zstd -q --output-dir-mirror=new sub/x sub/deep/y a && find new | sort",
    "zstd -q --output-dir-mirror out ./sub/x",
    "zstd -q --output-dir-mirror out sub/../a",
    "zstd -q --output-dir-mirror out ../elsewhere/x",
    "zstd -q --output-dir-mirror= a",
    "zstd -q --output-dir-mirror out -r sub && zstd -dq --output-dir-mirror back -r out && find back | sort",
    "zstd -qf --filelist list",
    "zstd -qf --filelist=list tiny",
    "zstd -qf --filelist list --filelist=list",
    "zstd -q --filelist missing",
    "zstd -qf --filelist broken",
    "zstd -q --filelist=list -c",
    "zstd -dqf --filelist packed",
    "zstd -tq --filelist packed",
    "zstd -q -- -b",
    "zstd -q -- b",
    "printf x > -odd; zstd -q -- -odd && ls",
    "zstd -q b -o out",
    "zstd -q b -o missing/x",
    "zstd -q b -o /dev/null",
    "zstd -dq a.zst -o /dev/null",
    "zstd -qc b > /dev/null",
    "zstd -qf a a",
    "zstd -q tiny.zst",
    "zstd -qf empty",
    "chmod 600 b; zstd -qf b && stat -c %a b.zst",
    "chmod 444 b; zstd -qf b && stat -c %a b.zst",
    "mkfifo pipe; cat b > pipe & zstd -qfc pipe; ended=$?; rm pipe; exit $ended",
    "zstd -q b -o x -o y && ls",
    "zstd -q -c b -o x && ls",
];

const MISTAKES: &[&str] = &[
    "zstd --bad a",
    "zstd -X a",
    "zstd -j4 a",
    "zstd --fast=0 a",
    "zstd --fast=-3 a",
    "zstd --fast=x a",
    "zstd --fastest a",
    "zstd --long=9 tiny -o x",
    "zstd --long=32 tiny -o x",
    "zstd --longer a",
    "zstd --zstd= a",
    "zstd --zstd=wlog a",
    "zstd --zstd=wlog=23,foo=1 a",
    "zstd --zstd=wlog=9 tiny -o x",
    "zstd --zstd=wlog=32 tiny -o x",
    "zstd --zstd=clog=31 tiny -o x",
    "zstd --zstd=hlog=5 tiny -o x",
    "zstd --zstd=slog=31 tiny -o x",
    "zstd --zstd=mml=8 tiny -o x",
    "zstd --zstd=tlen=200000 tiny -o x",
    "zstd --zstd=lhlog=31 tiny -o x",
    "zstd --zstd=lmml=3 tiny -o x",
    "zstd --zstd=lblog=9 tiny -o x",
    "zstd --zstd=lhrlog=26 tiny -o x",
    "zstd --adapt=foo a",
    "zstd --adapt=min=9,max=3 a",
    "zstd --adapt=min=x a",
    "zstd --adapt --single-thread a",
    "zstd --rsyncable --single-thread a",
    "zstd -T a -o x",
    "zstd --threads a",
    "zstd --threads=x a",
    "zstd --threads",
    "zstd -o",
    "zstd a -o -f",
    "zstd -D",
    "zstd -D missing a",
    "zstd -D sub a",
    "zstd -d -D missing a.zst",
    "zstd --patch-from=missing a",
    "zstd --patch-from=all a b",
    "zstd --patch-from=all -D dict a",
    "zstd -q --patch-from=all -c < a",
    "zstd --stream-size=x a",
    "zstd -q --stream-size=10 -c < b > /dev/null",
    "zstd --target-compressed-block-size=x a",
    "zstd --target-compressed-block-size=200K b -o x",
    "zstd --size-hint=x a",
    "zstd --memory=x a",
    "zstd --memory=99999999999 a",
    "zstd -dc -M100 a.zst",
    "zstd -dc --long=9 a.zst > /dev/null",
    "zstd --maxdict=x a",
    "zstd --dictID=x a",
    "zstd --format=brotli a",
    "zstd --format a",
    "zstd -d --show-default-cparams a.zst",
    "zstd -t --show-default-cparams a.zst -q",
    "zstd -99999999999 a",
    "zstd --fake-stdin-is-console",
    "zstd --fake-stdout-is-console < a",
    "zstd --fake-stdout-is-console -qc < a > x",
    "zstd --rm=1 a",
    "zstd --check=1 a",
    "zstd --list=1",
    "zstd -h > /dev/null",
    "zstd -H > /dev/null",
    "zstd --help > /dev/null",
    "zstd -V > /dev/null",
    "zstd --version > /dev/null",
    "zstd -qV > /dev/null",
    "zstd -vV > /dev/null",
    "zstd -h --bad > /dev/null",
    "zstd --priority=rt -q b -o x",
    "zstd --priority=low a",
    "zstd --trace",
    "zstd --output-dir-flat",
    "zstd --filelist",
    "zstd --auto-threads",
    "zstd -lc a > /dev/null",
];

const TRAIN: &[&str] = &[
    "zstd -q --train sample.* -o d --maxdict=2K && head -c 4 d | od -An -tx1; rm d",
    "zstd -q --train sample.* --maxdict=2K && ls dictionary && rm dictionary",
    "zstd -q --train-cover=k=64,d=8 sample.* -o d --maxdict=2K && head -c 4 d | od -An -tx1; rm d",
    "zstd -q --train-cover=k=64,d=8,steps=4,split=80 sample.* -o d --maxdict 2K && ls d && rm d",
    "zstd -q --train-cover=d=8,steps=2,shrink sample.* -o d --maxdict=2K && ls d && rm d",
    "zstd -q --train-cover=d=8,steps=2,shrink=3 sample.* -o d --maxdict=2K && ls d && rm d",
    "zstd -q --train-fastcover sample.* -o d --maxdict=2K && ls d && rm d",
    "zstd -q --train-fastcover=k=64,d=8,f=18,accel=2 sample.* -o d --maxdict=2K && ls d && rm d",
    "zstd -q --train-fastcover=d=6,f=16,steps=2,split=75,accel=1,shrink=2 sample.* -o d --maxdict=2K && ls d && rm d",
    "zstd -q --train-legacy sample.* -o d --maxdict=2K && ls d && rm d",
    "zstd -q --train-legacy=s=7 sample.* -o d --maxdict=2K && ls d && rm d",
    "zstd -q --train-legacy=selectivity=9 sample.* -o d --maxdict=2K && ls d && rm d",
    "zstd -q --train -s8 sample.* -o d --maxdict=2K && ls d && rm d",
    "zstd -q --train sample.* -o d --maxdict=2K --dictID=77 && od -An -tu4 -j4 -N4 d; rm d",
    "zstd -q --train sample.* -o d --maxdict=2K --dictID 78 && zstd -q -D d b -o x && zstd -lv x | grep DictID; rm d",
    "zstd -q --train -B200 all -o d --maxdict=2K && ls d && rm d",
    "zstd -q --train -B1K a b -o d --maxdict=2K && ls d && rm d",
    "zstd -q --train --block-size=500 all -o d --maxdict=2K && ls d && rm d",
    "zstd -q --train -M40K -B1K all -o d --maxdict=2K && ls d && rm d",
    "zstd -q --train -19 sample.* -o d --maxdict=2K && ls d && rm d",
    "zstd -q --train -r sub -o d; ls d",
    "zstd -q --train a -o d; echo $?",
    "zstd -q --train a b sub/x -o d; echo $?",
    "zstd --train -q; echo $?",
    "zstd --train-cover=foo=3 sample.*",
    "zstd --train-cover=k=x sample.*",
    "zstd --train-cover=f=3 sample.*",
    "zstd --train-fastcover=zzz sample.*",
    "zstd --train-legacy=9 sample.*",
    "zstd --train-coverage sample.*",
    "zstd -q --train-cover=k=5000,d=8 sample.* -o d --maxdict=2K; echo $?",
    "zstd -q --train-fastcover=k=64,d=7 sample.* -o d --maxdict=2K; echo $?",
    "zstd -b1 -i0 b > /dev/null 2>&1",
    "zstd -b1 -e3 -i0 b > /dev/null",
    "zstd -b1e2i0 a b > /dev/null",
    "zstd -b3 -i0 -S a b > /dev/null",
    "zstd -qb3 -i0 b | awk '{print $1, $2, $3}'",
    "zstd -b3 -i0 -B10K b > /dev/null 2>&1",
    "zstd -b3 -i0 -D dict b > /dev/null 2>&1",
    "zstd -b3 -i0 -T2 b > /dev/null 2>&1",
    "zstd -b -i0 --fast=3 b > /dev/null 2>&1",
    "zstd -b3 -i0 --long b > /dev/null 2>&1",
    "zstd -b3 -i0 --zstd=strat=4 b > /dev/null 2>&1",
    "zstd -b -d -i0 a.zst > /dev/null 2>&1",
    "zstd -b3 -i0 --format=gzip b > /dev/null 2>&1",
    "zstd -b3 -i0 missing > /dev/null 2>&1; test $? -ne 0",
];

/// What people do with several commands: files through pipes, archives of directories, chains of patches.
const JOBS: &[&str] = &[
    "cat a | zstd -q | zstd -dq | cmp - a",
    "cat a b | zstd -q -19 --ultra | zstd -dq | cmp - all",
    "tar c sub --sort=name --mtime=2020-01-01 | zstd -q -T2 > s.tar.zst && zstd -dqc s.tar.zst | tar t",
    "tar -I zstd -cf s.tar.zst sub && tar -I zstd -tf s.tar.zst && rm s.tar.zst",
    "zstd -qc a > x && zstd -qc b >> x && zstd -dqc x | cmp - all",
    "zstd -q --rm a -f && zstd -dq --rm a.zst && ls a",
    "for l in 1 5 9 13 17 19; do zstd -q -$l b -o x$l && zstd -dqc x$l | cmp - b || exit 1; done; rm x*",
    "for l in 1 10 100 1000; do zstd -q --fast=$l b -o x$l && zstd -tq x$l || exit 1; done; rm x*",
    "zstd -q --patch-from=a b -o p1 && zstd -q --patch-from=b newer -o p2 && zstd -dq --patch-from=a p1 -o n1 && zstd -dq --patch-from=n1 p2 -o n2 && cmp n2 newer",
    "head -c 3000000 /dev/zero > holes && zstd -q holes && zstd -dqf holes.zst && test $(stat -c %b holes) -lt 100; echo $?; rm holes holes.zst",
    "zstd -q --train sample.* -o d1 --maxdict=1K && for f in sample.a?; do zstd -q -D d1 $f -o $f.z && zstd -dqc -D d1 $f.z | cmp - $f || exit 1; done; rm d1 *.z",
    "zstd -q -r sub --output-dir-mirror m && zstd -dq -r m --output-dir-flat f && ls f",
    "zstd -q --filelist list --output-dir-flat out && ls out",
    "head -c 100 a.zst | zstd -dqc > /dev/null",
    "zstd -dqc a.zst | head -c 10",
    "zstd -qf a && zstd -tq a.zst && zstd -dqf a.zst && cmp a a",
    "printf '' | zstd -q | zstd -dq | wc -c",
    "printf x | zstd -q --no-check | od -An -tx1 | wc -l",
    "for b in 0 1 2 127 128 255 256 65791 65792 131071 131072 131073; do head -c $b all | zstd -q --stream-size=$b | zstd -dq | wc -c; done",
    "head -c 2000000 /dev/urandom > r && zstd -q r && zstd -dqc r.zst | cmp - r && test $(stat -c %s r.zst) -lt 2000100; echo $?; rm r r.zst",
    "zstd -q -T2 --rsyncable all -o x && zstd -dqc x | cmp - all",
    "zstd -q a b tiny -f && zstd -dqc a.zst b.zst tiny.zst | tail -c 2",
    "chmod 000 b; id -u > /dev/null; zstd -qf b; chmod 644 b",
    "ln a hard; zstd -q hard && ls hard.zst",
    "(cat a; sleep 0.2; cat b) | zstd -q --adapt | zstd -dq | cmp - all",
    "cat all | zstd -q --long=27 | zstd -dq -M128M | cmp - all",
    "zstd -q --no-dictID -D dict b -o x; zstd -dqc x > /dev/null; echo $?; zstd -dqc -D dict x | cmp - b",
];

/// Lines of what only the current version has.
const CURRENT: &[&str] = &[
    "--max",
    "mmap-dict",
    "ZSTD_NBTHREADS",
    "--fake-",
    "--trace ",
    "--trace=",
    "--auto-threads",
    "block-size=1 ",
    "patch-from=missing",
    "-qb3",
    "output-dir-flat f ",
    // These end an older one by a signal.
    "output-dir-flat new a b",
    "b -o out",
    "b -o missing/x",
];

fn known(lines: &'static [&'static str]) -> Vec<&'static str> {
    let current = is_current();
    let all = lines.iter().copied();
    all.filter(|line| current || !CURRENT.iter().any(|one| line.contains(one)))
        .collect()
}

fn compression_does_what_it_does_with_zstd() {
    same(&known(COMPRESS));
}

fn decompression_does_what_it_does_with_zstd() {
    same(&known(DECOMPRESS));
}

fn files_go_where_they_go_with_zstd() {
    same(&known(FILES));
}

fn mistakes_end_as_with_zstd() {
    same(&known(MISTAKES));
}

fn training_and_benchmarks_end_as_with_zstd() {
    same(&known(TRAIN));
}

fn jobs_of_several_commands_come_to_the_same() {
    same(&known(JOBS));
}

/// Lines that do otherwise with zstd: how ours end, what they print, and why.
const OTHERWISE: &[(&str, i32, &str, &str)] = &[
    (
        "zstd -qrf . ; test -e a.zst.zst",
        1,
        "",
        "a.zst would be read and written in one run: nothing is done",
    ),
    (
        "zstd -q --format=gzip --zstd=wlog=20 tiny -f && ls tiny.*",
        0,
        "tiny.zst\n",
        "zstd writes zstd frames into tiny.gz",
    ),
    (
        "zstd -q --long=x tiny -o x",
        1,
        "",
        "zstd reads no digits as 0, and ignores the rest",
    ),
    (
        "zstd -lv two.zst | grep Window",
        0,
        "Window Size: 106 KiB (108894 B)\n",
        "zstd shows the window of the last frame; ours is the largest, which decoding needs",
    ),
    (
        "zstd -l cut.zst 2> /dev/null | tail -n 1",
        0,
        "File \"cut.zst\" not compressed by zstd \n",
        "zstd lists what it has seen of a file that is cut",
    ),
    (
        "zstd -b1 -e2 -i0 b | grep -c ' b '",
        1,
        "0\n",
        "lines of a benchmark end with line feeds; zstd writes all over one line",
    ),
];

fn what_differs_is_known() {
    let (_, ours) = names();
    for (line, code, printed, why) in OTHERWISE {
        let dir = directory();
        made(dir.path());
        let ended = shell(line, dir.path(), Some(ours.path()));
        assert_eq!(
            (ended.code, ended.text()),
            (Some(*code), *printed),
            "{line}: {why}: {}",
            ended.stderr
        );
    }
}
