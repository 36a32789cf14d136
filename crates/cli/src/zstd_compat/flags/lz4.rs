//! What the command line of lz4 has that zstd's has not: settings of its blocks, the legacy format, and files that are
//! decompressed because of their name.

use std::path::Path;

use crate::commands::decompress::flags::DecompressMode;
use crate::failure::{Failure, Result};
use crate::zstd_compat::flags::parse::{CommandLine, Operation};
use crate::zstd_compat::flags::values::{incorrect, number};

/// The smallest block that lz4 takes.
const BLOCK_BYTES_MIN: u64 = 32;

impl CommandLine {
    /// A letter that means something else in zstd's line, or nothing; returns whether it is one. `rest` is what
    /// follows it.
    pub(super) fn lz4_letter(&mut self, letter: char, rest: &mut &str, word: &str) -> Result<bool> {
        match letter {
            'B' => self.blocks(rest, word)?,
            'm' => self.several = true,
            'l' => self.lz4.settings.legacy = true,
            'D' => return Err(no_dictionary()),
            'z' | 'd' | 't' => {
                self.lz4.chosen = true;
                return Ok(false);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// What follows `-B`: sizes and letters in any order.
    fn blocks(&mut self, rest: &mut &str, word: &str) -> Result<()> {
        let mut any = false;
        loop {
            let settings = &mut self.lz4.settings;
            match rest.chars().next() {
                Some('D') => settings.linked = true,
                Some('I') => settings.linked = false,
                Some('X') => settings.block_sums = true,
                Some(digit) if digit.is_ascii_digit() => {
                    let size = number(rest).ok_or_else(|| incorrect(word))?;
                    settings.block = match size {
                        4..=7 => size as u8,
                        ..BLOCK_BYTES_MIN => return Err(incorrect(word)),
                        // Blocks of the frame are of four sizes: the smallest that holds one of this size.
                        _ => (4..7).find(|log| size <= 1 << (8 + 2 * log)).unwrap_or(7) as u8,
                    };
                    any = true;
                    continue;
                }
                _ if any => return Ok(()),
                _ => return Err(incorrect(word)),
            }
            any = true;
            *rest = &rest[1..];
        }
    }

    /// A long flag that means something else in zstd's line, or nothing; returns whether it is one.
    pub(super) fn lz4_flag(&mut self, key: &str, value: Option<&str>, word: &str) -> Result<bool> {
        let settings = &mut self.lz4.settings;
        match (key, value) {
            ("--multiple", None) => self.several = true,
            ("--frame-crc", None) => self.check = true,
            ("--no-frame-crc", None) => self.check = false,
            ("--favor-decSpeed", None) => settings.favors_decoding = true,
            ("--best", None) => self.level = 12,
            ("--no-force", None) => self.force = false,
            ("--fast", value) => {
                let mut rest = value.unwrap_or("1");
                settings.acceleration = match number(&mut rest) {
                    Some(by @ 1..) if rest.is_empty() => u32::try_from(by).unwrap_or(u32::MAX),
                    _ => return Err(incorrect(word)),
                };
            }
            ("--compress" | "--decompress" | "--uncompress" | "--test", None) => {
                self.lz4.chosen = true;
                return Ok(false);
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Decompresses a file of lz4's suffix where nothing else was asked for.
    pub(super) fn choose_by_name(&mut self) {
        let is_packed = |file: &Path| file.extension().is_some_and(|suffix| suffix == "lz4");
        let chosen = self.lz4.chosen || self.several || self.recursive || !self.lists.is_empty();
        if !chosen
            && self.operation == Operation::Compress
            && self.files.first().is_some_and(|file| is_packed(file))
        {
            self.operation = Operation::Decompress(DecompressMode::Write);
        }
    }
}

fn no_dictionary() -> Failure {
    Failure::usage("dictionaries of lz4 (-D) are neither read nor written")
        .help("leave out -D, or use zstd")
}
