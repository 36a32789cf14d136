//! The command line of xz beside the xz program: each line ends with the same exit code, prints the same and leaves the
//! same files with the same content. xzgrep, xzdiff and xzcmp run with ours in front of PATH.

use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;

use crate::common::directory;
use crate::peer;
use crate::peer::lines::{binary, compare, make, shell};

/// The tests, each with whether what it needs is here.
pub(crate) fn trials() -> Vec<Trial> {
    let here = peer::works(Command::new("sh").args(["-c", "xz --version && command -v xzgrep"]));
    peer::trials![
        here => [
            lines_do_what_they_do_with_xz,
            what_xz_refuses_is_named,
        ],
    ]
}

/// The files that every line starts from, made by the real program.
const TREE: &str = r#"
set -e
umask 022
seq 1 30000 > a
seq 5 9000 > b
: > empty
xz -k a b
xz --format=lzma -k a
cat a.xz b.xz > two.xz
cp a.xz a.foo
cp a.xz t.txz
cp b one
ln one two
mkdir d
ln -s a link
cp b su
chmod 4755 su
head -c 500 a.xz > cut.xz
{ cat a.xz
echo junk
} > tail.xz
echo hi > plain.xz
: > zero.xz
printf "a\nb\n" > names
cp b h
echo k > h.xz
xz -kc empty > none.xz
xz -kc --block-size=20KiB a > parts.xz
for check in none crc32 crc64 sha256
do xz -kc --check=$check a >> checks.xz
done
{ cat a.xz
head -c 8 /dev/zero
cat b.xz
head -c 100 /dev/zero
} > padded.xz
head -c 20000000 /dev/zero | xz --block-size=1MiB > big.xz
ln -s a.xz link.xz
printf "b.xz\nnone.xz\n" > listed
"#;

const LINES: [&str; 75] = [
    "xz -k a.xz",
    "xz empty",
    "xz -Q a.xz",
    "xz -kS .s a",
    "xz -d a.foo",
    "xz -dkf a.xz",
    "xz -dkfS .foo a.foo",
    "xz one",
    "xz -f one",
    "xz -k one",
    "xz d",
    "xz link",
    "xz -f link",
    "xz su",
    "xz h",
    "xz -f h",
    "xz missing empty",
    "xz --format=lzma b",
    "lzma b",
    "unlzma -kf a.lzma",
    "unxz -dfk a.xz",
    "xzcat two.xz",
    "xzcat a.xz a.lzma",
    "lzcat a.lzma",
    "xz --format=lzma -dc a.xz",
    "xz --format=xz -dc a.lzma",
    "xz -t cut.xz",
    "xz -t a.xz two.xz a",
    "xz -t tail.xz",
    "xz -dcf b",
    "xz -dc b",
    "xz -dc --single-stream two.xz",
    "xz -dc --single-stream tail.xz",
    "xz -t plain.xz zero.xz",
    "xz --bad a",
    "xz --check=md5 a",
    "xz -kc --check=sha256 -0e a | xz -dc",
    "xz -kc --check=none -T2 a | xz -dc",
    "xz -kc --lzma2=preset=9e,dict=1MiB a | xz -t",
    "xz -kc --block-size=64KiB a | xz -t",
    "xz -c a b | xz -dc | cmp - two.xz",
    "xz --files=names -kf",
    "xz --files=nolist",
    "xz -M1MiB -k -c a | wc -c",
    "xz -M1MiB -dc a.xz | wc -c",
    "XZ_OPT=-k xz empty",
    "XZ_DEFAULTS=--format=lzma xz empty",
    "xz -d t.txz",
    "xz < a | xz -dc",
    "xz -qq missing",
    "xzgrep -c 299 a.xz b",
    "xzdiff a.xz a",
    "xzcmp a.xz b.xz",
    "xzgrep zzz a.xz",
    "xz -l a.xz",
    "xz -l a.xz b.xz none.xz two.xz parts.xz checks.xz padded.xz big.xz",
    "xz -lv a.xz",
    "xz -lv b.xz none.xz two.xz parts.xz checks.xz padded.xz big.xz",
    "xz -lq a.xz padded.xz",
    "xz --robot -l a.xz two.xz padded.xz checks.xz",
    "xz --robot -lv none.xz two.xz parts.xz checks.xz padded.xz",
    "xz --robot -l missing d",
    "xz -l a.xz cut.xz zero.xz plain.xz tail.xz a.lzma b.xz d missing",
    "xz -lv a.xz cut.xz missing b.xz",
    "xz -lv d zero.xz",
    "xz -l d",
    "xz -Ql d",
    "xz -lqq cut.xz",
    "xz -l",
    "xz -l a.xz - b.xz",
    "xz -l --format=lzma a.xz",
    "lzma -l a.xz",
    "xz -lv --files=listed a.xz",
    "xz -ldc a.xz",
    "unxz -lk link.xz",
];

fn made(dir: &Path) {
    make(TREE, dir);
}

fn lines_do_what_they_do_with_xz() {
    let bin = binary(&["xz", "unxz", "xzcat", "lzma", "unlzma", "lzcat"]);
    compare(&LINES, None, bin.path(), made, true);
}

/// What is not taken ends with 1, names its flag, and leaves files as they are.
fn what_xz_refuses_is_named() {
    let bin = binary(&["xz"]);
    for (line, flag) in [
        ("xz --robot a", "--robot"),
        ("xz --ignore-check -dkf a.xz", "--ignore-check"),
        ("xz --block-list=1 a", "--block-list"),
        ("xz --format=raw a", "raw"),
        ("xz --x86 a", "--x86"),
    ] {
        let dir = directory();
        made(dir.path());
        let ended = shell(line, dir.path(), Some(bin.path()));
        assert_eq!(ended.code, Some(1), "{line}: {}", ended.stderr);
        assert!(ended.stderr.contains(flag), "{line}: {}", ended.stderr);
        assert!(dir.path().join("a").exists(), "{line}");
    }
}
