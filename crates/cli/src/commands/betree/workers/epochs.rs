//! The states of the expressions that a worker answers with, one after the other: where newer ones come from, and how
//! threads take them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, Scope};
use std::time::Duration;

use betree::{Priorities, Snapshot};
use tokio::sync::oneshot;
use tokio::time::sleep;
use twox_hash::XxHash64;
use workers::nats::{self, Bucket, Held, WrongAddress};

use crate::commands::absent::Wait;
use crate::commands::betree::flags::MatchArgs;
use crate::commands::betree::matching::{BATCH_EXPRESSIONS_MAX, checked_bits};
use crate::commands::betree::print::Form;
use crate::commands::betree::priorities;
use crate::commands::betree::snapshot::{self, Tree};
use crate::commands::betree::worker::Job;
use crate::commands::nats::{access, failed};
use crate::failure::{Failure, Result};
use crate::term::message;

/// How often to look for a newer snapshot.
const LOOK: Duration = Duration::from_secs(1);

/// One state of the expressions.
pub(super) struct State {
    tree: Tree,
    bits: usize,
    priorities: Option<Priorities>,
    /// Its name, in every answer that it gives.
    pub(super) epoch: Arc<str>,
    /// A hash of the snapshot.
    pub(super) hash: String,
    /// A hash of the priorities.
    pub(super) priorities_hash: Option<String>,
}

impl State {
    /// The state of a snapshot.
    fn new(args: &MatchArgs, from: &Path, bytes: &[u8]) -> Result<Self> {
        let tree = snapshot::parse(from, bytes)?;
        let bits = checked_bits(args, &tree)?;
        let path = args.priorities.as_deref();
        let text = path.map(priorities::read).transpose()?;
        let read = path.zip(text.as_deref());
        let priorities = read.map(|(path, text)| priorities::parse(path, text, &tree));
        let hash = name(bytes);
        let epoch = args.workers.epoch.as_ref().unwrap_or(&hash);
        let epoch = epoch.as_str().into();
        Ok(Self {
            tree,
            bits,
            priorities: priorities.transpose()?,
            epoch,
            hash,
            priorities_hash: text.map(|text| name(text.as_bytes())),
        })
    }

    /// Whether its events are better searched many at a time.
    pub(super) fn wants_batches(&self, args: &MatchArgs) -> bool {
        let snapshot = &self.tree.snapshot;
        let is_faster = snapshot.lockstep_len() * 2 > snapshot.len();
        let is_small = snapshot.len() <= BATCH_EXPRESSIONS_MAX;
        is_faster && is_small && args.first.is_none() && args.top.is_none()
    }

    /// What a thread does with it.
    pub(super) fn job<'a>(&'a self, args: &'a MatchArgs, batches: bool) -> Job<'a> {
        Job {
            args,
            snapshot: &self.tree.snapshot,
            form: Form {
                format: args.format,
                has_event_id: args.event_id.is_some(),
                names: &self.tree.names,
                bits: self.bits,
            },
            priorities: self.priorities.as_ref(),
            batches,
            origin: "the block",
            // Whoever asks it to stop waits until it has finished.
            ends_early: false,
        }
    }

    /// The expressions.
    pub(super) fn snapshot(&self) -> &Snapshot {
        &self.tree.snapshot
    }
}

/// The name of a snapshot by what it holds.
pub(super) fn name(bytes: &[u8]) -> String {
    format!("{:016x}", XxHash64::oneshot(0, bytes))
}

/// The state that answers the next block, and how often it was replaced.
pub(super) struct Current(Mutex<(Arc<State>, Rollouts)>);

/// What became of newer snapshots.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Rollouts {
    pub(super) done: u64,
    /// Snapshots that could not be used.
    pub(super) failed: u64,
}

impl Current {
    pub(super) fn new(state: State) -> Self {
        Self(Mutex::new((Arc::new(state), Rollouts::default())))
    }

    fn with<T>(&self, act: impl FnOnce(&mut (Arc<State>, Rollouts)) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn get(&self) -> Arc<State> {
        self.with(|(state, _)| state.clone())
    }

    /// Whether it is still this one.
    pub(super) fn is(&self, state: &Arc<State>) -> bool {
        self.with(|(now, _)| Arc::ptr_eq(now, state))
    }

    pub(super) fn rollouts(&self) -> Rollouts {
        self.with(|(_, rollouts)| *rollouts)
    }

    fn replace(&self, state: State) {
        let before = self.with(|(now, rollouts)| {
            rollouts.done += 1;
            std::mem::replace(now, Arc::new(state))
        });
        // Freeing it may take a while; the last thread that has it does that.
        drop(before);
    }

    fn failed(&self) {
        self.with(|(_, rollouts)| rollouts.failed += 1);
    }
}

/// Where snapshots come from.
pub(super) enum Origin {
    File(PathBuf),
    Bucket { bucket: Bucket, shard: String },
}

impl Origin {
    /// What tells the snapshot of now from those before; `None` while there is none, or the server does not answer.
    async fn version(&self) -> Option<String> {
        match self {
            Self::File(path) => {
                let facts = std::fs::metadata(path).ok()?;
                let changed = facts.modified().ok()?;
                #[cfg(unix)]
                let number = std::os::unix::fs::MetadataExt::ino(&facts);
                #[cfg(not(unix))]
                let number = 0;
                Some(format!("{changed:?} {} {number}", facts.len()))
            }
            // That the server is away is said by the connection.
            Self::Bucket { bucket, shard } => bucket.version(shard).await.ok().flatten(),
        }
    }

