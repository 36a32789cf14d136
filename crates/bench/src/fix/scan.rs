//! Scans: separators alone, and the index with tags and sum; what every instruction set has to find.

use std::hint::black_box;

use fixcore::{Decoder, Index, Isa, Scanner, Separators};

use crate::fix::batches::{Bench, Set, failed};
use crate::{Checks, Error};

/// Every instruction set has to find what the scalar path finds.
pub(crate) fn check(set: &Set, checks: &mut Checks) -> Result<(), Error> {
    let of = |isa| Scanner::with_isa(isa).zip(Decoder::with_isa(isa));
    let Some((plain, mut right)) = of(Isa::Scalar) else {
        return Ok(());
    };
    let (mut wanted, mut found) = (Separators::new(), Separators::new());
    for (scanner, mut decoder) in Isa::ALL.into_iter().filter_map(of) {
        for bytes in &set.messages {
            plain.separators(bytes, &mut wanted).map_err(failed)?;
            scanner.separators(bytes, &mut found).map_err(failed)?;
            checks.that(found.equals() == wanted.equals() && found.sum() == wanted.sum());
            scanner.positions(bytes, &mut found).map_err(failed)?;
            checks.that(found.soh() == wanted.soh());
            checks.that(match (right.parse(bytes), decoder.parse(bytes)) {
                (Ok(right), Ok(message)) => right.fields().eq(message.fields()),
                (right, message) => right.err() == message.err(),
            });
        }
    }
    Ok(())
}

/// The rows of a set by an instruction set.
pub(crate) fn rows(bench: &mut Bench<'_>, set: &Set, isa: Isa) -> Result<(), Error> {
    let Some(scanner) = Scanner::with_isa(isa) else {
        return Ok(());
    };
    let (mut separators, mut index) = (Separators::new(), Index::new());
    bench.row("scan", set, isa, &set.messages, |bytes| {
        let _ = scanner.positions(black_box(bytes), &mut separators);
        black_box(separators.soh());
    })?;
    bench.row("index", set, isa, &set.messages, |bytes| {
        let _ = scanner.index(black_box(bytes), &mut index);
        black_box(index.tags());
    })
}
