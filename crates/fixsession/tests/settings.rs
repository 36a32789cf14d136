//! Settings files as users have them: what they come to, and what is wrong in them.

use std::path::{Path, PathBuf};
use std::time::Duration;

use fixsession::settings::{
    ClientVerify, HostSelection, LogFormat, Problem, ProxyKind, SessionSettings, Settings,
    SettingsFailure,
};
use fixsession::{Role, SessionId, TimePrecision};

fn parse(text: &str) -> Result<Settings, SettingsFailure> {
    let env = |name: &str| (name == "FIX_HOME").then(|| "/srv/fix".to_owned());
    Settings::parse(text.as_bytes(), Path::new("fix.cfg"), &env)
}

/// One acceptor with further lines.
fn acceptor(more: &str) -> Result<SessionSettings, SettingsFailure> {
    let text = format!(
        "[SESSION]\nConnectionType=acceptor\nBeginString=FIX.4.4\nSenderCompID=A\nTargetCompID=B\n\
         SocketAcceptPort=5001\nStartTime=00:00:00\nEndTime=00:00:00\n{more}"
    );
    Ok(parse(&text)?.sessions.remove(0))
}

fn initiator(more: &str) -> Result<SessionSettings, SettingsFailure> {
    let text = format!(
        "[SESSION]\nConnectionType=initiator\nBeginString=FIX.4.4\nSenderCompID=A\nTargetCompID=B\n\
         SocketConnectHost=h\nSocketConnectPort=5001\nHeartBtInt=20\nNonStopSession=Y\n{more}"
    );
    Ok(parse(&text)?.sessions.remove(0))
}

/// Its errors as a user sees them.
fn errors<T: std::fmt::Debug>(parsed: Result<T, SettingsFailure>) -> Vec<String> {
    let failure = parsed.expect_err("it is wrong");
    failure.errors.iter().map(ToString::to_string).collect()
}

fn warnings(text: &str) -> Vec<String> {
    let settings = parse(text).expect("it is right");
    settings.warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn an_acceptor_of_quickfix_for_c() {
    let settings = parse(
        "# one\n[DEFAULT]\nconnectiontype=acceptor\nSOCKETACCEPTPORT = 5001\nFileStorePath=$(FIX_HOME)/store\n\
         FileLogPath=log\nFileLogBackupPath=old\nStartTime=12:30:00\nEndTime=23:30:00\nUseLocalTime=N\n\
         SenderCompID=ISLD\nTargetCompID=TW\nReconnectInterval=60\n\n\
         [SESSION]\nBeginString=FIX.4.0\nDataDictionary=spec/FIX40.xml\n\
         [SESSION]\nBeginString=FIX.4.2\nResetOnLogon=Y\nCheckLatency=N\nMaxLatency=60\nTimestampPrecision=6\n\
         [SESSION]\nBeginString=FIXT.1.1\nDefaultApplVerID=FIX.5.0SP2\nTransportDataDictionary=FIXT11.xml\n\
         AppDataDictionary=FIX50SP2.xml\nAppDataDictionary.FIX.4.4=FIX44.xml\nPreserveMessageFieldsOrder=Y\n",
    )
    .unwrap();
    // Of QuickFIX's own sample.
    let warnings: Vec<_> = settings.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        ["fix.cfg:13: ReconnectInterval has no effect: it is a key of initiators"]
    );
    let [first, second, third] = &settings.sessions[..] else {
        panic!("three sessions");
    };
    assert_eq!(first.session.id, SessionId::new("FIX.4.0", "ISLD", "TW"));
    assert_eq!(first.session.role, Role::Acceptor);
    assert_eq!(first.endpoint.accept_port, Some(5001));
    assert_eq!(first.storage.path, Some("/srv/fix/store".into()));
    assert_eq!(first.log.path, Some("log".into()));
    assert_eq!(first.log.backup_path, Some("old".into()));
    assert_eq!(first.dictionaries.data, Some("spec/FIX40.xml".into()));
    assert_eq!(first.line, 15);
    assert!(second.session.reset_on_logon && !first.session.reset_on_logon);
    assert!(!second.session.check_latency);
    assert_eq!(second.session.max_latency, Duration::from_secs(60));
    assert_eq!(second.session.timestamp_precision, TimePrecision(6));
    assert_eq!(third.session.default_appl_ver_id.as_deref(), Some("9"));
    let application: [(String, PathBuf); 2] = [
        ("6".to_owned(), "FIX44.xml".into()),
        ("9".to_owned(), "FIX50SP2.xml".into()),
    ];
    assert_eq!(third.dictionaries.application, application);
    assert!(third.session.preserve_message_fields_order);
    assert!(!third.schedule.is_non_stop());
}