    /// What messages call it.
    fn path(&self) -> PathBuf {
        match self {
            Self::File(path) => path.clone(),
            Self::Bucket { bucket, shard } => Path::new(bucket.name()).join(shard),
        }
    }

    async fn read(&self) -> Result<Held> {
        match self {
            Self::File(path) => {
                // If it is replaced meanwhile, its version is another one at the next look.
                let version = self.version().await.unwrap_or_default();
                let bytes =
                    std::fs::read(path).map_err(|error| Failure::io("read", path, &error))?;
                Ok(Held { version, bytes })
            }
            Self::Bucket { bucket, shard } => {
                let held = bucket.read(shard).await.map_err(failed)?;
                held.ok_or_else(|| {
                    let message = format!("the bucket {} has no snapshot '{shard}'", bucket.name());
                    let help =
                        "put one there: `perfkit betree roll-out`; its name is that of the --shard";
                    Failure::new(message).help(help)
                })
            }
        }
    }

    /// The first state, and what follows it.
    pub(super) async fn first(self, args: &MatchArgs) -> Result<(State, Follower)> {
        let held = self.read().await?;
        let state = State::new(args, &self.path(), &held.bytes)?;
        let seen = Some(held.version);
        Ok((state, Follower { origin: self, seen }))
    }
}

/// The expressions to begin with, and where newer ones come from if they are wanted.
pub(super) async fn first(args: &MatchArgs, path: &Path) -> Result<(State, Option<Follower>)> {
    let is_bucket = |text: &&str| text.starts_with("nats://") || text.starts_with("tls://");
    let origin = match path.to_str().filter(is_bucket) {
        Some(text) => {
            let address: nats::Address = text
                .parse()
                .map_err(|error: WrongAddress| Failure::usage(format!("--snapshot: {error}")))?;
            let tells = args.analysis.terminal.wants_warnings();
            let access = access(&args.workers.broker.nats)?;
            let waits = Wait::new(&args.workers.broker.wait, tells);
            let connection = waits.connect(&address, &access).await?;
            let bucket = Bucket::open(&connection, address.stream()).await;
            Origin::Bucket {
                bucket: bucket.map_err(failed)?,
                shard: args.workers.shard.clone(),
            }
        }
        None => Origin::File(path.to_owned()),
    };
    let (state, follower) = origin.first(args).await?;
    Ok((state, args.workers.follow.then_some(follower)))
}

/// Looks for newer snapshots.
pub(super) struct Follower {
    origin: Origin,
    seen: Option<String>,
}

impl Follower {
    /// Puts each newer snapshot in the place of the one before, for ever. One that cannot be used is told, and changes
    /// nothing. Another thread reads what it holds, as the connection has to live on.
    pub(super) async fn follow<'scope>(
        mut self,
        args: &'scope MatchArgs,
        current: &Current,
        scope: &'scope Scope<'scope, '_>,
        tells: bool,
    ) {
        loop {
            sleep(LOOK).await;
            let version = self.origin.version().await;
            if version.is_none() || version == self.seen {
                continue;
            }
            // A snapshot that cannot be used is not read again; one that could not be read is.
            let held = match self.origin.read().await {
                Ok(held) => held,
                Err(failure) => {
                    if tells {
                        message::remark(&format!("{}; it is read again", failure.message()));
                    }
                    continue;
                }
            };
            self.seen = Some(held.version);
            let path = self.origin.path();
            let (reply, made) = oneshot::channel();
            let reads = thread::Builder::new().name("snapshot".to_owned());
            let started = reads.spawn_scoped(scope, move || {
                // If the receiver is gone, the worker ends.
                let _ = reply.send(State::new(args, &path, &held.bytes));
            });
            let made = match started {
                Ok(_) => made.await.ok(),
                Err(error) => Some(Err(Failure::new(format!("cannot start a thread: {error}")))),
            };
            match made {
                Some(Ok(state)) => {
                    if tells {
                        let (count, epoch) = (state.snapshot().len(), &state.epoch);
                        message::status(&format!("epoch {epoch} from now on: {count} expressions"));
                    }
                    current.replace(state);
                }
                Some(Err(failure)) => {
                    current.failed();
                    if tells {
                        let message = failure.message();
                        message::remark(&format!("a newer snapshot is not used: {message}"));
                    }
                }
                None => {}
            }
        }
    }
}
