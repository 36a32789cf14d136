//! Integration tests in one executable: it links once. `edges` stands alone, for its long run is asked for by name.

mod batches;
mod common;
mod hostile;
mod oracle;
mod snapshots;
