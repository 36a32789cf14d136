//! Stores of sessions: what is kept, files of QuickFIX both ways, and logs.

use std::fs;
use std::path::{Path, PathBuf};

use fixcore::Timestamp;
use fixsession::settings::{LogFormat, LogOptions, StorageOptions};
use fixsession::stores::{
    AnyStore, DurableStore, FileFormat, SessionLog, export, found, import, store_name,
};
use fixsession::{SessionId, Store};

fn at(text: &str) -> Timestamp {
    Timestamp::parse(text.as_bytes()).unwrap()
}

fn now() -> Timestamp {
    at("20260102-03:04:05.006")
}

fn message(number: u64, text: &str) -> Vec<u8> {
    let body = format!(
        "35=D\u{1}34={number}\u{1}49=A\u{1}52=20260102-03:04:05\u{1}56=B\u{1}58={text}\u{1}"
    );
    let mut out = Vec::new();
    fixcore::frame::write(b"FIX.4.4", body.as_bytes(), &mut out);
    out
}

/// Files as an engine would have written them, with these message numbers.
fn written(prefix: &Path, format: FileFormat, numbers: &[u64], next: (u64, u64)) {
    let (mut header, mut body) = (Vec::new(), Vec::new());
    for number in numbers {
        let message = message(*number, &"x".repeat((*number % 50) as usize + 1));
        match format {
            FileFormat::QuickFixJ => {
                header.extend((*number as i32).to_be_bytes());
                header.extend((body.len() as i64).to_be_bytes());
                header.extend((message.len() as i32).to_be_bytes());
            }
            _ => header.extend(format!("{number},{},{} ", body.len(), message.len()).bytes()),
        }
        body.extend(message);
    }
    put(prefix, "header", &header);
    put(prefix, "body", &body);
    let (sender, target) = next;
    let java = |text: &str| [&(text.len() as u16).to_be_bytes()[..], text.as_bytes()].concat();
    match format {
        FileFormat::QuickFixJ => {
            put(prefix, "senderseqnums", &java(&sender.to_string()));
            put(prefix, "targetseqnums", &java(&target.to_string()));
            put(prefix, "session", &java("20260102-03:04:05.678"));
        }
        FileFormat::QuickFix115 => {
            put(
                prefix,
                "seqnums",
                format!("{sender:010} : {target:010}").as_bytes(),
            );
            put(prefix, "session", b"20260102-03:04:05");
        }
        _ => {
            put(
                prefix,
                "seqnums",
                format!("{sender:020} : {target:020}").as_bytes(),
            );
            put(prefix, "session", b"20260102-03:04:05");
        }
    }
}

fn file(prefix: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}.{ending}", prefix.display()))
}

fn put(prefix: &Path, ending: &str, bytes: &[u8]) {
    fs::write(file(prefix, ending), bytes).unwrap();
}

#[test]
fn files_of_each_engine_come_back_byte_for_byte() {
    for format in FileFormat::ALL {
        let dir = tempfile::tempdir().unwrap();
        let (from, store, to) = (
            dir.path().join("FIX.4.4-A-B"),
            dir.path().join("stores/one"),
            dir.path().join("back"),
        );
        let numbers: Vec<u64> = (1..500).filter(|number| number % 7 != 0).collect();
        written(&from, format, &numbers, (5000, 77));
        let imported = import(&from, &store, false).unwrap();
        assert_eq!(imported.format, format);
        assert_eq!(imported.messages, numbers.len() as u64);
        assert_eq!((imported.next_sender, imported.next_target), (5000, 77));
        assert_eq!((imported.replaced, imported.is_raised), (0, false));
        {
            let store = DurableStore::open(&store, false, false, now()).unwrap();
            assert_eq!((store.next_sender(), store.next_target()), (5000, 77));
            let began = store.created().to_string();
            assert!(began.starts_with("20260102-03:04:05"), "{began}");
            assert_eq!(
                store.sent(499).unwrap(),
                Some(&message(499, &"x".repeat(50))[..])
            );
            assert_eq!(store.sent(490).unwrap(), None);
        }
        let exported = export(&store, &to, format, false, now()).unwrap();
        assert_eq!(exported.messages, imported.messages);
        assert_eq!(exported.files.len(), format.endings().len());
        for ending in format.endings() {
            let (one, other) = (fs::read(file(&from, ending)), fs::read(file(&to, ending)));
            assert!(one.unwrap() == other.unwrap(), "{} {ending}", format.name());
        }
        // Nothing is overwritten, and what is there stays.
        let again = export(&store, &to, format, false, now()).unwrap_err();
        assert!(
            again
                .to_string()
                .ends_with("exists already: it is not overwritten"),
            "{again}"
        );
        assert!(
            import(&from, &store, false)
                .unwrap_err()
                .to_string()
                .contains("exists already")
        );
        assert!(file(&to, "body").exists());
        export(&store, &to, format, true, now()).unwrap();
        import(&from, &store, true).unwrap();
        let open = DurableStore::open(&store, false, false, now()).unwrap();
        assert_eq!(open.next_sender(), 5000);
        assert!(
            import(&from, &store, true)
                .unwrap_err()
                .to_string()
                .contains("locked")
        );
        assert_eq!(fs::read_dir(dir.path().join("stores")).unwrap().count(), 1);
    }
}