#[test]
fn an_initiator_of_quickfix_j() {
    let settings = parse(
        "[default]\nConnectionType=initiator\nTimeZone=America/New_York\nStartTime=08:00:00\nEndTime=17:00:00\n\
         Weekdays=Sun,Mon,Tue\nHeartBtInt=20\nReconnectInterval=2x5;3*10;60\nFileLogFormat=QUICKFIXJ\n\
         SenderCompID=A\nSenderSubID=desk\nTargetCompID=B\nTargetLocationID=NY\nSessionQualifier=Q\n\
         SocketConnectHost=one\nSocketConnectPort=1\nSocketConnectHost1=two\nSocketConnectPort1=2\n\
         SocketLocalHost=10.0.0.1\nSocketLocalPort=7000\nHostSelectionPolicy=PRIORITY\n\
         SocketUseSSL=Y\nEnabledProtocols=TLSv1.3\nSNIHostName=fix.example\n\
         ProxyType=socks\nProxyVersion=4a\nProxyHost=proxy\nProxyPort=1080\nProxyUser=u\nProxyPassword=s3cret\n\
         TestRequestDelayMultiplier=0.25\nTimeStampPrecision=NANOS\nSocketTrafficClass=IPTOS_LOWDELAY|IPTOS_LOWCOST\n\
         SocketTcpNoDelay=N\nSocketLinger=5\nEnableNextExpectedMsgSeqNum=Y\n\
         LogonTag=553=me\nLogonTag1=554=a=b\n[session]\nBeginString=FIX.4.4\n",
    )
    .unwrap();
    assert_eq!(settings.warnings, []);
    let session = &settings.sessions[0];
    let id = session.session.id.to_string();
    assert_eq!(id, "FIX.4.4:A/desk->B//NY:Q");
    let seconds =
        |all: &[u64]| -> Vec<Duration> { all.iter().map(|s| Duration::from_secs(*s)).collect() };
    let intervals = seconds(&[5, 5, 10, 10, 10, 60]);
    assert_eq!(session.endpoint.reconnect_intervals, intervals);
    let [one, two] = &session.endpoint.connect[..] else {
        panic!("two hosts");
    };
    assert_eq!((one.host.as_str(), one.port), ("one", 1));
    assert_eq!(one.source_host.as_deref(), Some("10.0.0.1"));
    assert_eq!(one.source_port, Some(7000));
    assert_eq!(
        (two.host.as_str(), two.port, &two.source_host),
        ("two", 2, &None)
    );
    let start_over = Duration::from_secs(120);
    assert_eq!(
        session.endpoint.host_selection,
        HostSelection::Priority { start_over }
    );
    let tls = session.endpoint.tls.as_ref().unwrap();
    assert_eq!((tls.tls12, tls.tls13), (false, true));
    assert_eq!(tls.server_name.as_deref(), Some("fix.example"));
    let proxy = session.endpoint.proxy.as_ref().unwrap();
    assert_eq!((proxy.kind, proxy.port), (ProxyKind::Socks4a, 1080));
    assert!(!format!("{proxy:?}").contains("s3cret"));
    let socket = &session.endpoint.socket;
    assert_eq!(socket.traffic_class, Some(0x12));
    assert_eq!(
        (socket.no_delay, socket.linger),
        (false, Some(Duration::from_secs(5)))
    );
    assert_eq!(session.session.timestamp_precision, TimePrecision(9));
    assert_eq!(session.session.test_request_delay_multiplier, Some(0.25));
    assert!(session.session.send_next_expected_msg_seq_num);
    let tags = [(553, "me".to_owned()), (554, "a=b".to_owned())];
    assert_eq!(session.session.logon_tags, tags);
    assert_eq!(session.log.format, LogFormat::QuickFixJ);
}

