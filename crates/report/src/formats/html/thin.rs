//! Lines of fewer points that look the same.

/// How far a point may be from the line that is drawn without it.
const TOLERANCE: f64 = 0.35;

/// A point in pixels.
pub(super) type Point = (f64, f64);

/// The points of a line that are seen: all others are closer to the line between their neighbours than anybody can
/// see (Ramer 1972, Douglas and Peucker 1973). The ends stay, and so does each extreme.
pub(super) fn thinned(points: &[Point]) -> Vec<Point> {
    let mut keep = vec![false; points.len()];
    if let Some(last) = points.len().checked_sub(1) {
        (keep[0], keep[last]) = (true, true);
        // Own stack: no input decides how deep this goes.
        let mut open = vec![(0, last)];
        while let Some((from, to)) = open.pop() {
            if let Some(at) = farthest(points, from, to) {
                keep[at] = true;
                open.extend([(from, at), (at, to)]);
            }
        }
    }
    let kept = points.iter().zip(keep);
    kept.filter_map(|(point, keep)| keep.then_some(*point))
        .collect()
}

/// The point between two others that is farthest from their line, if it is too far.
fn farthest(points: &[Point], from: usize, to: usize) -> Option<usize> {
    let (a, b) = (points[from], points[to]);
    let (dx, dy) = (b.0 - a.0, b.1 - a.1);
    let length = dx.hypot(dy);
    let distance = |point: Point| match length > 0.0 {
        true => ((point.0 - a.0) * dy - (point.1 - a.1) * dx).abs() / length,
        false => (point.0 - a.0).hypot(point.1 - a.1),
    };
    let between = (from + 1..to).map(|at| (at, distance(points[at])));
    let farthest = between.max_by(|one, other| one.1.total_cmp(&other.1));
    farthest.and_then(|(at, far)| (far > TOLERANCE).then_some(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn straight_lines_have_two_points_and_peaks_stay() {
        let line: Vec<Point> = (0..1_000)
            .map(|x| (f64::from(x), 2.0 * f64::from(x)))
            .collect();
        assert_eq!(thinned(&line), [line[0], line[999]]);
        let mut peaks: Vec<Point> = (0..10_000).map(|x| (f64::from(x) / 20.0, 100.0)).collect();
        peaks[4_321].1 = 7.0;
        peaks[4_322].1 = 180.0;
        let found = thinned(&peaks);
        assert!(found.contains(&peaks[4_321]) && found.contains(&peaks[4_322]));
        assert!(found.len() < 12, "{}", found.len());
    }

    #[test]
    fn few_points_stay() {
        assert_eq!(thinned(&[]), []);
        assert_eq!(thinned(&[(1.0, 2.0)]), [(1.0, 2.0)]);
        let same = [(1.0, 2.0), (1.0, 2.0)];
        assert_eq!(thinned(&same), same);
    }
}