#[test]
fn one_engine_s_files_become_those_of_another() {
    let dir = tempfile::tempdir().unwrap();
    let from = dir.path().join("cpp");
    written(&from, FileFormat::QuickFix115, &[1, 2, 3], (4, 9));
    // Also by the name of one of the files.
    import(&file(&from, "body"), &dir.path().join("store"), false).unwrap();
    let to = dir.path().join("java");
    export(
        &dir.path().join("store"),
        &to,
        FileFormat::QuickFixJ,
        false,
        now(),
    )
    .unwrap();
    assert_eq!(found(&to), Some(FileFormat::QuickFixJ));
    assert_eq!(fs::read(file(&to, "senderseqnums")).unwrap(), b"\0\x014");
    assert_eq!(
        fs::read(file(&to, "session")).unwrap(),
        b"\0\x1520260102-03:04:05.000"
    );
}

#[test]
fn damaged_files_are_refused_with_their_place_and_leave_nothing() {
    type Harm = fn(&Path);
    let cpp: [(Harm, &str); 11] = [
        (
            |p| shorten(p, "header", 1),
            "header' is damaged at byte 15: found '3,139,71', expected 'number,offset,size '",
        ),
        (
            |p| shorten(p, "body", 1),
            "header' is damaged at byte 15: message 3 is stated at byte 139 of the body with 71 bytes, which has 209",
        ),
        (
            |p| put(p, "header", b"1,0,69 x"),
            "header' is damaged at byte 7: found 'x', expected 'number,offset,size '",
        ),
        (
            |p| put(p, "header", b"0,0,69 "),
            "header' is damaged at byte 0: message number 0",
        ),
        (
            |p| put(p, "header", b"1,0,68 "),
            "body' is damaged at byte 0: message 1 is not",
        ),
        (
            |p| put(p, "header", b"2,0,69 "),
            "body' is damaged at byte 0: MsgSeqNum (34) of message 2: stated '1'",
        ),
        (
            |p| put(p, "header", b"1,18446744073709551615,69 "),
            "header' is damaged at byte 0: message 1 is stated at byte 18446744073709551615",
        ),
        (
            |p| flip(p, "body", 58),
            "body' is damaged at byte 0: CheckSum (10) of message 1: stated ",
        ),
        (
            |p| put(p, "seqnums", b""),
            "seqnums' is damaged at byte 0: found '', expected both next numbers",
        ),
        (
            |p| put(p, "seqnums", b"0000000002 : 0000000001"),
            "header' is damaged at byte 7: message 2, but the next number to send is 2",
        ),
        (
            |p| put(p, "session", b"yesterday"),
            "session' is damaged at byte 0: found 'yesterday', expected a time",
        ),
    ];
    let java: [(Harm, &str); 4] = [
        (
            |p| shorten(p, "header", 1),
            "header' is damaged at byte 32: found 15 bytes",
        ),
        (
            |p| put(p, "header", &[0xff; 16]),
            "header' is damaged at byte 0: found 16 bytes",
        ),
        (
            |p| put(p, "senderseqnums", b"\0\x09123"),
            "senderseqnums' is damaged at byte 0: found 5 bytes",
        ),
        (|p| put(p, "targetseqnums", b"\0\x0212"), ""),
    ];
    let cases = cpp.into_iter().map(|case| (FileFormat::QuickFix, case));
    let cases = cases.chain(java.into_iter().map(|case| (FileFormat::QuickFixJ, case)));
    for (format, (harm, wanted)) in cases {
        let dir = tempfile::tempdir().unwrap();
        let from = dir.path().join("s");
        written(&from, format, &[1, 2, 3], (4, 1));
        harm(&from);
        let store = dir.path().join("store");
        let files = || fs::read_dir(dir.path()).unwrap().count();
        let before = files();
        let found =
            import(&from, &store, false).map_or_else(|error| error.to_string(), |_| String::new());
        assert!(found.contains(wanted), "{found}\n{wanted}");
        if !wanted.is_empty() {
            assert!(!store.exists());
            assert_eq!(files(), before);
        }
    }
    let missing = import(Path::new("/nowhere/s"), Path::new("/nowhere/store"), false).unwrap_err();
    assert!(
        missing
            .to_string()
            .starts_with("there is no QuickFIX store '/nowhere/s'")
    );
}

