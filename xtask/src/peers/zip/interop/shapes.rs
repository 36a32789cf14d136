//! The archives: written by perfkit in every shape that it supports, and by other programs.

use std::fs;
use std::io::Read;
use std::path::Path;

use anyhow::{Result, ensure};

use super::Part;

/// More than 4 GiB.
const HUGE_BYTES: u64 = (1 << 32) + (5 << 20);
/// More entries than 16 bits count.
const MANY: u32 = 70_000;
/// An entry of its own.
const LARGE_BYTES: usize = 20 << 20;

/// What an archive holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    /// The files of `src`.
    Tree,
    /// `small`: ten bytes.
    Small,
    /// `large`: 20 MiB of text.
    Large,
    /// `many`: a number of files, each with its number as content.
    Many,
    /// Zeros, more than 4 GiB of them.
    Zeros,
    /// The same, and `small` behind them.
    ZerosAndSmall,
}

/// One way to write an archive.
#[derive(Debug)]
pub(super) struct Shape {
    pub(super) name: &'static str,
    /// A command that succeeds where the writer is here; none for perfkit.
    pub(super) needs: &'static str,
    /// A bash command that makes `a.zip`.
    pub(super) write: &'static str,
    pub(super) content: Content,
}

const fn ours(name: &'static str, write: &'static str, content: Content) -> Shape {
    theirs(name, "", write, content)
}

const fn theirs(
    name: &'static str,
    needs: &'static str,
    write: &'static str,
    content: Content,
) -> Shape {
    Shape {
        name,
        needs,
        write,
        content,
    }
}

impl Shape {
    pub(super) fn is_ours(&self) -> bool {
        self.needs.is_empty()
    }

    pub(super) fn is_of(&self, part: &Part) -> bool {
        let large = !matches!(
            self.content,
            Content::Tree | Content::Small | Content::Large
        );
        match part {
            Part::All => true,
            Part::Ours => self.is_ours() && !large,
            Part::Large => large,
            Part::Theirs => !self.is_ours() && !large,
            Part::Named(words) => self.name.contains(words.as_str()),
        }
    }
}

use Content::{Large, Many, Small, Tree, Zeros, ZerosAndSmall};

const ZIP: &str = "zip -v";
const SEVEN: &str = "7zz i";
const BSDTAR: &str = "bsdtar --version";
const PYTHON: &str = "python3 --version";
const PYZIPPER: &str = "python3 -c 'import pyzipper'";
const GO: &str = "test -x go-peer";
const JAVA: &str = "test -f Peer.class";
const CRATE: &str = "test -x zip-peer";

