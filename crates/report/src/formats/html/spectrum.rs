//! The percentile spectrum: values over percentiles, as many nines as the sample has.

use latency::percentile::earned_n;
use latency::report::{GateResult, GateVerdict, Percentile};

use super::curves::{Curve, Group, range};
use super::escape::{pixels, text};
use super::frame::{BOTTOM, Chart, Room, Stop, TOP};
use super::marks;
use super::scales::{Axis, Nines};
use super::thin::{Point, thinned};
use crate::units::{ABSENT, duration, percentile_name};

/// Percentiles whose values are read out, besides each further nine.
const STOPS: [f64; 9] = [1.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.5];
/// What is closer than this is at one place.
const PIXEL: f64 = 0.5;
/// Nines that are read out at most.
const NINES_MAX: i32 = 9;
/// Pixels between intervals of several curves at one percentile, and half the width of their ends.
const APART: f64 = 5.0;
const END: f64 = 3.0;
/// Limits of gates stretch the chart up to this factor.
const STRETCH_MAX: f64 = 4.0;

/// The chart of a group; `None` where nothing in it has a tail.
pub(super) fn chart(group: &Group<'_>, gates: &[GateResult], room: Room) -> Option<Chart> {
    let single = || group.curves.iter().filter(|curve| curve.is_single());
    let (low, mut high) = range(single())?;
    let own: Vec<(&GateResult, u64)> = gates
        .iter()
        .filter(|gate| single().any(|curve| gate.row.as_deref() == Some(&curve.row.label())))
        .filter_map(|gate| Some((gate, gate.limit_ns?)))
        .filter(|(_, limit)| (low..=high * STRETCH_MAX).contains(&(*limit as f64)))
        .collect();
    for (_, limit) in &own {
        high = high.max(*limit as f64);
    }
    let y = Axis::log(low, high, BOTTOM, TOP);
    let n = single().map(|curve| curve.row.n).max()?;
    let x = Nines::new(n, room.left(), room.right());
    let names = group.names().join(", ");
    let mut chart = Chart::new(
        room,
        "Percentile spectrum",
        format!(
            "Value by percentile, on logarithmic scales, of {names}. The table below has the numbers."
        ),
    );
    let ticks = x.ticks().into_iter();
    let ticks: Vec<(String, f64)> = ticks
        .map(|(label, beyond)| (format!("{label} %"), x.at(beyond)))
        .collect();
    chart.horizontal(&ticks, "percentile");
    let ticks = y.ticks().into_iter();
    let ticks: Vec<(String, f64)> = ticks.map(|ns| (duration(ns), y.at(ns))).collect();
    chart.vertical(&ticks, "time");
    for (gate, limit) in own {
        chart.draw(&limit_line(gate, y.at(limit as f64), room));
    }
    let mut faint = false;
    let drawn = single().count();
    let curves = group.curves.iter().enumerate();
    for (nth, (look, curve)) in curves.filter(|(_, curve)| curve.is_single()).enumerate() {
        // Intervals of the same percentile stand next to each other.
        let aside = APART * (nth as f64 - (drawn - 1) as f64 / 2.0);
        faint |= draw(&mut chart, look, curve, (&x, &y), aside);
    }
    if faint {
        chart.note(
            "Thin: too few samples to know these percentiles. Bars: 95 % intervals. Single marker at the right: the maximum.",
        );
    }
    stops(&mut chart, group, &x, n);
    Some(chart)
}

/// The limit of a gate.
fn limit_line(gate: &GateResult, y: f64, room: Room) -> String {
    let class = match gate.verdict {
        GateVerdict::Pass => "good",
        GateVerdict::Fail => "bad",
        GateVerdict::Inconclusive => "warn",
    };
    format!(
        "<path class=\"limit {class}\" d=\"M{} {}H{}\"/><text class=\"limit {class}\" x=\"{}\" y=\"{}\">{}</text>",
        pixels(room.left()),
        pixels(y),
        pixels(room.right()),
        pixels(room.left() + 6.0),
        pixels(y - 4.0),
        text(&gate.gate)
    )
}

