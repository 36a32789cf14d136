//! Tests next to other programs, which may be absent: a harness that can say `ignored` at run time. Those that need a
//! feature are in `services`.

mod common;
mod peer;

mod fix_captures;
#[cfg(target_os = "linux")]
mod fix_engines;
mod fix_json;
#[cfg(target_os = "linux")]
mod fix_takeover;
#[cfg(unix)]
mod gzip_peers;
mod hdr_peers;
mod html_peers;
#[cfg(unix)]
mod hyperfine;
#[cfg(unix)]
mod infozip;
mod multicall;
#[cfg(unix)]
mod xz_lines;
mod zip_peers;
#[cfg(unix)]
mod zstd_lines;
mod zstd_peers;

fn main() {
    let trials = [
        #[cfg(target_os = "linux")]
        fix_engines::trials(),
        #[cfg(target_os = "linux")]
        fix_takeover::trials(),
        fix_captures::trials(),
        fix_json::trials(),
        #[cfg(unix)]
        gzip_peers::trials(),
        hdr_peers::trials(),
        html_peers::trials(),
        #[cfg(unix)]
        hyperfine::trials(),
        #[cfg(unix)]
        infozip::trials(),
        multicall::trials(),
        #[cfg(unix)]
        xz_lines::trials(),
        zip_peers::trials(),
        #[cfg(unix)]
        zstd_lines::trials(),
        zstd_peers::trials(),
    ];
    peer::run(trials.into_iter().flatten().collect())
}