#[test]
fn defaults_are_those_of_the_options() {
    let session = acceptor("").unwrap();
    let options = fixsession::SessionOptions::new(session.session.id.clone());
    assert_eq!(format!("{:?}", session.session), format!("{options:?}"));
    assert_eq!(
        session.endpoint.reconnect_intervals,
        [Duration::from_secs(30)]
    );
    assert!(session.endpoint.tls.is_none() && session.endpoint.proxy.is_none());
    assert!(session.endpoint.socket.no_delay);
}

#[test]
fn templates_fit_the_sessions_of_their_pattern() {
    let session = acceptor("AcceptorTemplate=Y\nTargetCompID=*\nTargetSubID=*\n").unwrap();
    let mut id = SessionId::new("FIX.4.4", "A", "ANY");
    assert!(session.matches(&id));
    id.target_sub = "desk".to_owned();
    assert!(session.matches(&id));
    id.sender_sub = "desk".to_owned();
    assert!(!session.matches(&id));
    let other = SessionId::new("FIX.4.2", "A", "ANY");
    assert!(!session.matches(&other));
    let one = session.for_session(SessionId::new("FIX.4.4", "A", "ANY"));
    assert!(!one.is_template && one.session.id.target == "ANY");
    assert!(!one.matches(&one.session.id));
    let wrong = errors(acceptor("TargetCompID=*\n"));
    assert_eq!(
        wrong,
        ["fix.cfg:9: TargetCompID: * stands for any name only with AcceptorTemplate=Y"]
    );
}

#[test]
fn tls_is_implied_by_certificates_unless_it_is_turned_off() {
    let certificate = "ServerCertificateFile=server.pem\n";
    let tls = acceptor(certificate).unwrap().endpoint.tls.unwrap();
    assert_eq!(tls.key, Some("server.pem".into()));
    assert_eq!(tls.verify_client, ClientVerify::No);
    let off = acceptor(&format!("{certificate}SocketUseSSL=N\n"));
    assert!(off.unwrap().endpoint.tls.is_none());
    let both = format!(
        "{certificate}ServerCertificateKeyFile=key.pem\nCertificateVerifyLevel=1\nCertificationAuthoritiesFile=ca.pem\n"
    );
    let tls = acceptor(&both).unwrap().endpoint.tls.unwrap();
    assert_eq!(tls.key, Some("key.pem".into()));
    assert_eq!(tls.verify_client, ClientVerify::Required);
    let wrong = errors(acceptor("SocketUseSSL=Y\nNeedClientAuth=Y\n"));
    assert_eq!(
        wrong,
        [
            "fix.cfg:1: CertificationAuthoritiesFile is missing: expected a PEM file",
            "fix.cfg:1: ServerCertificateFile is missing: expected a PEM file",
        ]
    );
    let tls = initiator("CertificationAuthoritiesFile=ca.pem\n").unwrap();
    assert_eq!(tls.endpoint.tls.unwrap().certificate, None);
}

