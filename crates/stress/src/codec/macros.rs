//! Shared parts of small codecs.

/// Implements `Codec` from what makes a context of each direction.
macro_rules! codec {
    ($codec:ty, $name:literal, $compressor:expr, $decompressor:expr) => {
        impl $crate::codec::Codec for $codec {
            fn name(&self) -> &str {
                $name
            }

            fn compressor(
                &self,
                bytes_max: usize,
            ) -> Result<Box<dyn $crate::codec::Compress>, $crate::CodecError> {
                let make: fn(usize) -> _ = $compressor;
                Ok(Box::new(make(bytes_max)))
            }

            fn decompressor(
                &self,
                bytes_max: usize,
            ) -> Result<Box<dyn $crate::codec::Decompress>, $crate::CodecError> {
                let make: fn(usize) -> _ = $decompressor;
                Ok(Box::new(make(bytes_max)))
            }
        }
    };
}

/// Implements `Context` from the bytes that contexts hold in addition to themselves.
macro_rules! holds {
    ($($context:ty: $bytes:expr),+ $(,)?) => {$(
        impl $crate::codec::Context for $context {
            fn memory_bytes(&self) -> usize {
                size_of::<Self>() + $bytes
            }
        }
    )+};
}

pub(super) use {codec, holds};
