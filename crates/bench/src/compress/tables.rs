//! What was found, as tables of the report. Everything here is arithmetic on finished figures.

use latency::report::{Cell, Table, Unit};
use report::units::bytes;

use super::matrix;
use super::plan::Plan;
use super::rank::{self, Point, Speed};
use super::runner::{Found, Speeds};
use super::section::Section;

/// The name of all inputs together.
const TOGETHER: &str = "all together";

/// The columns that every table starts with.
const KEYS: [(&str, Unit); 3] = [
    ("data", Unit::Text),
    ("candidate", Unit::Text),
    ("block_bytes", Unit::Bytes),
];

/// What is in those columns.
fn row(section: &Section, found: &Found) -> Vec<Cell> {
    vec![
        section.data.as_str().into(),
        found.candidate.as_str().into(),
        section.block_bytes.into(),
    ]
}

fn table(name: &str, columns: &[(&str, Unit)]) -> Table {
    Table::new(name, &[&KEYS[..], columns].concat())
}

/// All tables, those with the verdicts first.
pub(crate) fn tables(sections: &[Section], plan: &Plan<'_>) -> Vec<Table> {
    let mut tables = Vec::new();
    let judged = judged(sections, plan.decompress_only);
    if !plan.rank_at.is_empty() {
        tables.push(ranks(&judged, &plan.rank_at));
    }
    if plan.pareto {
        tables.push(pareto(&judged));
    }
    if plan.matrix {
        tables.extend(matrix::tables(sections));
        return tables;
    }
    if !plan.decompress_only {
        tables.push(speeds("compress", sections, |found| found.compress));
    }
    tables.push(speeds("decompress", sections, |found| found.decompress));
    tables.push(contexts(sections));
    tables
}

/// The least ratio of what is called the best, unless others are asked for.
const RATIO_MIN: f64 = 1.1;
/// Sentences of a report at most: one for each kind of data and size of blocks.
const FINDINGS_MAX: usize = 12;

/// What is fastest at the ratios asked for, in a sentence for each kind of data and size of blocks.
pub(crate) fn findings(sections: &[Section], plan: &Plan<'_>) -> Vec<String> {
    let verb = if plan.decompress_only {
        "decompresses"
    } else {
        "compresses"
    };
    let asked = match plan.rank_at.as_slice() {
        [] => &[RATIO_MIN][..],
        asked => asked,
    };
    let mut findings = Vec::new();
    for judged in judged(sections, plan.decompress_only) {
        for least in asked {
            if judged.points.len() < 2 {
                continue;
            }
            let ranked = rank::at_ratio(&judged.points, *least);
            let of = match &judged.block_bytes {
                Cell::Integer(size) => format!("{} in {}", judged.data, bytes(*size as f64)),
                _ => judged.data.clone(),
            };
            let Some((first, _)) = ranked.first() else {
                findings.push(format!("{of}: nothing has a ratio of {least}."));
                continue;
            };
            let equal = ranked.iter().skip(1).take_while(|(_, level)| *level);
            let equal: Vec<&str> = equal.map(|(point, _)| point.name.as_str()).collect();
            let mut said = format!(
                "{of}: at a ratio of {least} or more, {} {verb} fastest ({} a CPU-second, ratio {:.2})",
                first.name,
                bytes(first.speed.median),
                first.ratio,
            );
            if !equal.is_empty() {
                said += &format!("; not told apart from it: {}", equal.join(", "));
            }
            findings.push(said + ".");
        }
    }
    findings.truncate(FINDINGS_MAX);
    findings
}

fn speeds(name: &str, sections: &[Section], direction: impl Fn(&Found) -> Option<Speeds>) -> Table {
    let columns = [
        ("ratio", Unit::Ratio),
        ("wall_bytes_per_s", Unit::BytesPerSecond),
        ("slowest_bytes_per_s", Unit::BytesPerSecond),
        ("fastest_bytes_per_s", Unit::BytesPerSecond),
        ("cpu_bytes_per_s", Unit::BytesPerSecond),
    ];
    let mut table = table(name, &columns);
    for section in sections {
        for found in &section.found {
            let speeds = direction(found);
            let wall = |of: fn(&Speed) -> f64| speeds.map(|speeds| of(&speeds.wall));
            let mut row = row(section, found);
            row.extend([
                found.ratio().into(),
                wall(|speed| speed.median).into(),
                wall(|speed| speed.min).into(),
                wall(|speed| speed.max).into(),
                speeds
                    .and_then(|speeds| speeds.cpu)
                    .map(|cpu| cpu.median)
                    .into(),
            ]);
            table.rows.push(row);
        }
    }
    table
}

fn contexts(sections: &[Section]) -> Table {
    let columns = [
        ("rounds", Unit::Count),
        ("operations", Unit::Count),
        ("predicted_bytes", Unit::Bytes),
        ("held_bytes", Unit::Bytes),
        ("decoder_held_bytes", Unit::Bytes),
    ];
    let mut table = table("contexts", &columns);
    for section in sections {
        for found in &section.found {
            let rounds = found.decompress.map(|speeds| speeds.wall.rounds as u64);
            let mut row = row(section, found);
            row.extend([
                rounds.into(),
                found.ops.into(),
                found.predicted_bytes.into(),
                found.compress_held_bytes.into(),
                found.decompress_held_bytes.into(),
            ]);
            table.rows.push(row);
        }
    }
    table
}

