//! What a codec and its contexts are: implement these traits to run a codec of your own.

use std::fmt::Debug;

use crate::error::CodecError;

/// A way to compress blocks.
///
/// ```
/// use std::sync::Arc;
/// use perfkit_stress::{Codec, CodecError, Compress, Context, Decompress, Plan};
///
/// /// Every byte inverted.
/// #[derive(Debug)]
/// struct Inverted;
///
/// impl Codec for Inverted {
///     fn name(&self) -> &str {
///         "inverted"
///     }
///     fn compressor(&self, _content_bytes_max: usize) -> Result<Box<dyn Compress>, CodecError> {
///         Ok(Box::new(Self))
///     }
///     fn decompressor(&self, _content_bytes_max: usize) -> Result<Box<dyn Decompress>, CodecError> {
///         Ok(Box::new(Self))
///     }
/// }
/// impl Context for Inverted {
///     fn memory_bytes(&self) -> usize {
///         0
///     }
/// }
/// impl Compress for Inverted {
///     fn compress(&mut self, content: &[u8], block: &mut Vec<u8>) -> Result<(), CodecError> {
///         block.clear();
///         block.extend(content.iter().map(|byte| !byte));
///         Ok(())
///     }
/// }
/// impl Decompress for Inverted {
///     fn decompress(&mut self, block: &[u8], content: &mut Vec<u8>) -> Result<(), CodecError> {
///         self.compress(block, content)
///     }
/// }
///
/// let plan = Plan::default().blocks_max(Some(50));
/// let found = perfkit_stress::run(&plan, Arc::new(Inverted), &mut |_| true)?;
/// assert_eq!(found.counts.verified, 50);
/// # Ok::<(), perfkit_stress::Error>(())
/// ```
pub trait Codec: Send + Sync + Debug {
    /// The name in reports.
    fn name(&self) -> &str;

    /// A context that compresses blocks of up to this much content.
    ///
    /// # Errors
    /// When its settings or the system do not allow a context.
    fn compressor(&self, content_bytes_max: usize) -> Result<Box<dyn Compress>, CodecError>;

    /// A context that decompresses blocks of up to this much content.
    ///
    /// # Errors
    /// As [`Codec::compressor`].
    fn decompressor(&self, content_bytes_max: usize) -> Result<Box<dyn Decompress>, CodecError>;
}

/// What every context reports about itself.
pub trait Context: Send {
    /// Bytes that it holds now, including those of a C library, as exactly as it knows.
    fn memory_bytes(&self) -> usize;
}

/// A context that compresses.
pub trait Compress: Context {
    /// Replaces the bytes of `block` by the compressed `content`.
    ///
    /// # Errors
    /// When the codec refuses the content. The context is not used again.
    fn compress(&mut self, content: &[u8], block: &mut Vec<u8>) -> Result<(), CodecError>;
}

/// A context that decompresses.
pub trait Decompress: Context {
    /// Replaces the bytes of `content` by the content of `block`, which may be any bytes.
    ///
    /// # Errors
    /// When the block is not valid, or holds more content than the context allows. The context is not used
    /// again.
    fn decompress(&mut self, block: &[u8], content: &mut Vec<u8>) -> Result<(), CodecError>;
}
