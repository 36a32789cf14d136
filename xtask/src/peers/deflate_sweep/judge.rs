//! What the points of a sweep say: who dominates whom, which levels are out of order, and where cliffs are.

use super::{Cell, Point};

/// Differences below these say nothing.
const SMALLER_BY: f64 = 1.001;
const FASTER_BY: f64 = 1.03;
const INVERSION: f64 = 1.002;
/// From one size to the next, compared with libdeflate.
const CLIFF_SIZE: f64 = 1.04;
const CLIFF_TIME: f64 = 1.6;
const MEASURE: &str = "libdeflate";
/// Smaller contents are packed many at a time, up to this sum.
const TURN_BYTES: u64 = 256 << 10;
const PIECES_MAX: u64 = 64;

/// A level that a rival beats in both size and time. Sizes are for one content.
#[derive(Debug)]
pub(super) struct Dominated {
    pub(super) kind: String,
    pub(super) bytes: u64,
    /// The content that the times are for.
    pub(super) packed_bytes: u64,
    pub(super) threads: u64,
    pub(super) level: i32,
    pub(super) rival: String,
    pub(super) rival_level: i32,
    /// Compressed bytes and nanoseconds.
    pub(super) own: (u64, u64),
    pub(super) theirs: (u64, u64),
    weight: f64,
}

/// A level that is larger than a lower one.
#[derive(Debug)]
pub(super) struct Inversion {
    pub(super) kind: String,
    pub(super) bytes: u64,
    pub(super) threads: u64,
    pub(super) level: i32,
    pub(super) lower: i32,
    pub(super) size: f64,
    pub(super) time: f64,
}

/// A size from which on a level is worse.
#[derive(Debug)]
pub(super) struct Cliff {
    pub(super) kind: String,
    pub(super) level: i32,
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) size: f64,
    pub(super) time: f64,
}

fn own(cell: &Cell) -> impl Iterator<Item = &Point> {
    cell.points.iter().filter(|point| point.is_own())
}

/// How many contents one turn packs.
fn pieces(bytes: u64) -> u64 {
    (TURN_BYTES / bytes.max(1)).clamp(1, PIECES_MAX)
}

/// The levels of our own, in order.
pub(super) fn levels(cells: &[Cell]) -> Vec<i32> {
    let mut levels: Vec<i32> = cells.iter().flat_map(own).map(|point| point.1).collect();
    levels.sort_unstable();
    levels.dedup();
    levels
}

/// Our points that a rival dominates, each with the rival that does so most.
pub(super) fn dominated(cells: &[Cell]) -> Vec<Dominated> {
    let mut all = Vec::new();
    for cell in cells {
        let pieces = pieces(cell.bytes);
        for point in own(cell) {
            let rivals = cell.points.iter().filter(|rival| {
                !rival.is_own()
                    && rival.2 <= point.2
                    && point.3 as f64 >= rival.3 as f64 * SMALLER_BY
                    && point.4 as f64 >= rival.4 as f64 * FASTER_BY
            });
            let weight = |rival: &Point| {
                (point.3 as f64 / rival.3.max(1) as f64) * (point.4 as f64 / rival.4.max(1) as f64)
            };
            let worst = rivals.max_by(|a, b| weight(a).total_cmp(&weight(b)));
            all.extend(worst.map(|rival| Dominated {
                kind: cell.kind.clone(),
                bytes: cell.bytes,
                packed_bytes: cell.bytes * pieces,
                threads: point.2,
                level: point.1,
                rival: rival.0.clone(),
                rival_level: rival.1,
                own: (point.3 / pieces, point.4),
                theirs: (rival.3 / pieces, rival.4),
                weight: weight(rival),
            }));
        }
    }
    all.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    all
}

