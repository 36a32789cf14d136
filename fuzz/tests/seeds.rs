//! The seeds are what their names say: a seed that is refused at its first byte teaches nothing.

#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;

use latency::report;
use latency::{Gate, hgrm, hlog};
use matcher::log::{Ending, Frames, LogError};
use zstdkit::seekable::SeekTable;
use zstdkit::{DecoderOptions, ErrorKind};

fn seed(target: &str, name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(target)
        .join(name);
    fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn text(target: &str, name: &str) -> String {
    String::from_utf8(seed(target, name)).expect("the seed is text")
}

#[test]
fn zstd_streams() {
    // Eight bytes of options come first.
    let decode = |name: &str| {
        zstdkit::decompress(&seed("zstd_decode", name)[8..], &DecoderOptions::default())
            .map(|content| content.len())
            .map_err(|error| error.kind())
    };
    assert_eq!(decode("json"), Ok(2_000));
    assert_eq!(decode("several-blocks"), Ok(3_000));
    assert_eq!(decode("rle-blocks"), Ok(300_000));
    assert_eq!(decode("two-frames"), Ok(6));
    assert_eq!(decode("skippable"), Ok(5));
    assert_eq!(decode("empty-content"), Ok(0));
    assert_eq!(decode("truncated"), Err(ErrorKind::Truncated));
    assert_eq!(decode("trailing"), Err(ErrorKind::TrailingData));
    assert_eq!(decode("gzip"), Err(ErrorKind::NotZstd));
    assert_eq!(decode("legacy"), Err(ErrorKind::LegacyFormat));
    assert_eq!(decode("window-too-large"), Err(ErrorKind::WindowLimit));
    assert_eq!(decode("dictionary"), Err(ErrorKind::Dictionary));
    assert!(decode("flipped-bit").is_err());
}

#[test]
fn seek_tables() {
    // Eight bytes of cut, room and range come first.
    let table = |name: &str| SeekTable::find(&seed("zstd_seek_table", name)[8..]);
    let frames = |name: &str| table(name).expect("a good one").expect("a table").len();
    assert_eq!(frames("three-frames"), 3);
    assert_eq!(frames("checksums"), 3);
    assert_eq!(frames("no-frames"), 0);
    assert_eq!(table("none"), Ok(None));
    assert!(table("two-files").is_err());
    // This one is only found out by decoding.
    assert_eq!(frames("wrong-sizes"), 3);
}

#[test]
fn numbers() {
    assert!(report::read_json(&seed("report_json", "whole")).is_ok());
    assert!(report::read_json(&seed("report_json", "foreign")).is_err());
    for name in ["percentile", "named", "mean", "max", "micro-sign"] {
        let gate = text("gate_parse", name);
        assert!(gate.parse::<Gate>().is_ok(), "{gate}");
    }
    assert!(text("gate_parse", "no-gate").parse::<Gate>().is_err());
    // One byte chooses the unit.
    let rows = hgrm::read(&text("hgrm_read", "microseconds")[1..], hgrm::HgrmUnit::Us);
    assert_eq!(rows.expect("it reads").total_count, 40);
    assert!(
        hlog::read(&seed("hlog_read", "two-tags"))
            .expect("it reads")
            .len()
            > 2
    );
}

#[test]
fn histograms() {
    let whole = report::read_json(&seed("report_json", "whole")).expect("it reads");
    let mut row = whole.latencies[0].clone();
    assert_eq!(row.histogram().expect("it decodes").len(), 40);
    row.histogram_v2_deflate_b64 = text("histogram_decode", "base64");
    assert_eq!(row.histogram().expect("it decodes").len(), 40);
}

#[test]
fn logs_of_changes() {
    let read = |name: &str| {
        let bytes = seed("matcher_log", name);
        let mut frames = Frames::new(&bytes)?;
        while frames.next_frame()?.is_some() {}
        Ok((frames.last(), frames.ending()))
    };
    assert_eq!(read("empty"), Ok((41, Ending::Whole)));
    assert_eq!(read("whole"), Ok((3, Ending::Whole)));
    assert!(matches!(
        read("torn"),
        Ok((2, Ending::Torn { bytes: 7, .. }))
    ));
    assert!(matches!(
        read("damaged"),
        Err(LogError::Damaged { at: 24, .. })
    ));
    assert_eq!(read("records"), Err(LogError::Foreign));
}
