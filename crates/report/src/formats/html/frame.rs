//! What surrounds every chart: its size, axes with their labels, legend, and the values that the script reads out.

use std::fmt::Write as _;

use serde_json::json;

use super::escape::{self, pixels};
use super::marks;

/// The height of a picture.
const HEIGHT: f64 = 320.0;
/// The upper end of where values are drawn.
pub(super) const TOP: f64 = 14.0;
/// The lower end of a chart of the usual height.
pub(super) const BOTTOM: f64 = 270.0;
/// What is below the lower end: labels and a title.
const BELOW: f64 = HEIGHT - BOTTOM;
/// Places closer than this are one.
const NEAR: f64 = 3.0;
/// About the width of a letter of a label.
const LETTER: f64 = 6.6;

/// What a picture is drawn for: every one is drawn for both, and the style sheet shows the one that fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// A window or a sheet of paper.
    Wide,
    /// A telephone.
    Narrow,
}

impl Room {
    /// Both.
    const ALL: [Self; 2] = [Self::Wide, Self::Narrow];

    fn of(self, [wide, narrow]: [f64; 2]) -> f64 {
        match self {
            Self::Wide => wide,
            Self::Narrow => narrow,
        }
    }

    /// The width of the picture.
    fn width(self) -> f64 {
        self.of([860.0, 380.0])
    }

    /// The left end of where values are drawn.
    pub(super) fn left(self) -> f64 {
        self.of([78.0, 66.0])
    }

    /// The right end.
    pub(super) fn right(self) -> f64 {
        self.of([844.0, 370.0])
    }

    fn class(self) -> &'static str {
        match self {
            Self::Wide => "for-wide",
            Self::Narrow => "for-narrow",
        }
    }
}

/// A chart, drawn for every room, with its legend and its notes; nothing where there is nothing to draw.
pub(super) fn figure(names: &[String], draw: impl Fn(Room) -> Option<Chart>) -> String {
    let charts: Vec<Chart> = Room::ALL.into_iter().filter_map(draw).collect();
    let Some(first) = charts.first() else {
        return String::new();
    };
    let keys: String = names
        .iter()
        .enumerate()
        .map(|(look, name)| format!("<li>{}{}</li>", marks::key(look), escape::text(name)))
        .collect();
    let legend = match keys.is_empty() {
        true => String::new(),
        false => format!("<ul class=\"legend\">{keys}</ul>"),
    };
    let notes: String = first
        .notes
        .iter()
        .map(|note| format!("<p class=\"note\">{}</p>", escape::text(note)))
        .collect();
    let plots: String = charts.iter().map(|chart| chart.plot(names)).collect();
    format!(
        "<figure><figcaption>{}</figcaption>{legend}{plots}{notes}</figure>\n",
        escape::text(first.title)
    )
}

/// A place in a chart at which values are read out.
#[derive(Debug, Clone)]
pub(super) struct Stop {
    /// Its pixel.
    pub(super) at: f64,
    /// What it is.
    pub(super) head: String,
    /// Its values, each with the look of its curve, whose name is in the legend.
    pub(super) values: Vec<(usize, String)>,
}

/// A chart that is being drawn.
#[derive(Debug)]
pub(super) struct Chart {
    /// What it is drawn for.
    room: Room,
    /// Its heading.
    title: &'static str,
    /// What it shows, for those who cannot see it.
    summary: String,
    /// The lower end of the place for values.
    bottom: f64,
    grid: String,
    drawn: String,
    notes: Vec<String>,
    stops: Vec<Stop>,
}

impl Chart {
    /// A chart of the usual height.
    pub(super) fn new(room: Room, title: &'static str, summary: String) -> Self {
        Self::of_height(room, title, summary, BOTTOM)
    }

    /// A chart whose values end at this pixel.
    pub(super) fn of_height(room: Room, title: &'static str, summary: String, bottom: f64) -> Self {
        Self {
            room,
            title,
            summary,
            bottom,
            grid: String::new(),
            drawn: String::new(),
            notes: Vec::new(),
            stops: Vec::new(),
        }
    }

    /// Adds what stands over the grid.
    pub(super) fn draw(&mut self, svg: &str) {
        self.drawn.push_str(svg);
    }

    /// Adds a line through these points.
    pub(super) fn line(&mut self, look: usize, class: &str, points: &[(f64, f64)]) {
        self.lines(look, class, &[points.to_vec()]);
    }

