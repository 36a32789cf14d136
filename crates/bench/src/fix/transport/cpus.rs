//! Where the threads of a connection run.

/// Where threads run: the client and the server.
pub(crate) type Cpus = Option<[u32; 2]>;

/// The processors of the two threads: the first two that were asked for.
pub(crate) fn cpus(asked: &[u32]) -> Cpus {
    match asked {
        [] => None,
        [one] => Some([*one; 2]),
        [client, server, ..] => Some([*client, *server]),
    }
}
