//! Compares whole commands.

use std::fs;

use anyhow::{Context, Result};

use super::super::Bench;
use super::super::comparisons::Comparison;
use crate::record::Machine;
use crate::sh;

/// One case: the other command and perfkit's, words apart by spaces.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    pub(super) what: &'static str,
    other: &'static str,
    own: &'static str,
    rounds: u32,
    /// The archives that come of them, where some do.
    archives: Option<(&'static str, &'static str)>,
    /// What goes before each run, and before the first.
    prepare: Option<&'static str>,
    /// Whether both share one processor.
    pinned: bool,
}

/// A case of packing.
const fn pack(what: &'static str, other: &'static str, own: &'static str, rounds: u32) -> Case {
    Case {
        what,
        other,
        own,
        rounds,
        archives: Some(("other.zip", "own.zip")),
        prepare: Some("rm -f other.zip own.zip"),
        pinned: false,
    }
}

/// A case of reading what Info-ZIP packed.
const fn read(what: &'static str, other: &'static str, own: &'static str, rounds: u32) -> Case {
    Case {
        what,
        other,
        own,
        rounds,
        archives: None,
        prepare: None,
        pinned: false,
    }
}

pub(super) const CASES: [Case; 19] = [
    pack(
        "the tree, two processors",
        "zip -q -r -6 other.zip tree",
        "perfkit zip -qq -r own.zip tree",
        6,
    ),
    Case {
        pinned: true,
        ..pack(
            "the tree, one processor",
            "zip -q -r -6 other.zip tree",
            "perfkit zip -qq -r -T1 own.zip tree",
            3,
        )
    },
    pack(
        "the tree, fast",
        "zip -q -r -1 other.zip tree",
        "perfkit zip -qq -r -1 own.zip tree",
        3,
    ),
    pack(
        "the tree, beside bsdtar",
        "bsdtar -c --format zip -f other.zip tree",
        "perfkit zip -qq -r own.zip tree",
        3,
    ),
    pack(
        "the tree, beside 7zz",
        "7zz a -tzip -mx=3 -bso0 -bsp0 other.zip tree",
        "perfkit zip -qq -r own.zip tree",
        3,
    ),
    pack(
        "one text",
        "zip -q -6 other.zip text",
        "perfkit zip -qq own.zip text",
        3,
    ),
    Case {
        pinned: true,
        ..pack(
            "one text, one processor",
            "zip -q -6 other.zip text",
            "perfkit zip -qq -T1 own.zip text",
            3,
        )
    },
    pack(
        "noise, stored",
        "zip -q -0 other.zip noise",
        "perfkit zip -qq -0 own.zip noise",
        9,
    ),
    pack(
        "one text, beside 7zz",
        "7zz a -tzip -mx=5 -bso0 -bsp0 other.zip text",
        "perfkit zip -qq own.zip text",
        3,
    ),
    Case {
        archives: None,
        ..pack(
            "noise, stored, beside cp",
            "cp noise other.zip",
            "perfkit zip -qq -0 own.zip noise",
            9,
        )
    },
    pack(
        "noise, stored and encrypted",
        "7zz a -tzip -mx=0 -mem=AES256 -pcorrect -bso0 -bsp0 other.zip noise",
        "perfkit zip -qq -0 --password-file password own.zip noise",
        6,
    ),
    read(
        "test of that",
        "7zz t -pcorrect -bso0 -bsp0 sealed.zip",
        "perfkit unzip -qq -t --password-file password sealed.zip",
        6,
    ),
    read(
        "test of that, one thread",
        "7zz t -mmt1 -pcorrect -bso0 -bsp0 sealed.zip",
        "perfkit unzip -qq -t -T1 --password-file password sealed.zip",
        6,
    ),
    Case {
        pinned: true,
        ..read(
            "test the tree, one processor",
            "unzip -tqq tree.zip",
            "perfkit unzip -qq -t -T1 tree.zip",
            9,
        )
    },
    Case {
        prepare: Some("rm -rf other own"),
        ..read(
            "extract the tree",
            "unzip -qq tree.zip -d other",
            "perfkit unzip -qq tree.zip -d own",
            6,
        )
    },
    Case {
        prepare: Some("rm -rf other own; mkdir other"),
        ..read(
            "extract the tree, beside bsdtar",
            "bsdtar -C other -xf tree.zip",
            "perfkit unzip -qq tree.zip -d own",
            3,
        )
    },
    Case {
        prepare: Some("rm -rf other own"),
        ..read(
            "extract the tree, beside 7zz",
            "7zz x -bso0 -bsp0 -oother tree.zip",
            "perfkit unzip -qq tree.zip -d own",
            3,
        )
    },
    Case {
        prepare: Some("rm -rf other own"),
        ..read(
            "extract the tree, beside ripunzip",
            "ripunzip unzip-file -d other tree.zip",
            "perfkit unzip -qq tree.zip -d own",
            6,
        )
    },
    Case {
        pinned: true,
        ..pack(
            "the tree, fast, one processor",
            "zip -q -r -1 other.zip tree",
            "perfkit zip -qq -r -1 -T1 own.zip tree",
            3,
        )
    },
];

