//! Dictionaries: what frames may refer back to without holding it. Digested once, shared by any
//! number of contexts.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use zstd_safe::{CDict, DDict};

use crate::error::{Error, Repr};

/// The first bytes of a dictionary that holds entropy tables as well as content.
const MAGIC: [u8; 4] = 0xec30_a437_u32.to_le_bytes();

/// A dictionary. Cloning shares it.
///
/// Its bytes are those of a trained dictionary, which has entropy tables and an id, or any content,
/// which has neither. It is digested at first use, once for decoding and once a level.
///
/// ```
/// use zstdkit::{Dictionary, DecoderOptions, EncoderOptions};
///
/// let dictionary = Dictionary::new(b"to be or not to be, that is the question".to_vec())?;
/// let options =
///     EncoderOptions { dictionary: Some(dictionary.clone()), ..EncoderOptions::default() };
/// let frame = zstdkit::compress(b"to be or not to be", &options)?;
/// let options =
///     DecoderOptions { dictionaries: vec![dictionary], ..DecoderOptions::default() };
/// assert_eq!(zstdkit::decompress(&frame, &options)?, b"to be or not to be");
/// # Ok::<(), zstdkit::Error>(())
/// ```
#[derive(Clone)]
pub struct Dictionary(Arc<Inner>);

struct Inner {
    bytes: Vec<u8>,
    id: u32,
    to_decode: OnceLock<Arc<DDict<'static>>>,
    /// One a level, at most as many as there are levels in use.
    for_levels: Mutex<Vec<(i32, Arc<CDict<'static>>)>>,
}

impl Dictionary {
    /// A dictionary of these bytes. They are checked: what starts as a trained dictionary has to
    /// be one.
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

    /// Its bytes, as given.
    pub fn bytes(&self) -> &[u8] {
        &self.0.bytes
    }

    /// Its id, which frames name. `None`: it is plain content.
    pub fn id(&self) -> Option<u32> {
        Some(self.0.id).filter(|&id| id != 0)
    }

    /// Bytes of memory held: the bytes themselves, and each digest made so far.
    pub fn memory_bytes(&self) -> usize {
        let levels = self.0.for_levels.lock();
        let levels = levels.unwrap_or_else(PoisonError::into_inner);
        let digests: usize = levels.iter().map(|(_, digest)| digest.sizeof()).sum();
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
        let levels = self.0.for_levels.lock();
        let mut levels = levels.unwrap_or_else(PoisonError::into_inner);
        if let Some((_, digest)) = levels.iter().find(|(of, _)| *of == level) {
            return Ok(digest.clone());
        }
        let digest = CDict::try_create(&self.0.bytes, level).ok_or_else(|| self.refused())?;
        let digest = Arc::new(digest);
        levels.push((level, digest.clone()));
        Ok(digest)
    }

    fn refused(&self) -> Error {
        let reason = match self.0.bytes.starts_with(&MAGIC) {
            true => "its entropy tables are corrupt",
            false => "out of memory",
        };
        Repr::BadDictionary { reason }.into()
    }
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