/// Levels of our own that are larger than the smallest of the lower ones.
pub(super) fn inversions(cells: &[Cell]) -> Vec<Inversion> {
    let mut all = Vec::new();
    for cell in cells {
        for point in own(cell) {
            let lower = own(cell).filter(|other| other.1 < point.1 && other.2 == point.2);
            let Some(lower) = lower.min_by_key(|other| other.3) else {
                continue;
            };
            if point.3 as f64 >= lower.3 as f64 * INVERSION {
                all.push(Inversion {
                    kind: cell.kind.clone(),
                    bytes: cell.bytes,
                    threads: point.2,
                    level: point.1,
                    lower: lower.1,
                    size: point.3 as f64 / lower.3.max(1) as f64,
                    time: point.4 as f64 / lower.4.max(1) as f64,
                });
            }
        }
    }
    all.sort_by(|a, b| b.size.total_cmp(&a.size));
    all
}

/// Steps from one size to the next at which our levels lose more than those of libdeflate.
pub(super) fn cliffs(cells: &[Cell]) -> Vec<Cliff> {
    let mut all = Vec::new();
    for pair in cells.windows(2).filter(|pair| pair[0].kind == pair[1].kind) {
        let (small, large) = (&pair[0], &pair[1]);
        let change = |name: &str, level: i32| {
            let find = |cell: &Cell| {
                let mut points = cell.points.iter();
                let point = points.find(|point| point.0 == name && point.1 == level)?;
                let bytes = (cell.bytes * pieces(cell.bytes)) as f64;
                Some((point.3 as f64 / bytes, point.4 as f64 / bytes))
            };
            let (small, large) = (find(small)?, find(large)?);
            Some((large.0 / small.0, large.1 / small.1))
        };
        for point in own(small) {
            let (Some(ours), Some(theirs)) = (change(&point.0, point.1), change(MEASURE, point.1))
            else {
                continue;
            };
            let (size, time) = (ours.0 / theirs.0, ours.1 / theirs.1);
            if size > CLIFF_SIZE || time > CLIFF_TIME {
                all.push(Cliff {
                    kind: small.kind.clone(),
                    level: point.1,
                    from: small.bytes,
                    to: large.bytes,
                    size,
                    time,
                });
            }
        }
    }
    all.sort_by(|a, b| (b.size * b.time).total_cmp(&(a.size * a.time)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(bytes: u64, points: &[(&str, i32, u64, u64)]) -> Cell {
        let points = points.iter();
        let points =
            points.map(|(who, level, size, ns)| Point((*who).to_owned(), *level, 1, *size, *ns));
        Cell {
            kind: "text".to_owned(),
            bytes,
            points: points.collect(),
        }
    }

    #[test]
    fn only_smaller_and_faster_dominates() {
        let cells = [cell(
            1 << 20,
            &[
                ("zipstream", 1, 1000, 100),
                ("zipstream", 6, 900, 200),
                ("libdeflate", 1, 990, 150),
                ("libdeflate", 6, 880, 190),
                ("igzip", 1, 800, 80),
            ],
        )];
        let found = dominated(&cells);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].level, found[0].rival.as_str()), (6, "igzip"));
        let quiet = [cell(9, &[("zipstream", 1, 10, 10), ("igzip", 1, 9, 11)])];
        assert!(dominated(&quiet).is_empty());
        assert_eq!(levels(&cells), [1, 6]);
    }

    #[test]
    fn a_larger_higher_level_is_an_inversion() {
        let cells = [cell(
            1 << 20,
            &[
                ("zipstream", 1, 1000, 1),
                ("zipstream", 6, 900, 2),
                ("zipstream", 9, 950, 3),
            ],
        )];
        let found = inversions(&cells);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].level, found[0].lower), (9, 6));
    }

    #[test]
    fn a_cliff_is_a_change_that_libdeflate_does_not_have() {
        let points = |own: u64, ns: u64| {
            cell(
                1 << 20,
                &[("zipstream", 9, own, ns), ("libdeflate", 9, 1000, 100)],
            )
        };
        assert!(cliffs(&[points(1000, 100), points(1010, 110)]).is_empty());
        assert_eq!(cliffs(&[points(1000, 100), points(1080, 110)]).len(), 1);
        assert_eq!(cliffs(&[points(1000, 100), points(1000, 190)]).len(), 1);
    }
}
