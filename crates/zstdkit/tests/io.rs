//! The `std::io` adapters: round trips in any cut over readers and writers that are short, interrupted,
//! blocked or broken, and through `io::copy`, `BufRead` and `serde_json`.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{self, BufRead, BufReader, ErrorKind, Read, Write};

use crate::common::flaky::{Call, Flaky, calls, persist};
use crate::common::{self, noise, prose, skippable};
use proptest::prelude::*;
use zstdkit::io::{DecoderReader, DecoderWriter, EncoderReader, EncoderWriter};
use zstdkit::{DecoderOptions, EncoderOptions, Pool};

/// Writes everything, in these cuts, flushing after some.
fn write_all(
    writer: &mut impl Write,
    bytes: &[u8],
    cuts: &[usize],
    flushes: bool,
) -> io::Result<()> {
    let mut rest = bytes;
    for (at, cut) in common::cycle(cuts).enumerate() {
        if rest.is_empty() {
            return Ok(());
        }
        let piece = &rest[..cut.min(rest.len())];
        let count = persist(|| writer.write(piece))?;
        assert!(count > 0 && count <= piece.len());
        rest = &rest[count..];
        if flushes && at % 3 == 0 {
            persist(|| writer.flush())?;
        }
    }
    Ok(())
}

/// Reads everything, in reads of these sizes.
fn read_all(reader: &mut impl Read, cuts: &[usize]) -> io::Result<Vec<u8>> {
    let (mut all, mut buffer) = (Vec::new(), vec![0; 1 << 20]);
    for cut in common::cycle(cuts) {
        let room = cut.min(buffer.len());
        match persist(|| reader.read(&mut buffer[..room]))? {
            0 => break,
            count => all.extend_from_slice(&buffer[..count]),
        }
    }
    // The end stays the end.
    assert_eq!(reader.read(&mut buffer)?, 0);
    Ok(all)
}

fn cuts() -> impl Strategy<Value = Vec<usize>> {
    let cut = prop_oneof![1_usize..9, 500_usize..5000, 100_000_usize..300_000];
    prop::collection::vec(cut, 1..5).prop_map(|mut cuts| {
        cuts.push(150_000);
        cuts
    })
}

fn content() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(Vec::new()),
        (any::<u64>(), 1_usize..500).prop_map(|(seed, bytes)| noise(seed, bytes)),
        (any::<u64>(), 1_usize..400_000).prop_map(|(seed, bytes)| prose(seed, bytes)),
        (any::<u64>(), 1_usize..300_000).prop_map(|(seed, bytes)| noise(seed, bytes)),
    ]
}

fn options() -> EncoderOptions {
    EncoderOptions::default().with_level(1)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn what_is_written_in_any_cut_over_any_writer_comes_back(
        content in content(), cuts in cuts(), calls in calls(), flushes in any::<bool>(),
        sized in any::<bool>(),
    ) {
        let inner = Flaky::new(b"", &calls);
        let mut writer = match sized {
            true => EncoderWriter::with_content_size(inner, &options(), content.len() as u64),
            false => EncoderWriter::new(inner, &options()),
        }.unwrap();
        write_all(&mut writer, &content, &cuts, flushes).unwrap();
        persist(|| writer.try_finish()).unwrap();
        // Finishing twice does nothing.
        let bytes = writer.get_ref().bytes.len();
        persist(|| writer.try_finish()).unwrap();
        let frame = writer.into_inner().bytes;
        prop_assert_eq!(frame.len(), bytes);
        let stated = zstdkit::frame::content_size(&frame);
        prop_assert!(!sized || stated == Some(content.len() as u64));

        let mut writer = DecoderWriter::new(Flaky::new(b"", &calls), &Default::default()).unwrap();
        write_all(&mut writer, &frame, &cuts, flushes).unwrap();
        let totals = persist(|| writer.try_finish()).unwrap();
        prop_assert_eq!((totals.frames, totals.bytes_in), (1, frame.len() as u64));
        prop_assert!(writer.into_inner().bytes == content);
    }

    #[test]
    fn what_is_read_in_any_cut_from_any_reader_comes_back(
        content in content(), cuts in cuts(), calls in calls(), sized in any::<bool>(),
    ) {
        let inner = Flaky::new(&content, &calls);
        let mut reader = match sized {
            true => EncoderReader::with_content_size(inner, &options(), content.len() as u64),
            false => EncoderReader::new(inner, &options()),
        }.unwrap();
        let frame = read_all(&mut reader, &cuts).unwrap();
        prop_assert!(zstdkit::decompress(&frame, &Default::default()).unwrap() == content);

        let stream = [&frame[..], &skippable(3, b"note"), &frame].concat();
        let mut reader =
            DecoderReader::new(Flaky::new(&stream, &calls), &Default::default()).unwrap();
        prop_assert!(read_all(&mut reader, &cuts).unwrap() == [&content[..], &content].concat());
        prop_assert_eq!(reader.totals().frames, 2);
        prop_assert_eq!(reader.totals().bytes_in, stream.len() as u64);
    }

    #[test]
    fn every_adapter_decodes_what_is_damaged_as_the_decoder_does(
        content in content(), cuts in cuts(), calls in calls(), at in any::<prop::sample::Index>(),
        bit in 0..8, cut in any::<bool>(),
    ) {
        let mut stream = zstdkit::compress(&content, &options()).unwrap();
        let at = at.index(stream.len());
        if cut {
            stream.truncate(at);
        } else {
            stream[at] ^= 1_u8 << bit;
        }
        let expected = common::decode(&Default::default(), &stream, &[7], &[100]);
        let error = |error: io::Error| error.downcast::<zstdkit::Error>().unwrap();

        let mut reader =
            DecoderReader::new(Flaky::new(&stream, &calls), &Default::default()).unwrap();
        let read = read_all(&mut reader, &cuts).map_err(error);
        prop_assert_eq!(read.map(|_| reader.totals()), expected.result.clone());

        let mut writer = DecoderWriter::new(Flaky::new(b"", &calls), &Default::default()).unwrap();
        let written = write_all(&mut writer, &stream, &cuts, false);
        let written = written.and_then(|()| persist(|| writer.try_finish()));
        prop_assert_eq!(written.map_err(error), expected.result.clone());
        if expected.result.is_ok() {
            prop_assert_eq!(&writer.get_ref().bytes, &expected.content);
        }
    }
}

