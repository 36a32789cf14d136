//! How often headers with many extra fields are walked over.

use super::*;
use crate::format::end;
use crate::format::extra::WALKED;
use crate::read::directory::Directory;
use crate::read::options::ReadOptions;

const FIELDS: usize = 16_000;

/// An archive of one entry, both headers of which have many extra fields.
fn archive() -> Vec<u8> {
    let area: Vec<u8> = (0..FIELDS as u16)
        .flat_map(|number| [(40_000 + number).to_le_bytes(), [0; 2]].concat())
        .collect();
    let lengths = [1_u16.to_le_bytes(), (area.len() as u16).to_le_bytes()].concat();
    let mut archive = b"PK\x03\x04\x14\0\0\0\0\0\0\0\x21\0".to_vec();
    archive.extend_from_slice(&[0; 12]);
    archive.extend_from_slice(&lengths);
    archive.push(b'a');
    archive.extend_from_slice(&area);
    let start = archive.len();
    archive.extend_from_slice(b"PK\x01\x02\x14\x03\x14\0\0\0\0\0\0\0\x21\0");
    archive.extend_from_slice(&[0; 12]);
    archive.extend_from_slice(&lengths);
    archive.extend_from_slice(&[0; 14]);
    archive.push(b'a');
    archive.extend_from_slice(&area);
    let bytes = (archive.len() - start) as u64;
    end::put(&mut archive, 1, start as u64, bytes, b"");
    archive
}

/// The fields that something looks at.
fn walked<T>(work: impl FnOnce() -> T) -> (T, usize) {
    WALKED.set(0);
    let done = work();
    (done, WALKED.get())
}

#[test]
fn extra_fields_are_walked_over_a_few_times() {
    let archive = archive();
    let options = ReadOptions::strict();
    let (opened, fields) = walked(|| ArchiveReader::open_with(&archive[..], &options));
    let reader = opened.unwrap();
    assert!(fields <= 9 * (FIELDS + 1), "{fields}");
    let entry = reader.entries().next().unwrap().unwrap();
    let (_, fields) = walked(|| (entry.time(), entry.kind(), entry.method()));
    assert!(fields <= FIELDS + 1, "{fields}");
    // No step of several does it more than twice for each of two headers.
    let mut check = Check::new(&reader, true);
    let mut steps = 0;
    loop {
        let (done, fields) = walked(|| check.run(&reader, &mut Budget::bytes(1)));
        assert!(fields <= 4 * (FIELDS + 1), "step {steps}: {fields}");
        steps += 1;
        if done.unwrap() {
            break;
        }
    }
    assert!(steps >= 3, "{steps}");
    let directory: &Directory = reader.directory();
    assert_eq!(directory.entries(), 1);
}
