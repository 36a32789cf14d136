//! Comparisons as intervals on one scale: what was found, between the margins within which it counts as nothing.

use latency::report::{Comparison, Verdict};

use super::super::tables::verdict_name;
use super::escape::{pixels, text};
use super::frame::{Chart, Room, TOP};
use super::scales::Axis;
use crate::units::signed_percent;

/// Rows of the picture at most; the table has all.
const ROWS_MAX: usize = 40;
/// The height of a row: its name, and its interval below.
const ROW: f64 = 38.0;
/// The height of a line of text.
const LINE: f64 = 16.0;
/// Left of the intervals.
const LEFT: f64 = 18.0;
/// Intervals that reach farther are cut off, so that they leave something to see of the others.
const FAR: f64 = 10.0;
/// Room beside the intervals, as a share of them; ranges end at the edge of the picture.
const ROOM: f64 = 0.25;

/// The picture of all comparisons that have a result.
pub(super) fn chart(comparisons: &[Comparison], room: Room) -> Option<Chart> {
    let found: Vec<&Comparison> = comparisons
        .iter()
        .filter(|comparison| comparison.difference.is_some())
        .collect();
    let shown = &found[..found.len().min(ROWS_MAX)];
    if shown.is_empty() {
        return None;
    }
    let ends = shown.iter().flat_map(|comparison| ends(comparison));
    let (low, high) = ends.fold((-0.01_f64, 0.01_f64), |(low, high), end: f64| {
        (low.min(end.max(-FAR)), high.max(end.min(FAR)))
    });
    let around = (high - low) * ROOM;
    let x = Axis::linear(low - around, high + around, LEFT, room.right());
    // A narrow picture has the verdict on a line of its own.
    let height = match room {
        Room::Wide => ROW,
        Room::Narrow => ROW + LINE,
    };
    let bottom = TOP + height * shown.len() as f64;
    let mut chart = Chart::of_height(
        room,
        "Comparison",
        "Relative differences of target and baseline with their 95 % intervals; the table has the numbers.".to_owned(),
        bottom,
    );
    let ticks = x.ticks().into_iter();
    let ticks: Vec<(String, f64)> = ticks
        .map(|share| (signed_percent(share), x.at(share)))
        .collect();
    let of = match room {
        Room::Wide => "difference of the target: faster to the left, slower to the right",
        Room::Narrow => "← faster: difference of the target: slower →",
    };
    chart.horizontal(&ticks, of);
    for (nth, comparison) in shown.iter().enumerate() {
        chart.draw(&row(comparison, TOP + height * nth as f64, &x, room));
    }
    chart.note(
        "Thick: 95 % interval of the median. Thin: range of all pairs, as far as there is room. Grey band: the margin within which a difference counts as none. Dashed line below: the control.",
    );
    if found.len() > shown.len() {
        chart.note(format!("{} more in the table", found.len() - shown.len()));
    }
    Some(chart)
}

/// All that has to fit of a comparison.
fn ends(comparison: &Comparison) -> Vec<f64> {
    let mut ends: Vec<f64> = comparison
        .margin
        .into_iter()
        .flat_map(|margin| [-margin, margin])
        .collect();
    if let Some(found) = &comparison.difference {
        ends.push(found.median);
        ends.extend(found.median_ci95.into_iter().flatten());
    }
    let control = comparison.control.as_ref();
    ends.extend(
        control
            .and_then(|control| control.median_ci95)
            .into_iter()
            .flatten(),
    );
    ends
}

fn row(comparison: &Comparison, top: f64, x: &Axis, room: Room) -> String {
    let Some(found) = &comparison.difference else {
        return String::new();
    };
    let class = match comparison.verdict {
        Verdict::Better => "good",
        Verdict::Worse => "bad",
        Verdict::NoDifference => "none",
        Verdict::Small | Verdict::Inconclusive => "warn",
    };
    let word = verdict_name(comparison.verdict);
    let middle = match room {
        Room::Wide => top + 25.0,
        Room::Narrow => top + 25.0 + LINE,
    };
    let across = |y: f64, [low, high]: [f64; 2]| {
        format!(
            "M{} {}H{}",
            pixels(x.at(low)),
            pixels(y),
            pixels(x.at(high))
        )
    };
    let mut svg = String::new();
    if let Some(margin) = comparison.margin {
        let (low, high) = (x.at(-margin), x.at(margin));
        svg += &format!(
            "<rect class=\"margin\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"16\"/>",
            pixels(low),
            pixels(middle - 8.0),
            pixels(high - low)
        );
    }
    let interval = found.median_ci95;
    let said = match interval {
        Some([low, high]) => format!(
            "{word}: {}, interval {} to {}",
            signed_percent(found.median),
            signed_percent(low),
            signed_percent(high)
        ),
        None => format!("{word}: {}", signed_percent(found.median)),
    };
    svg += &format!(
        "<path class=\"range\" d=\"{}\"/>",
        across(middle, found.range)
    );
    if let Some(interval) = interval {
        svg += &format!(
            "<path class=\"wide {class}\" d=\"{}\"/>",
            across(middle, interval)
        );
    }
    if let Some(control) = comparison
        .control
        .as_ref()
        .and_then(|control| control.median_ci95)
    {
        svg += &format!(
            "<path class=\"control\" d=\"{}\"/>",
            across(middle + 7.0, control)
        );
    }
    let zero = pixels(x.at(0.0));
    svg += &format!(
        "<path class=\"zero\" d=\"M{zero} {}v20\"/>",
        pixels(middle - 10.0)
    );
    let median = pixels(x.at(found.median));
    let title = text(&format!("{}: {said}", comparison.row));
    svg += &format!(
        "<path class=\"median {class}\" d=\"M{median} {}v12\"><title>{title}</title></path>",
        pixels(middle - 6.0)
    );
    let names = [&comparison.row, &comparison.target, &comparison.baseline];
    let most = match room {
        Room::Wide => 26,
        Room::Narrow => 17,
    };
    let [row, target, baseline] = names.map(|name| shortened(name, most));
    let name = format!("{row}, {target} against {baseline}");
    let verdict = match room {
        Room::Wide => format!("<tspan class=\"{class}\">{}</tspan>", text(&said)),
        Room::Narrow => format!(
            "<tspan class=\"{class}\" x=\"{LEFT}\" dy=\"{LINE}\">{}</tspan>",
            text(&said.replace(", interval ", ", "))
        ),
    };
    svg + &format!(
        "<text class=\"row\" x=\"{LEFT}\" y=\"{}\">{} {verdict}</text>",
        pixels(top + 12.0),
        text(&name),
    )
}

/// A name of which the middle is left out where it has no room.
fn shortened(name: &str, most: usize) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= most {
        return name.to_owned();
    }
    let head: String = letters[..most / 2].iter().collect();
    let tail: String = letters[letters.len() - most / 2 + 1..].iter().collect();
    format!("{head}…{tail}")
}