#[test]
fn a_flush_makes_everything_so_far_readable_and_reaches_the_inner_writer() {
    let content = prose(1, 10_000);
    let inner = Flaky::new(b"", &[Call::AtMost(usize::MAX)]);
    let mut writer = EncoderWriter::new(inner, &options()).unwrap();
    writer.write_all(&content).unwrap();
    writer.flush().unwrap();
    let so_far = writer.get_ref().bytes.clone();
    assert_eq!(writer.get_ref().flushed, so_far.len());
    // Another flush has nothing to write.
    writer.flush().unwrap();
    assert_eq!(writer.get_ref().bytes.len(), so_far.len());

    let mut decoder = DecoderWriter::new(Flaky::new(b"", &[Call::AtMost(7)]), &Default::default());
    let decoder = decoder.as_mut().unwrap();
    decoder.write_all(&so_far).unwrap();
    decoder.flush().unwrap();
    assert_eq!(decoder.get_ref().bytes, content);
    assert_eq!(decoder.get_ref().flushed, content.len());
    let error = decoder.try_finish().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
}

#[test]
fn a_writer_that_is_dropped_unfinished_leaves_a_truncated_frame() {
    let mut frame = Vec::new();
    let mut writer = EncoderWriter::new(&mut frame, &options()).unwrap();
    writer.write_all(&prose(1, 400_000)).unwrap();
    drop(writer);
    assert!(!frame.is_empty());
    let error = zstdkit::decompress(&frame, &Default::default()).unwrap_err();
    assert_eq!(error.kind(), zstdkit::ErrorKind::Truncated);
}

#[test]
fn an_error_of_the_inner_writer_loses_nothing() {
    /// Has room for a given number of bytes in all.
    struct Disk(Vec<u8>, usize);
    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            match bytes.len().min(self.1 - self.0.len()) {
                0 => Err(ErrorKind::StorageFull.into()),
                count => {
                    self.0.extend_from_slice(&bytes[..count]);
                    Ok(count)
                }
            }
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let content = noise(1, 700_000);
    let mut writer = EncoderWriter::new(Disk(Vec::new(), 100_000), &options()).unwrap();
    let (mut rest, mut failures) = (&content[..], 0);
    while !rest.is_empty() {
        match writer.write(rest) {
            Ok(count) => rest = &rest[count..],
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::StorageFull);
                failures += 1;
                writer.get_mut().1 += 50_000;
            }
        }
    }
    while writer.try_finish().is_err() {
        writer.get_mut().1 += 50_000;
        failures += 1;
    }
    assert!(failures > 10);
    let frame = writer.into_inner().0;
    assert!(zstdkit::decompress(&frame, &Default::default()).unwrap() == content);
}

#[test]
fn a_writer_that_takes_nothing_is_an_error() {
    let inner = Flaky::new(b"", &[Call::AtMost(0)]);
    let mut writer = EncoderWriter::new(inner, &options()).unwrap();
    writer.write_all(b"content").unwrap();
    assert_eq!(writer.finish().unwrap_err().kind(), ErrorKind::WriteZero);
}

