//! What few programs ask of an entry: a password of its own, extra fields, attributes, comments, owners.

use zipstream::{
    ArchiveOptions, ArchiveReader, ArchiveWriter, Decryption, Encryption, EntryOptions, EntryOwner,
    ErrorKind, Password, PipeReader, ReadOptions, Scratch,
};

use crate::common::sample;

const PASSWORDS: [(&str, Option<&str>, usize); 6] = [
    ("a", Some("first"), 100),
    ("b", Some("second"), 200),
    ("plain", None, 300),
    ("large", Some("third"), 3_000_000),
    ("last", Some("first"), 400),
    ("dir/", Some("unused"), 0),
];

fn by_name() -> Decryption {
    Decryption::by_name(|name| {
        let found = PASSWORDS.iter().find(|(other, _, _)| *other == name)?;
        found.1.map(Password::from)
    })
}

#[test]
fn every_entry_has_its_own_password() {
    for threads in [0, 3] {
        let options = ArchiveOptions::new().threads(threads);
        let mut writer = ArchiveWriter::with_options(Vec::new(), options).unwrap();
        for (name, password, bytes) in PASSWORDS {
            let encryption = password.map(|password| Encryption::new(Password::from(password)));
            writer.set_encryption(encryption).unwrap();
            let options = match bytes {
                0 => EntryOptions::directory(),
                _ => EntryOptions::default(),
            };
            let content = sample(7, bytes);
            writer.add(name, &options, &mut &content[..]).unwrap();
        }
        let (archive, _) = writer.finish().unwrap();
        let mut reader = ArchiveReader::open_with(&archive[..], &ReadOptions::strict()).unwrap();
        reader.set_decryption(Some(by_name()));
        for (name, password, bytes) in PASSWORDS {
            let entry = reader.find(name).unwrap().unwrap();
            assert_eq!(
                entry.is_encrypted(),
                password.is_some() && bytes > 0,
                "{name}"
            );
            assert!(reader.read(&entry).unwrap() == sample(7, bytes), "{name}");
        }
        let mut pipe = PipeReader::new(&archive[..], &ReadOptions::default());
        pipe.set_decryption(Some(by_name().release_early(true)));
        let mut read = 0;
        while let Some(entry) = pipe.next_entry().unwrap() {
            let name = entry.name.clone();
            let mut content = Vec::new();
            let copied = pipe.content(&mut |piece: &[u8]| {
                content.extend_from_slice(piece);
                Ok::<_, zipstream::Error>(())
            });
            copied.unwrap();
            let bytes = PASSWORDS
                .iter()
                .find(|(other, _, _)| *other == name)
                .unwrap()
                .2;
            assert!(content == sample(7, bytes), "{name}");
            read += 1;
        }
        assert_eq!(read, PASSWORDS.len());
        // One password opens its own entries only.
        reader.set_decryption(Some(Decryption::new(Password::from("first"))));
        for (name, opens) in [("a", true), ("b", false), ("last", true), ("large", false)] {
            let entry = reader.find(name).unwrap().unwrap();
            let read = reader.read(&entry);
            assert_eq!(read.is_ok(), opens, "{name}");
            assert!(opens || read.unwrap_err().kind() == ErrorKind::Password);
        }
        reader.set_decryption(Some(Decryption::by_name(|_| None)));
        let entry = reader.find("a").unwrap().unwrap();
        assert_eq!(reader.read(&entry).unwrap_err().kind(), ErrorKind::Password);
    }
}

#[test]
fn passwords_change_between_entries_only() {
    let mut writer = ArchiveWriter::new(Vec::new());
    writer.start_entry("a", &EntryOptions::default()).unwrap();
    let encryption = Some(Encryption::new(Password::from("x")));
    let error = writer.set_encryption(encryption.clone()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Order);
    writer.finish_entry().unwrap();
    let options = ArchiveOptions::new().reproducible(0);
    let mut writer = ArchiveWriter::with_options(Vec::new(), options).unwrap();
    assert_eq!(
        writer.set_encryption(encryption).unwrap_err().kind(),
        ErrorKind::Setting
    );
    writer.set_encryption(None).unwrap();
}

#[test]
fn fields_attributes_and_comments_are_read_and_replaced() {
    let mut writer = ArchiveWriter::new(Vec::new());
    let options = EntryOptions::default()
        .modified(1_000_000_000)
        .owner(EntryOwner::new(1000, 100));
    writer.add("a", &options, &mut &b"content"[..]).unwrap();
    let (archive, _) = writer.finish().unwrap();
    let reader = ArchiveReader::open_with(archive, &ReadOptions::strict()).unwrap();
    let entry = reader.find("a").unwrap().unwrap();
    assert_eq!(entry.owner(), Some(EntryOwner::new(1000, 100)));
    let mut scratch = Scratch::default();
    let local = reader.local_extra_bytes(&entry, &mut scratch).unwrap();
    assert_eq!(local, entry.extra_bytes());

    let mut writer = ArchiveWriter::new(Vec::new());
    writer
        .copy_with(&reader, &entry, &mut scratch, |raw| {
            raw.set_comment("why")?;
            raw.set_extra_field(0xcafe, b"data")?;
            raw.set_extra_field(0xcafe, b"other")?;
            raw.remove_extra_field(0x7875)?;
            raw.set_internal_attributes(1);
            let attributes = raw.external_attributes();
            raw.set_external_attributes(attributes | 1);
            for id in [1, 0x9901, 0x7075] {
                assert_eq!(
                    raw.set_extra_field(id, b"").unwrap_err().kind(),
                    ErrorKind::Setting
                );
            }
            let error = raw.set_extra_field(0xbeef, &[0; 65_530]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Setting);
            Ok(())
        })
        .unwrap();
    let (archive, _) = writer.finish().unwrap();
    let reader = ArchiveReader::open_with(archive, &ReadOptions::strict()).unwrap();
    let entry = reader.find("a").unwrap().unwrap();
    let fields: Vec<_> = entry
        .extra_fields()
        .map(|field| (field.id, field.data))
        .collect();
    assert_eq!(fields.len(), 2);
    assert_eq!(fields[1], (0xcafe, &b"other"[..]));
    assert_eq!((entry.comment(), entry.owner()), (&b"why"[..], None));
    assert_eq!(
        (entry.internal_attributes(), entry.external_attributes() & 1),
        (1, 1)
    );
    let mut scratch = Scratch::default();
    let local = reader.local_extra_bytes(&entry, &mut scratch).unwrap();
    assert_eq!(local, entry.extra_bytes());
    assert_eq!(reader.read(&entry).unwrap(), b"content");
}

#[test]
fn a_reproducible_archive_states_no_owner() {
    let options = ArchiveOptions::new().reproducible(315_532_800);
    let mut writer = ArchiveWriter::with_options(Vec::new(), options).unwrap();
    let options = EntryOptions::default().owner(EntryOwner::new(1, 2));
    writer.add("a", &options, &mut &b"content"[..]).unwrap();
    let reader = ArchiveReader::open(writer.finish().unwrap().0).unwrap();
    let entry = reader.find("a").unwrap().unwrap();
    assert_eq!((entry.owner(), entry.extra_bytes()), (None, &b""[..]));
}
