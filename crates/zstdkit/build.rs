//! Detects whether the `zstd` CLI is installed. Without it the tests that need it show as ignored.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=PATH");
    println!("cargo::rustc-check-cfg=cfg(peer_zstd)");
    let name = format!("zstd{}", env::consts::EXE_SUFFIX);
    let path = env::var_os("PATH").unwrap_or_default();
    if env::split_paths(&path).any(|folder| folder.join(&name).is_file()) {
        println!("cargo::rustc-cfg=peer_zstd");
    }
}
