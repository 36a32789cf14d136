//! The kinds of results. Each is defined and rendered next to the code that measures it.

use anyhow::Result;
use serde::{Deserialize, Serialize};

use super::{Body, Made};
use crate::peers::{
    async_streams, betree, betree_shapes, commands, comparisons, deflate, deflate_sweep,
    dictionary, fix, fix_desk, fix_log, fix_session, fix_shapes, gzip, recipes, reports,
};
use crate::peers::{stress, verdicts, workers, zip, zstd_sweep};

/// The results.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum Results {
    AsyncStreams(async_streams::AsyncStreams),
    Betree(betree::Betree),
    BetreeShapes(betree_shapes::BetreeShapes),
    Commands(commands::Commands),
    Comparisons(comparisons::Cases),
    Deflate(deflate::Deflate),
    DeflateSweep(deflate_sweep::DeflateSweep),
    Dictionary(dictionary::Dictionary),
    Fix(fix::Fix),
    FixDesk(fix_desk::FixDesk),
    FixLog(fix_log::FixLog),
    FixSession(fix_session::FixSession),
    FixShapes(fix_shapes::FixShapes),
    Gzip(gzip::Gzip),
    Inflate(deflate::Inflate),
    Recipes(recipes::Recipes),
    Reports(reports::Reports),
    Stress(stress::Stress),
    Verdicts(verdicts::Verdicts),
    Workers(workers::Workers),
    Zip(zip::Zip),
    ZipInterop(zip::interop::Interop),
    ZipMemory(zip::memory::Memory),
    ZstdSweep(zstd_sweep::ZstdSweep),
}

impl Results {
    fn body(&self) -> &dyn Body {
        match self {
            Self::AsyncStreams(body) => body,
            Self::Betree(body) => body,
            Self::BetreeShapes(body) => body,
            Self::Commands(body) => body,
            Self::Comparisons(body) => body,
            Self::Deflate(body) => body,
            Self::DeflateSweep(body) => body,
            Self::Dictionary(body) => body,
            Self::Fix(body) => body,
            Self::FixDesk(body) => body,
            Self::FixLog(body) => body,
            Self::FixSession(body) => body,
            Self::FixShapes(body) => body,
            Self::Gzip(body) => body,
            Self::Inflate(body) => body,
            Self::Recipes(body) => body,
            Self::Reports(body) => body,
            Self::Stress(body) => body,
            Self::Verdicts(body) => body,
            Self::Workers(body) => body,
            Self::Zip(body) => body,
            Self::ZipInterop(body) => body,
            Self::ZipMemory(body) => body,
            Self::ZstdSweep(body) => body,
        }
    }
}

impl Body for Results {
    fn write(&self, out: &mut String) -> Result<()> {
        self.body().write(out)
    }

    fn made(&self) -> Vec<Made> {
        self.body().made()
    }

    fn faults(&self) -> Vec<String> {
        self.body().faults()
    }

    fn machine(&self) -> &'static str {
        self.body().machine()
    }
}
