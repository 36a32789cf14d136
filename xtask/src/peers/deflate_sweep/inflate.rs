//! Decoders of the same streams: how long zipstream takes compared with each rival.

use std::fmt::Write as _;

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::{human, rate};

const OWN: &str = "zipstream";

/// All decoders on the streams of one content.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Decoded {
    kind: String,
    /// Of one content.
    bytes: u64,
    /// How many contents the time is for.
    pieces: u64,
    /// Who compressed.
    encoder: String,
    compressed_bytes: u64,
    /// Who decoded, and nanoseconds.
    points: Vec<(String, u64)>,
}

impl Decoded {
    fn ns(&self, name: &str) -> Option<u64> {
        let mut points = self.points.iter();
        Some(points.find(|point| point.0 == name)?.1.max(1))
    }

    /// Our time over a rival's.
    fn ratio(&self, rival: &str) -> Option<f64> {
        Some(self.ns(OWN)? as f64 / self.ns(rival)? as f64)
    }

    /// Our time over that of the fastest rival.
    fn worst(&self) -> f64 {
        let rivals = self.points.iter().filter(|point| point.0 != OWN);
        let ratios = rivals.filter_map(|point| self.ratio(&point.0));
        ratios.fold(0.0, f64::max)
    }
}

/// The rivals, in the order in which they were measured.
fn rivals(all: &[Decoded]) -> Vec<&str> {
    let points = all.first().map_or(&[][..], |one| &one.points);
    let names = points.iter().map(|point| point.0.as_str());
    names.filter(|name| *name != OWN).collect()
}

/// The tables; nothing if nothing was measured.
pub(super) fn write(out: &mut String, all: &[Decoded]) -> Result<()> {
    if all.is_empty() {
        return Ok(());
    }
    let rivals = rivals(all);
    writeln!(
        out,
        "\n## Inflate\n\nStreams of zlib-ng and zipstream at level 6, decoded whole on one thread: processor time, \
         zipstream's over the rival's, so that less than 1 is faster.\n\n\
         | rival | streams | at most 0.9 | at most 1.0 | more | median | worst |\n|---|---:|---:|---:|---:|---:|---:|"
    )?;
    for rival in &rivals {
        let mut ratios: Vec<f64> = all.iter().filter_map(|one| one.ratio(rival)).collect();
        ratios.sort_by(f64::total_cmp);
        let below = |limit: f64| ratios.iter().filter(|ratio| **ratio <= limit).count();
        let median = ratios.get(ratios.len() / 2).copied().unwrap_or_default();
        writeln!(
            out,
            "| {rival} | {} | {} | {} | {} | {median:.2} | {:.2} |",
            ratios.len(),
            below(0.9),
            below(1.0),
            ratios.len() - below(1.0),
            ratios.last().copied().unwrap_or_default()
        )?;
    }
    writeln!(
        out,
        "\n| kind | size | streams of | MB/s | {} |\n|---|---:|---|---:|{}",
        rivals.join(" | "),
        "---:|".repeat(rivals.len())
    )?;
    let mut rows: Vec<&Decoded> = all.iter().collect();
    rows.sort_by(|a, b| b.worst().total_cmp(&a.worst()));
    for one in rows {
        let content = rate(one.bytes * one.pieces, one.ns(OWN).unwrap_or_default());
        write!(
            out,
            "| {} | {} | {} | {content:.0} |",
            one.kind,
            human(one.bytes),
            one.encoder
        )?;
        for rival in &rivals {
            match one.ratio(rival) {
                Some(ratio) => write!(out, " {ratio:.2} |")?,
                None => write!(out, " |")?,
            }
        }
        writeln!(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(kind: &str, points: &[(&str, u64)]) -> Decoded {
        let points = points.iter().map(|(name, ns)| ((*name).to_owned(), *ns));
        Decoded {
            kind: kind.to_owned(),
            bytes: 1 << 16,
            pieces: 2,
            encoder: "zlib-ng".to_owned(),
            compressed_bytes: 9,
            points: points.collect(),
        }
    }

    #[test]
    fn the_worst_comes_first() -> Result<()> {
        let all = [
            decoded("fine", &[(OWN, 90), ("libdeflate", 100), ("igzip", 110)]),
            decoded("bad", &[(OWN, 90), ("libdeflate", 100), ("igzip", 60)]),
        ];
        let mut page = String::new();
        write(&mut page, &all)?;
        assert!(
            page.contains("| igzip | 2 | 1 | 1 | 1 | 1.50 | 1.50 |"),
            "{page}"
        );
        let (bad, fine) = (page.find("| bad"), page.find("| fine"));
        assert!(bad.is_some() && bad < fine, "{page}");
        assert!(
            page.contains("| bad | 64 KiB | zlib-ng | 1456356 | 0.90 | 1.50 |"),
            "{page}"
        );
        Ok(())
    }
}
