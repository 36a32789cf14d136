//! Tests of `.hgrm`.

use proptest::prelude::*;

use super::*;

fn histogram(values: impl IntoIterator<Item = u64>) -> Histogram<u64> {
    let mut histogram = Histogram::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
    values
        .into_iter()
        .for_each(|ns| histogram.record(ns).unwrap());
    histogram
}

fn written(h: &Histogram<u64>, unit: HgrmUnit) -> String {
    let mut bytes = Vec::new();
    write(&mut bytes, h, unit).unwrap();
    String::from_utf8(bytes).unwrap()
}

#[test]
fn golden() {
    let text = written(&histogram((1..=1_000).map(|i| i * 1_000)), HgrmUnit::Us);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "       Value     Percentile TotalCount 1/(1-Percentile)"
    );
    assert_eq!(lines[1], "");
    assert_eq!(
        lines[2],
        "       1.000 0.000000000000          1           1.00"
    );
    assert_eq!(
        lines[3],
        "     100.031 0.100000000000        100           1.11"
    );
    assert_eq!(
        lines[7],
        "     500.223 0.500000000000        500           2.00"
    );
    assert_eq!(
        lines[8],
        "     550.399 0.550000000000        550           2.22"
    );
    assert_eq!(
        lines[2 + 120],
        "    1000.447 1.000000000000       1000            inf"
    );
    assert_eq!(
        lines[123],
        "#[Mean    =      500.505, StdDeviation   =      288.676]"
    );
    assert_eq!(
        lines[124],
        "#[Max     =     1000.447, Total count    =         1000]"
    );
    assert_eq!(
        lines[125],
        "#[Buckets =           32, SubBuckets     =         2048]"
    );
    assert_eq!(lines.len(), 126);
}

#[test]
fn every_row_has_four_fields_and_every_file_the_same_ladder() {
    let samples = [
        histogram([]),
        histogram([0]),
        histogram([7; 3]),
        histogram(0..5_000),
    ];
    let ladders: Vec<Vec<String>> = samples
        .iter()
        .map(|h| {
            let text = written(h, HgrmUnit::Ns);
            let rows = text.lines().skip(2).filter(|line| !line.starts_with('#'));
            rows.map(|row| {
                let fields: Vec<&str> = row.split_whitespace().collect();
                assert_eq!(fields.len(), 4, "{row}");
                fields[1].to_owned()
            })
            .collect()
        })
        .collect();
    assert_eq!(ladders[0].len(), 121);
    assert!(ladders.iter().all(|ladder| *ladder == ladders[0]));
}

#[test]
fn what_other_tools_write_is_read() {
    let text = "       Value     Percentile TotalCount 1/(1-Percentile)\r\n\r\n\
                0.022 0.000000000000          1           1.00\r\n\
                0.500 0.500000000000          3           2.00\r\n\
                1.500 1.000000000000          4\r\n\
                #[Mean    =        0.500, StdDeviation   =        0.100]\r\n\
                #[Max     =        1.500, Total count    =            4]\r\n\
                #[Buckets =           22, SubBuckets     =         2048]\r\n";
    let hgrm = read(text, HgrmUnit::Ms).unwrap();
    assert_eq!((hgrm.rows.len(), hgrm.total_count), (3, 4));
    assert_eq!(
        (hgrm.mean_ns, hgrm.max_ns),
        (Some(500_000.0), Some(1_500_000.0))
    );
    assert_eq!((hgrm.buckets, hgrm.sub_buckets), (Some(22), Some(2048)));
    let histogram = hgrm.histogram();
    assert_eq!(histogram.len(), 4);
    assert!(histogram.equivalent(histogram.value_at_quantile(0.5), 500_000));
}

#[test]
fn broken_files_name_the_line() {
    let error = read("hello\n", HgrmUnit::Us).unwrap_err();
    assert_eq!(error.kind(), ReadErrorKind::Foreign);
    assert!(read("", HgrmUnit::Us).is_err());
    let head = "Value Percentile TotalCount 1/(1-Percentile)\n\n";
    for (rows, line) in [
        ("1 0.1\n", 3),
        ("1 0.1 1 1 1\n", 3),
        ("1 0.1 1 1\nnan 0.2 2 1\n", 4),
        ("1e300 0.1 1 1\n", 3),
        ("1 1.1 1 1\n", 3),
        ("1 0.1 -1 1\n", 3),
        ("5 0.1 1 1\n4 0.2 2 1\n", 4),
    ] {
        let error = read(&format!("{head}{rows}"), HgrmUnit::Us).unwrap_err();
        assert_eq!(error.place(), Place::Line { line, column: 0 }, "{rows}");
    }
    assert!(
        read(
            &format!("{head}1 0.1 5 1\n#[Max = 1, Total count = 4]\n"),
            HgrmUnit::Us
        )
        .is_err()
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn round_trips(values in prop::collection::vec(0u64..1_000_000_000, 1..500)) {
        let h = histogram(values);
        let hgrm = read(&written(&h, HgrmUnit::Ns), HgrmUnit::Ns).unwrap();
        prop_assert_eq!(hgrm.total_count, h.len());
        prop_assert_eq!(hgrm.max_ns, Some(h.max() as f64));
        let again = hgrm.histogram();
        prop_assert_eq!(again.len(), h.len());
        let ranks: Vec<u64> = ladder().map(|step| step.rank(h.len())).collect();
        let (old, new) = (values_at_ranks(&h, &ranks), values_at_ranks(&again, &ranks));
        prop_assert!(old.iter().zip(&new).all(|(old, new)| h.equivalent(*old, *new)));
    }

    #[test]
    fn hostile_text_never_panics(text: String, rows: Vec<(f64, f64, u64)>) {
        let _ = read(&text, HgrmUnit::Ms);
        let mut table = HEADER.to_owned();
        for (value, quantile, total) in rows {
            table.push_str(&format!("\n{value} {quantile} {total} inf"));
        }
        if let Ok(hgrm) = read(&format!("{table}\n{text}"), HgrmUnit::Ms) {
            let _ = hgrm.histogram().mean();
        }
    }
}
