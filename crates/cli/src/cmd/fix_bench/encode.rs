//! A new order written by a template.

use std::hint::black_box;

use fixcore::workload::Sample;
use fixcore::{Decimal, Isa, Slot, Template};

use super::{Bench, Set};
use crate::cmd::checks::Checks;
use crate::failure::Result;

/// A new order by a template, which has to be the sample.
pub(super) fn rows(bench: &mut Bench<'_>, checks: &mut Checks) -> Result<()> {
    let time = b"20260305-14:15:16.789";
    let price = Decimal {
        mantissa: 41_275,
        scale: 2,
    };
    let mut template = new_order();
    let values = [
        Slot::Unsigned(31_415),
        Slot::Bytes(time),
        Slot::Bytes(b"ORD00000271828"),
        Slot::Bytes(b"MSFT"),
        Slot::Bytes(time),
        Slot::Unsigned(2500),
        Slot::Decimal(price),
    ];
    let order = Sample::NewOrder.bytes();
    checks.that(template.encode(&values).is_ok_and(|bytes| bytes == order));
    let set = Set {
        name: format!("nos {} B", order.len()),
        messages: vec![order],
        column: Some(1),
    };
    bench.row("encode", &set, Isa::detect(), |_| {
        black_box(template.encode(black_box(&values)).is_ok());
    })
}

fn new_order() -> Template {
    Template::builder("FIX.4.4", "D")
        .constant(49, b"ALPHADESK")
        .constant(56, b"MARKET01")
        .slot(34)
        .slot(52)
        .slot(11)
        .constant(1, b"FUND-0071")
        .constant(21, b"1")
        .slot(55)
        .constant(54, b"1")
        .slot(60)
        .slot(38)
        .constant(40, b"2")
        .slot(44)
        .constant(59, b"0")
        .constant(207, b"XNYS")
        .build()
}
