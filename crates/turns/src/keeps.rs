//! What tasks keep between their calls: it decides who waits for more than a turn.

/// What a task keeps between its calls that is warm, or costs memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeps {
    /// Nothing, or little: it only waits for its turn.
    Nothing,
    /// Nothing yet: its next call opens a context. It waits in the line of its runtime while enough of them are at work.
    NewContext,
    /// An open context.
    Context,
}
