//! How much room there is: the width of lines, the rows of tables, and which columns fit.

use std::cmp::Reverse;

/// The room that a text has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// Columns of a line. `None`: as many as it needs.
    pub width: Option<usize>,
    /// Rows of a table. `None`: all of them.
    pub rows: Option<usize>,
    /// Columns of the one line that a job ends with. `None`: as many as it needs.
    pub line: Option<usize>,
    /// Whether columns that do not fit follow below the others, instead of being left out.
    pub folds: bool,
}

impl Page {
    /// No limit.
    pub const ENDLESS: Self = Self {
        width: None,
        rows: None,
        line: None,
        folds: false,
    };

    /// Columns of a line.
    pub(super) fn columns(&self) -> usize {
        self.width.unwrap_or(usize::MAX)
    }

    /// Columns of the one line that a job ends with.
    pub(super) fn line_columns(&self) -> usize {
        self.line.unwrap_or(usize::MAX)
    }
}

/// Blanks before the cells of a row.
pub(super) const MARGIN: usize = 2;
/// Blanks between two cells.
pub(super) const GAP: usize = 2;
/// A text is broken over several lines before another column is left out for it, but not below this …
const TEXT_WIDTH_MIN: usize = 24;
/// … or this part of the room, where there is little.
const TEXT_SHARE: usize = 3;

fn text_width_min(room: usize) -> usize {
    TEXT_WIDTH_MIN.min(room / TEXT_SHARE).max(1)
}

/// The columns that are shown, with their widths.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fitted {
    pub(super) shown: Vec<usize>,
    pub(super) widths: Vec<usize>,
}

/// Leaves out what is worth least (of equals, the last) until the rest fits. The first column stays.
pub(super) fn fit(wanted: &[usize], worth: &[u8], room: usize) -> Fitted {
    let text = text_width_min(room);
    let least = |column: &usize| wanted[*column].min(text);
    let taken = |shown: &[usize]| {
        let cells: usize = shown.iter().map(least).sum();
        MARGIN + cells + GAP * shown.len().saturating_sub(1)
    };
    let mut shown: Vec<usize> = (0..wanted.len()).collect();
    while shown.len() > 1 && taken(&shown) > room {
        let weakest = shown.iter().skip(1).copied();
        let weakest = weakest.min_by_key(|column| (worth[*column], Reverse(*column)));
        shown.retain(|column| Some(*column) != weakest);
    }
    let mut spare = room.saturating_sub(taken(&shown));
    let mut widths: Vec<usize> = shown.iter().map(least).collect();
    // The shortest texts become whole first.
    let mut order: Vec<usize> = (0..shown.len()).collect();
    order.sort_by_key(|at| wanted[shown[*at]]);
    for at in order {
        let more = (wanted[shown[at]] - widths[at]).min(spare);
        widths[at] += more;
        spare -= more;
    }
    Fitted { shown, widths }
}

/// The columns in parts that each fit, all of them after the first `keys`, which every part begins with.
pub(super) fn fold(wanted: &[usize], keys: usize, room: usize) -> Vec<Fitted> {
    let keys = keys.clamp(1, wanted.len().max(1)).min(wanted.len());
    let text = text_width_min(room);
    let mut parts: Vec<Vec<usize>> = Vec::new();
    let width = |part: &[usize]| -> usize {
        let cells: usize = part.iter().map(|c| wanted[*c].min(text)).sum();
        MARGIN + cells + GAP * part.len().saturating_sub(1)
    };
    let heads: Vec<usize> = (0..keys).collect();
    // Names that fill the line stand alone, but for the first of them.
    let heads = match width(&heads) + GAP + text > room {
        true => heads[..1.min(keys)].to_vec(),
        false => heads,
    };
    for (column, own) in wanted.iter().enumerate().skip(heads.len()) {
        match parts.last_mut() {
            Some(part) if width(part) + GAP + (*own).min(text) <= room => {
                part.push(column);
            }
            _ => parts.push(heads.iter().copied().chain([column]).collect()),
        }
    }
    if parts.is_empty() {
        parts.push(heads);
    }
    let fitted = parts.iter().map(|part| {
        let own: Vec<usize> = part.iter().map(|column| wanted[*column]).collect();
        let worth = vec![0; own.len()];
        let Fitted { shown, widths } = fit(&own, &worth, room);
        let shown = shown.iter().map(|at| part[*at]).collect();
        Fitted { shown, widths }
    });
    fitted.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_stays_and_what_is_worth_least_goes_first() {
        let wanted = [10, 10, 10, 10];
        let all = fit(&wanted, &[9, 1, 2, 1], 48);
        assert_eq!((all.shown, all.widths), (vec![0, 1, 2, 3], vec![10; 4]));
        // Of equals the last.
        assert_eq!(fit(&wanted, &[9, 1, 2, 1], 47).shown, [0, 1, 2]);
        assert_eq!(fit(&wanted, &[9, 1, 2, 1], 30).shown, [0, 2]);
        // The first stays whatever it is worth, and however little room there is.
        assert_eq!(fit(&wanted, &[0, 1, 2, 1], 1).shown, [0]);
        assert_eq!(fit(&[], &[], 80).shown, [0; 0]);
    }

    #[test]
    fn long_texts_are_broken_before_columns_go_and_get_what_is_left() {
        let fitted = fit(&[70, 10, 10], &[9, 1, 1], 80);
        assert_eq!(
            (fitted.shown, fitted.widths),
            (vec![0, 1, 2], vec![54, 10, 10])
        );
        let fitted = fit(&[70, 60, 10], &[9, 9, 1], 80);
        let total: usize = fitted.widths.iter().sum();
        assert_eq!((fitted.shown.len(), total), (3, 80 - MARGIN - 2 * GAP));
    }

    #[test]
    fn folding_shows_every_column_in_lines_that_fit() {
        let wanted: Vec<usize> = (0..19).map(|column| 4 + column % 11).collect();
        let parts = fold(&wanted, 2, 80);
        let mut seen: Vec<usize> = parts.iter().flat_map(|part| part.shown.clone()).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, (0..19).collect::<Vec<_>>());
        for part in &parts {
            let total: usize = part.widths.iter().sum::<usize>() + GAP * (part.widths.len() - 1);
            assert!(
                part.shown.starts_with(&[0, 1]) && total + MARGIN <= 80,
                "{part:?}"
            );
        }
        assert_eq!(fold(&[200], 1, 80)[0].widths, [78]);
        assert_eq!(fold(&[], 0, 80)[0].shown, [0; 0]);
    }
}
