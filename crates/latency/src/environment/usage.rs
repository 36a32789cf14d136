//! What Unix reports about the process and the kernel; nothing on other systems.

/// Counters of the process since it started.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(unix), allow(dead_code, reason = "never made there"))]
pub(super) struct Usage {
    pub(super) user_ns: u64,
    pub(super) system_ns: u64,
    pub(super) rss_max_bytes: u64,
    pub(super) faults_major: u64,
    pub(super) switches_involuntary: u64,
}

#[cfg(unix)]
pub(super) fn read() -> Option<Usage> {
    use nix::sys::resource::{UsageWho, getrusage};
    use nix::sys::time::TimeValLike as _;

    let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
    let whole = |count: i64| u64::try_from(count).unwrap_or(0);
    let nanoseconds = |micros: i64| whole(micros).saturating_mul(1_000);
    // The BSDs and Linux count KiB, macOS bytes.
    let rss_unit = if cfg!(any(target_os = "macos", target_os = "ios")) {
        1
    } else {
        1024
    };
    #[allow(
        clippy::useless_conversion,
        reason = "`c_long` is 32 bits wide on some systems"
    )]
    Some(Usage {
        user_ns: nanoseconds(usage.user_time().num_microseconds()),
        system_ns: nanoseconds(usage.system_time().num_microseconds()),
        rss_max_bytes: whole(i64::from(usage.max_rss())).saturating_mul(rss_unit),
        faults_major: whole(i64::from(usage.major_page_faults())),
        switches_involuntary: whole(i64::from(usage.involuntary_context_switches())),
    })
}

#[cfg(not(unix))]
pub(super) fn read() -> Option<Usage> {
    None
}

/// `Linux 6.8.0-45-generic`.
#[cfg(unix)]
pub(super) fn kernel() -> Option<String> {
    let names = nix::sys::utsname::uname().ok()?;
    let (system, release) = (
        names.sysname().to_string_lossy(),
        names.release().to_string_lossy(),
    );
    Some(format!("{system} {release}"))
}

#[cfg(not(unix))]
pub(super) fn kernel() -> Option<String> {
    Some(std::env::consts::OS.to_owned())
}
