//! The time line: median, 99th percentile and maximum of each interval of the run.

use super::super::spans::{self, Span};
use super::curves::Group;
use super::frame::{BOTTOM, Chart, Room, Stop, TOP};
use super::marks;
use super::scales::Axis;
use super::thin::Point;
use crate::units::{ABSENT, count, duration};

/// Intervals of a curve that are drawn at most: more would not be seen.
const SPANS_MAX: usize = 160;
/// Intervals that make a line at least.
const SPANS_MIN: usize = 4;
/// Curves with a band at most: more would hide each other.
const BANDS_MAX: usize = 2;

/// The chart of a group; `None` where no curve has a time line that says something.
pub(super) fn chart(group: &Group<'_>, room: Room) -> Option<Chart> {
    let curves = group.curves.iter();
    let lines: Vec<Vec<Span>> = curves
        .map(|curve| spans::of(curve.row, curve.start_ns, SPANS_MAX))
        .collect();
    if lines.iter().all(|line| line.len() < SPANS_MIN) {
        return None;
    }
    let bands = lines.len() <= BANDS_MAX;
    let all = || lines.iter().flatten();
    let low = all().map(Span::least_ns).min()? as f64;
    let high = all().map(|span| span.max_ns).max()? as f64;
    let end = all().map(|span| span.to_ns).max()? as f64;
    let (x, y) = (
        Axis::linear(0.0, end, room.left(), room.right()),
        Axis::log(low, high, BOTTOM, TOP),
    );
    let names = group.names().join(", ");
    let mut chart = Chart::new(
        room,
        "Time line",
        format!("Median, 99th percentile and maximum over the time of the run, of {names}."),
    );
    let ticks: Vec<(String, f64)> = x
        .ticks()
        .into_iter()
        .map(|ns| (time(ns), x.at(ns)))
        .collect();
    chart.horizontal(&ticks, "time since the start of the run");
    let ticks: Vec<(String, f64)> = y
        .ticks()
        .into_iter()
        .map(|ns| (duration(ns), y.at(ns)))
        .collect();
    chart.vertical(&ticks, "time");
    for (look, spans) in lines.iter().enumerate() {
        draw(&mut chart, look, spans, (&x, &y), bands);
    }
    chart.note(match bands {
        true => "Band: from the median to the 99th percentile. Markers: the maximum of each interval.",
        false => "Lines: the 99th percentile. Markers: the maximum of each interval. Medians are read out.",
    });
    for (look, spans) in lines.iter().enumerate() {
        for span in spans {
            chart.stop(stop(look, span, &x));
        }
    }
    chart.join_stops();
    Some(chart)
}

/// `0 s`, `250 ms`, `90 s`.
fn time(ns: f64) -> String {
    if ns == 0.0 {
        "0 s".to_owned()
    } else {
        duration(ns)
    }
}

fn draw(chart: &mut Chart, look: usize, spans: &[Span], (x, y): (&Axis, &Axis), bands: bool) {
    let point = |span: &Span, ns: u64| (x.at(span.middle_ns()), y.at(ns as f64));
    // Where a percentile is not known there is a gap.
    let gap = |span: &Span| span.p50_ns.is_none() || span.p99_ns.is_none();
    for known in spans.split(gap).filter(|_| bands) {
        let low = known
            .iter()
            .filter_map(|span| Some(point(span, span.p50_ns?)));
        let high = known
            .iter()
            .rev()
            .filter_map(|span| Some(point(span, span.p99_ns?)));
        let edge: Vec<Point> = low.chain(high).collect();
        if edge.len() > 3 {
            let area = marks::path(edge);
            chart.draw(&format!("<path class=\"area c{look}\" d=\"{area}Z\"/>"));
        }
    }
    let values: [fn(&Span) -> Option<u64>; 2] = [|span| span.p50_ns, |span| span.p99_ns];
    for value in values.into_iter().skip(usize::from(!bands)) {
        for known in spans.split(|span| value(span).is_none()) {
            let points = known
                .iter()
                .filter_map(|span| Some(point(span, value(span)?)));
            chart.line(look, "", &points.collect::<Vec<_>>());
        }
    }
    let points = spans.iter().map(|span| point(span, span.max_ns));
    chart.draw(&marks::dots(look, points));
}

/// What is read out of an interval.
fn stop(look: usize, span: &Span, x: &Axis) -> Stop {
    let shown = |ns: Option<u64>| ns.map_or_else(|| ABSENT.to_owned(), |ns| duration(ns as f64));
    let values = format!(
        "p50 {}, p99 {}, max {}, n {}",
        shown(span.p50_ns),
        shown(span.p99_ns),
        duration(span.max_ns as f64),
        count(span.n)
    );
    Stop {
        at: x.at(span.middle_ns()),
        head: format!(
            "{} to {}",
            time(span.from_ns as f64),
            time(span.to_ns as f64)
        ),
        values: vec![(look, values)],
    }
}
