//! How the page looks, and the script that shows values under the pointer.

/// The style sheet: light and dark, screen and paper.
pub(super) const CSS: &str = include_str!("style.css");

/// The script.
pub(super) const SCRIPT: &str = include_str!("script.js");

/// What the page may do: nothing from the network, and no script but its own, which is known by its SHA-256.
pub(super) const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; \
    script-src 'sha256-UcpEb3prTntcq8dcvfCRB+5IuvLNndnYlqjnc2hOwXw='";

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use sha2::{Digest as _, Sha256};

    use super::*;

    #[test]
    fn the_policy_allows_the_script_of_the_page_and_no_other() {
        let hash = STANDARD.encode(Sha256::digest(SCRIPT));
        assert!(
            POLICY.contains(&format!("script-src 'sha256-{hash}'")),
            "{hash}"
        );
    }
}
