//! The flag of commands that can be looked at while they run. The view is in `term::live`.

use clap::Args;

/// Whether a run is shown while it goes on. Flattened into commands that measure for long.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Terminal")]
pub(crate) struct LiveArgs {
    /// Show rates and percentiles on standard error during the run
    ///
    /// Of each distribution the rate, p50, p99 and maximum of the last second and of all, and both over time. On a
    /// terminal this is drawn four times a second and removed at the end; elsewhere it is a line every 10 s.
    /// Recorders hand over a histogram a second for it, as for --export-hlog; nothing else is done by measured
    /// threads. It is shown with -q, too.
    #[arg(long, overrides_with = "_no_live")]
    pub(crate) live: bool,
    #[arg(long = "no-live", overrides_with = "live", hide = true)]
    _no_live: bool,
}