impl Case {
    /// The other program.
    pub(super) fn program(&self) -> &'static str {
        self.other.split(' ').next().unwrap_or_default()
    }
}

impl Bench {
    /// Compares the answers, then measures.
    pub(super) fn program(&self, case: Case, machine: &mut Option<Machine>) -> Result<Comparison> {
        let other: Vec<&str> = case.other.split(' ').collect();
        let own: Vec<&str> = case.own.split(' ').collect();
        let prepare = || match case.prepare {
            Some(script) => sh::output(&mut self.command(&["sh", "-c", script])).map(drop),
            None => Ok(()),
        };
        prepare()?;
        sh::output(&mut self.command(&other))?;
        sh::output(&mut self.command(&own))?;
        let sizes = match case.archives {
            Some((theirs, ours)) => {
                self.same_content(theirs, ours)
                    .with_context(|| format!("{}: a wrong answer", case.own))?;
                let size = |name| fs::metadata(self.file(name)).map(|found| found.len());
                [Some(size(theirs)?), Some(size(ours)?)]
            }
            None => [None, None],
        };
        let cpu: &[&str] = if case.pinned { &["--cpu", "1"] } else { &[] };
        let before = case.prepare.map(|script| ["--prepare", script]);
        let extra = [cpu, before.as_ref().map_or(&[], |words| &words[..])].concat();
        let mut comparison =
            self.measure_with(&extra, case.what, &other, &own, case.rounds, machine)?;
        [comparison.baseline.size_bytes, comparison.target.size_bytes] = sizes;
        Ok(comparison)
    }

    /// Each is read by the program that did not write it, and their names and checksums are the same.
    fn same_content(&self, theirs: &str, ours: &str) -> Result<()> {
        let list = |name: &str| {
            format!("unzip -v {name} | awk '$8 !~ /\\/$/ && NF == 8 {{ print $7, $8 }}' | sort")
        };
        let script = format!(
            "({}) > theirs.list; ({}) > ours.list; cmp theirs.list ours.list",
            list(theirs),
            list(ours)
        );
        // Encrypted entries have no checksum of their own in one of the two formats.
        let encrypted = "unzip -Z -l own.zip | awk '{ print $5 }' | grep -q '^[BT]'";
        let skip = sh::output(&mut self.command(&["sh", "-c", encrypted])).is_ok();
        if skip {
            let test = ["7zz", "t", "-pcorrect", "-bso0", "-bsp0", ours];
            return sh::output(&mut self.command(&test)).map(drop);
        }
        sh::output(&mut self.command(&["unzip", "-tqq", ours]))?;
        sh::output(&mut self.command(&["perfkit", "unzip", "-qq", "-t", theirs]))?;
        sh::output(&mut self.command(&["sh", "-c", &script])).map(drop)
    }
}
