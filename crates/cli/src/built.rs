//! What this binary was built from: version, commit, compiler, features. `build.rs` of the package records it; reports
//! and `perfkit --version` state it.

use std::fmt::Write as _;
use std::sync::OnceLock;

use latency::report::Tool;

/// This build, for reports.
pub(crate) fn tool() -> Tool {
    let known = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    Tool {
        commit: known(env!("BUILT_COMMIT")),
        dirty: known(env!("BUILT_DIRTY")).map(|dirty| dirty == "true"),
        rustc: known(env!("BUILT_RUSTC")),
        target: env!("BUILT_TARGET").to_owned(),
        profile: env!("BUILT_PROFILE").to_owned(),
        features: features().map(str::to_owned).collect(),
        ..report::tool(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
    }
}

/// The cargo features of this binary, in the order of their names.
fn features() -> impl Iterator<Item = &'static str> {
    [
        ("async", cfg!(feature = "async")),
        ("brotli", cfg!(feature = "brotli")),
        ("cloud", cfg!(feature = "cloud")),
        ("kafka", cfg!(feature = "kafka")),
        ("kafka-tls", cfg!(feature = "kafka-tls")),
        ("schema-tests", cfg!(feature = "schema-tests")),
        ("serve", cfg!(feature = "serve")),
        ("tls", cfg!(feature = "tls")),
        ("web", cfg!(feature = "web")),
        ("workers", cfg!(feature = "workers")),
        ("zip-methods", cfg!(feature = "zip-methods")),
    ]
    .into_iter()
    .filter_map(|(name, built_in)| built_in.then_some(name))
}

/// What `--version` prints after the name; `-V` prints the version alone. A line a fact, so that scripts can search it.
pub(crate) fn long_version() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(facts)
}

fn facts() -> String {
    let tool = tool();
    let mut text = tool.version;
    let mut line = |name: &str, value: &str| {
        let _ = write!(text, "\n{name:<17}{value}");
    };
    let changed = match tool.dirty {
        Some(true) => ", with changes",
        _ => "",
    };
    let commit = tool.commit.as_deref().unwrap_or("unknown");
    line("commit", &format!("{commit}{changed}"));
    line("compiler", tool.rustc.as_deref().unwrap_or("unknown"));
    line("target", &format!("{}, {}", tool.target, tool.profile));
    line("features", &tool.features.join(" "));
    line("instruction set", latency::environment::isa());
    line("zstd", zstdkit::version());
    text
}

#[cfg(test)]
mod tests {
    /// A feature that is added to the manifest is named here, too.
    #[test]
    fn every_feature_of_the_manifest_is_known() {
        let manifest = include_str!("../Cargo.toml");
        let section = manifest.split("[features]").nth(1).unwrap();
        let section = section.split("\n[").next().unwrap();
        let source = include_str!("built.rs");
        let names: Vec<&str> = section
            .lines()
            .filter(|line| !line.trim_start().starts_with('#'))
            .filter_map(|line| line.split_once(" = "))
            .map(|(name, _)| name.trim())
            .filter(|name| *name != "default")
            .collect();
        assert!(names.len() >= 6, "{names:?}");
        for name in names {
            assert!(
                source.contains(&format!("(\"{name}\", cfg!(feature = \"{name}\"))")),
                "{name}"
            );
        }
    }

    #[test]
    fn the_long_version_begins_with_the_version() {
        let text = super::long_version();
        assert_eq!(text.lines().next(), Some(env!("CARGO_PKG_VERSION")));
        assert_eq!(text.lines().count(), 7);
        assert!(!text.lines().any(str::is_empty));
    }
}
