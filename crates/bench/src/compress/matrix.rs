//! The tables of the matrix: what every candidate takes one-shot and streamed, both ways, by the
//! call, and what its contexts hold. Only arithmetic on finished figures; verdicts are made in
//! [`super::rank`].

use latency::report::{Cell, Table, Unit};

use super::codec::CALL_BYTES;
use super::plan::Mode;
use super::rank::Speed;
use super::runner::{Found, Speeds, Tail};
use super::section::Section;

/// A row of work that a table has a block of.
struct Work {
    name: &'static str,
    mode: Mode,
    of: fn(&Found) -> (Option<Speeds>, Option<Tail>),
}

const WORK: [Work; 4] = [
    Work {
        name: "compress",
        mode: Mode::Whole,
        of: |found| (found.compress, found.compress_tail),
    },
    Work {
        name: "compress streamed",
        mode: Mode::Flushed,
        of: |found| (found.compress, found.compress_tail),
    },
    Work {
        name: "decompress",
        mode: Mode::Whole,
        of: |found| (found.decompress, found.decompress_tail),
    },
    Work {
        name: "decompress streamed",
        mode: Mode::Flushed,
        of: |found| (found.decompress, found.decompress_tail),
    },
];

/// What calls take, then what contexts hold.
pub(crate) fn tables(sections: &[Section]) -> [Table; 2] {
    [times(sections), memory(sections)]
}

fn times(sections: &[Section]) -> Table {
    let mut table = Table::new(
        "matrix",
        &[
            ("data", Unit::Text),
            ("work", Unit::Text),
            ("candidate", Unit::Text),
            ("call_bytes", Unit::Bytes),
            ("ratio", Unit::Ratio),
            ("calls", Unit::Count),
            ("p50_ns", Unit::Nanoseconds),
            ("p99_ns", Unit::Nanoseconds),
            ("wall_bytes_per_s", Unit::BytesPerSecond),
            ("slowest_bytes_per_s", Unit::BytesPerSecond),
            ("fastest_bytes_per_s", Unit::BytesPerSecond),
        ],
    );
    for section in sections {
        for work in &WORK {
            let found = section.found.iter().filter(|f| f.mode == work.mode);
            table
                .rows
                .extend(found.map(|found| row(section, work, found)));
        }
    }
    table
}

fn row(section: &Section, work: &Work, found: &Found) -> Vec<Cell> {
    let (speeds, tail) = (work.of)(found);
    let wall = |of: fn(&Speed) -> f64| speeds.map(|speeds| of(&speeds.wall));
    let call_bytes = match found.mode {
        Mode::Whole => section.block_bytes,
        Mode::Stream | Mode::Flushed => section.block_bytes.min(CALL_BYTES as u64),
    };
    vec![
        section.data.as_str().into(),
        work.name.into(),
        found.choice.as_str().into(),
        call_bytes.into(),
        found.ratio().into(),
        tail.map(|tail| tail.n).into(),
        tail.and_then(|tail| tail.p50_ns).into(),
        tail.and_then(|tail| tail.p99_ns).into(),
        wall(|speed| speed.median).into(),
        wall(|speed| speed.min).into(),
        wall(|speed| speed.max).into(),
    ]
}

fn memory(sections: &[Section]) -> Table {
    let mut table = Table::new(
        "memory",
        &[
            ("data", Unit::Text),
            ("candidate", Unit::Text),
            ("block_bytes", Unit::Bytes),
            ("predicted_bytes", Unit::Bytes),
            ("held_bytes", Unit::Bytes),
            ("stream_predicted_bytes", Unit::Bytes),
            ("stream_held_bytes", Unit::Bytes),
            ("decoder_held_bytes", Unit::Bytes),
            ("stream_decoder_held_bytes", Unit::Bytes),
        ],
    );
    for section in sections {
        for whole in section.found.iter().filter(|f| f.mode == Mode::Whole) {
            let of_mode = |f: &&Found| f.mode != Mode::Whole && f.choice == whole.choice;
            let stream = section.found.iter().find(of_mode);
            table.rows.push(vec![
                section.data.as_str().into(),
                whole.choice.as_str().into(),
                section.block_bytes.into(),
                whole.predicted_bytes.into(),
                whole.compress_held_bytes.into(),
                stream.and_then(|found| found.predicted_bytes).into(),
                stream.and_then(|found| found.compress_held_bytes).into(),
                whole.decompress_held_bytes.into(),
                stream.map(|found| found.decompress_held_bytes).into(),
            ]);
        }
    }
    table
}
