//! The rules of `deny.toml` as data, and the decisions by them. Nothing here runs a program.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;
use spdx::{Expression, Licensee, ParseMode};

use crate::metadata::Package;

/// Where packages may come from when `unknown-registry` is denied.
const CRATES_IO: &[&str] = &[
    "registry+https://github.com/rust-lang/crates.io-index",
    "sparse+https://index.crates.io/",
];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rules {
    pub(super) graph: Graph,
    #[serde(default, rename = "advisories")]
    pub(super) _advisories: toml::Table,
    pub(super) licenses: Licenses,
    pub(super) bans: Bans,
    pub(super) sources: Sources,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Graph {
    pub(super) targets: Vec<String>,
    pub(super) all_features: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Licenses {
    pub(super) allow: Vec<String>,
    #[serde(default)]
    pub(super) exceptions: Vec<Exception>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Exception {
    #[serde(rename = "crate")]
    pub(super) name: String,
    pub(super) allow: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Bans {
    pub(super) multiple_versions: Level,
    pub(super) wildcards: Level,
    #[serde(default)]
    pub(super) allow_wildcard_paths: bool,
    #[serde(default)]
    pub(super) skip: Vec<Named>,
    #[serde(default)]
    pub(super) deny: Vec<Named>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Sources {
    pub(super) unknown_registry: Level,
    pub(super) unknown_git: Level,
}

/// A crate, with the reason why it is in the list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Named {
    /// `name` or `name@version-prefix`.
    #[serde(rename = "crate")]
    pub(super) name: String,
    #[serde(default)]
    pub(super) reason: Option<String>,
}

impl Named {
    pub(super) fn matches(&self, package: &Package) -> bool {
        match self.name.split_once('@') {
            None => self.name == package.name,
            Some((name, version)) => {
                let version = version.trim_start_matches('=');
                name == package.name
                    && (package.version == version
                        || package.version.starts_with(&format!("{version}.")))
            }
        }
    }
}

#[derive(Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum Level {
    Deny,
    Warn,
    Allow,
}

/// Why the licence of `package` is not acceptable, if it is not.
pub(super) fn licence_of(package: &Package, rules: &Licenses) -> Option<String> {
    let name = format!("{} {}", package.name, package.version);
    let Some(text) = &package.license else {
        return Some(format!("{name}: declares no licence"));
    };
    let exceptions = rules
        .exceptions
        .iter()
        .filter(|exception| exception.name == package.name);
    let allowed: Vec<&str> = rules
        .allow
        .iter()
        .chain(exceptions.flat_map(|exception| &exception.allow))
        .map(String::as_str)
        .collect();
    match acceptable(text, &allowed) {
        Ok(()) => None,
        Err(why) => Some(format!("{name}: licence '{text}': {why}")),
    }
}

/// Whether an SPDX expression can be satisfied by the allowed licences.
fn acceptable(expression: &str, allowed: &[&str]) -> Result<(), String> {
    // Old manifests write `MIT/Apache-2.0`, which cargo still takes: read it as cargo does.
    let expression = Expression::parse_mode(expression, ParseMode::LAX)
        .map_err(|error| format!("not an SPDX expression: {}", error.reason))?;
    let mut licensees = Vec::new();
    for name in allowed {
        licensees
            .push(Licensee::parse(name).map_err(|_| format!("'{name}' in deny.toml: unknown"))?);
    }
    expression
        .evaluate_with_failures(|req| licensees.iter().any(|licensee| licensee.satisfies(req)))
        .map_err(|failures| {
            let names: Vec<_> = failures
                .iter()
                .map(|failure| failure.req.to_string())
                .collect();
            format!("not allowed: {}", names.join(", "))
        })
}

pub(super) fn source_of(package: &Package, rules: &Sources) -> Option<String> {
    let source = package.source.as_deref()?;
    let refused = if source.starts_with("git+") {
        rules.unknown_git == Level::Deny
    } else {
        rules.unknown_registry == Level::Deny && !CRATES_IO.contains(&source)
    };
    refused.then(|| format!("{} {}: comes from {source}", package.name, package.version))
}

pub(super) fn bans_of(package: &Package, rules: &Bans) -> Vec<String> {
    let mut findings = Vec::new();
    if let Some(ban) = rules.deny.iter().find(|ban| ban.matches(package)) {
        let reason = ban.reason.as_deref().unwrap_or("no reason given");
        findings.push(format!(
            "{} {}: banned: {reason}",
            package.name, package.version
        ));
    }
    let ours = package.source.is_none();
    if ours && rules.wildcards == Level::Deny {
        let open = package.dependencies.iter().filter(|dependency| {
            let excused = rules.allow_wildcard_paths && dependency.path.is_some();
            dependency.req == "*" && !excused
        });
        findings
            .extend(open.map(|d| format!("{}: any version of {} will do", package.name, d.name)));
    }
    findings
}

/// Crates in two versions, the skipped ones left out.
pub(super) fn duplicates(packages: &[Package], rules: &Bans) -> Vec<String> {
    let mut versions: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for package in packages {
        if !rules.skip.iter().any(|skip| skip.matches(package)) {
            versions
                .entry(&package.name)
                .or_default()
                .insert(&package.version);
        }
    }
    if rules.multiple_versions != Level::Deny {
        return Vec::new();
    }
    versions
        .into_iter()
        .filter(|(_, versions)| versions.len() > 1)
        .map(|(name, versions)| {
            let versions: Vec<_> = versions.into_iter().collect();
            format!(
                "{name}: {} versions ({})",
                versions.len(),
                versions.join(", ")
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sh;
    use std::fs;

    const ALLOWED: &[&str] = &["MIT", "Apache-2.0", "Unicode-3.0"];

    fn package(name: &str, version: &str) -> Package {
        Package {
            id: format!("{name}@{version}"),
            name: name.to_owned(),
            version: version.to_owned(),
            manifest_path: "Cargo.toml".into(),
            description: None,
            license: Some("MIT".to_owned()),
            readme: None,
            rust_version: None,
            source: Some(CRATES_IO[0].to_owned()),
            publish: None,
            targets: Vec::new(),
            dependencies: Vec::new(),
            features: BTreeMap::new(),
        }
    }

    #[test]
    fn expressions_are_evaluated() {
        for good in [
            "MIT",
            "MIT OR GPL-3.0-only",
            "MIT/Apache-2.0",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
        ] {
            assert_eq!(acceptable(good, ALLOWED), Ok(()), "{good}");
        }
    }

    #[test]
    fn what_is_not_allowed_is_named() {
        let why = acceptable("MIT AND GPL-3.0-only", ALLOWED).unwrap_err();
        assert!(why.contains("GPL-3.0"), "{why}");
        assert!(acceptable("Apache-2.0 WITH LLVM-exception", ALLOWED).is_err());
        let why = acceptable("MIT AND", ALLOWED).unwrap_err();
        assert!(why.contains("not an SPDX expression"), "{why}");
        assert!(acceptable("Free-For-All", ALLOWED).is_err());
    }

    #[test]
    fn an_exception_holds_for_its_crate_alone() {
        let rules = Licenses {
            allow: vec!["MIT".to_owned()],
            exceptions: vec![Exception {
                name: "runtime".to_owned(),
                allow: vec!["NCSA".to_owned()],
            }],
        };
        let mut runtime = package("runtime", "1.0.0");
        runtime.license = Some("MIT AND NCSA".to_owned());
        assert_eq!(licence_of(&runtime, &rules), None);
        runtime.name = "other".to_owned();
        assert!(licence_of(&runtime, &rules).is_some());
        runtime.license = None;
        assert!(
            licence_of(&runtime, &rules)
                .unwrap()
                .contains("declares no licence")
        );
    }

    #[test]
    fn duplicates_are_refused_unless_skipped() {
        let packages = [
            package("a", "1.0.0"),
            package("a", "2.0.0"),
            package("b", "1.0.0"),
        ];
        let mut rules = Bans {
            multiple_versions: Level::Deny,
            wildcards: Level::Deny,
            allow_wildcard_paths: true,
            skip: Vec::new(),
            deny: Vec::new(),
        };
        assert_eq!(
            duplicates(&packages, &rules),
            ["a: 2 versions (1.0.0, 2.0.0)"]
        );
        rules.skip.push(Named {
            name: "a@1".to_owned(),
            reason: None,
        });
        assert!(duplicates(&packages, &rules).is_empty());
        rules.deny.push(Named {
            name: "b".to_owned(),
            reason: Some("slow".to_owned()),
        });
        assert_eq!(bans_of(&packages[2], &rules), ["b 1.0.0: banned: slow"]);
    }

    #[test]
    fn git_and_strange_registries_are_refused() {
        let rules = Sources {
            unknown_registry: Level::Deny,
            unknown_git: Level::Deny,
        };
        let mut one = package("a", "1.0.0");
        assert_eq!(source_of(&one, &rules), None);
        one.source = Some("git+https://example.org/a".to_owned());
        assert!(source_of(&one, &rules).is_some());
        one.source = Some("registry+https://example.org/index".to_owned());
        assert!(source_of(&one, &rules).is_some());
        one.source = None;
        assert_eq!(source_of(&one, &rules), None);
    }

    #[test]
    fn our_own_rules_are_understood() {
        let text = fs::read_to_string(sh::root().join("deny.toml")).unwrap();
        let rules: Rules = toml::from_str(&text).unwrap();
        assert!(rules.licenses.allow.iter().any(|name| name == "MIT"));
        assert!(toml::from_str::<Rules>(&text.replace("[bans]", "[bans]\nhard = 1")).is_err());
    }
}