#[test]
fn writes_after_the_end_and_wrong_sizes_are_errors() {
    let mut writer = EncoderWriter::new(Vec::new(), &options()).unwrap();
    writer.try_finish().unwrap();
    assert_eq!(writer.write(b"").unwrap(), 0);
    let error = writer.write(b"late").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert_eq!(
        error.downcast::<zstdkit::Error>().unwrap().kind(),
        zstdkit::ErrorKind::NoOpenFrame
    );

    let mut writer = EncoderWriter::with_content_size(Vec::new(), &options(), 3).unwrap();
    assert!(writer.write(b"four").is_err());
    let mut writer = EncoderWriter::with_content_size(Vec::new(), &options(), 5).unwrap();
    writer.write_all(b"four").unwrap();
    assert!(writer.finish().is_err());
    for size in [3, 5] {
        let mut reader = EncoderReader::with_content_size(&b"four"[..], &options(), size).unwrap();
        assert!(reader.read_to_end(&mut Vec::new()).is_err(), "{size}");
    }
}

#[test]
fn the_end_of_the_reader_is_judged() {
    let frame = zstdkit::compress(b"content", &options()).unwrap();
    let read = |stream: &[u8]| {
        let mut content = Vec::new();
        let mut reader = DecoderReader::new(stream, &Default::default()).unwrap();
        let result = reader.read_to_end(&mut content);
        // An error is repeated.
        assert_eq!(result.is_err(), reader.read(&mut [0]).is_err());
        result.map(|_| content).map_err(|error| error.kind())
    };
    assert_eq!(read(&frame).unwrap(), b"content");
    assert_eq!(read(b"").unwrap_err(), ErrorKind::UnexpectedEof);
    assert_eq!(
        read(&frame[..frame.len() - 1]).unwrap_err(),
        ErrorKind::UnexpectedEof
    );
    assert_eq!(
        read(&[&frame[..], b"text"].concat()).unwrap_err(),
        ErrorKind::InvalidData
    );
}

#[test]
fn a_single_frame_leaves_the_reader_right_behind_it() {
    let frame = zstdkit::compress(&prose(1, 300_000), &options()).unwrap();
    for before in [&b""[..], &skippable(0, b"note")] {
        for behind in [&b""[..], b"x", b"not a frame", &frame] {
            let stream = [before, &frame, behind].concat();
            let mut rest = BufReader::with_capacity(1000, &stream[..]);
            let mut reader = DecoderReader::with_buffer(&mut rest, &Default::default())
                .unwrap()
                .single_frame();
            let mut content = Vec::new();
            assert_eq!(reader.read_to_end(&mut content).unwrap(), 300_000);
            assert_eq!(reader.read(&mut [0]).unwrap(), 0);
            let mut left = Vec::new();
            rest.read_to_end(&mut left).unwrap();
            assert_eq!(left, behind);
        }
    }
    let mut reader = DecoderReader::new(&b""[..], &Default::default())
        .unwrap()
        .single_frame();
    assert!(reader.read(&mut [0]).is_err());
}

#[test]
fn limits_hold_and_content_before_them_is_given() {
    let frame = EncoderOptions::default().with_content_size(false);
    let mut writer = EncoderWriter::new(Vec::new(), &frame).unwrap();
    writer.write_all(&noise(1, 400_000)).unwrap();
    let frame = writer.finish().unwrap();
    let options = DecoderOptions::default().with_output_limit(200_000);
    let mut content = Vec::new();
    let mut reader = DecoderReader::new(&frame[..], &options).unwrap();
    let error = reader.read_to_end(&mut content).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidData);
    assert!(!content.is_empty() && noise(1, 200_000).starts_with(&content));
    let mut writer = DecoderWriter::new(Vec::new(), &options).unwrap();
    assert!(writer.write_all(&frame).is_err());
}

#[test]
fn lines_and_json_are_read_without_another_buffer() {
    let content: String = (0..30_000).map(|n| format!("[{n},{}]\n", n * 7)).collect();
    let stream = zstdkit::compress(content.as_bytes(), &options()).unwrap();
    let lines = DecoderReader::new(&stream[..], &Default::default())
        .unwrap()
        .lines();
    assert!(lines.map(Result::unwrap).eq(content.lines()));
    let reader = DecoderReader::new(&stream[..], &Default::default()).unwrap();
    let rows = serde_json::Deserializer::from_reader(reader).into_iter::<(u32, u32)>();
    assert_eq!(
        rows.map(Result::unwrap)
            .filter(|(a, b)| a * 7 == *b)
            .count(),
        30_000
    );
}

#[test]
fn contexts_of_a_pool_go_back_to_it() {
    let pool = Pool::default();
    for _ in 0..3 {
        let mut writer =
            EncoderWriter::with_encoder(Vec::new(), pool.encoder(&options(), None).unwrap());
        io::copy(&mut io::repeat(7).take(300_000), &mut writer).unwrap();
        let frame = writer.finish().unwrap();
        let decoder = pool.decoder(&Default::default()).unwrap();
        let mut reader = DecoderReader::with_decoder(&frame[..], decoder);
        assert_eq!(io::copy(&mut reader, &mut io::sink()).unwrap(), 300_000);
    }
    assert_eq!((pool.stats().misses, pool.stats().in_use), (2, 0));
}
