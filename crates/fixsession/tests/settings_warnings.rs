//! Settings that are served, refused or warned about by their value.

use std::path::Path;

use fixsession::settings::{Settings, SettingsFailure};

const ACCEPTOR: &str = "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=5001\nNonStopSession=Y\nSenderCompID=A\n\
                        TargetCompID=B\n";

/// Settings behind those of an acceptor, which have 6 lines.
fn parse(more: &str) -> Result<Settings, SettingsFailure> {
    let text = format!("{ACCEPTOR}{more}");
    Settings::parse(text.as_bytes(), Path::new("fix.cfg"), &|_| None)
}

fn warnings(more: &str) -> Vec<String> {
    let settings = parse(more).expect("it is right");
    settings.warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn dictionaries_of_fixt_warn_before_it() {
    let why = "only FIXT.1.1 has dictionaries of transport and application: FIX.4.0 to FIX.4.4 use DataDictionary";
    let own = "[SESSION]\nBeginString=FIX.4.4\nAppDataDictionary=a.xml\nAppDataDictionary.FIX.5.0=b.xml\n\
               TransportDataDictionary=t.xml\n";
    let wanted = [
        format!("fix.cfg:9: AppDataDictionary has no effect: {why}"),
        format!("fix.cfg:10: AppDataDictionary.FIX.5.0 has no effect: {why}"),
        format!("fix.cfg:11: TransportDataDictionary has no effect: {why}"),
    ];
    assert_eq!(warnings(own), wanted);
    let default = "AppDataDictionary=a.xml\n[SESSION]\nBeginString=FIX.4.2\n";
    let wanted = [format!("fix.cfg:7: AppDataDictionary has no effect: {why}")];
    assert_eq!(warnings(default), wanted);
    // Of a default, some session may have use.
    let shared = format!("{default}[SESSION]\nBeginString=FIXT.1.1\nDefaultApplVerID=FIX.5.0SP2\n");
    assert_eq!(warnings(&shared), [""; 0]);
}

#[test]
fn an_empty_store_path_warns() {
    let wanted = "fix.cfg:7: FileStorePath: it is empty: numbers and messages are kept in memory only, and a restart \
                  begins at 1";
    let found = warnings("FileStorePath=\n[SESSION]\nBeginString=FIX.4.4\n");
    assert_eq!(found, [wanted]);
    let found = warnings("[SESSION]\nBeginString=FIX.4.4\n");
    assert_eq!(found, [""; 0]);
}

#[test]
fn a_template_of_one_session_warns() {
    let wanted = "fix.cfg:9: AcceptorTemplate=Y: no part of the session's name is *: it stands for this one session only";
    let found = warnings("[SESSION]\nBeginString=FIX.4.4\nAcceptorTemplate=Y\n");
    assert_eq!(found, [wanted]);
    let found = warnings("[SESSION]\nBeginString=*\nAcceptorTemplate=Y\n");
    assert_eq!(found, [""; 0]);
}

#[test]
fn writes_that_block_are_refused_and_what_waits_has_a_limit() {
    let session = "[SESSION]\nBeginString=FIX.4.4\n";
    let failure = parse(&format!("{session}SocketSynchronousWrites=Y\n")).expect_err("refused");
    let error = failure.errors[0].to_string();
    let start = "fix.cfg:9: SocketSynchronousWrites=Y cannot be served: ";
    assert!(error.starts_with(start), "{error}");
    let found = warnings(&format!("{session}SocketSynchronousWrites=N\n"));
    assert_eq!(found, [""; 0]);
    let found = warnings(&format!("{session}SocketSynchronousWriteTimeout=30000\n"));
    let wanted = "fix.cfg:9: SocketSynchronousWriteTimeout has no effect: it is a limit of SocketSynchronousWrites=Y only";
    assert_eq!(found, [wanted]);
    let failure = parse(&format!("{session}SocketSynchronousWriteTimeout=soon\n"));
    let error = failure.expect_err("no number").errors[0].to_string();
    assert!(error.contains("expected a whole number of milliseconds"));
    let settings = parse(&format!(
        "{session}MaxScheduledWriteRequests=7\nSocketReuseAddress=N\n"
    ));
    let settings = settings.expect("served");
    assert_eq!(settings.warnings, []);
    let socket = &settings.sessions[0].endpoint.socket;
    assert_eq!(socket.max_scheduled_write_requests, 7);
    assert!(!socket.reuse_address);
}

#[test]
fn what_the_screen_shows_can_be_chosen() {
    let lines = "[SESSION]\nBeginString=FIX.4.4\nScreenLogShowIncoming=Y\nScreenLogShowOutgoing=N\n\
                 ScreenLogShowEvents=N\nScreenLogShowHeartBeats=Y\n";
    let settings = parse(lines).expect("served");
    assert_eq!(settings.warnings, []);
    let screen = settings.sessions[0].log.screen;
    assert!(screen.incoming && !screen.outgoing && screen.heartbeats);
    assert_eq!(screen.events, Some(false));
    let found = warnings("[SESSION]\nBeginString=FIX.4.4\nScreenIncludeMilliseconds=Y\n");
    assert_eq!(
        found,
        [
            "fix.cfg:9: ScreenIncludeMilliseconds has no effect: times on the screen have milliseconds, and nothing else can be chosen"
        ]
    );
}

#[test]
fn keys_of_the_other_role_warn() {
    let why = "has no effect: it is a key of initiators";
    let session = "[SESSION]\nBeginString=FIX.4.4\n";
    let found = warnings(&format!("{session}ReconnectInterval=5\n"));
    assert_eq!(found, [format!("fix.cfg:9: ReconnectInterval {why}")]);
    let found = warnings(&format!("ReconnectInterval=5\n{session}"));
    assert_eq!(found, [format!("fix.cfg:7: ReconnectInterval {why}")]);
    // Of a default, some session may have use.
    let initiator = "[SESSION]\nBeginString=FIX.4.2\nConnectionType=initiator\nSocketConnectHost=h\n\
                     SocketConnectPort=1\nHeartBtInt=30\n";
    let found = warnings(&format!("ReconnectInterval=5\n{session}{initiator}"));
    assert_eq!(found, [""; 0]);
    let found = warnings(&format!(
        "{session}{initiator}AllowedRemoteAddresses=10.0.0.1\n"
    ));
    let wanted = "fix.cfg:15: AllowedRemoteAddresses has no effect: it is a key of acceptors";
    assert_eq!(found, [wanted]);
}

#[test]
fn addresses_that_are_none_and_files_that_are_no_text_are_refused() {
    let failure =
        parse("[SESSION]\nBeginString=FIX.4.4\nAllowedRemoteAddresses=10.0.0.3,10.0.0.300\n");
    let error = failure.expect_err("no address").errors[0].to_string();
    assert!(
        error.starts_with(
            "fix.cfg:9: AllowedRemoteAddresses=10.0.0.3,10.0.0.300: expected addresses"
        ),
        "{error}"
    );
    let program = [&b"\x7fELF\0\0\n"[..], &b"stray\n".repeat(1000)].concat();
    let failure = Settings::parse(&program, Path::new("ls"), &|_| None).expect_err("no text");
    let errors: Vec<_> = failure.errors.iter().map(ToString::to_string).collect();
    assert_eq!(
        errors,
        ["ls: it is no settings file: it has bytes of value 0"]
    );
    assert!(failure.warnings.is_empty());
}
