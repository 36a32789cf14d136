//! A dictionary that is digested once and shared by any number of contexts. How one is made from
//! samples and how much it saves is in `dictionary`.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use zstd_safe::{CDict, DDict};

use crate::error::{Error, Repr};

/// The most levels whose digests a dictionary keeps. A digest of 110 KB takes 200 KB to 1 MB.
const LEVELS_MAX: usize = 8;

/// The first bytes of a trained dictionary, which has entropy tables as well as content.
const MAGIC: [u8; 4] = 0xec30_a437_u32.to_le_bytes();

/// A dictionary. Clones share it.
///
/// It is either a trained dictionary, with entropy tables and an id, or raw content, with neither. It is
/// digested at first use, once for decoding and once per level; it keeps the digests of the eight levels
/// used last.
///
/// ```
/// use zstdkit::{Dictionary, DecoderOptions, EncoderOptions};
///
/// let dictionary = Dictionary::new(b"to be or not to be, that is the question".to_vec())?;
/// let options = EncoderOptions::default().with_dictionary(dictionary.clone());
/// let frame = zstdkit::compress(b"to be or not to be", &options)?;
/// let options = DecoderOptions::default().with_dictionaries([dictionary]);
/// assert_eq!(zstdkit::decompress(&frame, &options)?, b"to be or not to be");
/// # Ok::<(), zstdkit::Error>(())
/// ```
#[derive(Clone)]
#[doc(alias = "ZSTD_CDict")]
#[doc(alias = "ZSTD_DDict")]
pub struct Dictionary(Arc<Inner>);

struct Inner {
    bytes: Vec<u8>,
    id: u32,
    to_decode: OnceLock<Arc<DDict<'static>>>,
    /// The levels, the last used at the end. The lock is held only briefly: the digest of each level
    /// has its own lock.
    for_levels: Mutex<Vec<(i32, Arc<Digest>)>>,
}

/// The digest for a level, once it is made.
type Digest = Mutex<Option<Arc<CDict<'static>>>>;

impl Dictionary {
    /// A dictionary of these bytes. If they start like a trained dictionary, they must be a valid one.
    pub fn new(bytes: impl Into<Vec<u8>>) -> Result<Self, Error> {
        let bytes = bytes.into();
        let trained = bytes.starts_with(&MAGIC);
        let id = zstd_safe::get_dict_id_from_dict(&bytes).map_or(0, |id| id.get());
        let dictionary = Self(Arc::new(Inner {
            bytes,
            id,
            to_decode: OnceLock::new(),
            for_levels: Mutex::new(Vec::new()),
        }));
        if trained {
            dictionary.digested_to_decode()?;
        }
        Ok(dictionary)
    }

    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0.bytes
    }

    /// Its id, which frames name. `None`: it is raw content.
    pub fn id(&self) -> Option<u32> {
        Some(self.0.id).filter(|&id| id != 0)
    }

    /// The same content with a different id, for those who number their dictionaries. An error for raw
    /// content, which has no id.
    pub fn with_id(&self, id: NonZeroU32) -> Result<Self, Error> {
        let mut bytes = self.0.bytes.clone();
        match bytes.get_mut(MAGIC.len()..2 * MAGIC.len()) {
            Some(field) if self.id().is_some() => field.copy_from_slice(&id.get().to_le_bytes()),
            _ => {
                let reason = "raw content has no id";
                return Err(Repr::BadDictionary { reason }.into());
            }
        }
        Self::new(bytes)
    }

    /// Bytes of memory held: the bytes themselves, and each digest made so far.
    pub fn memory_bytes(&self) -> usize {
        let levels = lock(&self.0.for_levels).clone();
        let sizeof = |digest: &Digest| lock(digest).as_ref().map_or(0, |digest| digest.sizeof());
        let digests: usize = levels.iter().map(|(_, digest)| sizeof(digest)).sum();
        let decoding = self.0.to_decode.get().map_or(0, |digest| digest.sizeof());
        self.0.bytes.len() + digests + decoding
    }

    pub(crate) fn digested_to_decode(&self) -> Result<Arc<DDict<'static>>, Error> {
        if let Some(digest) = self.0.to_decode.get() {
            return Ok(digest.clone());
        }
        let digest = DDict::try_create(&self.0.bytes).ok_or_else(|| self.refused())?;
        Ok(self.0.to_decode.get_or_init(|| Arc::new(digest)).clone())
    }

    pub(crate) fn digested_for_level(&self, level: i32) -> Result<Arc<CDict<'static>>, Error> {
        let of_level = self.digest_of(level);
        let mut digest = lock(&of_level);
        if let Some(digest) = &*digest {
            return Ok(digest.clone());
        }
        let made = CDict::try_create(&self.0.bytes, level).ok_or_else(|| self.refused())?;
        Ok(digest.insert(Arc::new(made)).clone())
    }

    /// The slot for the digest of a level. Contexts keep a digest that is evicted here.
    fn digest_of(&self, level: i32) -> Arc<Digest> {
        let mut levels = lock(&self.0.for_levels);
        let found = levels.iter().position(|(of, _)| *of == level);
        let entry = match found {
            Some(at) => levels.remove(at),
            None => {
                if levels.len() >= LEVELS_MAX {
                    levels.remove(0);
                }
                (level, Arc::default())
            }
        };
        let digest = entry.1.clone();
        levels.push(entry);
        digest
    }

    fn refused(&self) -> Error {
        let reason = match self.0.bytes.starts_with(&MAGIC) {
            true => "its entropy tables are corrupt",
            false => "out of memory",
        };
        Repr::BadDictionary { reason }.into()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PartialEq for Dictionary {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.bytes == other.0.bytes
    }
}

impl Eq for Dictionary {}

impl fmt::Debug for Dictionary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dictionary")
            .field("id", &self.id())
            .field("bytes", &self.0.bytes.len())
            .finish_non_exhaustive()
    }
}