fn shorten(prefix: &Path, ending: &str, by: usize) {
    let bytes = fs::read(file(prefix, ending)).unwrap();
    put(prefix, ending, &bytes[..bytes.len() - by]);
}

fn flip(prefix: &Path, ending: &str, at: usize) {
    let mut bytes = fs::read(file(prefix, ending)).unwrap();
    bytes[at] ^= 1;
    put(prefix, ending, &bytes);
}

#[test]
fn a_message_that_was_kept_before_its_number_is_used() {
    let dir = tempfile::tempdir().unwrap();
    let from = dir.path().join("s");
    written(&from, FileFormat::QuickFix, &[1, 2, 3], (3, 1));
    let imported = import(&from, &dir.path().join("store"), false).unwrap();
    assert!(imported.is_raised);
    assert_eq!(imported.next_sender, 4);
}

#[test]
fn a_message_that_was_stated_before_it_was_written_is_left_out() {
    for format in [FileFormat::QuickFix115, FileFormat::QuickFixJ] {
        let whole = message(3, &"x".repeat(4)).len();
        for cut in [1, 20, whole] {
            let dir = tempfile::tempdir().unwrap();
            let from = dir.path().join("s");
            written(&from, format, &[1, 2, 3], (3, 1));
            shorten(&from, "body", cut);
            let imported = import(&from, &dir.path().join("store"), false).unwrap();
            assert!(imported.is_dropped && !imported.is_raised, "{cut}");
            assert_eq!((imported.messages, imported.next_sender), (2, 3), "{cut}");
        }
        // More than one message is damage, and so is one that was counted.
        for (cut, next) in [(whole + 1, 3), (1, 4)] {
            let dir = tempfile::tempdir().unwrap();
            let from = dir.path().join("s");
            written(&from, format, &[1, 2, 3], (next, 1));
            shorten(&from, "body", cut);
            import(&from, &dir.path().join("store"), false).unwrap_err();
        }
    }
}

#[test]
fn the_last_message_of_a_number_counts() {
    let dir = tempfile::tempdir().unwrap();
    let from = dir.path().join("s");
    written(&from, FileFormat::QuickFix, &[1, 2, 3, 2], (4, 1));
    let imported = import(&from, &dir.path().join("store"), false).unwrap();
    assert_eq!((imported.messages, imported.replaced), (3, 1));
}

#[test]
fn numbers_that_an_engine_cannot_have_are_not_written() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("store");
    let mut store = DurableStore::open(&path, false, false, now()).unwrap();
    store.set_next_sender(1 << 40).unwrap();
    drop(store);
    let to = dir.path().join("to");
    let error = export(&path, &to, FileFormat::QuickFixJ, false, now()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the next number is 1099511627776: quickfixj ends at 2147483647"
    );
    assert!(export(&path, &to, FileFormat::QuickFix, false, now()).is_ok());
    let none = export(dir.path(), &to, FileFormat::QuickFix, false, now()).unwrap_err();
    assert!(
        none.to_string().starts_with("there is no store in"),
        "{none}"
    );
}

