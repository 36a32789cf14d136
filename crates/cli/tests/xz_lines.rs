//! The command line of xz beside the xz program: each line ends with the same exit code, prints the same and leaves the
//! same files with the same content. xzgrep, xzdiff and xzcmp run with ours in front of PATH.

use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;

use crate::common::{directory, feed};
use crate::peer;
use crate::peer::lines::{binary, compare, shell};

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
"#;

const LINES: [&str; 54] = [
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
];

fn made(dir: &Path) {
    let mut command = Command::new("sh");
    command.args(["-c", TREE]).current_dir(dir);
    let output = feed(command, b"");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

fn lines_do_what_they_do_with_xz() {
    let bin = binary(&["xz", "unxz", "xzcat", "lzma", "unlzma", "lzcat"]);
    compare(&LINES, None, bin.path(), made, true);
}

/// What is not taken ends with 1, names its flag, and leaves files as they are.
fn what_xz_refuses_is_named() {
    let bin = binary(&["xz"]);
    for (line, flag) in [
        ("xz -l a.xz", "-l"),
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
