//! Sources that are URLs, against a server in this process: whole, slow, cut off, refused, by ranges.

#![cfg(unix)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{Run, directory, file, names, perfkit, run, samples, words};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Longer than anything here may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// A request, as far as it matters.
#[derive(Debug, Clone)]
struct Asked {
    method: String,
    target: String,
    /// First and last byte; a range may be open.
    range: Option<(u64, Option<u64>)>,
}

/// A server on a port of its own, for as long as the test runs.
struct Server {
    address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// Answers each connection's one request with `answer`, which is told how many came before.
    fn start(answer: impl Fn(&Asked, usize, &mut TcpStream) + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("an address").to_string();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (seen, answer) = (Arc::clone(&asked), Arc::new(answer));
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (seen, answer) = (Arc::clone(&seen), Arc::clone(&answer));
                thread::spawn(move || one(stream, &seen, &*answer));
            }
        });
        Self { address, asked }
    }

    fn url(&self, target: &str) -> String {
        format!("http://{}{target}", self.address)
    }

    fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no panic").clone()
    }
}

fn one(
    mut stream: TcpStream,
    seen: &Mutex<Vec<Asked>>,
    answer: &dyn Fn(&Asked, usize, &mut TcpStream),
) {
    let mut lines = BufReader::new(stream.try_clone().expect("a handle")).lines();
    let Some(Ok(first)) = lines.next() else {
        return;
    };
    let mut words = first.split_whitespace().map(str::to_owned);
    let mut asked = Asked {
        method: words.next().unwrap_or_default(),
        target: words.next().unwrap_or_default(),
        range: None,
    };
    for line in lines
        .map_while(Result::ok)
        .take_while(|line| !line.is_empty())
    {
        let line = line.to_ascii_lowercase();
        if let Some(range) = line.strip_prefix("range: bytes=") {
            let (first, last) = range.split_once('-').expect("a range");
            asked.range = Some((first.parse().expect("a number"), last.parse().ok()));
        }
    }
    let before = {
        let mut seen = seen.lock().expect("no panic");
        seen.push(asked.clone());
        seen.len() - 1
    };
    answer(&asked, before, &mut stream);
}

/// An answer's head. Whoever asked may have gone.
fn head(stream: &mut TcpStream, status: &str, fields: &[String]) {
    let mut text = format!("HTTP/1.1 {status}\r\nConnection: close\r\n");
    for field in fields {
        text += field;
        text += "\r\n";
    }
    let _ = stream.write_all(format!("{text}\r\n").as_bytes());
}

fn length(bytes: usize) -> String {
    format!("Content-Length: {bytes}")
}

/// Answers as a server does that has this object, `most` bytes of it at a time.
fn object(asked: &Asked, content: &[u8], etag: bool, most: usize, stream: &mut TcpStream) {
    let mut fields = vec!["Last-Modified: Sat, 21 Nov 2026 10:00:00 GMT".to_owned()];
    if etag {
        fields.push("ETag: \"1\"".to_owned());
    }
    let total = content.len();
    let (status, part) = match asked.range {
        None => ("200 OK", 0..total),
        Some((first, last)) => {
            let end = last.map_or(total, |last| total.min(last as usize + 1));
            let first = first as usize;
            fields.push(format!("Content-Range: bytes {first}-{}/{total}", end - 1));
            ("206 Partial Content", first..end)
        }
    };
    fields.push(length(part.len()));
    head(stream, status, &fields);
    if asked.method == "GET" {
        let part = &content[part];
        let _ = stream.write_all(&part[..part.len().min(most)]);
    }
}

/// A server that has `content` under every name.
fn serve(content: &[u8]) -> Server {
    let content = content.to_vec();
    Server::start(move |asked, _, stream| object(asked, &content, true, usize::MAX, stream))
}

fn json(bytes: usize) -> Vec<u8> {
    samples(bytes).swap_remove(0).1
}

fn perfkit_on(dir: &Path, line: &str, url: &str) -> Run {
    let mut words = words(line);
    words.push(url.to_owned());
    run(dir, words)
}

