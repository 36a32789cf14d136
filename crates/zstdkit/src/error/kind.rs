//! What an error is about, to branch on.

/// What went wrong, to branch on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// An option is outside its bounds, or two options cannot be combined.
    Parameter,
    /// The system is out of memory.
    Memory,
    /// A frame was given more or fewer bytes than were pledged for it.
    PledgedSize,
    /// Input after the end of a frame, without beginning a new one.
    NoOpenFrame,
    /// The input is empty.
    NoFrame,
    /// The input does not start with a zstd frame.
    NotZstd,
    /// The last frame is followed by bytes that are not a frame.
    TrailingData,
    /// A frame of zstd 0.1 to 0.7, formats that were replaced in 2016.
    LegacyFormat,
    /// The input ends inside a frame.
    Truncated,
    /// A corrupt frame header.
    FrameHeader,
    /// A corrupt block.
    Block,
    /// The computed checksum of the content differs from the stored one.
    Checksum,
    /// The size of the content differs from the stated one.
    ContentSize,
    /// A frame needs a dictionary that was not given, or a dictionary is invalid or cannot be trained.
    Dictionary,
    /// A frame needs a larger window than the limit.
    WindowLimit,
    /// A frame or a context needs more memory than the limit.
    MemoryLimit,
    /// The content is larger than the limit.
    OutputLimit,
    /// The output buffer of a one-shot call is too small.
    OutputTooSmall,
    /// The stream was finished before all decoded bytes were taken.
    Undrained,
    /// Work on another thread panicked, or the threads were stopped before it ran.
    Offload,
    /// A corrupt seek table, or one that does not match the frames.
    SeekTable,
    /// A corrupt header of a segment of a patch.
    Patch,
    /// The older file is not the one that a patch was made from.
    OlderFile,
    /// libzstd failed in a way that no input should cause.
    Internal,
}
