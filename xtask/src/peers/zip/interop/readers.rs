//! The readers: a shell command to extract, one to print, and what is known not to work.
//!
//! A command runs in the folder of the bench. The archive is `a.zip`, `out` an empty directory.

use super::shapes::{Content, Shape};

/// A reader of archives.
#[derive(Debug)]
pub(super) struct Reader {
    pub(super) name: &'static str,
    /// A command that succeeds where the reader is here.
    pub(super) here: &'static str,
    pub(super) extract: &'static str,
    pub(super) print: &'static str,
    /// Whether this is perfkit, which reads what others write.
    own: bool,
}

impl Reader {
    pub(super) fn takes(&self, shape: &Shape) -> bool {
        self.own || shape.is_ours()
    }
}

pub(super) const ALL: [Reader; 13] = [
    Reader {
        name: "unzip",
        here: "unzip -v",
        extract: "unzip -qq -P right a.zip -d out",
        print: "unzip -p -P right a.zip",
        own: false,
    },
    Reader {
        name: "7zz",
        here: "7zz i",
        extract: "7zz x -y -pright -bso0 -bsp0 -oout a.zip",
        print: "7zz x -so -pright -bsp0 a.zip",
        own: false,
    },
    Reader {
        name: "bsdtar",
        here: "bsdtar --version",
        extract: "bsdtar --passphrase right -x -C out -f a.zip",
        print: "bsdtar --passphrase right -xOf a.zip",
        own: false,
    },
    Reader {
        name: "bsdtar, pipe",
        here: "bsdtar --version",
        extract: "cat a.zip | bsdtar --passphrase right -x -C out -f -",
        print: "cat a.zip | bsdtar --passphrase right -xOf -",
        own: false,
    },
    Reader {
        name: "Python zipfile",
        here: "python3 --version",
        extract: "python3 peer.py zipfile extract a.zip out",
        print: "python3 peer.py zipfile print a.zip",
        own: false,
    },
    Reader {
        name: "pyzipper",
        here: "python3 -c 'import pyzipper'",
        extract: "python3 peer.py pyzipper extract a.zip out",
        print: "python3 peer.py pyzipper print a.zip",
        own: false,
    },
    Reader {
        name: "Go archive/zip",
        here: "test -x go-peer",
        extract: "./go-peer extract a.zip out",
        print: "./go-peer print a.zip",
        own: false,
    },
    Reader {
        name: "Java ZipFile",
        here: "test -f Peer.class",
        extract: "java Peer file extract a.zip out",
        print: "java Peer file print a.zip",
        own: false,
    },
    Reader {
        name: "Java ZipInputStream",
        here: "test -f Peer.class",
        extract: "cat a.zip | java Peer stream extract - out",
        print: "cat a.zip | java Peer stream print -",
        own: false,
    },
    Reader {
        name: "crate zip",
        here: "test -x zip-peer",
        extract: "./zip-peer extract a.zip out",
        print: "./zip-peer print a.zip",
        own: false,
    },
    Reader {
        name: "perfkit",
        here: "",
        extract: "perfkit unzip -qq --password-file password a.zip -d out",
        print: "perfkit unzip -qqp --password-file password a.zip",
        own: true,
    },
    Reader {
        name: "perfkit, strict",
        here: "",
        extract: "perfkit unzip -qq --strict --password-file password a.zip -d out",
        print: "perfkit unzip -qqp --strict --password-file password a.zip",
        own: true,
    },
    Reader {
        name: "perfkit, pipe",
        here: "",
        extract: "cat a.zip | perfkit unzip -qq --password-file password - -d out",
        print: "cat a.zip | perfkit unzip -qqp --unverified --password-file password -",
        own: true,
    },
];

/// What says which version of a reader this is.
pub(super) const VERSIONS: [&str; 7] = [
    "unzip -v | head -n 1",
    "7zz i | grep 7-Zip",
    "bsdtar --version",
    "python3 --version",
    "python3 -c 'import pyzipper; print(\"pyzipper\", pyzipper.__version__)'",
    "go version",
    "java -version 2>&1 | head -n 1",
];

const NO_ZSTD: &str = "reads no zstd";
const NO_AES: &str = "reads no AES";
const BSDTAR_ZSTD: &str = "libarchive 3.6 loses the end of zstd content that fills its buffer";
const JAVA_64: &str = "ZipInputStream takes a descriptor for one of 32 bits while the sizes fit that, \
     whatever the header says";

/// What a reader cannot do: words that the name of the shape contains, the start of the reader's name,
/// and the reason. The first that fits counts.
pub(super) const LIMITS: [(&str, &str, &str); 16] = [
    ("zstd", "unzip", NO_ZSTD),
    ("zstd", "Python", NO_ZSTD),
    ("zstd", "pyzipper", NO_ZSTD),
    ("zstd", "Go", NO_ZSTD),
    ("zstd", "Java", NO_ZSTD),
    ("zstd", "bsdtar", BSDTAR_ZSTD),
    ("AES", "unzip", NO_AES),
    ("AES", "Python", NO_AES),
    ("AES", "Go", NO_AES),
    ("AES", "Java", NO_AES),
    (
        "AES",
        "bsdtar",
        "reads no encrypted links; what is without them it reads",
    ),
    ("unknown size, small", "Java ZipInputStream", JAVA_64),
    ("unknown size, large", "Java ZipInputStream", JAVA_64),
    ("unknown size, stored", "Java ZipInputStream", JAVA_64),
    ("unknown size, 4 GiB", "Java ZipInputStream", JAVA_64),
    ("4 GiB, stored", "Java ZipInputStream", JAVA_64),
];

/// Why a reader cannot read a shape, where it cannot.
pub(super) fn limit(shape: &Shape, reader: &Reader) -> Option<&'static str> {
    let whole = matches!(shape.content, Content::Tree);
    let found = LIMITS
        .iter()
        .find(|(words, start, _)| shape.name.contains(words) && reader.name.starts_with(start));
    found
        .filter(|_| whole || !reader.own)
        .map(|(_, _, reason)| *reason)
}
