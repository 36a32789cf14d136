//! Files as hyperfine writes them.

use super::super::Program;
use super::super::sample::sample;
use super::*;

fn samples() -> Vec<Sample> {
    vec![
        sample("sleep 1 | cat", &[1e9, 1.2e9]),
        sample("a, \"b\"", &[2e9, 2e9]),
    ]
}

#[test]
fn json_has_seconds_and_every_run() {
    let text = Export::Json.content(&samples(), None, Sorted::ByCommand, None);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let first = &value["results"][0];
    assert_eq!(first["command"], "sleep 1 | cat");
    assert_eq!(first["times"], serde_json::json!([1.0, 1.2]));
    assert_eq!(first["exit_codes"], serde_json::json!([0, 0]));
    assert_eq!((&first["mean"], &first["max"]), (&1.1.into(), &1.2.into()));
    assert!(first.get("parameters").is_none());
    let keys: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix('"')?.split_once("\":"))
        .map(|(key, _)| key)
        .collect();
    assert_eq!(
        keys[..12],
        [
            "results",
            "command",
            "mean",
            "stddev",
            "median",
            "user",
            "system",
            "min",
            "max",
            "times",
            "memory_usage_byte",
            "exit_codes"
        ]
    );
    let run = serde_json::json!({"argv": ["perfkit"]});
    let with: serde_json::Value =
        serde_json::from_str(&Export::json_of(&samples(), run.clone())).unwrap();
    assert_eq!(
        (&with["results"], &with["perfkit"]),
        (&value["results"], &run)
    );
    let one = Export::Json.content(&[sample("a", &[1.0])], None, Sorted::ByCommand, None);
    assert!(one.contains("\"stddev\": null"), "{one}");
    let marked = |cut_short| {
        let sample = Sample {
            cut_short,
            ..sample("a", &[1.0])
        };
        let text = Export::Json.content(&[sample], None, Sorted::ByCommand, None);
        text.contains("\"cut_short\": true")
    };
    assert!(marked(true) && !marked(false) && !one.contains("cut_short"));
    let none = Export::Json.content(&[], None, Sorted::ByCommand, None);
    assert_eq!(none, "{\n  \"results\": []\n}\n");
}

#[test]
fn csv_quotes_what_needs_it() {
    let mut samples = samples();
    let with = |program: &Program, value: &str| {
        let parameters = vec![("n".to_owned(), value.to_owned())];
        program.clone().parameters(parameters)
    };
    samples[0].program = with(&samples[0].program, "");
    samples[1].program = with(&samples[1].program, "1,5");
    let text = Export::Csv.content(&samples, None, Sorted::ByCommand, None);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "command,mean,stddev,median,user,system,min,max,parameter_n"
    );
    assert_eq!(
        lines[1],
        "sleep 1 | cat,1.100000,0.141421,1.100000,0.000000,0.000000,1.000000,1.200000,"
    );
    assert_eq!(
        lines[2],
        "\"a, \"\"b\"\"\",2.000000,0.000000,2.000000,0.000000,0.000000,2.000000,2.000000,\"1,5\""
    );
}

#[test]
fn tables_are_those_of_the_three_languages() {
    let table = |export: Export| export.content(&samples(), None, Sorted::ByCommand, None);
    assert_eq!(
        table(Export::Markdown),
        "| Command | Mean [s] | Min [s] | Max [s] | Relative |\n\
         |:---|---:|---:|---:|---:|\n\
         | `sleep 1 \\| cat` | 1.100 ± 0.141 | 1.000 | 1.200 | 1.00 |\n\
         | `a, \"b\"` | 2.000 ± 0.000 | 2.000 | 2.000 | 1.82 ± 0.23 |\n"
    );
    let org = table(Export::Orgmode);
    assert!(org.contains("|--+--+--+--+--|\n"), "{org}");
    assert!(
        org.contains("| =a, \"b\"=  |  2.000 ± 0.000 |  2.000 |"),
        "{org}"
    );
    let ascii = table(Export::Asciidoc);
    assert!(
        ascii.starts_with("[cols=\"<,>,>,>,>\"]\n|===\n| Command \n| Mean [s] \n"),
        "{ascii}"
    );
    assert!(ascii.ends_with("|===\n"), "{ascii}");
}

#[test]
fn tables_say_what_they_compare_with() {
    let table = |sorted, reference| {
        let unit = Some(TimeUnit::Millisecond);
        Export::Markdown.content(&samples(), unit, sorted, reference)
    };
    let chosen = table(Sorted::ByMean, Some(1));
    assert!(chosen.contains("1.82 ± 0.23 (faster) |"), "{chosen}");
    assert!(chosen.contains("| 1.00 (reference) |"), "{chosen}");
    assert!(chosen.contains("| 2000.0 ± 0.0 |"), "{chosen}");
    assert_eq!(table(Sorted::ByCommand, Some(2)).matches("N/A").count(), 2);
    let marked = [sample("a ``b`", &[1e3])];
    let marked = Export::Markdown.content(&marked, None, Sorted::ByCommand, None);
    assert!(marked.contains("| ``` a ``b` ``` | 1.0 |"), "{marked}");
    assert!(marked.contains("Mean [µs]"), "{marked}");
}
