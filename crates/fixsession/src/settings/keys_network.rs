//! Keys of connections.

use super::key::Group::{Acceptor, Initiator, Sockets, Tls};
use super::key::Key;
use super::keys_session::{FLAG, TEXT};

const SECONDS: &str = "a whole number of seconds, 0 or more";
const PORT: &str = "a port, 1 to 65535";
const HOST: &str = "a host name or an IP address";
const BYTES: &str = "a whole number of bytes, 1 or more";
const FILE: &str = "a PEM file";
const KEY_STORE: &str = "Java key stores are not read: convert it (keytool -importkeystore -deststoretype PKCS12, then \
                         openssl pkcs12 -nodes), and state ServerCertificateFile and ServerCertificateKeyFile, or \
                         ClientCertificateFile and ClientCertificateKeyFile";
const TRUST_STORE: &str = "Java trust stores are not read: export its certificates (keytool -exportcert -rfc), and state \
                           CertificationAuthoritiesFile";
const NTLM: &str =
    "NTLM is not spoken to proxies: use ProxyUser and ProxyPassword, or a proxy without a password";

pub(super) static KEYS: &[Key] = &[
    Key::new("SocketConnectHost", Initiator, HOST)
        .what("where to connect; SocketConnectHost1, 2 … are tried after it"),
    Key::new("SocketConnectPort", Initiator, PORT)
        .what("port to connect to; SocketConnectPort1, 2 … belong to the hosts of the same number"),
    Key::new("SocketConnectSourceHost", Initiator, HOST)
        .aliases(&["SocketLocalHost"])
        .what("local address of the connection"),
    Key::new("SocketConnectSourcePort", Initiator, PORT)
        .aliases(&["SocketLocalPort"])
        .what("local port of the connection"),
    Key::new("SocketConnectProtocol", Initiator, "TCP").default("TCP").what("protocol of the connection"),
    Key::new("ReconnectInterval", Initiator, "seconds, or a list such as 3x5;2x30;60")
        .default("30")
        .what("waits so long before it connects again; the last of a list repeats"),
    Key::new("HostSelectionPolicy", Initiator, "ROUNDROBIN or PRIORITY")
        .default("ROUNDROBIN")
        .what("PRIORITY begins again at the first host after HostSelectionPolicyPriorityStartOverInterval"),
    Key::new("HostSelectionPolicyPriorityStartOverInterval", Initiator, SECONDS)
        .default("120")
        .what("how long after the last attempt PRIORITY begins again at the first host"),
    Key::new("DynamicSession", Initiator, FLAG)
        .default("N")
        .what("does not connect until the program asks for it"),
    Key::new("ProxyType", Initiator, "http or socks").what("connects through a proxy"),
    Key::new("ProxyVersion", Initiator, "socks: 4, 4a or 5; http: 1.0 or 1.1")
        .default("5 or 1.0")
        .what("version of the proxy's protocol"),
    Key::new("ProxyHost", Initiator, HOST).what("the proxy's host"),
    Key::new("ProxyPort", Initiator, PORT).what("the proxy's port"),
    Key::new("ProxyUser", Initiator, TEXT).what("name for the proxy"),
    Key::new("ProxyPassword", Initiator, TEXT).what("password for the proxy"),
    Key::refused("ProxyDomain", Initiator, NTLM),
    Key::refused("ProxyWorkstation", Initiator, NTLM),
    Key::no_effect(
        "ContinueInitializationOnError",
        Initiator,
        "settings are checked as a whole before the first session starts",
    ),
    Key::new("SocketAcceptPort", Acceptor, "a port, 0 to 65535 (0: any free one)")
        .what("port to listen on; sessions may share it"),
    Key::new("SocketAcceptAddress", Acceptor, HOST)
        .aliases(&["SocketAcceptHost"])
        .default("all addresses")
        .what("local address to listen on"),
    Key::new("SocketAcceptProtocol", Acceptor, "TCP").default("TCP").what("protocol of the listener"),
    Key::new(
        "AllowedRemoteAddresses",
        Acceptor,
        "addresses, networks such as 10.0.0.0/8 or host names, with commas between",
    )
    .default("all")
    .what("who may log on to this session"),
    Key::no_effect(
        "HttpAcceptPort",
        Acceptor,
        "there is no web page of sessions: see the status line and its JSON",
    ),
    Key::new("SocketReuseAddress", Sockets, FLAG)
        .default("Y")
        .what("an acceptor listens at an address that was just in use; N: not until the system has forgotten it"),
    Key::new("SocketNodelay", Sockets, FLAG)
        .aliases(&["SocketTcpNoDelay"])
        .default("Y")
        .what("sends small messages at once"),
    Key::new("SocketKeepAlive", Sockets, FLAG).default("N").what("the system probes idle connections"),
    Key::new("SocketLinger", Sockets, SECONDS)
        .what("how long a close waits for data to be sent; 0 resets the connection"),
    Key::new("SocketSendBufferSize", Sockets, BYTES)
        .aliases(&["SendBufferSize"])
        .what("the system's buffer of data to send"),
    Key::new("SocketReceiveBufferSize", Sockets, BYTES)
        .aliases(&["ReceiveBufferSize"])
        .what("the system's buffer of received data"),
    Key::new("SocketTrafficClass", Sockets, "0 to 255, or names such as IPTOS_LOWDELAY with | between")
        .what("type-of-service octet of packets"),
    Key::no_effect("SocketOobInline", Sockets, "FIX has no urgent data"),
    Key::new("SocketSynchronousWrites", Sockets, FLAG)
        .default("N")
        .what("Y is refused: no write blocks; MaxScheduledWriteRequests limits what waits"),
    Key::new("SocketSynchronousWriteTimeout", Sockets, "a whole number of milliseconds, 0 or more")
        .what("a limit of SocketSynchronousWrites=Y, which is refused"),
    Key::new("MaxScheduledWriteRequests", Sockets, "a whole number of messages, 0 or more")
        .default("0")
        .what("a connection ends when more messages wait to be sent; 0: when 4 MiB wait, as always"),
    Key::new("SocketUseSSL", Tls, FLAG)
        .default("N")
        .what("speaks TLS; without this key, a certificate or CertificationAuthoritiesFile turns it on"),
    Key::new("ServerCertificateFile", Tls, FILE).what("an acceptor's certificates"),
    Key::new("ServerCertificateKeyFile", Tls, FILE)
        .default("ServerCertificateFile")
        .what("their private key"),
    Key::new("ClientCertificateFile", Tls, FILE).what("an initiator's certificates"),
    Key::new("ClientCertificateKeyFile", Tls, FILE)
        .default("ClientCertificateFile")
        .what("their private key"),
    Key::new("CertificationAuthoritiesFile", Tls, FILE)
        .default("the system's")
        .what("who may have signed the other side's certificate"),
    Key::new("CertificateRevocationListFile", Tls, FILE).what("certificates that no longer hold"),
    Key::new("CertificateVerifyLevel", Tls, "0 (no), 1 (required), 2 (if presented) or 3 (not stated)")
        .default("3")
        .what("whether an acceptor asks for the client's certificate; an initiator always verifies the server's"),
    Key::new("NeedClientAuth", Tls, FLAG)
        .default("N")
        .what("an acceptor requires a client's certificate"),
    Key::new("SSLProtocol", Tls, "all, TLSv1_2, TLSv1_3, with + and - before")
        .default("all")
        .what("versions of TLS; those before 1.2 are never spoken"),
    Key::new("EnabledProtocols", Tls, "TLSv1.2, TLSv1.3, with commas between")
        .default("TLSv1.2,TLSv1.3")
        .what("versions of TLS; those before 1.2 are never spoken"),
    Key::new("UseSNI", Tls, FLAG).default("Y").what("states the server's name in the handshake"),
    Key::new("SNIHostName", Tls, HOST)
        .default("the host connected to")
        .what("the server's name in the handshake, and in its certificate"),
    Key::no_effect(
        "EndpointIdentificationAlgorithm",
        Tls,
        "an initiator always verifies the server's name",
    ),
    Key::no_effect("SSLCipherSuite", Tls, "only suites that are secure today are spoken"),
    Key::no_effect("TLSCipherSuites", Tls, "only suites that are secure today are spoken"),
    Key::no_effect("CipherSuites", Tls, "only suites that are secure today are spoken"),
    Key::refused(
        "CertificationAuthoritiesDirectory",
        Tls,
        "put the certificates into one file (cat DIR/*.pem > ca.pem), and state CertificationAuthoritiesFile",
    ),
    Key::refused(
        "CertificateRevocationListDirectory",
        Tls,
        "put the lists into one file, and state CertificateRevocationListFile",
    ),
    Key::refused("SocketKeyStore", Tls, KEY_STORE),
    Key::refused("SocketKeyStorePassword", Tls, KEY_STORE),
    Key::refused("KeyStoreType", Tls, KEY_STORE),
    Key::refused("KeyManagerFactoryAlgorithm", Tls, KEY_STORE),
    Key::refused("SocketTrustStore", Tls, TRUST_STORE),
    Key::refused("SocketTrustStorePassword", Tls, TRUST_STORE),
    Key::refused("TrustStoreType", Tls, TRUST_STORE),
    Key::refused("TrustManagerFactoryAlgorithm", Tls, TRUST_STORE),
];
