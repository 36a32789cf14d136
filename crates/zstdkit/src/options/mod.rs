//! Options of encoders and decoders. Nothing here touches a context.

mod decoder;
mod encoder;

pub use decoder::DecoderOptions;
pub use encoder::EncoderOptions;
