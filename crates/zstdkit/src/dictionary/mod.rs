//! Dictionaries: content that frames may refer back to without containing it.
//!
//! [`train`], [`train_best`] and [`train_by`] make one from samples, [`Dictionary::evaluate`] measures what one
//! saves. The dictionary type itself is in `digested`.
//!
//! ```
//! use zstdkit::{DecoderOptions, EncoderOptions, dictionary};
//!
//! let samples: Vec<String> = (0..200)
//!     .map(|n| format!("{{\"user\":{},\"action\":\"login\",\"ok\":true}}", n * n * 31))
//!     .collect();
//! let dictionary = dictionary::train(&samples, 1024)?;
//! let record = br#"{"user":123456,"action":"login","ok":true}"#;
//! let options = EncoderOptions::default().with_dictionary(dictionary.clone());
//! let frame = zstdkit::compress(record, &options)?;
//! assert!(frame.len() < zstdkit::compress(record, &Default::default())?.len());
//!
//! let options = DecoderOptions::default().with_dictionaries([dictionary]);
//! assert_eq!(zstdkit::decompress(&frame, &options)?, record);
//! # Ok::<(), zstdkit::Error>(())
//! ```

mod evaluate;
mod method;
mod train;

pub use crate::digested::Dictionary;
pub use evaluate::{Evaluation, SizeClass};
pub use method::{Cover, TrainMethod};
pub use train::{TrainOptions, Trained, train, train_best, train_by};
