//! The histogram of counts: how many samples there are of each value.

use super::super::bins;
use super::curves::{Group, range};
use super::frame::{BOTTOM, Chart, Room, Stop, TOP};
use super::marks;
use super::scales::Axis;
use super::thin::Point;
use crate::units::{count, duration, percent};

/// Bars of a curve at most.
const BARS_MAX: usize = 72;
/// From this quotient of the highest bar and the lowest one on, heights are logarithmic.
const LINEAR_MAX: f64 = 300.0;
/// Bars are at least so high, that a few slow samples are seen.
const HEIGHT_MIN: f64 = 2.0;
/// Curves whose bars are filled at most: more would hide each other.
const FILLED_MAX: usize = 3;
/// Sizes of samples that differ more than this are compared by shares.
const ALIKE: f64 = 0.05;

/// The chart of a group.
pub(super) fn chart(group: &Group<'_>, room: Room) -> Option<Chart> {
    let (low, high) = range(group.curves.iter())?;
    let bounds = bins::bounds(low, high, BARS_MAX);
    let sizes = || group.curves.iter().map(|curve| curve.histogram.len());
    let (least, most) = (sizes().min()? as f64, sizes().max()? as f64);
    let shares = most > least * (1.0 + ALIKE);
    let bars: Vec<Vec<f64>> = group
        .curves
        .iter()
        .map(|curve| {
            let scale = if shares {
                curve.histogram.len() as f64
            } else {
                1.0
            };
            let counts = bins::counts(&curve.histogram, &bounds).into_iter();
            counts.map(|count| count as f64 / scale).collect()
        })
        .collect();
    let all = || {
        bars.iter()
            .flatten()
            .copied()
            .filter(|height| *height > 0.0)
    };
    let (lowest, highest) = (all().reduce(f64::min)?, all().reduce(f64::max)?);
    let is_log = highest > lowest * LINEAR_MAX;
    let y = match is_log {
        true => Axis::log(lowest * 0.7, highest, BOTTOM, TOP),
        false => Axis::linear(0.0, highest * 1.05, BOTTOM, TOP),
    };
    let x = Axis::log(low, high, room.left(), room.right());
    let names = group.names().join(", ");
    let mut chart = Chart::new(
        room,
        "Histogram",
        format!("How many samples there are of each value, of {names}."),
    );
    let shown = |height: f64| match shares {
        true if height < 0.001 => {
            let percent = format!("{:.5}", height * 100.0);
            format!("{} %", percent.trim_end_matches('0').trim_end_matches('.'))
        }
        true => percent(height),
        false => count(height.round() as u64),
    };
    let ticks: Vec<(String, f64)> = x
        .ticks()
        .into_iter()
        .map(|ns| (duration(ns), x.at(ns)))
        .collect();
    chart.horizontal(&ticks, "time");
    let whole = |height: &f64| shares || height.fract() == 0.0;
    let ticks = y.ticks().into_iter().filter(whole);
    let ticks: Vec<(String, f64)> = ticks.map(|height| (shown(height), y.at(height))).collect();
    let of = match (shares, is_log) {
        (true, true) => "share of samples, log",
        (true, false) => "share of samples",
        (false, true) => "samples, log",
        (false, false) => "samples",
    };
    chart.vertical(&ticks, of);
    for (look, heights) in bars.iter().enumerate() {
        let blocks = outlines(heights, &bounds, (&x, &y));
        if bars.len() <= FILLED_MAX {
            let areas = blocks
                .iter()
                .map(|block| marks::path(block.iter().copied()) + "Z");
            let areas: String = areas.collect();
            chart.draw(&format!("<path class=\"area c{look}\" d=\"{areas}\"/>"));
        }
        chart.lines(look, "", &blocks);
    }
    for (bar, edges) in bounds.windows(2).enumerate() {
        let curves = group.curves.iter().enumerate();
        let held = curves.filter(|(look, _)| bars[*look][bar] > 0.0);
        let values = held.map(|(look, _)| (look, shown(bars[look][bar])));
        chart.stop(Stop {
            at: x.at((edges[0] * edges[1]).sqrt()),
            head: format!("{} to {}", duration(edges[0]), duration(edges[1])),
            values: values.collect(),
        });
    }
    Some(chart)
}

/// The bars next to each other as a line each, from the ground to the ground.
fn outlines(heights: &[f64], bounds: &[f64], (x, y): (&Axis, &Axis)) -> Vec<Vec<Point>> {
    let ground = y.at(0.0);
    let mut blocks: Vec<Vec<Point>> = Vec::new();
    let mut is_open = false;
    for (height, edges) in heights.iter().zip(bounds.windows(2)) {
        let [from, to] = [x.at(edges[0]), x.at(edges[1])];
        if *height <= 0.0 {
            is_open = false;
            continue;
        }
        let top = y.at(*height).min(ground - HEIGHT_MIN);
        if !is_open {
            blocks.push(vec![(from, ground)]);
            is_open = true;
        }
        let Some(block) = blocks.last_mut() else {
            continue;
        };
        // Bars of one height are one step.
        match block.last_mut() {
            Some(last) if (last.1 - top).abs() < 0.05 => last.0 = to,
            _ => block.extend([(from, top), (to, top)]),
        }
    }
    for block in &mut blocks {
        let end = block.last().map_or(0.0, |last| last.0);
        block.push((end, ground));
    }
    blocks
}