#[test]
fn errors_state_file_line_value_and_what_was_expected() {
    let of = |line: &str| errors(acceptor(&format!("{line}\n")));
    let cases = [
        ("ResetOnLogon=yes", "ResetOnLogon=yes: expected Y or N"),
        (
            "MaxLatency=-1",
            "MaxLatency=-1: expected a whole number of seconds, 1 or more",
        ),
        (
            "MaxLatency=0",
            "MaxLatency=0: expected a whole number of seconds, 1 or more",
        ),
        (
            "LogonTimeout=99999999999",
            "LogonTimeout=99999999999: expected a whole number of seconds, 1 or more",
        ),
        (
            "TimestampPrecision=10",
            "TimestampPrecision=10: expected 0 to 9, SECONDS, MILLIS, MICROS or NANOS",
        ),
        (
            "TestRequestDelayMultiplier=NaN",
            "TestRequestDelayMultiplier=NaN: expected a number from 0 to 100",
        ),
        (
            "SocketAcceptPort=70000",
            "SocketAcceptPort=70000: expected a port, 0 to 65535 (0: any free one)",
        ),
        (
            "StartTime=8:00",
            "StartTime=8:00: expected a time HH:MM:SS, or HH:MM:SS ZONE",
        ),
        (
            "EndTime=25:00:00",
            "EndTime=25:00:00: expected a time HH:MM:SS, or HH:MM:SS ZONE",
        ),
        (
            "StartDay=Lundi\nEndDay=Fri",
            "StartDay=Lundi: expected a day of the week",
        ),
        ("StartDay=Mon", "StartDay: EndDay is missing"),
        (
            "StartDay=Mon\nEndDay=Fri\nWeekdays=Mon",
            "StartDay: a session has either StartDay and EndDay or Weekdays",
        ),
        (
            "SessionQualifier=Q",
            "SessionQualifier: only an initiator can have it: no message states it",
        ),
        (
            "AllowedRemoteAddresses=10.0.0.1,a b",
            "AllowedRemoteAddresses=10.0.0.1,a b: expected addresses, networks such as 10.0.0.0/8 or host names, with commas between",
        ),
        (
            "BeginString=FIX.5.0",
            "BeginString=FIX.5.0: expected FIXT.1.1, with DefaultApplVerID=FIX.5.0",
        ),
        (
            "ConnectionType=both",
            "ConnectionType=both: expected acceptor or initiator",
        ),
        (
            "SocketAcceptProtocol=VM_PIPE",
            "SocketAcceptProtocol=VM_PIPE: expected TCP",
        ),
        ("LogonTag=password", "LogonTag=…: expected tag=value"),
        (
            "FileStorePath=${NONE}/x",
            "FileStorePath: the environment variable NONE is not set",
        ),
        (
            "SocketConnectHost=h",
            "SocketConnectHost: SocketConnectPort is missing",
        ),
        (
            "ReconnectInterval=0",
            "ReconnectInterval=0: expected seconds, or a list such as 3x5;2x30;60",
        ),
        (
            "ReconnectInterval=99999999x1",
            "ReconnectInterval=99999999x1: expected seconds, or a list such as 3x5;2x30;60",
        ),
        (
            "what is this",
            "'what is this': expected [DEFAULT], [SESSION], key=value or # comment",
        ),
    ];
    for (line, wanted) in cases {
        assert_eq!(of(line), [format!("fix.cfg:9: {wanted}")], "{line}");
    }
    let zone = of("TimeZone=Mars/Olympus");
    assert!(
        zone[0].starts_with("fix.cfg:9: TimeZone: time zone 'Mars/Olympus' is not known"),
        "{zone:?}"
    );
}

#[test]
fn what_cannot_be_served_is_refused_by_name_with_what_to_do() {
    let of = |line: &str| errors(acceptor(&format!("{line}\n"))).remove(0);
    for line in [
        "SocketKeyStore=x.jks",
        "SocketTrustStorePassword=x",
        "JdbcURL=jdbc:mysql://",
        "MySQLStoreHost=h",
        "PostgreSQLLogUser=u",
        "OdbcStoreUser=u",
        "ProxyDomain=d",
    ] {
        let key = line.split_once('=').unwrap().0;
        let error = of(line);
        let start = format!("fix.cfg:9: {key} cannot be served: ");
        assert!(
            error.starts_with(&start) && error.len() > start.len() + 20,
            "{error}"
        );
    }
}

