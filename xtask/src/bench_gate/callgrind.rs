//! Counting instructions by `valgrind --tool=callgrind`.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::baseline::Environment;
use crate::sh;

/// The function of the workloads whose instructions count.
const REGION: &str = "*gate_region*";

/// glibc chooses its memcpy by the processor and its thresholds by the size of the caches: both
/// differ between machines that are otherwise alike, so they are fixed here.
const TUNABLES: &str = "glibc.cpu.hwcaps=-AVX2,-AVX512F,-AVX512VL,-ERMS,-FSRM,\
-AVX_Fast_Unaligned_Load:glibc.cpu.x86_non_temporal_threshold=0xc0000";

/// What the counts depend on, or `None` without valgrind.
pub(super) fn environment() -> Result<Option<Environment>> {
    if sh::find("valgrind").is_none() {
        return Ok(None);
    }
    let verbose = sh::text(sh::command("rustc").arg("-vV"))?;
    let field = |name: &str| {
        let line = verbose.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or("unknown").trim().to_owned()
    };
    let valgrind = sh::text(sh::command("valgrind").arg("--version"))?;
    let cc = sh::text(sh::command("cc").args(["-dumpfullversion", "-dumpversion"]));
    // The first line of `ldd --version` ends with the version of the C library.
    let libc = sh::text(sh::command("ldd").arg("--version")).unwrap_or_default();
    let libc = libc
        .lines()
        .next()
        .and_then(|line| line.rsplit(' ').next())
        .unwrap_or("unknown");
    Ok(Some(Environment {
        rustc: field("release:"),
        target: field("host:"),
        valgrind: valgrind.trim_start_matches("valgrind-").to_owned(),
        cc: cc.unwrap_or_else(|_| "unknown".to_owned()),
        libc: format!("libc {libc}"),
        cpu: cpu_features(&std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default()),
    }))
}

/// Of the instruction sets by which zstd chooses its code, those that this processor has.
fn cpu_features(cpuinfo: &str) -> String {
    let flags = cpuinfo
        .lines()
        .find(|line| line.starts_with("flags"))
        .unwrap_or_default();
    let has = |name: &&str| flags.split_whitespace().any(|flag| flag == *name);
    let found: Vec<&str> = ["avx2", "bmi2"].into_iter().filter(has).collect();
    if found.is_empty() {
        "baseline".to_owned()
    } else {
        found.join(" ")
    }
}

/// Instructions of the region of interest of one run.
pub(super) fn count(program: &Path, workload: &str, size: u64) -> Result<u64> {
    let mut command = Command::new("valgrind");
    command
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(format!("--toggle-collect={REGION}"))
        .arg(program)
        .args([workload, &size.to_string()])
        // Nothing of this session reaches the program: even the size of the environment moves
        // its stack.
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("GLIBC_TUNABLES", TUNABLES)
        .current_dir("/");
    let output =
        sh::output(&mut command).with_context(|| format!("{workload} at {size} under valgrind"))?;
    let log = String::from_utf8_lossy(&output.stderr);
    match collected(&log) {
        Some(0) | None => bail!("{workload}: callgrind collected nothing in {REGION}:\n{log}"),
        Some(count) => Ok(count),
    }
}

/// The count in callgrind's log: `==123== Collected : 4567`.
fn collected(log: &str) -> Option<u64> {
    let line = log.lines().find(|line| line.contains("Collected :"))?;
    line.rsplit(' ').next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_is_read_from_the_log() {
        let log = "==9== Events    : Ir\n==9== Collected : 123456\n==9==\n";
        assert_eq!(collected(log), Some(123_456));
        assert_eq!(collected("==9== Collected :\n"), None);
        assert_eq!(collected(""), None);
    }

    #[test]
    fn processor_features_are_whole_words() {
        assert_eq!(
            cpu_features("flags\t\t: sse2 avx2 bmi1 bmi2\n"),
            "avx2 bmi2"
        );
        assert_eq!(cpu_features("flags\t\t: avx512 xbmi2\n"), "baseline");
        assert_eq!(cpu_features(""), "baseline");
    }
}
