//! Tests beside servers that features of the binary talk to. A server may be absent: see `peer`.
//!
//! They are apart from `peers`, whose tests are of what every build has: a run with all features leaves those out.

#[cfg(all(unix, feature = "workers"))]
mod broker;
#[cfg(any(feature = "cloud", all(unix, feature = "workers")))]
mod common;
#[cfg(any(feature = "cloud", all(unix, feature = "workers")))]
mod peer;

#[cfg(all(unix, feature = "kafka-tls"))]
mod certificates;
#[cfg(all(unix, feature = "kafka"))]
mod kafka;
#[cfg(all(unix, feature = "kafka"))]
mod kafka_limits;
#[cfg(all(unix, feature = "kafka"))]
mod kafka_server;
#[cfg(all(unix, feature = "kafka-tls"))]
mod kafka_tls;
#[cfg(feature = "cloud")]
mod object_store;
#[cfg(feature = "cloud")]
mod objects_zip;
#[cfg(all(unix, feature = "workers"))]
mod stress_agents;
#[cfg(all(unix, feature = "workers"))]
mod worker_case;
#[cfg(all(unix, feature = "workers"))]
mod workers;
#[cfg(all(unix, feature = "workers"))]
mod workers_end;
#[cfg(all(unix, feature = "workers"))]
mod workers_limits;
#[cfg(all(unix, feature = "workers"))]
mod workers_refusals;
#[cfg(all(unix, feature = "workers"))]
mod workers_seen;
#[cfg(all(unix, feature = "workers"))]
mod workers_start;

fn main() {
    #[cfg(any(feature = "cloud", all(unix, feature = "workers")))]
    {
        let trials = [
            #[cfg(feature = "cloud")]
            object_store::trials(),
            #[cfg(feature = "cloud")]
            objects_zip::trials(),
            #[cfg(all(unix, feature = "kafka"))]
            kafka::trials(),
            #[cfg(all(unix, feature = "kafka"))]
            kafka_limits::trials(),
            #[cfg(all(unix, feature = "kafka-tls"))]
            kafka_tls::trials(),
            #[cfg(all(unix, feature = "workers"))]
            stress_agents::trials(),
            #[cfg(all(unix, feature = "workers"))]
            workers::trials(),
            #[cfg(all(unix, feature = "workers"))]
            workers_limits::trials(),
            #[cfg(all(unix, feature = "workers"))]
            workers_end::trials(),
            #[cfg(all(unix, feature = "workers"))]
            workers_start::trials(),
            #[cfg(all(unix, feature = "workers"))]
            workers_refusals::trials(),
            #[cfg(all(unix, feature = "workers"))]
            workers_seen::trials(),
        ];
        peer::run(trials.into_iter().flatten().collect())
    }
}
