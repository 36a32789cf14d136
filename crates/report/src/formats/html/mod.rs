//! The report as one HTML page with pictures, which needs no network and no other file.
//!
//! `page` puts the page together. `curves` are the distributions that are drawn, in groups of a few; `spectrum`,
//! `bars`, `timeline` and `forest` draw them. `scales` has the axes, `frame` what surrounds every chart, `thin` leaves
//! out points that could not be seen. `tables` has everything that is text, and `style` how all of it looks. The
//! pictures are complete without the script, which only shows values under the pointer.

mod bars;
mod curves;
pub(super) mod escape;
mod forest;
mod frame;
mod marks;
mod page;
mod scales;
mod spectrum;
mod style;
mod tables;
mod thin;
mod timeline;

pub use page::write;

#[cfg(test)]
mod tests;
