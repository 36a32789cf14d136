//! What each of our levels costs and saves over all cells, compared with that level of each rival that comes nearest in
//! size.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use anyhow::Result;

use super::{Cell, Point, judge};

/// Geometric means of our size and time over a rival's.
#[derive(Debug, Clone, Copy)]
struct Mean {
    rival_level: i32,
    size: f64,
    time: f64,
}

/// Of one of our levels and one of a rival's, on one thread. `None` if no cell has both.
fn mean(cells: &[Cell], level: i32, rival: &str, rival_level: i32) -> Option<Mean> {
    let (mut count, mut size, mut time) = (0, 0.0, 0.0);
    for cell in cells {
        let find = |is: &dyn Fn(&Point) -> bool| cell.points.iter().find(|point| is(point));
        let own = find(&|point| point.is_own() && point.1 == level && point.2 == 1);
        let its = find(&|point| point.0 == rival && point.1 == rival_level && point.2 == 1);
        if let (Some(own), Some(its)) = (own, its) {
            let log = |own: u64, its: u64| (own.max(1) as f64 / its.max(1) as f64).ln();
            count += 1;
            size += log(own.3, its.3);
            time += log(own.4, its.4);
        }
    }
    let of = |sum: f64| (sum / f64::from(count)).exp();
    (count > 0).then(|| Mean {
        rival_level,
        size: of(size),
        time: of(time),
    })
}

/// The rival's level that comes nearest in size.
fn nearest(cells: &[Cell], level: i32, rival: &str, levels: &BTreeSet<i32>) -> Option<Mean> {
    let means = levels
        .iter()
        .filter_map(|its| mean(cells, level, rival, *its));
    means.min_by(|a, b| a.size.ln().abs().total_cmp(&b.size.ln().abs()))
}

pub(super) fn write(out: &mut String, cells: &[Cell]) -> Result<()> {
    let points = || cells.iter().flat_map(|cell| &cell.points);
    let rivals: BTreeSet<&str> = points()
        .filter(|point| !point.is_own())
        .map(|point| point.0.as_str())
        .collect();
    if rivals.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n## On average\n\nGeometric means over all cells, compared with the level of the rival that comes nearest in size.\n\n\
         | level | rival | size | time |\n|---:|---|---:|---:|"
    )?;
    for level in judge::levels(cells) {
        for rival in &rivals {
            let its = points().filter(|point| point.0 == *rival);
            let levels = its.map(|point| point.1).collect();
            if let Some(mean) = nearest(cells, level, rival, &levels) {
                writeln!(
                    out,
                    "| {level} | {rival} -{} | {:.3}x | {:.2}x |",
                    mean.rival_level, mean.size, mean.time
                )?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_level_of_about_the_same_size_is_named() {
        let point = |who: &str, level, size, ns| Point(who.to_owned(), level, 1, size, ns);
        let cell = |scale: u64| Cell {
            kind: "text".to_owned(),
            bytes: 1 << 20,
            points: vec![
                point("zipstream", 6, 100 * scale, 50),
                point("libdeflate", 1, 140 * scale, 40),
                point("libdeflate", 6, 101 * scale, 100),
                point("igzip", 1, 200 * scale, 10),
            ],
        };
        let mut out = String::new();
        write(&mut out, &[cell(1), cell(7)]).expect("it is written");
        let rows: Vec<_> = out.lines().rev().take(2).collect();
        assert_eq!(
            rows,
            [
                "| 6 | libdeflate -6 | 0.990x | 0.50x |",
                "| 6 | igzip -1 | 0.500x | 5.00x |"
            ]
        );
        out.clear();
        write(&mut out, &[]).expect("nothing is written");
        assert_eq!(out, "");
    }
}
