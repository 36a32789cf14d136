//! Under gzip's names the binary does what gzip does, and under those of xz, lzma and lz4 and with zstd's `--format=`
//! what zstd, xz and lz4 do: the same command lines leave the same files with the same content and end with the
//! same exit codes. Each line runs with the real program and with ours, on copies of one tree.

use std::path::Path;
use std::process::Command;

use libtest_mimic::Trial;

use crate::common::{directory, feed, names, samples};
use crate::peer::lines::{binary, compare, make, shell};
use crate::peer::{self, works};

/// The tests, each with whether what it needs is here.
pub(crate) fn trials() -> Vec<Trial> {
    let has = |program: &str| works(Command::new(program).arg("--version"));
    let gzip =
        has("gzip") && works(Command::new("sh").args(["-c", "gzip --version | grep -q '^gzip 1'"]));
    peer::trials![
        gzip => [
            lines_do_what_they_do_with_gzip,
            gzip_reads_ours_and_we_read_its,
        ],
        has("xz") && has("lz4") && peer::has_zstd() => [
            formats_do_what_they_do_with_their_programs,
            every_format_is_read_by_its_program_and_by_us,
        ],
        peer::has_zstd() && works(Command::new("sh").args(["-c", "command -v zstdgrep"])) => [
            zstdgrep_finds_what_it_finds,
        ],
    ]
}