    /// Adds several lines of one look.
    pub(super) fn lines(&mut self, look: usize, class: &str, lines: &[Vec<(f64, f64)>]) {
        let lines = lines.iter().filter(|points| points.len() > 1);
        let path: String = lines
            .map(|points| marks::path(points.iter().copied()))
            .collect();
        if !path.is_empty() {
            let line = marks::line(look).replace("line ", &format!("line {class} "));
            // Writing to a string cannot fail.
            let _ = write!(self.drawn, "<path {line} d=\"{path}\"/>");
        }
    }

    /// Adds a remark below the chart.
    pub(super) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Adds a place at which values are read out.
    pub(super) fn stop(&mut self, stop: Stop) {
        if !stop.values.is_empty() {
            self.stops.push(stop);
        }
    }

    /// Makes one place of those of several curves that are next to each other.
    pub(super) fn join_stops(&mut self) {
        self.stops.sort_by(|one, other| one.at.total_cmp(&other.at));
        self.stops.dedup_by(|later, kept| {
            let near = later.at - kept.at < NEAR;
            let other = |value: &(usize, String)| later.values.iter().all(|own| own.0 != value.0);
            let join = near && kept.values.iter().all(other);
            if join {
                kept.values.append(&mut later.values);
            }
            join
        });
    }

    /// The horizontal axis: labels at pixels, as many as do not touch, and what they are of.
    pub(super) fn horizontal(&mut self, ticks: &[(String, f64)], of: &str) {
        let mut free = f64::MIN;
        for (label, x) in ticks {
            let half = label.chars().count() as f64 * LETTER / 2.0;
            let at = pixels(*x);
            let _ = write!(
                self.grid,
                "<path class=\"grid\" d=\"M{at} {}V{}\"/>",
                pixels(TOP),
                pixels(self.bottom)
            );
            if x - half < free {
                continue;
            }
            free = x + half + LETTER;
            // A label at the right end would be cut off.
            let width = self.room.width();
            let (anchor, x) = match x + half > width {
                true => ("end", width - 1.0),
                false => ("middle", *x),
            };
            let _ = write!(
                self.grid,
                "<text x=\"{}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
                pixels(x),
                pixels(self.bottom + 16.0),
                escape::text(label)
            );
        }
        let _ = write!(
            self.grid,
            "<text class=\"of\" x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            pixels((self.room.left() + self.room.right()) / 2.0),
            pixels(self.bottom + 36.0),
            escape::text(of)
        );
    }

    /// The vertical axis.
    pub(super) fn vertical(&mut self, ticks: &[(String, f64)], of: &str) {
        for (label, y) in ticks {
            let at = pixels(*y);
            let _ = write!(
                self.grid,
                "<path class=\"grid\" d=\"M{} {at}H{}\"/>\
                 <text x=\"{}\" y=\"{}\" text-anchor=\"end\">{}</text>",
                pixels(self.room.left()),
                pixels(self.room.right()),
                pixels(self.room.left() - 7.0),
                pixels(y + 4.0),
                escape::text(label)
            );
        }
        let middle = pixels((TOP + self.bottom) / 2.0);
        let _ = write!(
            self.grid,
            "<text class=\"of\" x=\"12\" y=\"{middle}\" text-anchor=\"middle\" \
             transform=\"rotate(-90 12 {middle})\">{}</text>",
            escape::text(of)
        );
    }

    /// The picture, with the values that the script reads out.
    fn plot(&self, names: &[String]) -> String {
        let height = self.bottom + BELOW;
        let (tab, values) = match self.stops.is_empty() {
            true => ("", String::new()),
            false => (" tabindex=\"0\"", self.values(names)),
        };
        format!(
            "<div class=\"plot {}\">\
             <svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\"{tab}>\
             <g class=\"axes\">{}</g>{}<path class=\"cursor\" d=\"M0 {}V{}\"/></svg>{values}</div>",
            self.room.class(),
            self.room.width(),
            pixels(height),
            escape::text(&self.summary),
            self.grid,
            self.drawn,
            pixels(TOP),
            pixels(self.bottom),
        )
    }

    /// What the script reads out.
    fn values(&self, names: &[String]) -> String {
        let stops: Vec<serde_json::Value> = self
            .stops
            .iter()
            .map(|stop| {
                let at = (stop.at * 10.0).round() / 10.0;
                json!([at, stop.head, stop.values])
            })
            .collect();
        let json = escape::json(
            &json!({ "width": self.room.width(), "names": names, "stops": stops }).to_string(),
        );
        format!(
            "<output class=\"values\" hidden></output>\
             <script type=\"application/json\" class=\"stops\">{json}</script>"
        )
    }
}
