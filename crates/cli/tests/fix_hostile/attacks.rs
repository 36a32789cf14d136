//! What hostile peers do, each until it is told to stop.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::client::{Client, GOOD, ORDER};

/// An attack on a port.
type Attack = fn(u16, &AtomicBool);

pub(crate) const ATTACKS: [(&str, Attack); 12] = [
    ("never logs on", silent),
    ("one byte a second", drip),
    ("floods with noise", noise),
    ("floods connections", connections),
    ("floods with orders", orders),
    ("does not read", deaf),
    ("BodyLength of 1 GB", long),
    ("resend storm", resends),
    ("duplicate identity", duplicate),
    ("half-open", half_open),
    ("clock that jumps", clock),
    ("many identities", identities),
];

const PAUSE: Duration = Duration::from_millis(10);

fn goes_on(stop: &AtomicBool) -> bool {
    !stop.load(Ordering::Relaxed)
}

fn tcp(port: u16) -> Option<TcpStream> {
    let stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream
        .set_write_timeout(Some(Duration::from_millis(200)))
        .ok()?;
    Some(stream)
}

/// Logs on as the hostile session, and again whenever that ends.
fn again(port: u16, stop: &AtomicBool, mut act: impl FnMut(&mut Client) -> std::io::Result<()>) {
    while goes_on(stop) {
        if let Ok(mut client) = Client::log_on(port, "HOSTILE", 30) {
            while goes_on(stop) && act(&mut client).is_ok() {}
        }
        std::thread::sleep(PAUSE);
    }
}

/// Reads and forgets until the connection ends.
fn drain(client: &Client) -> std::thread::JoinHandle<()> {
    let mut stream = client.stream.try_clone().expect("cloned");
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
    })
}

fn silent(port: u16, stop: &AtomicBool) {
    let mut open = Vec::new();
    while goes_on(stop) {
        while open.len() < 200 {
            open.extend(tcp(port));
        }
        std::thread::sleep(PAUSE);
    }
}

fn drip(port: u16, stop: &AtomicBool) {
    let mut open: Vec<TcpStream> = (0..50).filter_map(|_| tcp(port)).collect();
    let logon = Client::connect(port, "DRIP")
        .expect("it listens")
        .message("A", "98=0|108=30|", 0);
    let mut at = 0;
    while goes_on(stop) {
        for stream in &mut open {
            let _ = stream.write(&logon[at % logon.len()..][..1]);
        }
        at += 1;
        for _ in 0..100 {
            if goes_on(stop) {
                std::thread::sleep(PAUSE);
            }
        }
    }
}

fn noise(port: u16, stop: &AtomicBool) {
    let bytes: Vec<u8> = (0..65_536_u32)
        .map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8)
        .collect();
    let begin = b"8=FIX.4.4\x019=".to_vec();
    while goes_on(stop) {
        for head in [&b""[..], &begin] {
            if let Some(mut stream) = tcp(port) {
                let _ = stream.write_all(head);
                let _ = stream.write_all(&bytes);
            }
        }
    }
}

fn connections(port: u16, stop: &AtomicBool) {
    while goes_on(stop) {
        drop(tcp(port));
    }
}

fn orders(port: u16, stop: &AtomicBool) {
    again(port, stop, |client| {
        let reader = drain(client);
        let mut sent = Ok(());
        while goes_on(stop) && sent.is_ok() {
            let many: Vec<u8> = (0..100)
                .flat_map(|_| client.message("D", &format!("11=x|{ORDER}"), 0))
                .collect();
            sent = client.stream.write_all(&many);
        }
        let _ = client.stream.shutdown(Shutdown::Both);
        let _ = reader.join();
        Err(std::io::ErrorKind::Other.into())
    });
}

fn deaf(port: u16, stop: &AtomicBool) {
    again(port, stop, |client| {
        let many: Vec<u8> = (0..100)
            .flat_map(|_| client.message("D", &format!("11=x|{ORDER}"), 0))
            .collect();
        client.stream.write_all(&many)
    });
}

fn long(port: u16, stop: &AtomicBool) {
    let some = vec![b'x'; 65_536];
    while goes_on(stop) {
        if let Some(mut stream) = tcp(port) {
            let _ = stream.write_all(b"8=FIX.4.4\x019=1000000000\x0135=A\x0158=");
            while goes_on(stop) && stream.write_all(&some).is_ok() {}
        }
        if let Ok(mut client) = Client::log_on(port, "HOSTILE", 30) {
            let _ = client
                .stream
                .write_all(b"8=FIX.4.4\x019=1000000000\x0135=D\x0158=");
            while goes_on(stop) && client.stream.write_all(&some).is_ok() {}
        }
    }
}

fn resends(port: u16, stop: &AtomicBool) {
    again(port, stop, |client| {
        let reader = drain(client);
        let mut sent = Ok(());
        for _ in 0..2_000 {
            sent = sent.and_then(|()| client.send("D", &format!("11=x|{ORDER}")));
        }
        let mut begin = 0;
        while goes_on(stop) && sent.is_ok() {
            // The same request is refused when it comes too often: these differ.
            begin = begin % 1_000 + 1;
            sent = client.send("2", &format!("7={begin}|16=0|"));
        }
        let _ = client.stream.shutdown(Shutdown::Both);
        let _ = reader.join();
        Err(std::io::ErrorKind::Other.into())
    });
}

fn duplicate(port: u16, stop: &AtomicBool) {
    while goes_on(stop) {
        if let Ok(mut client) = Client::connect(port, GOOD[0]) {
            let _ = client.send("A", "98=0|108=30|");
            // Closed without an answer.
            let _ = client.stream.read(&mut [0; 100]);
        }
    }
}

fn half_open(port: u16, stop: &AtomicBool) {
    // It logs on, asks for much, and is never heard of again; its connection stays.
    again(port, stop, |client| {
        for _ in 0..1_000 {
            client.send("1", "112=x|")?;
        }
        let mut rest = 0;
        while goes_on(stop) && rest < 500 {
            std::thread::sleep(PAUSE);
            rest += 1;
        }
        Err(std::io::ErrorKind::Other.into())
    });
}

fn clock(port: u16, stop: &AtomicBool) {
    let mut off = 0;
    again(port, stop, |client| {
        off = (off + 3_600) % 86_400;
        let message = client.message("0", "", off - 43_200);
        client.stream.write_all(&message)?;
        client.read().map(drop)
    });
}

fn identities(port: u16, stop: &AtomicBool) {
    let mut number = 0;
    while goes_on(stop) {
        number += 1;
        let _ = Client::log_on(port, &format!("NAME{number}"), 30);
    }
}
