//! What settings name that an engine could not use.

use std::fs;
use std::path::Path;

use fixsession::engine::{Engine, EngineError, EngineOptions, SystemClock};
use fixsession::settings::{SessionSettings, Settings};

use fixsession::engine::Clock as _;

const FIX42: &str = "<fix type='FIX' major='4' minor='2'><header><field name='BeginString' required='Y'/>\
    </header><trailer/><messages/><components/><fields><field number='8' name='BeginString' type='STRING'/>\
    </fields></fix>";

fn sessions(dir: &Path, more: &str) -> Vec<SessionSettings> {
    let text = format!(
        "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=0\nSocketAcceptAddress=127.0.0.1\nNonStopSession=Y\n\
         SenderCompID=A\nTargetCompID=B\nBeginString=FIX.4.4\n[SESSION]\n{more}"
    )
    .replace("DIR", dir.to_str().unwrap());
    Settings::parse(text.as_bytes(), Path::new("fix.cfg"), &|_| None)
        .unwrap()
        .sessions
}

#[test]
fn what_settings_name_has_to_be_there_and_to_fit() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("fix42.xml"), FIX42).unwrap();
    fs::write(dir.path().join("text"), "no dictionary").unwrap();
    for (more, part) in [
        ("DataDictionary=DIR/none.xml", "none.xml: No such file"),
        ("DataDictionary=DIR/text", "cannot use the dictionary"),
        (
            "DataDictionary=DIR/fix42.xml",
            "fix42.xml: it is of FIX.4.2, and the session of FIX.4.4",
        ),
        ("FileStorePath=DIR/text/store", "FileStorePath: cannot make"),
        (
            "FileStorePath=/proc/none/store",
            "/proc: nothing can be made in it",
        ),
        ("FileLogPath=DIR/text", "FileLogPath: cannot write in"),
        (
            "SocketUseSSL=Y\nServerCertificateFile=DIR/text",
            "SocketUseSSL: ",
        ),
    ] {
        let found = Engine::unusable(&sessions(dir.path(), more), Path::new("fix.cfg"));
        assert_eq!(found.len(), 1, "{more}: {found:?}");
        assert_eq!(found[0].line, 9);
        assert!(found[0].to_string().contains(part), "{part} in {found:?}");
    }
    for more in [
        "",
        "FileStorePath=DIR/new/store\nFileLogPath=DIR",
        "BeginString=FIX.4.2\nDataDictionary=DIR/fix42.xml",
        "UseDataDictionary=N\nDataDictionary=DIR/none.xml",
    ] {
        let found = Engine::unusable(&sessions(dir.path(), more), Path::new("fix.cfg"));
        assert_eq!(found, [], "{more}");
    }
    assert!(!dir.path().join("new").exists(), "nothing is made");
}

#[test]
fn what_several_sessions_name_is_said_once() {
    let dir = tempfile::tempdir().unwrap();
    let more =
        "DataDictionary=DIR/none.xml\n[SESSION]\nTargetCompID=C\nDataDictionary=DIR/none.xml\n";
    let found = Engine::unusable(&sessions(dir.path(), more), Path::new("fix.cfg"));
    assert_eq!(found.len(), 1, "{found:?}");
}

#[test]
fn a_session_does_not_start_with_a_dictionary_of_another_version() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("fix42.xml"), FIX42).unwrap();
    let sessions = sessions(dir.path(), "DataDictionary=DIR/fix42.xml");
    let opened = Engine::open(sessions, EngineOptions::default(), SystemClock::new().now());
    assert!(
        matches!(opened, Err(EngineError::Dictionary { .. })),
        "{opened:?}"
    );
}