#[rustfmt::skip]
pub(super) const ALL: &[Shape] = &[
    ours("deflate", "perfkit zip -qq -r a.zip src", Tree),
    ours("deflate -9", "perfkit zip -qq -9r a.zip src", Tree),
    ours("deflate -1, 2 threads", "perfkit zip -qq -1rT2 a.zip src", Tree),
    ours("stored", "perfkit zip -qq -0r a.zip src", Tree),
    ours("reproducible", "perfkit zip -qq -rX a.zip src", Tree),
    ours("into a pipe", "perfkit zip -qq -r - src | cat > a.zip", Tree),
    ours("zstd", "perfkit zip -qq -Z zstd -r a.zip src", Tree),
    ours("appended to", "perfkit zip -qq a.zip src/empty src/one; perfkit zip -qq -r --append a.zip src || test $? = 3", Tree),
    ours("AES-256", "perfkit zip -qq -r --password-file password a.zip src", Tree),
    ours("AES-256 without links", "perfkit zip -qq -r --symlinks skip --password-file password a.zip src", Tree),
    ours("AES-192", "perfkit zip -qq -r --password-file password --aes 192 a.zip src", Tree),
    ours("AES-128, stored", "perfkit zip -qq -0r --password-file password --aes 128 a.zip src", Tree),
    ours("AES-256, zstd", "perfkit zip -qq -r -Z zstd --password-file password a.zip src", Tree),
    ours("20 MiB", "perfkit zip -qq a.zip large", Large),
    ours("20 MiB, zstd", "perfkit zip -qq -Z zstd a.zip large", Large),
    ours("unknown size, small", "cat small | perfkit zip -qq a.zip -", Small),
    ours("unknown size, large", "cat large | perfkit zip -qq a.zip -", Large),
    ours("unknown size, stored", "cat large | perfkit zip -qq -0 a.zip -", Large),
    ours("unknown size, zstd", "cat large | perfkit zip -qq -Z zstd a.zip -", Large),
    ours("70,000 entries", "perfkit zip -qq -r a.zip many", Many),
    ours("4 GiB", "perfkit zip -qq -1 a.zip zeros", Zeros),
    ours("4 GiB, zstd", "perfkit zip -qq -Z zstd a.zip zeros", Zeros),
    ours("4 GiB, stored, and one behind it", "perfkit zip -qq -0 a.zip zeros small", ZerosAndSmall),
    ours("4 GiB, AES-256", "perfkit zip -qq -1 --password-file password a.zip zeros", Zeros),
    ours("4 GiB, stored, AES-256", "perfkit zip -qq -0 --password-file password a.zip zeros", Zeros),
    ours("unknown size, 4 GiB", "cat zeros | perfkit zip -qq -1 a.zip -", Zeros),
    theirs("zip", ZIP, "zip -qry a.zip src", Tree),
    theirs("zip, stored", ZIP, "zip -qry0 a.zip src", Tree),
    theirs("zip, into a pipe", ZIP, "zip -qr - src -x src/link | cat > a.zip", Tree),
    theirs("zip, standard input", ZIP, "cat large | zip -q a.zip -", Large),
    theirs("zip, ZipCrypto", ZIP, "zip -qry -P right a.zip src", Tree),
    theirs("7zz deflate", SEVEN, "7zz a -tzip -bso0 -bsp0 -snl a.zip src", Tree),
    theirs("7zz copy", SEVEN, "7zz a -tzip -mm=Copy -bso0 -bsp0 a.zip src", Tree),
    theirs("7zz deflate64", SEVEN, "7zz a -tzip -mm=Deflate64 -bso0 -bsp0 a.zip src", Tree),
    theirs("7zz bzip2", SEVEN, "7zz a -tzip -mm=BZip2 -bso0 -bsp0 a.zip src", Tree),
    theirs("7zz LZMA", SEVEN, "7zz a -tzip -mm=LZMA -bso0 -bsp0 a.zip src", Tree),
    theirs("7zz xz", SEVEN, "7zz a -tzip -mm=xz -bso0 -bsp0 a.zip src", Tree),
    theirs("7zz AES-128", SEVEN, "7zz a -tzip -mem=AES128 -pright -bso0 -bsp0 a.zip src", Tree),
    theirs("7zz AES-192, LZMA", SEVEN, "7zz a -tzip -mm=LZMA -mem=AES192 -pright -bso0 -bsp0 a.zip src", Tree),
    theirs("7zz AES-256", SEVEN, "7zz a -tzip -mem=AES256 -pright -bso0 -bsp0 a.zip src", Tree),
    theirs("7zz ZipCrypto", SEVEN, "7zz a -tzip -mem=ZipCrypto -pright -bso0 -bsp0 a.zip src", Tree),
    theirs("bsdtar", BSDTAR, "bsdtar -a -cf a.zip src", Tree),
    theirs("bsdtar, into a pipe", BSDTAR, "bsdtar -c --format zip -f - src | cat > a.zip", Tree),
    theirs("bsdtar AES-256", BSDTAR, "bsdtar -a -c --options zip:encryption=aes256 --passphrase right -f a.zip src", Tree),
    theirs("Python", PYTHON, "python3 peer.py zipfile write src a.zip deflate", Tree),
    theirs("Python, into a pipe", PYTHON, "python3 peer.py zipfile write src - deflate | cat > a.zip", Tree),
    theirs("Python bzip2", PYTHON, "python3 peer.py zipfile write src a.zip bzip2", Tree),
    theirs("Python LZMA", PYTHON, "python3 peer.py zipfile write src a.zip lzma", Tree),
    theirs("pyzipper AES-128", PYZIPPER, "python3 peer.py pyzipper write src a.zip aes128", Tree),
    theirs("pyzipper AES-256", PYZIPPER, "python3 peer.py pyzipper write src a.zip aes256", Tree),
    theirs("Go", GO, "./go-peer write src > a.zip", Tree),
    theirs("Java", JAVA, "java Peer stream write src > a.zip", Tree),
    theirs("crate zip", CRATE, "./zip-peer write src a.zip deflate", Tree),
    theirs("crate zip, zstd", CRATE, "./zip-peer write src a.zip zstd", Tree),
    theirs("crate zip, xz", CRATE, "./zip-peer write src a.zip xz", Tree),
    theirs("crate zip, AES-256", CRATE, "./zip-peer write src a.zip aes256", Tree),
    theirs("zip, 70,000 entries", ZIP, "zip -qr a.zip many", Many),
    theirs("zip, 4 GiB", ZIP, "zip -q1 a.zip zeros", Zeros),
    theirs("zip, 4 GiB of standard input", ZIP, "cat zeros | zip -q1 a.zip -", Zeros),
    theirs("7zz, 4 GiB", SEVEN, "7zz a -tzip -mx=1 -bso0 -bsp0 a.zip zeros", Zeros),
    theirs("Python, 70,000 entries", PYTHON, "python3 peer.py zipfile write many a.zip deflate", Many),
    theirs("Go, 70,000 entries", GO, "./go-peer write many > a.zip", Many),
];