#[test]
fn a_store_is_as_its_settings_say() {
    let dir = tempfile::tempdir().unwrap();
    let id = SessionId::new("FIX.4.4", "A-1", "B");
    let memory = StorageOptions::default();
    assert!(matches!(
        memory.open(&id, now()).unwrap(),
        AnyStore::Memory(_)
    ));
    let mut options = StorageOptions::default();
    options.path = Some(dir.path().to_owned());
    options.sync = true;
    let mut store = options.open(&id, now()).unwrap();
    store.append(1, b"one").unwrap();
    store.append_and_receive(2, b"two", 5).unwrap();
    assert!(
        options
            .open(&id, now())
            .unwrap_err()
            .to_string()
            .contains("locked")
    );
    store.refresh().unwrap();
    drop(store);
    let later = at("20270102-03:04:05");
    let mut store = options.open(&id, later).unwrap();
    assert_eq!((store.next_sender(), store.next_target()), (3, 5));
    assert_eq!(store.created(), now());
    assert_eq!(store.sent(2).unwrap(), Some(&b"two"[..]));
    assert!(store.set_next_sender(1).is_err());
    store.reset(later).unwrap();
    assert_eq!(
        (store.created(), store.next_sender(), store.next_target()),
        (later, 1, 1)
    );
    assert_eq!(store.sent(2).unwrap(), None);
    assert!(dir.path().join(store_name(&id)).is_dir());
}

#[test]
fn numbers_of_quickfix_are_not_begun_anew_by_mistake() {
    let dir = tempfile::tempdir().unwrap();
    let id = SessionId::new("FIX.4.4", "A", "B");
    written(
        &dir.path().join("FIX.4.4-A-B"),
        FileFormat::QuickFix115,
        &[1],
        (2, 2),
    );
    let mut options = StorageOptions::default();
    options.path = Some(dir.path().to_owned());
    let error = options.open(&id, now()).unwrap_err().to_string();
    let (prefix, store) = (
        dir.path().join("FIX.4.4-A-B"),
        dir.path().join("FIX.4.4-A-B"),
    );
    let command = format!(
        "perfkit fix store import '{}' '{}'",
        prefix.display(),
        store.display()
    );
    assert!(error.ends_with(&command), "{error}");
    import(&prefix, &store, false).unwrap();
    assert_eq!(options.open(&id, now()).unwrap().next_sender(), 2);
}

#[test]
fn logs_are_those_of_the_engines() {
    let dir = tempfile::tempdir().unwrap();
    let id = SessionId::new("FIX.4.4", "A", "B");
    let mut options = LogOptions::default();
    options.path = Some(dir.path().join("cpp"));
    options.backup_path = Some(dir.path().join("old"));
    let time = at("20260102-03:04:05.006007008");
    let heartbeat = b"8=FIX.4.4\x019=5\x0135=0\x0110=163\x01";
    let mut log = SessionLog::open(&options, &id).unwrap();
    log.incoming(time, heartbeat);
    log.outgoing(time, b"8=FIX.4.4\x01");
    log.event(time, "Logon\nforged");
    log.flush().unwrap();
    let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
    let messages = "20260102-03:04:05.006007008 : 8=FIX.4.4\u{1}9=5\u{1}35=0\u{1}10=163\u{1}\n\
                    20260102-03:04:05.006007008 : 8=FIX.4.4\u{1}\n";
    assert_eq!(read("cpp/FIX.4.4-A-B.messages.current.log"), messages);
    let events = "20260102-03:04:05.006007008 : Logon?forged\n";
    assert_eq!(read("cpp/FIX.4.4-A-B.event.current.log"), events);
    log.backup().unwrap();
    log.event(time, "new");
    log.backup().unwrap();
    assert_eq!(read("old/FIX.4.4-A-B.messages.backup.1.log"), messages);
    assert_eq!(
        read("old/FIX.4.4-A-B.event.backup.2.log"),
        "20260102-03:04:05.006007008 : new\n"
    );
    assert_eq!(read("cpp/FIX.4.4-A-B.event.current.log"), "");

    options.path = Some(dir.path().join("java"));
    options.format = LogFormat::QuickFixJ;
    options.heartbeats = false;
    let mut log = SessionLog::open(&options, &id).unwrap();
    log.incoming(time, heartbeat);
    log.outgoing(time, b"8=FIX.4.4\x01");
    log.event(time, "Logon");
    drop(log);
    assert_eq!(read("java/FIX.4.4-A-B.messages.log"), "8=FIX.4.4\u{1}\n");
    assert_eq!(
        read("java/FIX.4.4-A-B.event.log"),
        "20260102-03:04:05: Logon\n"
    );
    options.milliseconds = true;
    options.message_times = true;
    let mut log = SessionLog::open(&options, &id).unwrap();
    log.outgoing(time, b"x");
    log.flush().unwrap();
    assert!(read("java/FIX.4.4-A-B.messages.log").ends_with("\n20260102-03:04:05.006: x\n"));
}
