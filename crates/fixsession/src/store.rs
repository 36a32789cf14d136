//! What a session keeps across connections and restarts.

use fixcore::Timestamp;

/// Why a store could not do something, with the file and the system's reason.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct StoreFailure(pub String);

/// The numbers of a session and the messages that it sent. A session writes a message here before it
/// gives out its bytes; whether that survives a crash of the machine is the store's policy.
pub trait Store {
    /// When the numbers last began at 1: which interval of a schedule they belong to.
    fn created(&self) -> Timestamp;

    /// The number of the next message to send.
    fn next_sender(&self) -> u64;

    /// The number of the next message to receive.
    fn next_target(&self) -> u64;

    /// Makes sure that what follows from one message can be kept: some 64 KiB. A session asks before it delivers a
    /// message or sends one, so that nothing has to be undone; a Logout is written without asking.
    ///
    /// # Errors
    ///
    /// There is no room.
    fn ensure_room(&mut self) -> Result<(), StoreFailure> {
        Ok(())
    }

    /// Keeps `message` under `number`, which is `next_sender`, and advances that by one.
    ///
    /// # Errors
    ///
    /// The message could not be kept; no number is used.
    fn append(&mut self, number: u64, message: &[u8]) -> Result<(), StoreFailure>;

    /// Keeps an answer and moves the number of the next message to receive past what it answers, in one
    /// step: a process that is killed in between would do the same thing twice.
    ///
    /// # Errors
    ///
    /// The message could not be kept; no number is used.
    fn append_and_receive(
        &mut self,
        number: u64,
        message: &[u8],
        next_target: u64,
    ) -> Result<(), StoreFailure> {
        self.append(number, message)?;
        self.set_next_target(next_target)
    }

    /// Uses a number without keeping a message (`PersistMessages=N`, or a jump by the operator).
    ///
    /// # Errors
    ///
    /// The number could not be kept.
    fn set_next_sender(&mut self, number: u64) -> Result<(), StoreFailure>;

    /// States the number of the next message to receive.
    ///
    /// # Errors
    ///
    /// The number could not be kept.
    fn set_next_target(&mut self, number: u64) -> Result<(), StoreFailure>;

    /// The message that was sent under `number`, or `None` if none was kept.
    ///
    /// # Errors
    ///
    /// The store is damaged or could not be read.
    fn sent(&self, number: u64) -> Result<Option<&[u8]>, StoreFailure>;

    /// Both numbers become 1, all messages go, and `created` becomes `now`: all or nothing.
    ///
    /// # Errors
    ///
    /// Nothing was changed.
    fn reset(&mut self, now: Timestamp) -> Result<(), StoreFailure>;

    /// Reads the state again from where it is kept (`RefreshOnLogon`).
    ///
    /// # Errors
    ///
    /// It could not be read.
    fn refresh(&mut self) -> Result<(), StoreFailure> {
        Ok(())
    }
}
