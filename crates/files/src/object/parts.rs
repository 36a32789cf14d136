//! An object as it is written: in parts of bounded number and size, whole or not at all.

use std::hash::{BuildHasher as _, RandomState};
use std::ops::Range;
use std::time::Duration;

use bytes::Bytes;
use object_store::multipart::PartId;
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStoreExt as _, PutMode, PutOptions, PutPayload};
use tokio::runtime::Handle;
use tokio::task::{JoinHandle, JoinSet};

use super::{Create, Object, ObjectError, UploadOptions, Uploaded};

/// Parts of one size; then they double, for a store takes ten thousand.
const PARTS_ALIKE: usize = 1500;
/// How long to try to take back what was sent.
pub(crate) const ABORT: Duration = Duration::from_secs(5);

/// An upload, part by part. [`complete`](Self::complete) makes the object appear, [`abort`](Self::abort)
/// takes back what was sent. Dropped without either, it does the latter in the background.
#[derive(Debug)]
pub struct Parts {
    object: Object,
    options: UploadOptions,
    channel: Option<Channel>,
    /// The request that begins, which must not be forgotten when its waiter is gone.
    starting: Option<JoinHandle<Result<Channel, ObjectError>>>,
    going: JoinSet<Result<(usize, Option<PartId>), ObjectError>>,
    ids: Vec<Option<PartId>>,
    uploaded: Uploaded,
    ended: bool,
}

/// Where parts go.
#[derive(Debug)]
enum Channel {
    /// By the interface that all stores have; under another name if there must be no object.
    Any {
        upload: Box<dyn MultipartUpload>,
        temporary: Option<Path>,
    },
    #[cfg(feature = "remote")]
    S3 { id: String },
}

impl Parts {
    /// Sends nothing yet.
    #[must_use]
    pub fn new(object: Object, options: UploadOptions) -> Self {
        Self {
            object,
            options,
            channel: None,
            starting: None,
            going: JoinSet::new(),
            ids: Vec::new(),
            uploaded: Uploaded::default(),
            ended: false,
        }
    }

    /// The object that is written.
    #[must_use]
    pub fn object(&self) -> &Object {
        &self.object
    }

    /// The bytes of the next part.
    #[must_use]
    pub fn part_bytes(&self) -> usize {
        let doubled = (self.uploaded.parts / PARTS_ALIKE).min(8);
        self.options.part_bytes.saturating_mul(1 << doubled)
    }

    /// Whether the object has appeared, or the upload was given up.
    pub(super) fn is_complete(&self) -> bool {
        self.ended
    }

    /// What was sent so far.
    #[must_use]
    pub fn uploaded(&self) -> Uploaded {
        self.uploaded
    }

    /// Sends a part when fewer than the most are on their way.
    ///
    /// # Errors
    /// The store refuses this part or one before it.
    pub async fn send(&mut self, part: impl Into<Bytes>) -> Result<(), ObjectError> {
        let part = part.into();
        self.begin().await?;
        self.settle(self.options.parts_in_flight - 1).await?;
        let (number, bytes) = (self.uploaded.parts, part.len() as u64);
        let payload = PutPayload::from(part);
        match &mut self.channel {
            Some(Channel::Any { upload, .. }) => {
                let sent = upload.put_part(payload);
                self.going.spawn(async move {
                    sent.await?;
                    Ok((number, None))
                });
            }
            #[cfg(feature = "remote")]
            Some(Channel::S3 { id }) => {
                use object_store::multipart::MultipartStore as _;
                let (object, id) = (self.object.clone(), id.clone());
                self.going.spawn(async move {
                    let Some(s3) = &object.s3 else {
                        return Err(ObjectError::Ended);
                    };
                    let sent = s3.store.put_part(&object.path, &id, number, payload);
                    Ok((number, Some(sent.await?)))
                });
            }
            None => return Err(ObjectError::Ended),
        }
        self.uploaded.parts += 1;
        self.uploaded.sent_bytes += bytes;
        Ok(())
    }

