//! TLS to a real server of Kafka, with SCRAM and certificates of clients: what opens it, and what is said where something
//! is wrong.
//!
//! Without what the tests of `kafka` need, and `openssl`, these tests report `ignored`.

use std::path::Path;

use libtest_mimic::Trial;

use crate::certificates::{authority, signed};
use crate::common::{directory, file};
use crate::kafka_server::Server;
use crate::worker_case::{Case, Urls as _, count, finish};
use crate::{certificates, kafka_server, peer};

/// The tests, each with whether what it needs is here.
pub(crate) fn trials() -> Vec<Trial> {
    let is_here = kafka_server::is_here() && certificates::is_here();
    peer::trials![
        is_here => [
            tls_certificates_and_scram_open_the_server,
            what_is_wrong_with_tls_is_told,
        ],
    ]
}

/// A server that wants TLS, a certificate, and a user: feeder, s3cret.
struct Guarded {
    server: Server,
    certificates: tempfile::TempDir,
}

impl Guarded {
    fn start() -> Self {
        let certificates = directory();
        let dir = certificates.path();
        authority(dir, "ours");
        authority(dir, "foreign");
        signed(dir, "ours", "server");
        signed(dir, "ours", "client");
        let module = "org.apache.kafka.common.security.scram.ScramLoginModule";
        let settings = format!(
            "ssl.keystore.type=PEM\nssl.keystore.location={}\nssl.truststore.type=PEM\nssl.truststore.location={}\n\
             listener.name.clients.ssl.client.auth=required\nsasl.enabled.mechanisms=SCRAM-SHA-512\n\
             sasl.mechanism.inter.broker.protocol=SCRAM-SHA-512\n\
             listener.name.clients.scram-sha-512.sasl.jaas.config={module} required username=\"broker\" \
             password=\"br0ker\";",
            dir.join("server.both").display(),
            dir.join("ours.pem").display(),
        );
        let users = [("broker", "br0ker"), ("feeder", "s3cret")];
        Self {
            server: Server::start_formatted(&settings, "SASL_SSL", &users),
            certificates,
        }
    }

    fn path(&self, name: &str) -> String {
        self.certificates.path().join(name).display().to_string()
    }

    /// Writes a file of settings with the names of Kafka's own tools, and one with those of librdkafka.
    fn configure(&self, dir: &Path) {
        let (ca, both) = (self.path("ours.pem"), self.path("client.both"));
        let java = format!(
            "security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\n\
             sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\\n  \
             username=\"feeder\" password=\"s3cret\";\n\
             ssl.truststore.type=PEM\nssl.truststore.location={ca}\nssl.keystore.type=PEM\nssl.keystore.location={both}\n"
        );
        file(dir, "java", java.as_bytes());
        let (certificate, key) = (self.path("client.pem"), self.path("client.key"));
        let own = format!(
            "security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\nsasl.username=feeder\nsasl.password=s3cret\n\
             ssl.ca.location={ca}\nssl.certificate.location={certificate}\nssl.key.location={key}\n"
        );
        file(dir, "own", own.as_bytes());
    }
}

fn tls_certificates_and_scram_open_the_server() {
    let (guarded, case) = (Guarded::start(), Case::new(500));
    guarded.configure(case.dir.path());
    let (blocks, answers) = (guarded.server.url("IN"), guarded.server.url("OUT"));
    let feed = format!(
        "betree feed --create --block 8K --to {blocks} ad/events --kafka-config java --report json"
    );
    let run = case.run(&feed).expect(0);
    assert!(!run.stderr.contains("s3cret"), "{}", run.stderr);
    let worker = Case::worker(&guarded.server, "--until-done --kafka-config own");
    let (params, said) = finish(case.spawn(&worker), 0);
    assert!(
        count(&params, "answers_stored") > 0 && !said.contains("s3cret"),
        "{said}"
    );
    let join = format!("betree join --events {blocks} --from {answers} --kafka-config java");
    let joined = case.run(&join).expect(0);
    assert!(joined.stdout == case.plain, "{}", joined.stderr);
}

fn what_is_wrong_with_tls_is_told() {
    let (guarded, case) = (Guarded::start(), Case::new(10));
    guarded.configure(case.dir.path());
    let own = std::fs::read_to_string(case.dir.path().join("own")).expect("text");
    let without = |key: &str| -> String {
        let lines = own.lines().filter(|line| !line.starts_with(key));
        lines.map(|line| format!("{line}\n")).collect()
    };
    let refused = |to: &str, config: &str| {
        file(case.dir.path(), "config", config.as_bytes());
        let run = case.run(&format!(
            "betree feed --create --to {to} ad/events --kafka-config config"
        ));
        let said = run.expect(1).stderr;
        assert!(
            said.contains("cannot connect") && !said.contains("s3cret"),
            "{said}"
        );
        said
    };
    let to = guarded.server.url("IN");
    let foreign = own.replace(&guarded.path("ours.pem"), &guarded.path("foreign.pem"));
    for (config, reason, help) in [
        (foreign, "certificate verify failed", "ssl.ca.location"),
        (
            without("ssl.ca"),
            "certificate verify failed",
            "ssl.ca.location",
        ),
        (
            without("ssl.certificate").replace("ssl.key", "#"),
            "certificate",
            "ssl.certificate.location",
        ),
        (without("s"), "Disconnected", "security.protocol=SSL"),
        (
            own.replace("s3cret", "s3cret-not"),
            "uthentication",
            "--kafka-config",
        ),
    ] {
        let said = refused(&to, &config);
        assert!(
            said.contains(reason) && said.contains(help),
            "{config}: {said}"
        );
    }
    // And the reverse: TLS to a server that has none.
    let plain = Server::start();
    let said = refused(&plain.url("IN"), &own);
    assert!(said.contains("the server may have no TLS"), "{said}");
}
