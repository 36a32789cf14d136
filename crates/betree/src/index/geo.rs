//! Cells of the map: which ones a radius touches, and which one a place is in.
//!
//! A level is a grid of squares in degrees, each level of twice the width of the one before. A radius takes the
//! finest level at which it touches few cells. Cells are chosen with a margin, so that rounding never loses a
//! place.

use crate::code::u64_at;

/// Kilometres of the earth's radius: a little less than in the computation of distances, so that angles come out
/// a little larger.
const EARTH_KM: f64 = 6_365.0;
/// Kilometres that a radius is enlarged by.
const MARGIN_KM: f64 = 0.01;
/// Degrees of the finest cells.
const FINEST: f64 = 1.0 / 16.0;
/// The most cells of a radius.
const CELLS_MAX: usize = 20;
/// How many levels there are; the cells of the last are 256 degrees wide.
pub(crate) const LEVELS: u8 = 13;
/// The longest coordinates for which distances are exact enough.
const DEGREES_MAX: f64 = 720.0;

/// The cell of a place that is not on the map: it may be near to anything.
pub(crate) const ANYWHERE: u64 = u64::MAX;

fn width(level: u8) -> f64 {
    FINEST * f64::from(1u32 << level)
}

fn cell(level: u8, latitude: f64, longitude: f64) -> u64 {
    let row = ((latitude + 90.0) / width(level)).floor() as u64;
    let column = (longitude.rem_euclid(360.0) / width(level)).floor() as u64;
    row << 32 | column
}

/// The cell of a place, in degrees; [`ANYWHERE`] for one that is not on the map.
pub(crate) fn cell_of(level: u8, latitude: f64, longitude: f64) -> u64 {
    match latitude.abs() <= 90.0 && longitude.abs() <= DEGREES_MAX {
        true => cell(level, latitude, longitude),
        false => ANYWHERE,
    }
}

/// The level and the cells of a test for a radius, from its operands. `None`: it touches too many, or its centre is
/// not on the map.
pub(crate) fn cells(operands: &[u32]) -> Option<(u8, Vec<u64>)> {
    let constant = |at| f64::from_bits(u64_at(operands, at));
    let (latitude, longitude, radius) = (constant(1), constant(3), constant(5));
    if latitude.abs() > 90.0 || longitude.abs() > DEGREES_MAX || !(0.0..=5_000.0).contains(&radius)
    {
        return None;
    }
    if latitude.is_nan() || longitude.is_nan() {
        return None;
    }
    let angle = (radius + MARGIN_KM) / EARTH_KM;
    let tall = angle.to_degrees();
    let (south, north) = (latitude - tall, latitude + tall);
    // A circle around a pole touches all longitudes.
    let wide = match angle.sin() / latitude.to_radians().cos() {
        ratio if south > -89.9 && north < 89.9 && ratio < 1.0 => ratio.asin().to_degrees() + 1e-9,
        _ => 180.0,
    };
    (0..LEVELS).find_map(|level| {
        let width = width(level);
        let row = |latitude: f64| ((latitude.clamp(-90.0, 90.0) + 90.0) / width).floor() as u64;
        let rows = row(south)..=row(north);
        // Cells of a line, from west to east; the last one may be narrower.
        let columns = (360.0 / width).ceil() as u64;
        let west = (longitude - wide).rem_euclid(360.0);
        let first = (west / width).floor() as u64;
        let count = match (wide < 180.0, columns as f64 * width > 360.0) {
            (false, _) => columns,
            (true, false) => ((west + 2.0 * wide) / width).floor() as u64 - first + 1,
            // More on either side of where the narrow cell may be.
            (true, true) => (2.0 * wide / width).floor() as u64 + 3,
        };
        let count = count.min(columns);
        let total = (rows.end() - rows.start() + 1) * count;
        (total as usize <= CELLS_MAX).then(|| {
            let line = |row: u64| (0..count).map(move |at| (row << 32) | ((first + at) % columns));
            (level, rows.flat_map(line).collect())
        })
    })
}

/// The share of events in some cells of a level, about: people live on a small part of the map.
pub(crate) fn share(level: u8, cells: usize) -> f32 {
    let area = width(level).powi(2) * cells as f64;
    (area / (360.0 * 180.0) * 40.0).min(1.0) as f32
}