/// The files that every line starts from. Archives are made by the real programs.
const TREE: &str = r#"
set -e
umask 022
seq 1 30000 > a
seq 5 9000 > b
cat a b > all
printf 'hi' > tiny
: > empty
touch -d '2020-01-02 03:04:06' a b tiny empty
printf 'no archive at all\n' > plain.gz
mkdir -p sub/deep out
printf 'x\n' > sub/x; printf 'y\n' > sub/deep/y; printf 'junk' > sub/j.gz
printf 'z\n' > sub/z; gzip -n sub/z
touch -d '2020-01-02 03:04:06' sub/* sub/deep/*
ln -s a link
cp b one; ln one two
cp b setuid; chmod 4755 setuid
cp b secret; chmod 600 secret
seq 1 2000 > n; touch -d '2020-01-02 03:04:06' n; gzip -c n > named.gz; gzip -nc n > bare.gz; rm n
touch -d '2021-05-06 07:08:10' named.gz bare.gz
gzip -c a > c.gz; gzip -c b >> c.gz
gzip -c b > t.tgz; gzip -c b > u-gz; gzip -c b > v_z
{ gzip -c b; printf 'garbage'; } > tail.gz
{ gzip -c b; head -c 512 /dev/zero; } > zeros.gz
{ gzip -c b; printf '\037'; } > magic1.gz
gzip -c b | head -c 3000 > cut.gz
gzip -c b | head -c 5 > head.gz
gzip -c b > crc.gz; printf '\001\002\003\004' | dd of=crc.gz bs=1 seek=$(($(stat -c %s crc.gz) - 8)) conv=notrunc 2> /dev/null
gzip -c b > size.gz; printf '\001' | dd of=size.gz bs=1 seek=$(($(stat -c %s size.gz) - 4)) conv=notrunc 2> /dev/null
: > zero.gz
printf '\037\213\007\000' > method.gz
printf '\037\213\010\340\000\000\000\000\000\003' > flags.gz
printf '\037\213\010\010\0\0\0\0\0\003../../up\0\003\0\0\0\0\0\0\0\0\0' > up.gz
printf 'old\n' > have; printf 'kept\n' > have.gz
find . -type f -exec touch -d '2020-01-02 03:04:06' {} +
touch -d '2021-05-06 07:08:10' named.gz bare.gz
"#;

/// Makes the tree in a directory.
fn made(dir: &Path) {
    make(TREE, dir);
}

const GZIP: [&str; 103] = [
    "GZIP=-9 gzip a 2>&1",
    "GZIP=-q gzip a 2>&1",
    "GZIP='-1 --no-name' gzip -qk a 2>&1",
    "GZIP=' ' gzip a 2>&1",
    "GZIP=-9 gunzip -c c.gz 2>&1",
    "GZIP=-k gzip a",
    "GZIP=b gzip a",
    "GZIP=--bad gzip a",
    "gzip a",
    "gzip a b empty tiny",
    "gzip -1 a",
    "gzip -9 a",
    "gzip --fast a",
    "gzip --best a",
    "gzip -k a",
    "gzip -n a",
    "gzip --no-name a",
    "gzip -N a",
    "gzip -m a",
    "gzip -c a",
    "gzip -c a b",
    "gzip -nc a > out/x",
    "gzip < a",
    "gzip -c < a",
    "gzip - < a",
    "cat a | gzip",
    "cat a | gzip -n",
    "gzip -v a 2> /dev/null",
    "gzip -kv9 a 2> /dev/null",
    "gzip -S .z a",
    "gzip -S z a",
    "gzip --suffix=-gz a",
    "gzip -S '' a",
    "gzip -S 0123456789012345678901234567890 a",
    "gzip -r sub",
    "gzip -rk sub",
    "gzip -rn sub a",
    "gunzip -N up.gz",
    "gunzip up.gz",
    "gzip sub",
    "gzip sub a",
    "gzip missing",
    "gzip missing a",
    "gzip link",
    "gzip -f link",
    "gzip -c link",
    "gzip one",
    "gzip -f one",
    "gzip setuid",
    "gzip -f setuid",
    "gzip secret",
    "gzip c.gz",
    "gzip -f c.gz",
    "gzip c.gz a",
    "gzip t.tgz",
    "gzip have < /dev/null",
    "gzip -f have",
    "gzip -q have < /dev/null",
    "gzip -X a",
    "gzip --bad a",
    "gzip a -S",
    "gzip --rsyncable a",
    "gzip --synchronous a",
    "gzip -b 12 a",
    "gzip -- -a",
    "gzip -d c.gz",
    "gzip -dk c.gz",
    "gunzip c.gz",
    "gunzip c",
    "gunzip -k t.tgz",
    "gunzip t",
    "gunzip u-gz v_z",
    "gunzip -c c.gz",
    "gunzip < c.gz",
    "cat c.gz | gunzip",
    "gunzip named.gz",
    "gunzip -N named.gz",
    "gunzip -n named.gz",
    "gunzip -N bare.gz",
    "gunzip -N tail.gz",
    "gunzip missing.gz",
    "gunzip missing",
    "gunzip a",
    "gunzip a c.gz",
    "gunzip plain.gz",
    "gunzip zeros.gz",
    "gunzip magic1.gz",
    "gunzip cut.gz",
    "gunzip head.gz",
    "gunzip crc.gz",
    "gunzip size.gz",
    "gunzip zero.gz",
    "gunzip method.gz",
    "gunzip flags.gz",
    "gunzip have.gz < /dev/null",
    "gunzip -f have.gz < /dev/null",
    "gunzip -r sub",
    "gunzip -S .tgz t.tgz",
    "gunzip sub",
    "gzip -t c.gz a",
    "gzip -tr sub",
    "gzip -t tail.gz zeros.gz",
    "gzip -t < c.gz",
];

const GZIP_CATS: [&str; 23] = [
    // What is no gzip file, although it is a frame of zstd.
    "printf '(\\265/\\375\\004\\000\\001\\000\\000' > zstd.gz; gzip -t zstd.gz",
    "printf '(\\265/\\375\\004\\000\\001\\000\\000' > zstd.gz; gzip -dcf zstd.gz",
    "zcat c.gz",
    "zcat c",
    "zcat c.gz t.tgz",
    "zcat a",
    "zcat -f a c.gz",
    "zcat -f empty",
    "zcat -f tiny",
    "zcat empty",
    "zcat < c.gz",
    "cat a | zcat -f",
    "zcat missing c.gz",
    "zcat tail.gz",
    "zcat cut.gz | head -c 100",
    "gzip -dcf a tiny",
    "gzip -lv named.gz bare.gz",
    "gzip -lN named.gz",
    "gzip -l named.gz bare.gz",
    "gzip -lq bare.gz t.tgz",
    "gzip -l a",
    "gzip -l missing",
    "gzip -lr sub",
];

fn lines_do_what_they_do_with_gzip() {
    let bin = binary(&["gzip", "gunzip", "zcat", "gzcat"]);
    compare(&GZIP, None, bin.path(), made, true);
    compare(&GZIP_CATS, None, bin.path(), made, true);
    for (line, code, printed, why) in GZIP_OTHERWISE {
        let dir = directory();
        made(dir.path());
        let ended = shell(line, dir.path(), Some(bin.path()));
        assert_eq!(
            (ended.code, ended.text()),
            (Some(code), printed),
            "{line}: {why}: {}",
            ended.stderr
        );
    }
}

/// Contents of all kinds, sizes around those of buffers and chunks among them.
fn contents() -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = samples(700_001).into_iter().map(|(_, data)| data).collect();
    for bytes in [0, 1, 65_536, 262_144, 262_145] {
        all.push(all[0][..bytes].to_vec());
    }
    all
}

fn gzip_reads_ours_and_we_read_its() {
    let bin = binary(&["gzip", "gunzip"]);
    let ours = |line: &str, input: &[u8]| {
        let mut words = line.split(' ');
        let mut command = Command::new(bin.path().join(words.next().expect("a name")));
        command.args(words);
        feed(command, input)
    };
    let theirs = |line: &str, input: &[u8]| {
        let mut words = line.split(' ');
        let mut command = Command::new(words.next().expect("a name"));
        command.args(words);
        feed(command, input)
    };
    let mut all = Vec::new();
    let mut file = Vec::new();
    for content in contents() {
        for level in ["-1", "-6", "-9"] {
            let line = format!("gzip {level}");
            let packed = ours(&line, &content).stdout;
            assert!(theirs("gzip -dc", &packed).stdout == content, "{line}");
            let packed = theirs(&line, &content).stdout;
            assert!(ours("gzip -dc", &packed).stdout == content, "{line}");
        }
        file.extend(ours("gzip", &content).stdout);
        file.extend(theirs("gzip", &content).stdout);
        all.extend_from_slice(&content);
        all.extend_from_slice(&content);
    }
    assert!(theirs("gunzip", &file).stdout == all);
    assert!(ours("gunzip", &file).stdout == all);
    // Cut at every byte of a small file, and in the middle of a large one: never taken for whole.
    let small = theirs("gzip -c", b"some text, some text, some text").stdout;
    for at in 0..small.len() {
        let (our, their) = (ours("gunzip", &small[..at]), theirs("gunzip", &small[..at]));
        assert_eq!(our.status.code(), their.status.code(), "cut at {at}");
        assert_eq!(our.status.code(), Some(1), "cut at {at}");
    }
}

/// What zstd, xz and lz4 leave in a directory.
const FORMATS: &str = r#"
set -e
seq 1 30000 > a; seq 5 9000 > b; printf 'hi' > tiny; : > empty
xz -k a b empty; xz --format=lzma -k a; lz4 -qkm a; lz4 -ql b b.old.lz4; gzip -nk a; zstd -qk a; { cat a.gz; printf 'junk'; } > tail.gz
cat a.xz b.xz > two.xz; { lz4 -cq a; lz4 -cq b; } > two.lz4; cp a.xz t.txz; lz4 -cq b > t.tlz4
{ cat a.xz; printf 'junk'; } > tail.xz; { cat a.lz4; printf 'junkjunk'; } > tail.lz4
head -c 500 a.xz > cut.xz; head -c 500 a.lzma > cut.lzma; head -c 500 a.lz4 > cut.lz4; head -c 300 a.gz > cut.gz
cp a.xz bad.xz; printf 'XX' | dd of=bad.xz bs=1 seek=900 conv=notrunc 2> /dev/null
cp a.lz4 bad.lz4; printf 'XX' | dd of=bad.lz4 bs=1 seek=900 conv=notrunc 2> /dev/null
mkdir out
"#;

const ZSTD_FORMATS: [&str; 48] = [
    "zstd -q --format=gzip a -o new",
    "zstd -q --format=xz a",
    "zstd -q --format=lzma a -o new",
    "zstd -q --format=lz4 b",
    "zstd -q --format=gzip tiny",
    "zstd -q --format=xz tiny empty",
    "zstd -q --format=lz4 tiny empty",
    "zstd -q --format=gzip -19 b",
    "zstd -q --format=lz4 -12 b",
    "zstd -q --format=xz -1 tiny",
    "zstd -q --format=lz4 --no-check b",
    "zstd -q --format=gzip -c a b",
    "zstd -q --format=xz < a",
    "zstd -q --format=brotli a",
    "zstd -q --rm --format=gzip b",
    "zstd -q --format=gzip -T2 --rsyncable b",
    "zstd -q --format=gzip --output-dir-flat out a b",
    "zstd -dqf a.gz",
    "zstd -dqf a.xz",
    "zstd -dqf a.lzma",
    "zstd -dqf a.lz4",
    "zstd -dqc a.gz b.xz a.lz4",
    "zstd -dqc two.xz",
    "zstd -dqc two.lz4",
    "zstd -tq a.gz a.xz a.lzma a.lz4",
    "zstd -tq cut.xz",
    "zstd -tq cut.lzma",
    "zstd -tq cut.lz4",
    "zstd -tq cut.gz",
    "zstd -tq bad.xz",
    "zstd -tq bad.lz4",
    "zstd -tq tail.xz",
    "zstd -tq tail.lz4",
    "zstd -dq cut.xz -o new",
    "zstd -dq cut.xz a.xz -o new",
    "cat a.xz | zstd -dq",
    "cat a.lzma | zstd -dq",
    "cat a.lz4 | zstd -dq",
    "cat a.gz | zstd -dq",
    "zstdcat a a.gz b.xz a.lz4 a.lzma",
    "zstdcat tiny",
    "zstd -dcfq tiny a.gz",
    "zstd -dcq --sparse a.zst > out/x",
    "zstd -dq --no-sparse a.gz -o out/x",
    "unzstd -q b.xz -o out/x",
    "zstd -dqc empty.xz",
    "zstd -q --format=zstd b",
    "zstd -q --format=lz4 --format=gzip b",
];

/// Lines that do otherwise with gzip, what ours print or how they end, and why.
const GZIP_OTHERWISE: [(&str, i32, &str, &str); 5] = [
    (
        "gunzip cut.gz c.gz 2> /dev/null; ls c",
        0,
        "c\n",
        "gzip stops at the first file that is cut short",
    ),
    (
        "gzip -l c.gz | tail -n 1",
        0,
        "              87081              212779  59.1% c\n",
        "gzip counts the last of several members only",
    ),
    (
        "gzip -lq tail.gz 2> /dev/null",
        2,
        "              20324               43885  53.7% tail\n",
        "gzip leaves a file with garbage out of the table",
    ),
    (
        "gzip -c a - < b | gzip -dc | cmp - all",
        0,
        "",
        "gzip gives standard input the name `stdin` behind a file",
    ),
    (
        "gzip -rc sub | gzip -dc | head -n 1",
        0,
        "y\n",
        "gzip walks in the order of the disk, ours in that of names",
    ),
];

/// Lines that end otherwise with zstd, how ours end, and why.
const OTHERWISE: [(&str, i32, &str); 5] = [
    (
        "zstd -q --format=gzip --fast=3 b",
        0,
        "zlib has no negative levels; ours is level 1",
    ),
    (
        "zstd -dqf a.gz a.xz",
        1,
        "two sources would become the same file, one over the other",
    ),
    (
        "zstd -dq t.txz t.tlz4",
        1,
        "the same; zstd writes one of them",
    ),
    (
        "zstd -dcq --sparse a.gz | cmp - a",
        0,
        "zstd seeks in a pipe",
    ),
    (
        "zstd -dqc tail.gz",
        1,
        "what follows a gzip file must be padding or a member, as with xz and lz4",
    ),
];

const NAMED: [&str; 26] = [
    "xz tiny",
    "xz -k tiny",
    "xz -c a",
    "xz -0 b -c",
    "xz -9e -c b",
    "xz < a",
    "xz -d b.xz -c",
    "xz -dk t.txz",
    "xz -dc two.xz",
    "xz -t a.xz",
    "xz -t cut.xz",
    "xz -t bad.xz",
    "xz -d cut.xz",
    "unxz -c b.xz",
    "unxz < a.xz",
    "lzma -c b",
    "lzma tiny",
    "unlzma -c a.lzma",
    "unlzma < a.lzma",
    "unlzma cut.lzma",
    "lz4 -qm b",
    "lz4 -qmk tiny",
    "lz4 -qc a",
    "lz4 -qdc a.lz4",
    "lz4 -dqc b.old.lz4",
    "unlz4 -qc two.lz4",
];

fn formats_do_what_they_do_with_their_programs() {
    let bin = binary(&[
        "zstd", "unzstd", "zstdcat", "xz", "unxz", "lzma", "unlzma", "lz4", "unlz4",
    ]);
    let make = |dir: &Path| {
        let mut command = Command::new("sh");
        command.args(["-c", FORMATS]).current_dir(dir);
        let output = feed(command, b"");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    };
    compare(&ZSTD_FORMATS, None, bin.path(), make, false);
    for (line, code, why) in OTHERWISE {
        let dir = directory();
        make(dir.path());
        let ended = shell(line, dir.path(), Some(bin.path()));
        assert_eq!(ended.code, Some(code), "{line}: {why}: {}", ended.stderr);
    }
    compare(&NAMED, None, bin.path(), make, false);
}

fn every_format_is_read_by_its_program_and_by_us() {
    let bin = binary(&["zstd"]);
    let run = |program: &Path, line: &str, input: &[u8]| {
        let mut command = Command::new(program);
        command.args(line.split(' '));
        feed(command, input)
    };
    let ours = bin.path().join("zstd");
    for (format, program, unpack) in [
        ("gzip", "gzip", "-dcq"),
        ("xz", "xz", "-dcq"),
        ("lzma", "xz", "-dcq"),
        ("lz4", "lz4", "-dcq"),
    ] {
        let theirs = Path::new(program);
        for content in contents() {
            for level in ["-1", "-6", "-9"] {
                let packed = run(&ours, &format!("-qc {level} --format={format}"), &content).stdout;
                let back = run(theirs, unpack, &packed).stdout;
                assert!(back == content, "{format} {level}: {} bytes", content.len());
            }
            let line = match format {
                "lzma" => "-qc --format=lzma",
                _ => "-qc",
            };
            let packed = run(theirs, line, &content).stdout;
            assert!(run(&ours, "-dqc", &packed).stdout == content, "{format}");
        }
        // Cut at every byte: never taken for whole.
        let small = run(
            &ours,
            &format!("-qc --format={format}"),
            b"some text, some text, some text",
        )
        .stdout;
        for at in 1..small.len() {
            let cut = run(&ours, "-dqc", &small[..at]);
            assert!(!cut.status.success(), "{format} cut at {at}");
        }
        // Each byte changed in turn: refused, or, where no checksum covers it, read without a fault of ours.
        for at in 0..small.len() {
            let mut changed = small.clone();
            changed[at] ^= 0x55;
            let code = run(&ours, "-dqc", &changed).status.code();
            assert!(
                matches!(code, Some(0 | 1)),
                "{format} changed at {at}: {code:?}"
            );
        }
    }
}

fn zstdgrep_finds_what_it_finds() {
    let bin = binary(&["zstdgrep"]);
    let make = |dir: &Path| {
        let mut command = Command::new("sh");
        // What is decompressed of the last one fills any pipe.
        let script = "seq 1 300 > a; seq 200 400 > b; seq 1 400000 > c; zstd -q a b c; rm b c";
        command.args(["-c", script]).current_dir(dir);
        assert!(feed(command, b"").status.success());
        assert_eq!(names(dir), ["a", "a.zst", "b.zst", "c.zst"]);
    };
    compare(
        &[
            "zstdgrep 299 a.zst",
            "zstdgrep 299 a.zst b.zst",
            "zstdgrep -c 29 a.zst b.zst",
            "zstdgrep -h 299 a.zst b.zst",
            "zstdgrep -i -e 299 a.zst",
            "zstdgrep 299 a",
            "zstdgrep 999 a.zst",
            "zstdgrep -q 299 a.zst",
            "zstdgrep -v 2 b.zst",
            "zstdgrep 299 < a.zst",
            // grep ends long before its input does.
            "timeout 60 zstdgrep -q 9 c.zst",
            "timeout 60 zstdgrep -m1 9 c.zst",
            "timeout 60 zstdgrep -l 9 c.zst a.zst",
            "timeout 60 zstdgrep -m1 x c.zst",
        ],
        None,
        bin.path(),
        make,
        false,
    );
}