/// What `content` compresses to with these flags.
fn compressed(dir: &Path, content: &[u8], flags: &str) -> Vec<u8> {
    let path = file(dir, "made", content);
    let line = format!("compress -qq {flags} made");
    run(dir, words(&line)).expect(0);
    std::fs::remove_file(path).expect("removed");
    let bytes = std::fs::read(dir.join("made.zst")).expect("written");
    std::fs::remove_file(dir.join("made.zst")).expect("removed");
    bytes
}

#[test]
fn what_a_url_names_goes_to_a_file_here_and_to_standard_output() {
    let dir = directory();
    let content = json(3_000_000);
    let plain = serve(&content);
    perfkit_on(dir.path(), "compress -q", &plain.url("/d/a%20b?key=x%2Fy")).expect(0);
    assert_eq!(names(dir.path()), ["a b.zst"]);
    // Asked for to the letter, once, and its size is in the frame.
    let asked = plain.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].target, "/d/a%20b?key=x%2Fy");
    let frame = std::fs::read(dir.path().join("a b.zst")).expect("written");
    let listed = zstdkit::frame::list(&frame).expect("frames");
    assert_eq!(listed[0].content_size, Some(3_000_000));

    let packed = serve(&frame);
    let back = perfkit_on(dir.path(), "decompress -q -c", &packed.url("/a.zst")).expect(0);
    assert!(back.stdout == content);
    perfkit_on(dir.path(), "decompress -q", &packed.url("/x/a.zst#part")).expect(0);
    assert_eq!(
        std::fs::read(dir.path().join("a")).expect("written"),
        content
    );
    perfkit_on(dir.path(), "decompress -q -o named", &packed.url("/")).expect(0);
    assert!(dir.path().join("named").exists());
    let nameless = perfkit_on(dir.path(), "decompress -q", &packed.url("/")).expect(1);
    assert!(
        nameless.stderr.contains("ends in no name"),
        "{}",
        nameless.stderr
    );
    let file = format!("file://{}", dir.path().join("a%20b.zst").display());
    let local = perfkit_on(dir.path(), "decompress -q -c", &file).expect(0);
    assert!(local.stdout == content);
}

#[test]
fn content_is_decompressed_while_it_arrives() {
    let dir = directory();
    let content = samples(2_000_000).swap_remove(5).1;
    let frame = compressed(dir.path(), &content, "");
    let (go, gate) = channel::<()>();
    let gate = Mutex::new(gate);
    let sent = frame.clone();
    let in_vain = Arc::new(AtomicBool::new(false));
    let waited = Arc::clone(&in_vain);
    let server = Server::start(move |_, _, stream| {
        head(stream, "200 OK", &[length(sent.len())]);
        let (first, rest) = sent.split_at(sent.len() / 2);
        let _ = stream.write_all(first);
        let opened = gate.lock().expect("no panic").recv_timeout(PATIENCE);
        waited.store(opened.is_err(), Ordering::SeqCst);
        for piece in rest.chunks(100_000) {
            let _ = stream.write_all(piece);
            thread::sleep(Duration::from_millis(5));
        }
    });
    let mut child = perfkit()
        .current_dir(dir.path())
        .args(["decompress", "-qq", "-c", &server.url("/r.zst")])
        .stdout(Stdio::piped())
        .spawn()
        .expect("runs");
    let mut stdout = child.stdout.take().expect("a pipe");
    let mut back = vec![0; 500_000];
    stdout
        .read_exact(&mut back)
        .expect("comes before the rest was sent");
    let _ = go.send(());
    stdout.read_to_end(&mut back).expect("the rest");
    assert!(child.wait().expect("ends").success());
    assert!(back == content);
    assert!(
        !in_vain.load(Ordering::SeqCst),
        "nothing came before the end"
    );
}

