//! Waits for engines that connect: each connection goes to the version that its Logon names.

use std::io::{self, Read as _};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs as _};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use fixcore::dict::Version;
use fixcore::{Frame, Framer};
use fixsession::certify::logon_version;

use crate::failure::{Failure, Result};
use crate::term::signal;

/// Signals are looked at this often.
const LOOK: Duration = Duration::from_millis(100);
/// A connection without a Logon is closed after this.
const FIRST_WAIT: Duration = Duration::from_secs(10);
/// The longest Logon.
const FIRST_BYTES_MAX: usize = 64 << 10;
/// Connections that have not sent their Logon yet; more are closed.
const FIRST_COUNT_MAX: usize = 256;
/// A connection that waited longer for its scenario is closed: the engine may give up at any time.
const PARKED_MAX: Duration = Duration::from_secs(2);

/// A connection of the engine, and the bytes that came over it.
pub(super) struct Arrived {
    pub(super) stream: TcpStream,
    pub(super) bytes: Vec<u8>,
    at: Instant,
}

/// A socket that listens, and the connections that wait for a scenario.
#[derive(Clone)]
pub(super) struct Listening {
    shared: Arc<Shared>,
    pub(super) address: SocketAddr,
}

#[derive(Default)]
struct Shared {
    places: Mutex<Places>,
    changed: Condvar,
    unnamed: AtomicUsize,
}

#[derive(Default)]
struct Places {
    /// Versions whose scenarios run, and the newest connection of each.
    open: Vec<(Version, Option<Arrived>)>,
    /// What came first over a connection that no scenario waits for.
    strange: Option<String>,
    /// The versions that are certified.
    planned: Vec<Version>,
}

impl Listening {
    /// Listens at an address for engines of these versions.
    pub(super) fn at(address: &str, planned: &[Version]) -> Result<Self> {
        let found = address.to_socket_addrs().map(Iterator::collect);
        let found: Vec<SocketAddr> = found.map_err(|error| {
            Failure::usage(format!("'{address}' is no address: {error}"))
                .help("name an address and a port, as 127.0.0.1:5001")
        })?;
        let refused =
            |error: io::Error| Failure::new(format!("cannot listen at {address}: {error}"));
        let listener = TcpListener::bind(found.as_slice()).map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let shared = Arc::new(Shared::default());
        planned.clone_into(&mut shared.places().planned);
        let own = Arc::clone(&shared);
        // Never joined: it ends with the process.
        let thread = std::thread::Builder::new().name("listener".to_owned());
        let started = thread.spawn(move || {
            for stream in listener.incoming().flatten() {
                own.take(stream);
            }
        });
        started.map_err(|error| Failure::new(format!("cannot start a thread: {error}")))?;
        Ok(Self { shared, address })
    }

    /// Connections of this version are taken from here on.
    pub(super) fn open(&self, version: Version) {
        self.shared.places().open.push((version, None));
    }

    /// No connection of this version is taken any more.
    pub(super) fn close(&self, version: Version) {
        self.shared.places().open.retain(|place| place.0 != version);
    }

    /// The next connection of a version.
    pub(super) fn accept(&self, version: Version, wait: Duration) -> io::Result<Arrived> {
        let began = Instant::now();
        let mut places = self.shared.places();
        loop {
            let place = places.open.iter_mut().find(|place| place.0 == version);
            let arrived = place.and_then(|place| place.1.take());
            if let Some(arrived) = arrived.filter(Arrived::is_usable) {
                return Ok(arrived);
            }
            if signal::interrupted() {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let left = wait.saturating_sub(began.elapsed());
            if left.is_zero() {
                let seconds = wait.as_secs_f64();
                let mut why = format!("the engine did not connect in {seconds} s");
                if let Some(strange) = &places.strange {
                    why += &format!("; {strange}");
                }
                return Err(io::Error::new(io::ErrorKind::TimedOut, why));
            }
            let waited = self.shared.changed.wait_timeout(places, left.min(LOOK));
            places = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Shared {
    fn places(&self) -> MutexGuard<'_, Places> {
        self.places.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the first message of a connection, and hands it to its version.
    fn take(self: &Arc<Self>, stream: TcpStream) {
        if self.unnamed.load(Ordering::Relaxed) >= FIRST_COUNT_MAX {
            return;
        }
        self.unnamed.fetch_add(1, Ordering::Relaxed);
        let own = Arc::clone(self);
        let thread = std::thread::Builder::new().name("first message".to_owned());
        let started = thread.spawn(move || {
            let found = first(stream);
            own.unnamed.fetch_sub(1, Ordering::Relaxed);
            let mut places = own.places();
            match found {
                Ok((version, _)) if !places.planned.contains(&version) => {
                    let name = version.name();
                    places.strange = Some(format!(
                        "the engine logged on with {name}, which --versions leaves out"
                    ));
                }
                Ok((version, arrived)) => {
                    let mut open = places.open.iter_mut();
                    if let Some(place) = open.find(|place| place.0 == version) {
                        place.1 = Some(arrived);
                    }
                }
                Err(why) => places.strange = Some(why).filter(|why| !why.is_empty()),
            }
            drop(places);
            own.changed.notify_all();
        });
        if started.is_err() {
            self.unnamed.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Arrived {
    /// Whether the engine still waits for the answer to its Logon.
    fn is_usable(&self) -> bool {
        let is_open = || {
            self.stream.set_nonblocking(true)?;
            let found = self.stream.peek(&mut [0]);
            self.stream.set_nonblocking(false)?;
            match found {
                Ok(count) => Ok(count > 0),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(true),
                Err(error) => Err(error),
            }
        };
        self.at.elapsed() < PARKED_MAX && is_open().unwrap_or(false)
    }
}

/// Reads until the first message is there. The error is empty if nothing came.
fn first(mut stream: TcpStream) -> std::result::Result<(Version, Arrived), String> {
    let began = Instant::now();
    let mut bytes = Vec::new();
    let mut framer = Framer::with_limit(FIRST_BYTES_MAX);
    let mut room = vec![0; 4096];
    loop {
        let left = FIRST_WAIT.saturating_sub(began.elapsed());
        let is_over = left.is_zero() || bytes.len() > FIRST_BYTES_MAX;
        let timed = stream.set_read_timeout(Some(left.max(LOOK)));
        let count = match timed.and_then(|()| stream.read(&mut room)) {
            Ok(count) if !is_over => count,
            _ => 0,
        };
        let read = room.get(..count).unwrap_or(&[]);
        if read.is_empty() {
            return Err(match bytes.is_empty() {
                true => String::new(),
                false => "a connection brought no whole message".to_owned(),
            });
        }
        bytes.extend_from_slice(read);
        framer.push(read);
        let version = match framer.next_frame() {
            None => continue,
            Some(Frame::Message { bytes, .. }) => logon_version(bytes),
            Some(Frame::Skipped { .. }) => None,
        };
        let Some(version) = version else {
            return Err("a connection began with a message that is no Logon of a version that is known: BeginString (8) and, with FIXT.1.1, DefaultApplVerID (1137) name it".to_owned());
        };
        let ready = stream.set_read_timeout(None);
        ready.map_err(|error| error.to_string())?;
        let at = Instant::now();
        return Ok((version, Arrived { stream, bytes, at }));
    }
}
