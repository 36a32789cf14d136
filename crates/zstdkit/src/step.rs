//! The result of one call of an encoder or decoder, and what to do next.

/// What an encoder does after taking the input of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// More input follows: hold back what does not fill a block.
    Continue,
    /// Write out everything taken so far, so that a reader can decode it. Compresses less.
    Flush,
    /// This is the last input of the frame: write everything out and close the frame.
    End,
}

/// What to do after a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// All input was taken and no output is left. Call again with more input.
    NeedInput,
    /// Work is left. Make room in the output, then call again with the same operation and the rest of
    /// the input, which may be empty.
    MoreOutput,
    /// All input was taken, no output is left, and the frame is complete.
    ///
    /// After an encoder the frame is closed. After a decoder the stream may end here, or more frames
    /// may follow.
    Done,
}

/// What one call did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[must_use = "the counts say which bytes were taken and written"]
pub struct Step {
    /// Bytes taken from the start of the input. The rest must be given again.
    pub consumed: usize,
    /// Bytes written to the start of the output.
    pub produced: usize,
    /// What to do next.
    pub state: State,
}