#[test]
fn pages_without_a_length_are_read_as_well() {
    let dir = directory();
    let content = json(300_000);
    let sent = content.clone();
    let server = Server::start(move |_, _, stream| {
        head(stream, "200 OK", &["Transfer-Encoding: chunked".to_owned()]);
        for chunk in sent.chunks(70_000) {
            let _ = stream.write_all(format!("{:x}\r\n", chunk.len()).as_bytes());
            let _ = stream.write_all(chunk);
            let _ = stream.write_all(b"\r\n");
        }
        let _ = stream.write_all(b"0\r\n\r\n");
    });
    perfkit_on(dir.path(), "compress -q", &server.url("/page")).expect(0);
    let back = run(dir.path(), words("decompress -q -c page.zst")).expect(0);
    assert!(back.stdout == content);
}

#[test]
fn a_stream_that_ends_early_is_told_with_its_byte_and_leaves_no_target() {
    let dir = directory();
    let content = json(500_000);
    let sent = content.clone();
    let server =
        Server::start(move |asked, _, stream| object(asked, &sent, false, 123_456, stream));
    for line in ["compress -q", "compress -q -c"] {
        let url = server.url("/cut.json");
        let failed = perfkit_on(dir.path(), line, &url).expect(1);
        let told = format!("cannot read '{url}': it broke off at byte 123456 of 500000: ");
        assert!(failed.stderr.contains(&told), "{}", failed.stderr);
    }
    assert!(names(dir.path()).is_empty());
    assert_eq!(server.asked().len(), 2, "another object might be there now");
}

#[test]
fn a_stream_that_breaks_goes_on_where_it_broke_while_the_object_is_the_same() {
    let dir = directory();
    let content = json(500_000);
    let sent = content.clone();
    let server = Server::start(move |asked, before, stream| {
        let most = if before < 2 { 123_456 } else { usize::MAX };
        object(asked, &sent, true, most, stream);
    });
    perfkit_on(dir.path(), "compress -q", &server.url("/o")).expect(0);
    let back = run(dir.path(), words("decompress -q -c o.zst")).expect(0);
    assert!(back.stdout == content);
    let ranges: Vec<_> = server.asked().iter().map(|asked| asked.range).collect();
    let from = |first| Some((first, Some(499_999)));
    assert_eq!(ranges, [None, from(123_456), from(246_912)]);
}

#[test]
fn refusals_name_the_url_and_the_answer() {
    let dir = directory();
    for (status, told, requests) in [
        ("404 Not Found", "the server answered 404 not found", 1),
        ("403 Forbidden", "the server answered 403 forbidden", 1),
        (
            "500 Internal Server Error",
            "answered 500 internal server error",
            4,
        ),
    ] {
        let server = Server::start(move |_, _, stream| head(stream, status, &[length(0)]));
        let url = server.url("/o.zst");
        let failed = perfkit_on(dir.path(), "decompress -q", &url).expect(1);
        assert!(failed.stderr.contains(&format!("cannot read '{url}': ")));
        assert!(failed.stderr.contains(told), "{}", failed.stderr);
        assert_eq!(server.asked().len(), requests, "{status}");
    }
    let nobody = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = nobody.local_addr().expect("an address");
    drop(nobody);
    let url = format!("http://{address}/o.zst");
    let failed = perfkit_on(dir.path(), "decompress -q", &url).expect(1);
    assert!(
        failed
            .stderr
            .contains(&format!("cannot read '{url}': no answer: "))
    );
    for url in ["http://", "http://u:p@h/a", "s3:///a", "http://h:99999/a"] {
        let failed = perfkit_on(dir.path(), "compress -q -o t", url).expect(1);
        assert!(failed.stderr.contains(&format!("cannot read '{url}': ")));
    }
    assert!(names(dir.path()).is_empty());
}

#[test]
fn a_server_that_fails_twice_is_asked_again() {
    let dir = directory();
    let content = json(50_000);
    let sent = content.clone();
    let server = Server::start(move |asked, before, stream| match before {
        0 => head(stream, "503 Service Unavailable", &[length(0)]),
        // Nothing was read and nothing is answered: the connection is reset.
        1 => {}
        _ => object(asked, &sent, true, usize::MAX, stream),
    });
    perfkit_on(dir.path(), "compress -q", &server.url("/o")).expect(0);
    let back = run(dir.path(), words("decompress -q -c o.zst")).expect(0);
    assert!(back.stdout == content);
    assert_eq!(server.asked().len(), 3);
}

