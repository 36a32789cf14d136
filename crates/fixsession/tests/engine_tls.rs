//! The same over TLS: certificates of both sides.

use std::path::Path;

use crate::engine::Running;

fn file(name: &str) -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tls");
    directory.join(name).display().to_string()
}

fn acceptor() -> Running {
    let (server, authority) = (file("server.pem"), file("authority.pem"));
    let text = format!(
        "[SESSION]\nConnectionType=acceptor\nSocketAcceptPort=0\nSocketAcceptAddress=127.0.0.1\n\
         StartTime=00:00:00\nEndTime=00:00:00\nBeginString=FIX.4.4\nSenderCompID=OURS\nTargetCompID=PEER\n\
         SocketUseSSL=Y\nServerCertificateFile={server}\nServerCertificateKeyFile={server}\n\
         CertificationAuthoritiesFile={authority}\nCertificateVerifyLevel=1\n"
    );
    Running::start(&text, |_| {})
}

fn initiator(acceptor: &Running, keys: &str) -> Running {
    let port = acceptor.address.expect("it listens").port();
    let authority = file("authority.pem");
    let text = format!(
        "[SESSION]\nConnectionType=initiator\nSocketConnectHost=localhost\nSocketConnectPort={port}\n\
         StartTime=00:00:00\nEndTime=00:00:00\nBeginString=FIX.4.4\nSenderCompID=PEER\nTargetCompID=OURS\n\
         HeartBtInt=30\nReconnectInterval=1\nSocketUseSSL=Y\nCertificationAuthoritiesFile={authority}\n{keys}\n"
    );
    Running::start(&text, |_| {})
}

fn keys(name: &str) -> String {
    let path = file(name);
    format!("ClientCertificateFile={path}\nClientCertificateKeyFile={path}")
}

#[test]
fn both_sides_show_their_certificates_and_log_on() {
    let acceptor = acceptor();
    let initiator = initiator(&acceptor, &keys("client.pem"));
    acceptor.until("FIX.4.4:OURS->PEER: connected");
    // The Logouts on both sides need the session to be up.
    let states = initiator.stop_when_logged_on();
    assert_eq!(states.first().map(|state| (state.1, state.2)), Some((3, 3)));
    acceptor.until("disconnected");
}

#[test]
fn without_the_right_certificate_there_is_no_session() {
    let acceptor = acceptor();
    for keys in ["", &keys("stranger.pem")] {
        let initiator = initiator(&acceptor, keys);
        initiator.until("disconnected");
        acceptor.until("closed the connection");
    }
}

#[test]
fn who_does_not_speak_tls_is_turned_away() {
    let acceptor = acceptor();
    let mut peer = acceptor.connect();
    peer.send("FIX.4.4", "A", "98=0|108=30|");
    // An alert, then the end.
    peer.drained();
    acceptor.until("closed the connection");
}