/// Creates the content of a shape if it does not exist yet.
pub(super) fn prepare(folder: &Path, content: Content) -> Result<()> {
    let missing = |name: &str| !super::exists(&folder.join(name));
    if missing("small") {
        fs::write(folder.join("small"), b"ten bytes\n")?;
    }
    if content == Large && missing("large") {
        let lines = (0..).flat_map(|number: u32| {
            let line = format!(
                "{number} lines, the last with {:x}\n",
                number.wrapping_mul(97_003)
            );
            line.into_bytes()
        });
        fs::write(
            folder.join("large"),
            lines.take(LARGE_BYTES).collect::<Vec<u8>>(),
        )?;
    }
    if content == Many && missing("many") {
        for number in 0..MANY {
            let below = folder.join(format!("many/{:02}", number / 1000));
            fs::create_dir_all(&below)?;
            fs::write(below.join(format!("{number:05}")), format!("{number:05}"))?;
        }
    }
    if matches!(content, Zeros | ZerosAndSmall) && missing("zeros") {
        fs::File::create(folder.join("zeros"))?.set_len(HUGE_BYTES)?;
    }
    Ok(())
}

/// Compares the extracted files with the packed ones.
pub(super) fn compare(content: Content, folder: &Path, mut found: impl Read) -> Result<()> {
    let zeros = match content {
        Zeros | ZerosAndSmall => HUGE_BYTES,
        _ => 0,
    };
    let mut buffer = vec![0; 1 << 20];
    let mut left = zeros;
    while left > 0 {
        let most = usize::try_from(left).map_or(buffer.len(), |left| left.min(buffer.len()));
        let got = found.read(&mut buffer[..most])?;
        ensure!(got > 0, "the content ends {left} bytes early");
        ensure!(
            buffer[..got].iter().all(|byte| *byte == 0),
            "another content"
        );
        left -= got as u64;
    }
    let mut rest = Vec::new();
    found.read_to_end(&mut rest)?;
    let wanted = match content {
        Small | ZerosAndSmall => fs::read(folder.join("small"))?,
        Large => fs::read(folder.join("large"))?,
        Many => {
            // Walkers have orders of their own.
            let mut numbers: Vec<&[u8]> = rest.chunks(5).collect();
            numbers.sort_unstable();
            rest = numbers.concat();
            (0..MANY)
                .flat_map(|number| format!("{number:05}").into_bytes())
                .collect()
        }
        Zeros | Tree => Vec::new(),
    };
    ensure!(rest == wanted, "another content");
    Ok(())
}
