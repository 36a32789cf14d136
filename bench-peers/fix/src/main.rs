//! fixcore and fefix, each in the program that `cargo xtask peers fix` runs in turns.
//!
//! ```text
//! fix-peer sets DIRECTORY COUNT             the four messages, and COUNT candidates in no order
//! fix-peer LIBRARY accept FILE              a digit a message: whether the library takes it
//! fix-peer LIBRARY turn DIRECTORY MILLISECONDS
//!                                           a line of JSON: nanoseconds and answers
//! fix-peer shapes DRAWS ROUNDS ISAS [QUICKFIX DICTIONARY]
//!                                           shapes of messages in one run, as JSON: by the `fastest`
//!                                           instruction set, `each` or some, with QuickFIX's program and its dictionary
//! ```
//!
//! What is timed has a file a library; QuickFIX is in `bench-peers/quickfix`. This package also brings
//! the dictionaries that `cargo xtask codegen` compacts.

#![forbid(unsafe_code)]

mod ours;
mod rival;
mod rows;
mod sets;
mod shapes;

use std::error::Error;
use std::path::Path;

use bench::fix::shapes::Plan;
use fixcore::workload::Sample;
use fixcore::{Decoder, Isa};
use rows::Rows;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The fields that a parse with look-ups asks for: none of them stands in a group.
const LOOKUPS: [u32; 8] = [35, 49, 56, 34, 52, 11, 54, 38];

/// The fields of the new order behind its type, as every library writes them.
fn order() -> Result<Vec<(u32, String)>> {
    let bytes = Sample::NewOrder.bytes();
    let mut decoder = Decoder::new();
    let message = decoder.parse(&bytes)?;
    let fields = message.fields().map(|field| {
        let value = String::from_utf8_lossy(field.value).into_owned();
        (field.tag, value)
    });
    Ok(fields
        .filter(|field| ![8, 9, 35, 10].contains(&field.0))
        .collect())
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match *words.as_slice() {
        ["sets", directory, count] => sets::write(Path::new(directory), count.parse()?),
        [library, "accept", file] => {
            let set = sets::read(Path::new(file))?;
            println!("{}", accepted(library, &set)?);
            Ok(())
        }
        [library, "turn", directory, milliseconds] => {
            let mut rows = Rows::new(milliseconds.parse()?);
            turn(library, Path::new(directory), &mut rows)?;
            println!("{}", rows.json());
            Ok(())
        }
        ["shapes", draws, rounds, isas, ref quickfix @ ..] => {
            let mut plan = Plan::default();
            plan.draws = draws.parse()?;
            plan.rounds = rounds.parse()?;
            plan.isas = match isas {
                "fastest" => vec![Isa::detect()],
                "each" => Isa::ALL
                    .into_iter()
                    .filter(|isa| isa.is_available())
                    .collect(),
                names => names
                    .split(',')
                    .map(str::parse)
                    .collect::<std::result::Result<_, _>>()?,
            };
            let quickfix = match *quickfix {
                [program, dictionary] => Some(shapes::Quickfix {
                    program: program.into(),
                    dictionary: dictionary.into(),
                }),
                [] => None,
                _ => return Err("a program and a dictionary, or neither".into()),
            };
            println!("{}", shapes::run(&plan, quickfix)?);
            Ok(())
        }
        _ => Err("sets, shapes, or a library and accept or turn".into()),
    }
}

fn accepted(library: &str, set: &[Vec<u8>]) -> Result<String> {
    let digit = |taken: bool| if taken { '1' } else { '0' };
    Ok(match library {
        "fixcore" => {
            let mut ours = ours::Ours::new()?;
            set.iter()
                .map(|bytes| digit(ours.validate(bytes)))
                .collect()
        }
        "fefix" => {
            // It panics at data that hold a separator.
            std::panic::set_hook(Box::new(|_| {}));
            set.iter()
                .map(|bytes| digit(rival::accepts(bytes)))
                .collect()
        }
        _ => return Err(unknown(library)),
    })
}

fn turn(library: &str, directory: &Path, rows: &mut Rows) -> Result<()> {
    for name in sets::NAMES {
        let set = sets::read(&directory.join(name))?;
        match library {
            "fixcore" => ours::set(name, &set, rows)?,
            "fefix" => rival::set(name, &set, rows),
            _ => return Err(unknown(library)),
        }
    }
    match library {
        "fixcore" => ours::encode(rows)?,
        _ => rival::encode(rows)?,
    }
    Ok(())
}

fn unknown(library: &str) -> Box<dyn Error> {
    format!("no library is called '{library}': fixcore or fefix").into()
}
