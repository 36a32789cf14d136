//! Every contradiction: its name, and the archive that has it and nothing else wrong.

mod ends;
mod extras;
mod headers;
mod names;
mod places;

use crate::fields::{Archive, Entry};

/// A contradiction. A plain archive is one that programs write.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) plain: bool,
    /// Whether the times that readers restore are left out.
    pub(crate) timeless: bool,
}

/// Collects cases.
#[derive(Default)]
pub(crate) struct Cases {
    all: Vec<Case>,
}

impl Cases {
    fn add(&mut self, name: impl Into<String>, archive: &Archive) {
        self.all.push(Case {
            name: name.into(),
            bytes: archive.bytes(),
            plain: false,
            timeless: false,
        });
    }

    fn plain(&mut self, name: impl Into<String>, archive: &Archive) {
        self.add(name, archive);
        if let Some(last) = self.all.last_mut() {
            last.plain = true;
        }
    }

    /// Leaves the times of the last case out: it says none, or says them as programs do in another zone.
    fn timeless(&mut self) {
        if let Some(last) = self.all.last_mut() {
            last.timeless = true;
        }
    }

    /// Two entries, the second of them changed.
    fn entry(&mut self, name: impl Into<String>, change: impl Fn(&mut Entry)) {
        let mut archive = base();
        change(&mut archive.entries[1]);
        self.add(name, &archive);
    }

    /// The same for the whole archive.
    fn archive(&mut self, name: impl Into<String>, change: impl Fn(&mut Archive)) {
        let mut archive = base();
        change(&mut archive);
        self.add(name, &archive);
    }

    /// A stored and a changed entry of these names.
    fn names(&mut self, name: &str, names: &[&[u8]], flags: u16) {
        let made = names.iter().enumerate().map(|(at, name)| {
            let content = [b'0' + at as u8];
            let content = if name.ends_with(b"/") {
                &[][..]
            } else {
                &content
            };
            let mut entry = Entry::stored(name, content);
            entry.both(|header| header.flags |= flags);
            entry
        });
        let made: Vec<Entry> = made.collect();
        self.add(name, &Archive::of(&made));
    }
}

/// Two good entries.
fn base() -> Archive {
    Archive::of(&[Entry::stored(b"a.txt", b"first"), Entry::deflated(b"b.txt")])
}

/// All of them.
pub(crate) fn all() -> Vec<Case> {
    let mut cases = Cases::default();
    cases.plain("nothing", &base());
    headers::add(&mut cases);
    extras::add(&mut cases);
    names::add(&mut cases);
    places::add(&mut cases);
    ends::add(&mut cases);
    cases.all
}