/// Draws a curve; whether a part of it is of percentiles that are not known.
fn draw(
    chart: &mut Chart,
    look: usize,
    curve: &Curve<'_>,
    (x, y): (&Nines, &Axis),
    aside: f64,
) -> bool {
    let (known, rest) = points(curve, (x, y));
    chart.line(look, "faint", &thinned(&rest));
    chart.line(look, "", &thinned(&known));
    for found in &curve.row.percentiles {
        let Some(value) = found.value_ns else {
            continue;
        };
        let at = x.at((100.0 - found.p) / 100.0);
        if let Some([low, high]) = found.ci95_ns {
            let [from, to] = [at + aside - END, at + aside + END].map(pixels);
            let [middle, low, high] = [at + aside, y.at(low as f64), y.at(high as f64)].map(pixels);
            chart.draw(&format!(
                "<path class=\"interval c{look}\" d=\"M{from} {low}H{to}M{middle} {low}V{high}M{from} {high}H{to}\"/>"
            ));
        }
        let title = format!("{}, {}", curve.name, said(found));
        let point = (at, y.at(value as f64));
        chart.draw(&marks::marker(look, point, &text(&title)));
    }
    let max = curve.max_ns();
    let point = (x.at(1.0 / curve.row.n as f64), y.at(max as f64));
    let title = format!("{}, maximum: {}", curve.name, duration(max as f64));
    chart.draw(&marks::marker(look, point, &text(&title)));
    !rest.is_empty()
}

/// `p99: 1.31 ms (1.22 ms to 1.44 ms)`.
fn said(found: &Percentile) -> String {
    let value = found
        .value_ns
        .map_or_else(|| ABSENT.to_owned(), |ns| duration(ns as f64));
    let name = percentile_name(found.p);
    match found.ci95_ns {
        Some([low, high]) => format!(
            "{name}: {value} ({} to {})",
            duration(low as f64),
            duration(high as f64)
        ),
        None => format!("{name}: {value}"),
    }
}

/// The steps of a curve in pixels: those that the sample is large enough for, and the rest.
fn points(curve: &Curve<'_>, (x, y): (&Nines, &Axis)) -> (Vec<Point>, Vec<Point>) {
    let n = curve.row.n as f64;
    let least = 1.0 / n;
    // As `earned_n` has it: the greatest p with 1 - p^n of at least 95 %.
    let known_beyond = -(0.05_f64.ln() / n).exp_m1();
    let known_to = x.at(known_beyond);
    let mut all: Vec<Point> = Vec::new();
    let mut below = 0_u64;
    for recorded in curve.histogram.iter_recorded() {
        let value = curve
            .histogram
            .highest_equivalent(recorded.value_iterated_to());
        let value = value.clamp(curve.min_ns(), curve.max_ns().max(curve.min_ns()));
        let from = x.at((n - below as f64) / n);
        below = below.saturating_add(recorded.count_at_value());
        let to = x.at(((n - below as f64) / n).max(least));
        let height = y.at(value as f64);
        // Steps within a pixel are one, straight up to the last and greatest value.
        match all.as_mut_slice() {
            [.., before, last] if to - last.0 < PIXEL && last.0 - before.0 < PIXEL => {
                last.1 = height
            }
            [.., last] if to - last.0 < PIXEL => {
                let corner = (last.0, height);
                all.push(corner);
            }
            _ => all.extend([(from, height), (to, height)]),
        }
    }
    let split = all.partition_point(|point| point.0 <= known_to);
    let mut rest = all.split_off(split);
    if let (Some(before), Some(after)) = (all.last().copied(), rest.first().copied()) {
        // A flat step goes on to where knowledge ends.
        let height = if (before.1 - after.1).abs() < 1e-9 {
            after.1
        } else {
            before.1
        };
        all.push((known_to, height));
        rest.insert(0, (known_to, height));
    }
    (all, rest)
}

/// What is read out: values at round percentiles, and the maximum.
fn stops(chart: &mut Chart, group: &Group<'_>, x: &Nines, n: u64) {
    let further = (3..=NINES_MAX).map(|nines| 100.0 - 10_f64.powi(2 - nines));
    let all = STOPS.into_iter().chain(further);
    for p in all.filter(|p| earned_n(*p) <= n) {
        let single = group.curves.iter().enumerate();
        let values = single
            .filter(|(_, curve)| curve.is_single())
            .map(|(look, curve)| {
                let value = match curve.row.find_percentile(p) {
                    Some(found) => said(found),
                    None if earned_n(p) > curve.row.n => ABSENT.to_owned(),
                    None => duration(curve.histogram.value_at_quantile(p / 100.0) as f64),
                };
                let value = value
                    .split_once(": ")
                    .map_or(value.clone(), |(_, value)| value.to_owned());
                (look, value)
            });
        chart.stop(Stop {
            at: x.at((100.0 - p) / 100.0),
            head: percentile_name((p * 1e9).round() / 1e9),
            values: values.collect(),
        });
    }
    let single = group.curves.iter().enumerate();
    let values = single
        .filter(|(_, curve)| curve.is_single())
        .map(|(look, curve)| (look, duration(curve.max_ns() as f64)));
    chart.stop(Stop {
        at: x.at(1.0 / n as f64),
        head: "maximum".to_owned(),
        values: values.collect(),
    });
}
