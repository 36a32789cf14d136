//! Where the threads of a connection run.

use crate::fix::plan::Plan;

/// Where threads run: the client and the server.
pub(super) type Cpus = Option<[u32; 2]>;

/// The processors of the two threads: the first two that were asked for.
pub(super) fn cpus(plan: &Plan) -> Cpus {
    match plan.cpus.as_slice() {
        [] => None,
        [one] => Some([*one; 2]),
        [client, server, ..] => Some([*client, *server]),
    }
}
