//! An object: a path in a store.

use std::sync::Arc;

use object_store::ObjectStore;
use object_store::path::Path;

#[cfg(feature = "remote")]
use super::s3::S3;

/// A path in a store, with or without an object.
#[derive(Debug, Clone)]
pub struct Object {
    pub(super) store: Arc<dyn ObjectStore>,
    pub(super) path: Path,
    #[cfg(feature = "remote")]
    pub(super) s3: Option<S3>,
}

impl Object {
    /// A path in any store. Sends no request.
    pub fn new(store: Arc<dyn ObjectStore>, path: impl Into<Path>) -> Self {
        Self {
            store,
            path: path.into(),
            #[cfg(feature = "remote")]
            s3: None,
        }
    }

    /// A path in a bucket of S3, or of a server that speaks its protocol. Other objects are copied into
    /// parts of this one by the server, and objects in parts are created only if there is none by one
    /// request. `client` sends these requests. The store must not add checksums to parts, and must sign
    /// its requests.
    #[cfg(feature = "remote")]
    pub fn in_s3(
        store: Arc<object_store::aws::AmazonS3>,
        bucket: &str,
        path: impl Into<Path>,
        client: object_store::client::HttpClient,
    ) -> Self {
        let s3 = S3::new(Arc::clone(&store), bucket, client);
        Self {
            store,
            path: path.into(),
            s3: Some(s3),
        }
    }

    /// Its store.
    #[must_use]
    pub fn store(&self) -> &Arc<dyn ObjectStore> {
        &self.store
    }

    /// Its path in the store.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether the server may be asked to copy parts of `from` into this object. It may still refuse.
    #[must_use]
    pub fn copies_from(&self, from: &Self) -> bool {
        #[cfg(feature = "remote")]
        return self.s3.is_some() && from.s3.is_some();
        #[cfg(not(feature = "remote"))]
        {
            let _ = from;
            false
        }
    }
}
