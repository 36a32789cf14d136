//! The ranking: least CPU time per byte first, with equal ranks for those that cannot be distinguished.
//!
//! Codecs that took turns in rounds are compared with the leader of their rank round by round, as in
//! `perfkit compare`; a difference no larger than that of the A/A control does not count. For single runs,
//! only the speed is known, and it decides.

use latency::compare::{self, Names, PAIRS_MIN, Sides};
use latency::report::{Cell, Comparison, Latency, Table, Unit, Verdict};

use super::row::Row;

/// The cost per byte of a second turn of the same codec in each round, paired with the turn that it
/// repeats.
#[derive(Debug, Clone, Default)]
pub struct Control {
    /// What is repeated.
    pub(crate) name: String,
    pub(crate) first: Vec<f64>,
    pub(crate) again: Vec<f64>,
}

impl Control {
    /// The control compared with itself, if it ran.
    pub(crate) fn comparison(&self) -> Option<Comparison> {
        let sides = Sides {
            base: &self.first,
            target: &self.again,
            control: None,
            bucket_ops: 1,
        };
        (!self.again.is_empty()).then(|| compare::interleaved(names(&self.name, &self.name), sides))
    }

    /// What these costs would have been in a second run, according to the control.
    fn of(&self, costs: &[f64]) -> Vec<f64> {
        let again = self.again.iter().zip(&self.first);
        let each = costs.iter().zip(again);
        each.map(|(cost, (again, first))| cost * again / first)
            .collect()
    }
}

fn names<'a>(baseline: &'a str, target: &'a str) -> Names<'a> {
    Names {
        row: "cpu for a byte",
        baseline,
        target,
    }
}

/// The 50th, 99th and 99.9th percentile, if there are enough samples.
pub(crate) fn tail(row: &Latency) -> [Option<u64>; 3] {
    [50.0, 99.0, 99.9].map(|p| row.percentile(p))
}

const COLUMNS: [(&str, Unit); 19] = [
    ("rank", Unit::Count),
    ("codec", Unit::Text),
    ("pool", Unit::Text),
    ("verdict", Unit::Text),
    ("ratio", Unit::Ratio),
    ("cpu_bytes_per_s", Unit::BytesPerSecond),
    ("spread", Unit::Share),
    ("bytes_per_s", Unit::BytesPerSecond),
    ("blocks_per_s", Unit::PerSecond),
    ("compress_p50_ns", Unit::Nanoseconds),
    ("compress_p99_ns", Unit::Nanoseconds),
    ("compress_p99_9_ns", Unit::Nanoseconds),
    ("decompress_p50_ns", Unit::Nanoseconds),
    ("decompress_p99_ns", Unit::Nanoseconds),
    ("decompress_p99_9_ns", Unit::Nanoseconds),
    ("contexts_max", Unit::Count),
    ("threads", Unit::Count),
    ("codec_bytes_max", Unit::Bytes),
    ("rss_bytes_max", Unit::Bytes),
];

/// All of them, by bytes per CPU-second; then those that leak or miss the ratio (1.1 if none is asked for), without a
/// rank.
#[must_use]
pub fn ranking(rows: &[Row], control: &Control, ratio_min: Option<f64>) -> Table {
    let mut table = Table::new("codecs and pools", &COLUMNS);
    let mut order: Vec<&Row> = rows.iter().collect();
    order.sort_by(|a, b| {
        let speed = |row: &Row| row.cpu_bytes_per_s().unwrap_or(row.bytes_per_s());
        let ranks = b.ranks(ratio_min).cmp(&a.ranks(ratio_min));
        ranks.then(speed(b).total_cmp(&speed(a)))
    });
    let mut leader: Option<(u64, &Row)> = None;
    for (row, place) in order.into_iter().zip(1..) {
        let rank = row.ranks(ratio_min).then(|| match leader {
            Some((rank, first)) if !behind(row, first, control) => rank,
            _ => {
                leader = Some((place, row));
                place
            }
        });
        table.rows.push(cells(row, rank, ratio_min));
    }
    table
}

/// Whether `row` certainly takes more CPU time than `first`.
fn behind(row: &Row, first: &Row, control: &Control) -> bool {
    let again = control.of(&first.costs);
    let pairs = first.costs.len().min(row.costs.len()).min(again.len()) as u64;
    if pairs < PAIRS_MIN {
        return true;
    }
    let sides = Sides {
        base: &first.costs,
        target: &row.costs,
        control: Some(&again),
        bucket_ops: 1,
    };
    let names = names(&first.codec, &row.codec);
    compare::interleaved(names, sides).verdict == Verdict::Worse
}

fn cells(row: &Row, rank: Option<u64>, ratio_min: Option<f64>) -> Vec<Cell> {
    let verdict = match (
        row.leak.found(),
        row.misses(ratio_min),
        row.ranks(ratio_min),
    ) {
        (true, ..) => "leaks",
        (false, true, _) => "below the ratio",
        (false, false, false) => "sound, ratio below 1.1",
        (false, false, true) => "sound",
    };
    let mut cells: Vec<Cell> = vec![
        rank.into(),
        row.codec.as_str().into(),
        row.pool.name().into(),
        verdict.into(),
        row.ratio().into(),
        row.cpu_bytes_per_s().into(),
        spread(&row.costs).into(),
        row.bytes_per_s().into(),
        row.blocks_per_s().into(),
    ];
    cells.extend(tail(&row.compress).map(Cell::from));
    cells.extend(tail(&row.decompress).map(Cell::from));
    cells.extend([
        row.contexts_max.into(),
        row.threads.into(),
        row.codec_bytes_max.into(),
        row.rss_bytes_max.into(),
    ]);
    cells
}