    /// Has the server copy these bytes of another object into the next part, and waits for it: at least
    /// 5 MiB unless it is the last part, at most 5 GiB. `etag` is the version that they must be of.
    ///
    /// # Errors
    /// [`ObjectError::NoCopies`] leaves the upload as it was: the bytes can be sent.
    pub async fn copy(
        &mut self,
        from: &Object,
        range: Range<u64>,
        etag: Option<&str>,
    ) -> Result<(), ObjectError> {
        self.begin().await?;
        #[cfg(feature = "remote")]
        if let (Some(id), Some(s3), Some(other)) = (self.id(), &self.object.s3, &from.s3) {
            let number = self.uploaded.parts;
            let source = (other, &from.path, etag);
            let copied = s3.copy_part(&self.object.path, &id, number, source, &range);
            let part = copied.await?;
            self.keep(number, Some(part));
            self.uploaded.parts += 1;
            self.uploaded.copied_bytes += range.end - range.start;
            return Ok(());
        }
        let _ = (from, range, etag);
        Err(ObjectError::NoCopies {
            why: "it is not asked to".to_owned(),
        })
    }

    /// The number of the upload, in S3.
    #[cfg(feature = "remote")]
    fn id(&self) -> Option<String> {
        match &self.channel {
            Some(Channel::S3 { id }) => Some(id.clone()),
            _ => None,
        }
    }

    /// Sends the last part, which may be empty, and makes the object appear.
    ///
    /// # Errors
    /// The store refuses, or there is an object of this name already; call [`abort`](Self::abort).
    pub async fn complete(&mut self, last: impl Into<Bytes>) -> Result<Uploaded, ObjectError> {
        let last = last.into();
        if self.ended {
            return Err(ObjectError::Ended);
        }
        if self.channel.is_none() && self.starting.is_none() {
            return self.put(last).await;
        }
        if !last.is_empty() {
            self.send(last).await?;
        }
        self.settle(0).await?;
        let (store, path) = (&self.object.store, &self.object.path);
        match &mut self.channel {
            Some(Channel::Any { upload, temporary }) => {
                upload.complete().await?;
                if let Some(temporary) = temporary {
                    let copied = store.copy_if_not_exists(temporary, path).await;
                    // Either way it has served.
                    let deleted = store.delete(temporary).await;
                    self.channel = None;
                    self.ended = true;
                    copied.map_err(ObjectError::of_create)?;
                    deleted?;
                }
            }
            #[cfg(feature = "remote")]
            Some(Channel::S3 { id }) => {
                let Some(s3) = &self.object.s3 else {
                    return Err(ObjectError::Ended);
                };
                let parts: Option<Vec<PartId>> = self.ids.drain(..).collect();
                let parts = parts.ok_or(ObjectError::Ended)?;
                match self.options.create {
                    Create::IfAbsent => s3.complete_new(path, id, &parts).await?,
                    Create::Replace => {
                        use object_store::multipart::MultipartStore as _;
                        s3.store.complete_multipart(path, id, parts).await?;
                    }
                }
            }
            None => return Err(ObjectError::Ended),
        }
        self.channel = None;
        self.ended = true;
        Ok(self.uploaded)
    }

    /// The whole object in one request.
    async fn put(&mut self, content: Bytes) -> Result<Uploaded, ObjectError> {
        let bytes = content.len() as u64;
        let options = PutOptions::from(match self.options.create {
            Create::Replace => PutMode::Overwrite,
            Create::IfAbsent => PutMode::Create,
        });
        let path = &self.object.path;
        let put = self.object.store.put_opts(path, content.into(), options);
        put.await.map_err(|error| match self.options.create {
            Create::Replace => error.into(),
            Create::IfAbsent => ObjectError::of_create(error),
        })?;
        self.ended = true;
        self.uploaded.sent_bytes = bytes;
        Ok(self.uploaded)
    }

    /// Has the store expect parts.
    async fn begin(&mut self) -> Result<(), ObjectError> {
        if self.ended {
            return Err(ObjectError::Ended);
        }
        if self.channel.is_some() {
            return Ok(());
        }
        let starting = match &mut self.starting {
            Some(starting) => starting,
            None => {
                let handle = Handle::try_current().map_err(|_| ObjectError::NoRuntime)?;
                let (object, options) = (self.object.clone(), self.options);
                let task = handle.spawn(async move { start(&object, options).await });
                self.starting.insert(task)
            }
        };
        let started = starting.await;
        self.starting = None;
        self.channel = Some(started??);
        Ok(())
    }