#[test]
fn a_range_is_read_without_the_rest_of_the_object() {
    let dir = directory();
    let content = samples(4_000_000).swap_remove(5).1;
    let frame = compressed(dir.path(), &content, "--seekable=100000");
    let server = serve(&frame);
    let line = "decompress -q -c --range 2000000..2000100";
    let part = perfkit_on(dir.path(), line, &server.url("/s.zst")).expect(0);
    assert!(part.stdout == content[2_000_000..2_000_100]);
    // The size, the end with the table, and the stream from the frame on.
    let asked = server.asked();
    assert_eq!(asked.len(), 3, "{asked:?}");
    assert_eq!(asked[0].method, "HEAD");
    let start = asked[2].range.expect("a range").0;
    assert!((1_900_000..2_100_000).contains(&start), "{start}");
    let listed = perfkit_on(dir.path(), "decompress -q -l", &server.url("/s.zst")).expect(0);
    assert!(!listed.stdout.is_empty());

    let whole = frame.clone();
    let server = Server::start(move |asked, _, stream| {
        let asked = Asked {
            range: None,
            ..asked.clone()
        };
        object(&asked, &whole, true, usize::MAX, stream);
    });
    let failed = perfkit_on(dir.path(), line, &server.url("/s.zst")).expect(1);
    assert!(
        failed.stderr.contains("does not give parts"),
        "{}",
        failed.stderr
    );
}

#[test]
fn an_interrupt_ends_a_wait_for_an_answer_and_for_a_byte() {
    let dir = directory();
    for answers in [false, true] {
        let (tell, told) = channel();
        let tell = Mutex::new(tell);
        let server = Server::start(move |_, _, stream| {
            if answers {
                head(stream, "200 OK", &[length(1_000_000)]);
                let _ = stream.write_all(&[b'x'; 1000]);
            }
            let _ = tell.lock().expect("no panic").send(());
            thread::sleep(10 * PATIENCE);
        });
        let child = perfkit()
            .current_dir(dir.path())
            .args(["compress", "-q", &server.url("/slow")])
            .stderr(Stdio::piped())
            .spawn()
            .expect("runs");
        told.recv_timeout(PATIENCE).expect("it was asked");
        let begun = Instant::now();
        let pid = i32::try_from(child.id()).expect("a number");
        kill(Pid::from_raw(pid), Signal::SIGINT).expect("sent");
        Run::from(child.wait_with_output().expect("ends")).expect(130);
        assert!(begun.elapsed() < PATIENCE);
        assert!(names(dir.path()).is_empty());
    }
}

