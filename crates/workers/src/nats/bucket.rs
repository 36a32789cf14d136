//! A bucket of the object store: a snapshot for each part of the expressions, which is replaced as a whole.

use std::fmt;
use std::sync::Arc;

use async_nats::jetstream::object_store::{Config, GetErrorKind, InfoErrorKind, ObjectStore};
use tokio::io::AsyncReadExt as _;
use tokio::time::timeout;

use crate::error::{Error, Result};
use crate::nats::connect::{ANSWER, Connection, reasons};

/// The longest snapshot that is read, in bytes.
const SNAPSHOT_BYTES_MAX: usize = 8 << 30;

/// Where snapshots are put, and where workers look for newer ones. Clones share it.
#[derive(Clone)]
pub struct Bucket {
    store: Arc<ObjectStore>,
    name: String,
}

/// What a bucket holds for a shard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// What tells it from all that was there before.
    pub version: String,
    /// The snapshot.
    pub bytes: Vec<u8>,
}

impl Bucket {
    /// A bucket of the server.
    ///
    /// # Errors
    ///
    /// If there is none, or the server does not say.
    pub async fn open(connection: &Connection, name: &str) -> Result<Self> {
        let store = connection.context.get_object_store(name).await;
        let store = store.map_err(|error| {
            let place = connection.address();
            Error::refused(
                format!(
                    "cannot open the bucket {name} at {place}: {}",
                    reasons(&error)
                ),
                "create it: `perfkit betree roll-out --create`, or `nats object add`",
            )
        })?;
        Ok(Self {
            store: Arc::new(store),
            name: name.to_owned(),
        })
    }

    /// The same, and if there is none, creates it with this number of copies.
    ///
    /// # Errors
    ///
    /// If the server refuses.
    pub async fn open_or_create(
        connection: &Connection,
        name: &str,
        replicas: usize,
    ) -> Result<Self> {
        if let Ok(bucket) = Self::open(connection, name).await {
            return Ok(bucket);
        }
        let config = Config {
            bucket: name.to_owned(),
            num_replicas: replicas,
            ..Config::default()
        };
        let store = connection.context.create_object_store(config).await;
        let store = store.map_err(|error| {
            Error::refused(
                format!("cannot create the bucket {name}: {}", reasons(&error)),
                "see that the server has JetStream (`nats-server -js`) and that this user may create streams",
            )
        })?;
        Ok(Self {
            store: Arc::new(store),
            name: name.to_owned(),
        })
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What tells the snapshot that a shard has now from those that it had before; `None` while it has none.
    ///
    /// # Errors
    ///
    /// If the server does not answer.
    pub async fn version(&self, shard: &str) -> Result<Option<String>> {
        match self.store.info(shard).await {
            Ok(info) if info.deleted => Ok(None),
            Ok(info) => Ok(Some(info.nuid)),
            Err(error) if error.kind() == InfoErrorKind::NotFound => Ok(None),
            Err(error) => Err(Error::Later(reasons(&error))),
        }
    }

    /// The snapshot that a shard has now; `None` while it has none.
    ///
    /// # Errors
    ///
    /// If the server does not answer, if the snapshot was replaced meanwhile, or is not what its digest says.
    pub async fn read(&self, shard: &str) -> Result<Option<Held>> {
        let object = match self.store.get(shard).await {
            Ok(object) => object,
            Err(error) if error.kind() == GetErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::Later(reasons(&error))),
        };
        let (version, size) = (object.info.nuid.clone(), object.info.size);
        let failed = |why: &dyn fmt::Display| {
            let name = &self.name;
            Error::Later(format!(
                "cannot read the snapshot {shard} of the bucket {name}: {why}"
            ))
        };
        let mut bytes = Vec::new();
        if size > SNAPSHOT_BYTES_MAX {
            return Err(failed(&format_args!(
                "it has {size} bytes, and at most {SNAPSHOT_BYTES_MAX} are read"
            )));
        }
        bytes
            .try_reserve_exact(size)
            .map_err(|error| failed(&error))?;
        // One byte more, for an object that is longer than it says.
        let mut limited = object.take(size as u64 + 1);
        loop {
            // The parts of a snapshot that was replaced are gone, and do not come any more.
            let read = timeout(ANSWER, limited.read_buf(&mut bytes)).await;
            let read = read.map_err(|_| failed(&"its parts do not come any more"))?;
            if read.map_err(|error| failed(&error))? == 0 {
                break;
            }
        }
        match bytes.len() == size {
            true => Ok(Some(Held { version, bytes })),
            false => Err(failed(&format_args!(
                "it states {size} bytes, and has {}",
                bytes.len()
            ))),
        }
    }

    /// Puts a snapshot in the place of the one that a shard has. Readers see the whole new one or the whole old one.
    ///
    /// # Errors
    ///
    /// If the server refuses or does not answer: then the old one stays.
    pub async fn put(&self, shard: &str, mut bytes: &[u8]) -> Result<()> {
        let stored = self.store.put(shard, &mut bytes).await;
        stored
            .map(drop)
            .map_err(|error| Error::Later(reasons(&error)))
    }
}

impl fmt::Debug for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bucket").field("name", &self.name).finish()
    }
}