    /// Waits until no more parts than `most` are on their way.
    async fn settle(&mut self, most: usize) -> Result<(), ObjectError> {
        while self.going.len() > most {
            let Some(joined) = self.going.join_next().await else {
                break;
            };
            let (number, part) = joined??;
            self.keep(number, part);
        }
        Ok(())
    }

    fn keep(&mut self, number: usize, part: Option<PartId>) {
        if self.ids.len() <= number {
            self.ids.resize(number + 1, None);
        }
        self.ids[number] = part;
    }

    /// Takes back what was sent, for 5 s at most. A store that cannot be reached forgets it by rules of its
    /// own, or not.
    pub async fn abort(&mut self) {
        self.ended = true;
        self.going.abort_all();
        let object = self.object.clone();
        let rest = Rest {
            channel: self.channel.take(),
            starting: self.starting.take(),
            going: std::mem::take(&mut self.going),
        };
        rest.take_back(object).await;
    }
}

impl Drop for Parts {
    fn drop(&mut self) {
        if self.channel.is_none() && self.starting.is_none() {
            return;
        }
        let rest = Rest {
            channel: self.channel.take(),
            starting: self.starting.take(),
            going: std::mem::take(&mut self.going),
        };
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(rest.take_back(self.object.clone()));
        }
    }
}

/// What is left of an upload that was given up.
struct Rest {
    channel: Option<Channel>,
    starting: Option<JoinHandle<Result<Channel, ObjectError>>>,
    going: JoinSet<Result<(usize, Option<PartId>), ObjectError>>,
}

impl Rest {
    async fn take_back(mut self, object: Object) {
        self.going.abort_all();
        let back = async {
            while self.going.join_next().await.is_some() {}
            // What the store begins all the same has to be taken back.
            if let Some(starting) = self.starting {
                self.channel = starting.await.ok().and_then(Result::ok);
            }
            match self.channel {
                Some(Channel::Any {
                    mut upload,
                    temporary,
                }) => {
                    let aborted = upload.abort().await.is_ok();
                    if let Some(temporary) = &temporary {
                        // It may have been complete already.
                        let _ = object.store.delete(temporary).await;
                    }
                    aborted
                }
                #[cfg(feature = "remote")]
                Some(Channel::S3 { id }) => match &object.s3 {
                    Some(s3) => s3.abort(&object.path, &id).await.is_ok(),
                    None => false,
                },
                None => true,
            }
        };
        let _ = tokio::time::timeout(ABORT, back).await;
    }
}

/// Has the store expect parts, if it can keep the condition.
async fn start(object: &Object, options: UploadOptions) -> Result<Channel, ObjectError> {
    #[cfg(feature = "remote")]
    if let Some(s3) = &object.s3 {
        use object_store::multipart::MultipartStore as _;
        let id = s3.store.create_multipart(&object.path).await?;
        return Ok(Channel::S3 { id });
    }
    let temporary = match options.create {
        Create::Replace => None,
        Create::IfAbsent => Some(other_name(&object.path)),
    };
    let path = temporary.as_ref().unwrap_or(&object.path);
    if let Some(temporary) = &temporary {
        // Nothing is there to be copied: a store that can do it says just that.
        match object
            .store
            .copy_if_not_exists(temporary, &object.path)
            .await
        {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => {}
            Err(error) => return Err(ObjectError::of_create(error)),
        }
    }
    match object.store.put_multipart(path).await {
        Ok(upload) => Ok(Channel::Any { upload, temporary }),
        Err(object_store::Error::NotImplemented { .. }) => Err(ObjectError::NoParts {
            most: options.part_bytes,
        }),
        Err(error) => Err(error.into()),
    }
}

/// A name next to `path` that nothing else has.
fn other_name(path: &Path) -> Path {
    let drawn = RandomState::new().hash_one(std::process::id());
    Path::from(format!("{path}.{drawn:016x}.part"))
}
