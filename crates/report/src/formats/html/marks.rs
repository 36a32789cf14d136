//! How a curve is told from the others: by its colour, its dashes and its markers, so that any one of them is enough.

use std::fmt::Write as _;

use super::escape::pixels;

/// Curves in one chart at most: each has its own look.
pub(super) const LOOKS: usize = 6;

/// Half the width of a marker.
const HALF: f64 = 4.0;
/// Dashes and gaps.
const DASHES: [&str; LOOKS] = ["", "7 3", "2 3", "9 3 2 3", "12 4", "4 2 1 2"];
/// Markers as corners of a path, in halves of their width. None: a circle.
const CORNERS: [Option<&[(f64, f64)]>; LOOKS] = [
    None,
    Some(&[(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]),
    Some(&[(0.0, -1.2), (1.2, 1.0), (-1.2, 1.0)]),
    Some(&[(0.0, -1.35), (1.35, 0.0), (0.0, 1.35), (-1.35, 0.0)]),
    Some(&[(0.0, 1.2), (1.2, -1.0), (-1.2, -1.0)]),
    Some(&[
        (-0.45, -1.2),
        (0.45, -1.2),
        (0.45, -0.45),
        (1.2, -0.45),
        (1.2, 0.45),
        (0.45, 0.45),
        (0.45, 1.2),
        (-0.45, 1.2),
        (-0.45, 0.45),
        (-1.2, 0.45),
        (-1.2, -0.45),
        (-0.45, -0.45),
    ]),
];

/// The attributes of a line of a look.
pub(super) fn line(look: usize) -> String {
    let look = look % LOOKS;
    match DASHES[look] {
        "" => format!("class=\"line c{look}\""),
        dashes => format!("class=\"line c{look}\" stroke-dasharray=\"{dashes}\""),
    }
}

/// A marker at a point; `title` is escaped already, and shown under the pointer.
pub(super) fn marker(look: usize, (x, y): (f64, f64), title: &str) -> String {
    let look = look % LOOKS;
    let title = match title {
        "" => String::new(),
        title => format!("<title>{title}</title>"),
    };
    match CORNERS[look] {
        None => format!(
            "<circle class=\"mark c{look}\" cx=\"{}\" cy=\"{}\" r=\"{HALF}\">{title}</circle>",
            pixels(x),
            pixels(y)
        ),
        Some(corners) => {
            let points = corners
                .iter()
                .map(|(dx, dy)| (x + dx * HALF * 0.95, y + dy * HALF * 0.95));
            let path = path(points);
            format!("<path class=\"mark c{look}\" d=\"{path}Z\">{title}</path>")
        }
    }
}

/// Small markers as steps from their centre, drawn with a round pen.
const SMALL: [&str; LOOKS] = [
    "h0",
    "m-2-2h4v4h-4z",
    "m0-2.4l2.4 4.4h-4.8z",
    "m0-2.8l2.8 2.8l-2.8 2.8l-2.8-2.8z",
    "m0 2.4l2.4-4.4h-4.8z",
    "m-2.6 0h5.2m-2.6-2.6v5.2",
];

/// Small markers at many points.
pub(super) fn dots(look: usize, points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let look = look % LOOKS;
    let mut path = String::new();
    for (x, y) in points {
        // Writing to a string cannot fail.
        let _ = write!(path, "M{} {}{}", pixels(x), pixels(y), SMALL[look]);
    }
    format!("<path class=\"dots c{look} d{look}\" d=\"{path}\"/>")
}

/// The path through these points.
pub(super) fn path(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let mut path = String::new();
    for (nth, (x, y)) in points.into_iter().enumerate() {
        let letter = if nth == 0 { 'M' } else { 'L' };
        // Writing to a string cannot fail.
        let _ = write!(path, "{letter}{} {}", pixels(x), pixels(y));
    }
    path
}

/// The look of a curve beside its name.
pub(super) fn key(look: usize) -> String {
    format!(
        "<svg class=\"key\" width=\"34\" height=\"14\" viewBox=\"0 0 34 14\" aria-hidden=\"true\">\
         <path {} d=\"M1 7L33 7\"/>{}</svg>",
        line(look),
        marker(look, (17.0, 7.0), "")
    )
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn looks_differ_without_colour() {
        let plain = |look: usize| key(look).replace(&format!("c{look}"), "");
        let looks: HashSet<String> = (0..LOOKS).map(plain).collect();
        assert_eq!(looks.len(), LOOKS);
        let markers: HashSet<String> = (0..LOOKS)
            .map(|look| marker(look, (0.0, 0.0), "").replace(&format!("c{look}"), ""))
            .collect();
        assert_eq!(markers.len(), LOOKS);
        // One more look is the first one again, and no error.
        assert_eq!(key(LOOKS), key(0));
    }
}