/// From the best to the worst round, as a share of the median; `None` for a single run.
fn spread(costs: &[f64]) -> Option<f64> {
    let most = costs.iter().copied().fold(f64::MIN, f64::max);
    let least = costs.iter().copied().fold(f64::MAX, f64::min);
    let median = compare::median(costs).filter(|_| costs.len() > 1)?;
    Some((most - least) / median)
}

/// The result of the control, for readers of the ranks.
pub(crate) fn control_table(control: &Control) -> Option<Table> {
    let found = control.comparison()?;
    let difference = found.difference?;
    let columns = [
        ("repeated", Unit::Text),
        ("rounds", Unit::Count),
        ("median", Unit::Share),
        ("low", Unit::Share),
        ("high", Unit::Share),
    ];
    let mut table = Table::new("control, compared with itself", &columns);
    let interval = difference.median_ci95;
    table.rows.push(vec![
        control.name.as_str().into(),
        (control.again.len() as u64).into(),
        difference.median.into(),
        interval.map(|[low, _]| low).into(),
        interval.map(|[_, high]| high).into(),
    ]);
    Some(table)
}

#[cfg(test)]
mod tests {
    use stress::{Plan, PoolKind, codec};

    use super::*;

    /// A row with these costs, six rounds of them; everything else is of a run of one block.
    fn row(name: &str, costs: [f64; 6]) -> Row {
        let plan = Plan::default().blocks_max(Some(1));
        let codec = codec::by_name(name).expect("known");
        let found = stress::run(&plan, codec, &mut |_| true).expect("runs");
        let mut row = Row::new(&found, PoolKind::Mutex);
        row.costs = costs.to_vec();
        row
    }

    fn control(again: [f64; 6]) -> Control {
        Control {
            name: "none".to_owned(),
            first: vec![1.0; 6],
            again: again.to_vec(),
        }
    }

    /// Codecs by rank.
    fn ranked(rows: &[Row], control: &Control, ratio_min: Option<f64>) -> Vec<(Cell, Cell)> {
        let table = ranking(rows, control, ratio_min);
        let pick = |row: &Vec<Cell>| (row[0].clone(), row[1].clone());
        table.rows.iter().map(pick).collect()
    }

    #[test]
    fn those_that_rounds_cannot_tell_apart_share_a_rank() {
        let rows = [
            row("lz4", [3.0, 3.1, 2.9, 3.0, 3.2, 3.1]),
            row("none", [1.0, 1.1, 0.9, 1.0, 1.2, 0.8]),
            row("snappy", [1.1, 1.0, 1.0, 0.9, 1.1, 1.0]),
        ];
        let place = |rank: i64, name: &str| (Cell::Integer(rank), Cell::from(name));
        let quiet = control([1.0, 0.99, 1.01, 1.0, 0.99, 1.01]);
        let expected = [place(1, "none"), place(1, "snappy"), place(3, "lz4")];
        assert_eq!(ranked(&rows, &quiet, Some(0.0)), expected);
        // If the control differs by more than the codecs do, none of them ranks below another.
        let wild = control([5.0, 0.2, 4.0, 0.3, 5.0, 0.2]);
        let ranks = ranked(&rows, &wild, Some(0.0));
        assert!(ranks.iter().all(|(rank, _)| *rank == Cell::Integer(1)));
    }

    #[test]
    fn without_rounds_the_speed_decides_and_without_the_ratio_there_is_no_rank() {
        let mut rows = [row("none", [1.0; 6]), row("lz4", [2.0; 6])];
        rows.iter_mut().for_each(|row| row.costs.truncate(1));
        let ranks = ranked(&rows, &Control::default(), Some(0.0));
        assert_eq!(
            (&ranks[0].0, &ranks[1].0),
            (&Cell::Integer(1), &Cell::Integer(2))
        );
        // Without a ratio that was asked for, one that does not compress has no rank.
        let table = ranking(&rows, &Control::default(), None);
        let none = table.rows.iter().find(|row| row[1] == Cell::from("none"));
        let none = none.expect("a row");
        assert_eq!(
            (&none[0], &none[3]),
            (&Cell::Null, &Cell::from("sound, ratio below 1.1"))
        );
        let ranks = ranked(&rows, &Control::default(), Some(9.0));
        assert!(ranks.iter().all(|(rank, _)| *rank == Cell::Null));
    }

    #[test]
    fn a_control_is_told_of_only_where_there_was_one() {
        assert!(control_table(&Control::default()).is_none());
        let table = control_table(&control([1.0; 6])).expect("a table");
        assert_eq!(table.rows[0][1], Cell::Integer(6));
        assert_eq!(table.rows[0][2], Cell::Number(0.0));
    }
}
