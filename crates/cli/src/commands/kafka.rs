//! Connections to servers of Kafka: settings of the client from a file.

use std::fs::File;
use std::io::Read as _;
use std::path::PathBuf;

use workers::kafka::Access;

use crate::args::broker::KafkaArgs;
use crate::commands::nats::failed;
use crate::failure::{Failure, Result};

/// The longest file of settings.
const BYTES_MAX: u64 = 64 << 10;

/// Reads settings of the client: from the file of the flag, else from that of the environment.
pub(crate) fn access(args: &KafkaArgs) -> Result<Access> {
    let environment = || std::env::var_os("KAFKA_CONFIG").filter(|path| !path.is_empty());
    let path = args.kafka_config.clone();
    let Some(path) = path.or_else(|| environment().map(PathBuf::from)) else {
        return Ok(Access::default());
    };
    let mut text = String::new();
    File::open(&path)
        .and_then(|file| file.take(BYTES_MAX).read_to_string(&mut text))
        .map_err(|error| Failure::io("read", &path, &error))?;
    Access::parse(&files::display(&path).to_string(), &text).map_err(failed)
}