#[cfg(feature = "cloud")]
#[test]
fn buckets_are_reached_by_what_the_environment_says() {
    let dir = directory();
    let content = json(100_000);
    let server = serve(&content);
    let end = |scheme: &str| format!("{scheme}://bucket/deep/key.json");
    let url = server.url("");
    type Variables<'a> = &'a [(&'a str, &'a str)];
    let stores: [(&str, Variables<'_>, &str); 2] = [
        (
            "s3",
            &[
                ("AWS_ENDPOINT_URL", &url),
                ("AWS_ALLOW_HTTP", "true"),
                ("AWS_SKIP_SIGNATURE", "true"),
                ("AWS_REGION", "nowhere"),
            ],
            "/bucket/deep/key.json",
        ),
        (
            "az",
            &[
                ("AZURE_STORAGE_ACCOUNT_NAME", "account"),
                ("AZURE_ENDPOINT", &url),
                ("AZURE_ALLOW_HTTP", "true"),
                ("AZURE_SKIP_SIGNATURE", "true"),
            ],
            "/bucket/deep/key.json",
        ),
    ];
    for (scheme, variables, target) in stores {
        let ran = perfkit()
            .current_dir(dir.path())
            .args(["compress", "-q", "-c", &end(scheme)])
            .envs(variables.iter().copied())
            .output();
        let ran = Run::from(ran.expect("runs")).expect(0);
        let options = zstdkit::DecoderOptions::default();
        assert!(zstdkit::decompress(&ran.stdout, &options).as_deref() == Ok(&content[..]));
        let asked = server.asked();
        assert_eq!(asked.last().expect("asked").target, target, "{scheme}");
    }
}

/// Bytes that were asked for, of an object of this size.
#[cfg(feature = "cloud")]
fn bytes_asked(asked: &[Asked], total: usize) -> u64 {
    let bytes = asked.iter().filter(|asked| asked.method == "GET");
    let bytes = bytes.map(|asked| match asked.range {
        Some((first, Some(last))) => last + 1 - first,
        _ => total as u64,
    });
    bytes.sum()
}

/// An archive of many entries, and its bytes.
#[cfg(feature = "cloud")]
fn archive(dir: &Path) -> (Vec<(&'static str, Vec<u8>)>, Vec<u8>) {
    let samples = samples(400_000);
    for (name, content) in &samples {
        file(dir, name, content);
    }
    let mut line = words("zip -q -Z store a.zip");
    line.extend(samples.iter().map(|(name, _)| (*name).to_owned()));
    run(dir, line).expect(0);
    let archive = std::fs::read(dir.join("a.zip")).expect("read");
    (samples, archive)
}

#[cfg(feature = "cloud")]
#[test]
fn an_entry_of_an_archive_is_read_in_three_requests_and_without_the_rest() {
    let dir = directory();
    let (samples, archive) = archive(dir.path());
    let server = serve(&archive);
    let url = server.url("/a.zip");
    run(dir.path(), ["unzip", "-l", &url]).expect(0);
    let asked = server.asked();
    let methods: Vec<_> = asked.iter().map(|asked| asked.method.as_str()).collect();
    assert_eq!(methods, ["HEAD", "GET"], "the end holds the directory");
    assert_eq!(bytes_asked(&asked, archive.len()), 128 << 10);

    let (name, content) = &samples[1];
    let ran = run(dir.path(), ["unzip", "-q", "-p", &url, name]).expect(0);
    assert!(ran.stdout == *content);
    let asked = &server.asked()[2..];
    assert_eq!(asked.len(), 3, "{asked:?}");
    let bytes = bytes_asked(asked, archive.len());
    let most = (128 << 10) + content.len() as u64 + 4096;
    assert!(bytes <= most, "{bytes}");

    // Everything, for comparison: no byte is asked for twice.
    run(dir.path(), ["unzip", "-q", "-t", &url]).expect(0);
    let asked = &server.asked()[5..];
    assert!(bytes_asked(asked, archive.len()) <= archive.len() as u64 + 4096);
}

#[cfg(feature = "cloud")]
#[test]
fn a_range_of_a_large_entry_is_read_without_the_rest() {
    let dir = directory();
    let lines = (0..2_000_000_u32).map(|number| format!("line {number} {}\n", number % 77));
    let content: Vec<u8> = lines.flat_map(String::into_bytes).collect();
    file(dir.path(), "large", &content);
    run(dir.path(), words("zip -q -1 a.zip large")).expect(0);
    let index = words("unzip -qq -t a.zip large --write-index large.idx");
    run(dir.path(), index).expect(0);
    let archive = std::fs::read(dir.path().join("a.zip")).expect("read");
    let server = serve(&archive);
    let url = server.url("/a.zip");
    let line = format!("unzip -q -p {url} large --index large.idx --range 20M..21M");
    let ran = run(dir.path(), words(&line)).expect(0);
    assert!(ran.stdout == content[20 << 20..21 << 20]);
    let asked = server.asked();
    // The size, the directory, the local header, and one or two parts of 4 MiB.
    assert!(asked.len() <= 5, "{asked:?}");
    let part = archive.len() as u64 * (5 << 20) / content.len() as u64;
    let most = (128 << 10) + 8192 + 2 * part;
    let bytes = bytes_asked(&asked, archive.len());
    assert!(
        bytes <= most && most < archive.len() as u64 / 2,
        "{bytes}, {most}"
    );
}

#[cfg(feature = "cloud")]
#[test]
fn an_archive_of_a_server_without_parts_is_read_as_it_comes() {
    let dir = directory();
    let (samples, archive) = archive(dir.path());
    // It knows no sizes beforehand.
    let server = Server::start(move |asked, _, stream| {
        head(stream, "200 OK", &[]);
        if asked.method == "GET" {
            let _ = stream.write_all(&archive);
        }
    });
    let (name, content) = &samples[0];
    let ran = run(
        dir.path(),
        ["unzip", "-q", "-p", &server.url("/a.zip"), name],
    );
    assert!(ran.expect(0).stdout == *content);
}

#[cfg(feature = "cloud")]
#[test]
fn an_archive_is_put_to_a_server_that_has_none() {
    let dir = directory();
    let put = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&put);
    let server = Server::start(move |asked, _, stream| match asked.method.as_str() {
        "HEAD" => head(stream, "404 Not Found", &[length(0)]),
        _ => {
            // What of the body has come with the head is in the reader of that.
            let mut rest = vec![0; 100_000];
            while let Ok(count @ 1..) = stream.read(&mut rest) {
                let mut kept = kept.lock().expect("no panic");
                kept.extend_from_slice(&rest[..count]);
                // The end record is the last of an archive, and the body has no other end here.
                if kept.len() >= 22 && kept[kept.len() - 22..].starts_with(b"PK\x05\x06") {
                    break;
                }
            }
            head(
                stream,
                "201 Created",
                &[length(0), "ETag: \"1\"".to_owned()],
            );
        }
    });
    file(dir.path(), "one", &[7; 50_000]);
    let url = server.url("/b.zip");
    run(dir.path(), ["zip", "-q", "-Z", "store", &url, "one"]).expect(0);
    assert!(put.lock().expect("no panic").len() > 40_000);

    let refused = run(dir.path(), ["zip", "-q", "--verify", &url, "one"]).expect(2);
    assert!(refused.stderr.contains("--verify"), "{}", refused.stderr);
}

/// Answers with `content` behind a handshake, by a certificate that its own key signed.
fn serve_encrypted(content: Vec<u8>) -> String {
    use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
    use rustls::{ServerConfig, ServerConnection, StreamOwned};
    let certificate = CertificateDer::from(&include_bytes!("data/local.crt.der")[..]);
    let key = PrivatePkcs8KeyDer::from(&include_bytes!("data/local.key.der")[..]);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key.into())
        .expect("a certificate");
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let connection = ServerConnection::new(Arc::clone(&config)).expect("a connection");
            let mut stream = BufReader::new(StreamOwned::new(connection, stream));
            // Who does not trust it ends the handshake.
            let asked: Vec<String> = stream
                .by_ref()
                .lines()
                .map_while(Result::ok)
                .take_while(|line| !line.is_empty())
                .collect();
            if asked.is_empty() {
                continue;
            }
            let mut stream = stream.into_inner();
            let length = length(content.len());
            let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\n{length}\r\n\r\n");
            let _ = stream.write_all(head.as_bytes());
            let _ = stream.write_all(&content);
            stream.conn.send_close_notify();
            let _ = stream.flush();
        }
    });
    format!("https://{address}/a.json")
}

#[test]
fn https_is_read_where_the_certificate_is_trusted_and_nowhere_else() {
    let dir = directory();
    let content = json(300_000);
    let url = serve_encrypted(content.clone());
    let trusted = file(dir.path(), "trusted.crt", include_bytes!("data/local.crt"));
    let ran = perfkit()
        .current_dir(dir.path())
        .args(["compress", "-q", "-c", &url])
        .env("SSL_CERT_FILE", &trusted)
        .output();
    let ran = Run::from(ran.expect("runs")).expect(0);
    let options = zstdkit::DecoderOptions::default();
    assert!(zstdkit::decompress(&ran.stdout, &options).as_deref() == Ok(&content[..]));

    let refused = run(dir.path(), ["compress", "-q", "-c", &url]).expect(1);
    assert!(refused.stderr.contains("certificate"), "{}", refused.stderr);
}