#[test]
fn a_missing_key_is_stated_at_the_session() {
    let wrong = errors(parse(
        "[DEFAULT]\nSenderCompID=A\n\n[SESSION]\nTargetCompID=B\n",
    ));
    let wanted = ["BeginString", "ConnectionType", "EndTime", "StartTime"];
    for (error, key) in wrong.iter().zip(wanted) {
        assert!(
            error.starts_with(&format!("fix.cfg:4: {key} is missing: expected ")),
            "{error}"
        );
    }
    assert_eq!(wrong.len(), 4);
    assert_eq!(
        errors(parse("# nothing\n")),
        ["fix.cfg: there is no [SESSION]"]
    );
    let fixt = errors(acceptor("BeginString=FIXT.1.1\n"));
    assert_eq!(
        fixt,
        ["fix.cfg:1: DefaultApplVerID is missing: expected FIX.4.0 to FIX.5.0SP2, or 2 to 9"]
    );
}

#[test]
fn warnings_name_what_has_no_effect() {
    let text = "Early=1\n[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=1\nNonStopSession=Y\nSenderCompID=A\n\
                SenderCompID=B\n[OTHER]\nx=1\n[SESSION]\nBeginString=FIX.4.4\nTargetCompID=T # x\nResetOnLogn=Y\n\
                HttpAcceptPort=1\n";
    assert_eq!(
        warnings(text),
        [
            "fix.cfg:1: Early has no effect before the first section: put it below [DEFAULT] or [SESSION]",
            "fix.cfg:7: SenderCompID replaces what line 6 states",
            "fix.cfg:8: section [OTHER] has no effect: expected [DEFAULT] or [SESSION]",
            "fix.cfg:9: x is not known and has no effect",
            "fix.cfg:12: TargetCompID: a # within a line begins no comment: it is part of the value",
            "fix.cfg:13: ResetOnLogn is not known and has no effect: is it ResetOnLogon?",
            "fix.cfg:14: HttpAcceptPort has no effect: there is no web page of sessions: see the status line and its JSON",
        ]
    );
}

#[test]
fn defaults_hold_for_sessions_before_and_after_them() {
    let settings = parse(
        "[SESSION]\nTargetCompID=B\nBeginString=FIX.4.4\n[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=1\n\
         NonStopSession=Y\n[SESSION]\nTargetCompID=C\nBeginString=FIX.4.2\n[DEFAULT]\nSenderCompID=A\n",
    )
    .unwrap();
    let ids: Vec<_> = settings
        .sessions
        .iter()
        .map(|s| s.session.id.to_string())
        .collect();
    assert_eq!(ids, ["FIX.4.4:A->B", "FIX.4.2:A->C"]);
}

#[test]
fn the_same_session_twice_is_refused() {
    let line = "BeginString=FIX.4.4\nSenderCompID=A\nTargetCompID=B\n";
    let text = format!(
        "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=1\nNonStopSession=Y\n[SESSION]\n{line}[SESSION]\n{line}"
    );
    assert_eq!(
        errors(parse(&text)),
        ["fix.cfg:9: session FIX.4.4:A->B is already stated by the [SESSION] of line 5"]
    );
}

#[test]
fn a_host_after_a_gap_is_not_used() {
    let more = "SocketConnectHost2=late\nSocketConnectPort2=1\n";
    assert_eq!(initiator(more).unwrap().endpoint.connect.len(), 1);
    let wrong = errors(initiator("SocketConnectHost1=x\n"));
    assert_eq!(
        wrong,
        ["fix.cfg:10: SocketConnectHost1: SocketConnectPort1 is missing"]
    );
}

#[test]
fn large_files_are_refused_and_many_errors_are_not_all_kept() {
    let large = vec![b'#'; (16 << 20) + 1];
    let failure = Settings::parse(&large, Path::new("f"), &|_| None).unwrap_err();
    assert!(matches!(failure.errors[0].problem, Problem::Limit { .. }));
    let many = "[SESSION]\n".repeat(5000);
    let failure = parse(&many).unwrap_err();
    assert_eq!(failure.errors.len(), 1000);
}
