//! Bodies of the targets over many frames: seek tables that nobody vouches for, ranges, and
//! decoding on threads.

use std::ops::Range;
use std::time::Duration;

use zstdkit::parallel::ParallelDecoder;
use zstdkit::seekable::{Indexer, RangeDecoder, SeekTable};
use zstdkit::{DecoderOptions, Error, ErrorKind, State, Totals, frame};

use crate::plan::Plan;
use crate::zstd::{check_error, decode};

/// What a test may decode at most.
const OUTPUT_LIMIT: u64 = 4 << 20;
const ROOM_BYTES: usize = 256 << 10;
/// How long a call may wait for threads.
const WAIT: Duration = Duration::from_millis(1);

/// Any bytes as a file with a seek table. The table is refused with a byte, or lies inside the
/// file; a range that can be read is a slice of what the file decodes to, by the table or by an
/// index of the frames, and does not depend on the cut.
pub fn zstd_seek_table(data: &[u8]) {
    let mut plan = Plan::new(data);
    let cut = plan.size(1 << 16);
    let room = plan.size(1 << 17);
    let start = plan.size(1 << 19) as u64 - 1;
    let range = start..start + plan.size(1 << 19) as u64 - 1;
    let file = plan.rest();
    let options = DecoderOptions::default()
        .with_window_log_max(23)
        .with_output_limit(OUTPUT_LIMIT);
    let (content, end) = decode(file, &options, file.len().max(1), ROOM_BYTES);
    match SeekTable::find(file) {
        Ok(Some(table)) => {
            check_table(&table, file.len() as u64, &range);
            let found = read(file, &table, range.clone(), &options, cut, room);
            let again = read(
                file,
                &table,
                range.clone(),
                &options,
                file.len(),
                ROOM_BYTES,
            );
            // A fault behind the range, in the frame that holds its end, may be met or not.
            if let (Ok(found), Ok(again)) = (&found, &again) {
                assert!(found == again, "the cut changed what was read");
            }
            if let (Ok(found), Ok(_), true) = (&found, &end, is_borne_out(&table, file)) {
                assert!(found == slice(&content, &range), "another range was read");
            }
        }
        Ok(None) => {}
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::SeekTable);
            check_error(&error, file.len());
        }
    }
    if end.is_ok() {
        let mut indexer = Indexer::default();
        let frames = frame::frames(file).map_while(Result::ok);
        for found in frames {
            if !indexer.push(&found) {
                break;
            }
        }
        let table = indexer.finish();
        let found = read(file, &table, range.clone(), &options, cut, room);
        assert_eq!(found.as_deref(), Ok(slice(&content, &range)));
    }
}

/// The part of the content that a range has, as much of it as there is.
fn slice<'a>(content: &'a [u8], range: &Range<u64>) -> &'a [u8] {
    let end = (range.end as usize).min(content.len());
    &content[(range.start as usize).min(end)..end]
}

/// Whether the frames are what the table says. Of those that are not read nobody can tell.
fn is_borne_out(table: &SeekTable, file: &[u8]) -> bool {
    let mut frames = frame::frames(file).map_while(Result::ok);
    table.iter().all(|entry| {
        frames.next().is_some_and(|frame| {
            frame.offset + frame.compressed_bytes == entry.stored.end
                && frame.content_size == Some(entry.content.end - entry.content.start)
        })
    })
}

fn check_table(table: &SeekTable, file_bytes: u64, range: &Range<u64>) {
    let mut at = (0, 0);
    for found in table.iter() {
        assert_eq!((found.stored.start, found.content.start), at);
        at = (found.stored.end, found.content.end);
        assert_eq!(found.checksum.is_some(), table.has_checksums());
    }
    assert_eq!(at, (table.stored_bytes(), table.content_bytes()));
    assert!(
        table.stored_bytes() < file_bytes,
        "it reaches into the table"
    );
    assert!(table.memory_bytes() as u64 <= 3 * file_bytes);

    let frames = table.frames_for(range.clone());
    for (index, found) in table.iter().enumerate() {
        let overlap = found.content.start.max(range.start)..found.content.end.min(range.end);
        assert!(
            overlap.is_empty() || frames.contains(&index),
            "a frame is missing"
        );
    }
    for index in [frames.start, frames.end.saturating_sub(1)] {
        if !frames.is_empty() {
            let found = table.frame(index).expect("a frame of the table").content;
            assert!(!found.is_empty() && found.start < range.end && range.start < found.end);
        }
    }
}

fn read(
    file: &[u8],
    table: &SeekTable,
    range: Range<u64>,
    options: &DecoderOptions,
    cut: usize,
    room: usize,
) -> Result<Vec<u8>, Error> {
    let mut decoder = RangeDecoder::new(table, range, options)?;
    let mut room = vec![0; room];
    let mut content = Vec::new();
    for piece in file[decoder.start() as usize..].chunks(cut.max(1)) {
        let mut input = piece;
        loop {
            let step = decoder.push(input, &mut room).inspect_err(|error| {
                check_error(error, file.len());
            })?;
            assert!(step.consumed + step.produced > 0 || step.state != State::MoreOutput);
            input = &input[step.consumed..];
            content.extend_from_slice(&room[..step.produced]);
            match step.state {
                State::Done => return Ok(content),
                State::NeedInput => break,
                State::MoreOutput => {}
            }
        }
    }
    decoder.finish()?;
    Ok(content)
}

/// Any bytes through the decoder with threads: content, totals and error are those of the decoder
/// without.
pub fn zstd_parallel(data: &[u8]) {
    let mut plan = Plan::new(data);
    let options = DecoderOptions::default()
        .with_window_log_max(10 + plan.below(14) as u32)
        .with_memory_limit(plan.bit().then_some(1 << 20))
        .with_verify_checksum(plan.bit())
        .with_output_limit(OUTPUT_LIMIT >> plan.below(12));
    let cut = plan.size(1 << 16);
    let many = plan.bit();
    // Small streams again and again, so that runs are long enough for threads.
    let stream = plan.rest().repeat(1 << plan.clone().below(6));

    let (content, end) = decode(&stream, &options, stream.len().max(1), ROOM_BYTES);
    let (found, found_end) = decode_parallel(&stream, &options, cut, many);
    assert_eq!(found_end, end, "threads changed how it ended");
    // What of the faulty frame comes out depends on the cut, with or without threads.
    let common = found.len().min(content.len());
    assert!(
        found[..common] == content[..common],
        "threads changed the content"
    );
    assert!(end.is_err() || found.len() == content.len());
}

fn decode_parallel(
    stream: &[u8],
    options: &DecoderOptions,
    cut: usize,
    many: bool,
) -> (Vec<u8>, Result<Totals, Error>) {
    let mut decoder = ParallelDecoder::new(options, 2).expect("the options are within bounds");
    decoder.reset(many);
    let mut room = vec![0; ROOM_BYTES];
    let mut content = Vec::new();
    let mut pieces = stream.chunks(cut);
    loop {
        let piece = pieces.next();
        let mut input = piece.unwrap_or_default();
        loop {
            let step = match piece {
                Some(_) => decoder.push(input, &mut room, WAIT),
                None => decoder.end(&mut room, WAIT),
            };
            let step = match step {
                Ok(step) => step,
                Err(error) => return (content, Err(error)),
            };
            input = &input[step.consumed..];
            content.extend_from_slice(step.output.as_deref().unwrap_or(&room[..step.produced]));
            match step.state {
                State::MoreOutput => {}
                State::NeedInput => break,
                State::Done => return (content, Ok(decoder.totals())),
            }
        }
    }
}