/// The candidates of a section as points, by bytes a CPU-second, or a second where the system does
/// not say what a thread used.
#[derive(Debug)]
struct Judged {
    data: String,
    block_bytes: Cell,
    points: Vec<Point>,
}

impl Judged {
    fn row(&self, name: &str) -> Vec<Cell> {
        vec![
            self.data.as_str().into(),
            name.into(),
            self.block_bytes.clone(),
        ]
    }
}

fn judged(sections: &[Section], decompress: bool) -> Vec<Judged> {
    let speed = |found: &Found| {
        let speeds = if decompress {
            found.decompress
        } else {
            found.compress
        };
        speeds.map(|speeds| speeds.cpu.unwrap_or(speeds.wall))
    };
    let point = |found: &Found| {
        Some(Point {
            name: found.candidate.clone(),
            ratio: found.ratio()?,
            speed: speed(found)?,
        })
    };
    let mut judged: Vec<Judged> = sections
        .iter()
        .map(|section| Judged {
            data: section.data.clone(),
            block_bytes: section.block_bytes.into(),
            points: section.found.iter().filter_map(point).collect(),
        })
        .collect();
    let mut sizes: Vec<Option<usize>> = Vec::new();
    for section in sections {
        if !sizes.contains(&section.asked) {
            sizes.push(section.asked);
        }
    }
    for asked in sizes {
        let of_size = sections.iter().filter(|section| section.asked == asked);
        let of_size: Vec<&Section> = of_size.collect();
        let points = together(&of_size, speed);
        if of_size.len() > 1 && !points.is_empty() {
            judged.push(Judged {
                data: TOGETHER.to_owned(),
                block_bytes: asked.map(|bytes| bytes as u64).into(),
                points,
            });
        }
    }
    judged
}

/// Every candidate that was measured on all sections: bytes over bytes, bytes over time.
fn together(sections: &[&Section], speed: impl Fn(&Found) -> Option<Speed>) -> Vec<Point> {
    let mut points = Vec::new();
    for name in sections[0].found.iter().map(|found| &found.candidate) {
        let all = sections.iter().map(|section| {
            let found = section.found.iter().find(|f| f.candidate == *name)?;
            Some((found, speed(found)?))
        });
        let Some(all) = all.collect::<Option<Vec<_>>>() else {
            continue;
        };
        let content: f64 = all.iter().map(|(f, _)| f.content_bytes as f64).sum();
        let frames: f64 = all.iter().map(|(f, _)| f.frame_bytes as f64).sum();
        let over = |of: fn(&Speed) -> f64| {
            let seconds = all.iter().map(|(f, s)| f.content_bytes as f64 / of(s));
            content / seconds.sum::<f64>()
        };
        points.push(Point {
            name: name.clone(),
            ratio: content / frames,
            speed: Speed {
                median: over(|speed| speed.median),
                min: over(|speed| speed.min),
                max: over(|speed| speed.max),
                rounds: all.iter().map(|(_, s)| s.rounds).min().unwrap_or(0),
            },
        });
    }
    points
}

fn ranks(judged: &[Judged], ratios: &[f64]) -> Table {
    let columns = [
        ("asked", Unit::Ratio),
        ("rank", Unit::Count),
        ("ratio", Unit::Ratio),
        ("cpu_bytes_per_s", Unit::BytesPerSecond),
        ("noise", Unit::Share),
        ("share", Unit::Share),
    ];
    let mut table = table("rank", &columns);
    for judged in judged {
        for asked in ratios {
            let ranked = rank::at_ratio(&judged.points, *asked);
            let first = ranked.first().map(|(point, _)| point.speed.median);
            let mut rank = 0_u64;
            for (index, (point, level)) in ranked.iter().enumerate() {
                // What the noise does not tell from the first is first as well.
                rank = if *level { 1 } else { index as u64 + 1 };
                let mut row = judged.row(&point.name);
                row.extend([
                    (*asked).into(),
                    rank.into(),
                    point.ratio.into(),
                    point.speed.median.into(),
                    point.speed.noise().into(),
                    first.map(|first| point.speed.median / first).into(),
                ]);
                table.rows.push(row);
            }
            if rank == 0 {
                let mut row = judged.row("none reaches it");
                row.push((*asked).into());
                row.resize(KEYS.len() + columns.len(), Cell::Null);
                table.rows.push(row);
            }
        }
    }
    table
}

fn pareto(judged: &[Judged]) -> Table {
    let columns = [
        ("ratio", Unit::Ratio),
        ("cpu_bytes_per_s", Unit::BytesPerSecond),
        ("noise", Unit::Share),
        ("dominated_by", Unit::Text),
        ("faster", Unit::Ratio),
    ];
    let mut table = table("pareto", &columns);
    for judged in judged {
        for (point, by) in judged.points.iter().zip(rank::dominators(&judged.points)) {
            let mut row = judged.row(&point.name);
            row.extend([
                point.ratio.into(),
                point.speed.median.into(),
                point.speed.noise().into(),
                by.map(|by| by.name.as_str()).into(),
                by.map(|by| by.speed.median / point.speed.median).into(),
            ]);
            table.rows.push(row);
        }
    }
    table
}
