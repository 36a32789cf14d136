//! Settings files of FIX sessions, and file stores of QuickFIX.

use std::path::Path;

use fixcore::Timestamp;
use fixcore::store::{Options, Store};
use fixsession::settings::{Check, LineKind, Settings};
use fixsession::stores::{FileFormat, export, import};

/// An instant at which sessions are looked at.
const NOW: Timestamp = Timestamp(1_767_323_045_000_000_000);

fn env(name: &str) -> Option<String> {
    name.starts_with('A').then(|| "value".to_owned())
}

/// Any bytes as a settings file: what is wrong has a line of the file, and what is right can be used.
pub fn fix_settings(data: &[u8]) {
    let file = Path::new("file");
    let check = Check::new(data, file, &env);
    let ends = data.iter().filter(|byte| matches!(byte, b'\n' | b'\r'));
    let last = ends.count() as u32 + 1;
    for found in check.errors.iter().chain(&check.warnings) {
        assert!(found.line <= last, "{found}");
        assert!(found.to_string().starts_with("file:"));
    }
    assert!(check.lines.windows(2).all(|two| two[0].line < two[1].line));
    for line in &check.lines {
        if let LineKind::Key { sessions, .. } = line.kind {
            assert!(sessions <= check.sessions.len());
        }
    }
    let parsed = Settings::parse(data, file, &env);
    assert_eq!(parsed.is_ok(), check.errors.is_empty());
    let Ok(settings) = parsed else { return };
    assert!(!settings.sessions.is_empty());
    for session in &settings.sessions {
        assert!(!session.endpoint.reconnect_intervals.is_empty());
        let id = &session.session.id;
        assert!(!id.sender.is_empty() && !id.target.is_empty() && !id.begin_string.is_empty());
        let schedule = &session.schedule;
        if let Some(interval) = schedule.interval_at(NOW) {
            assert!(interval.start <= NOW && NOW < interval.end);
        }
        assert!(schedule.next_change(NOW).is_none_or(|next| next > NOW));
    }
}

/// Any bytes as the files of a store of QuickFIX, separated by 0x1e: what is taken over comes out again, and can be
/// taken over once more.
pub fn fix_exchange(data: &[u8]) {
    let Some((kind, rest)) = data.split_first() else {
        return;
    };
    let format = FileFormat::ALL[usize::from(*kind) % 3];
    let dir = tempfile::tempdir().expect("a directory");
    let at = |name: &str| dir.path().join(name);
    let parts = rest.split(|byte| *byte == 0x1e);
    for (ending, part) in format.endings().iter().zip(parts) {
        std::fs::write(at(&format!("s.{ending}")), part).expect("written");
    }
    let Ok(imported) = import(&at("s"), &at("one"), false) else {
        assert!(!at("one").exists());
        return;
    };
    if export(&at("one"), &at("t"), imported.format, false, NOW).is_err() {
        // A number that the engine cannot have.
        assert!(imported.next_sender.max(imported.next_target) > i32::MAX as u64);
        return;
    }
    let again = import(&at("t"), &at("two"), false).expect("what was written is right");
    assert_eq!(again.messages, imported.messages);
    let state = (again.next_sender, again.next_target);
    assert_eq!(state, (imported.next_sender, imported.next_target));
    let open = |name: &str| Store::open(at(name), Options::default()).expect("a store");
    let (one, two) = (open("one"), open("two"));
    let messages = |store: &Store| -> Vec<(u64, Vec<u8>)> {
        let all = store.range(0..=u64::MAX);
        all.map(|(number, message)| (number, message.expect("whole").to_vec()))
            .collect()
    };
    assert_eq!(messages(&one), messages(&two));
}
