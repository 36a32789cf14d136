//! Options of encoders and decoders. Nothing here touches a context.

mod decoder;
mod encoder;
mod long_distance;

pub use decoder::DecoderOptions;
pub use encoder::EncoderOptions;
pub use long_distance::LongDistance;
