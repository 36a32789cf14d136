//! What runs came to, in sentences: whether all was sound, and what does most for its processor time.

use report::units::{bytes, percent};

use super::row::{RANKED_RATIO_MIN, Row};

/// The sentences, the verdict first.
pub(crate) fn findings(rows: &[Row], ratio_min: Option<f64>) -> Vec<String> {
    let mut findings = Vec::new();
    let leaking = rows.iter().filter(|row| row.leak.found());
    let leaking: Vec<String> = leaking.map(Row::name).collect();
    findings.push(match (leaking.as_slice(), rows.len()) {
        ([], 0 | 1) => "sound: every context came back, and nothing grew.".to_owned(),
        ([], _) => "all sound: every context came back, and nothing grew.".to_owned(),
        (leaking, _) => format!("LEAKS: {}.", leaking.join(", ")),
    });
    let speed = |row: &Row| row.cpu_bytes_per_s().unwrap_or(row.bytes_per_s());
    let mut ranked: Vec<&Row> = rows.iter().filter(|row| row.ranks(ratio_min)).collect();
    ranked.sort_by(|a, b| speed(b).total_cmp(&speed(a)));
    if let (Some(first), true) = (ranked.first(), rows.len() > 1) {
        let mut said = format!(
            "most for a CPU-second: {} ({} at ratio {:.2})",
            first.name(),
            bytes(speed(first)),
            first.ratio().unwrap_or(0.0),
        );
        if let Some(second) = ranked.get(1) {
            let behind = 1.0 - speed(second) / speed(first);
            said += &format!(", then {} ({} less)", second.name(), percent(behind));
        }
        findings.push(said + "; ranks say which differences are real.");
    }
    let least = ratio_min.unwrap_or(RANKED_RATIO_MIN);
    let missing = rows.iter().filter(|row| row.misses(Some(least)));
    let missing: Vec<String> = missing.map(Row::name).collect();
    if !missing.is_empty() {
        findings.push(format!(
            "not ranked, with a ratio below {least}: {}.",
            missing.join(", ")
        ));
    }
    findings
}
