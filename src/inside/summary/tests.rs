//! Tables of both eras as torch prints them, and what stands around them in logs.

use proptest::prelude::*;

use super::*;

const H200: &str = include_str!("../../../tests/explain/summary-h200.txt");
const ERA_2020: &str = include_str!("../../../tests/explain/torch-memory-summary-2020.txt");
const ERA_2024: &str = include_str!("../../../tests/explain/torch-memory-summary-2024.txt");

fn read(log: &str) -> Vec<Summary> {
    let mut reader = Reader::new();
    log.split('\n').for_each(|line| reader.line(line.as_bytes()));
    reader.finish().0
}

fn mib(bytes: Option<Bytes>) -> Option<u64> {
    bytes.map(|bytes| bytes.0 >> 20)
}

#[test]
fn the_h200() {
    let tables = read(H200);
    assert_eq!(tables.len(), 1);
    let table = &tables[0];
    assert_eq!((table.line, table.device, table.ooms, table.retries), (2, Some(0), Some(0), Some(0)));
    let layers = table.layers();
    assert_eq!(mib(layers.tensors), Some(6047));
    assert_eq!(mib(layers.pending), Some(0));
    assert_eq!(mib(layers.stuck), Some(7324));
    assert_eq!(mib(layers.reserved), Some(13372));
    assert_eq!(mib(layers.cached), Some(1), "the cells are cut to whole MiB: 13372 - 6047 - 7324");
    assert_eq!(mib(table.peak(Metric::Allocated)), Some(12032));
    assert_eq!(table.row(Metric::Segments).all.current, Some(Figure { value: 668, unit: 1 }));
    assert_eq!(table.row(Metric::Reserved).small.peak, Some(Figure { value: 2 << 20, unit: 1 << 20 }));
    assert_eq!(table.row(Metric::Reserved).all.allocated, Some(Figure { value: 18686 << 20, unit: 1 << 20 }));
    assert_eq!(table.verdict(), Verdict::Fragmented);
}

#[test]
fn the_first_era_means_mib_by_mb() {
    let table = &read(ERA_2020)[0];
    assert_eq!((table.ooms, table.retries), (Some(1), Some(1)));
    let layers = table.layers();
    assert_eq!(mib(layers.tensors), Some(1062));
    assert_eq!(mib(layers.stuck), Some(11358));
    assert_eq!(mib(layers.reserved), Some(12420));
    assert_eq!(mib(layers.cached), Some(0));
    assert_eq!(layers.pending, None, "the table has no active memory");
    assert_eq!(table.row(Metric::Requested).all, Cells::default());
    assert_eq!(table.verdict(), Verdict::Fragmented);
}

#[test]
fn the_second_era_has_a_unit_a_cell() {
    let table = &read(ERA_2024)[0];
    let layers = table.layers();
    assert_eq!(layers.tensors, Some(Bytes(716_201 << 10)));
    assert_eq!(table.peak(Metric::Allocated), Some(Bytes::mib(27_044)));
    assert_eq!(table.row(Metric::Allocated).all.allocated, Some(Figure { value: 4018 << 30, unit: 1 << 30 }));
    assert_eq!((layers.stuck, layers.cached), (None, None), "the table does not tell them apart");
    assert_eq!(layers.free, Some(Bytes((29_120 << 20) - (716_201 << 10))));
    assert_eq!(table.verdict(), Verdict::FullSelf, "27 044 of 29 120 MiB were live at the peak");
}

#[test]
fn whatever_stands_before_a_line() {
    let plain = read(ERA_2020);
    for prefix in ["    ", "[rank3]: ", "2024-01-01 10:00:00,123 INFO ", "\u{1b}[32mINFO\u{1b}[0m ", "E   "] {
        let log = ERA_2020.lines().flat_map(|line| [prefix, line, "\r\n"]).collect::<String>();
        assert_eq!(read(&log), plain, "{prefix:?}");
    }
    let json = format!("{{\"message\": \"{}\"}}", ERA_2020.replace('\n', "\\n"));
    let packed = read(&json);
    assert_eq!(packed, [Summary { line: 1, ..plain[0].clone() }], "all of it is in the first line");
}

#[test]
fn several_in_one_log_keep_their_lines() {
    let log = format!("start\n{ERA_2020}epoch 2 | loss 3\n{ERA_2024}");
    let tables = read(&log);
    assert_eq!(tables.iter().map(|table| table.line).collect::<Vec<_>>(), [3, ERA_2020.lines().count() as u64 + 4]);
    assert_eq!(mib(tables[1].layers().reserved), Some(29_120));
}

#[test]
fn a_table_that_is_cut_says_what_it_still_has() {
    let cut: String = ERA_2024.lines().take(8).collect::<Vec<_>>().join("\n");
    let table = &read(&cut)[0];
    assert!(table.now(Metric::Allocated).is_some());
    assert_eq!(table.layers().reserved, None);
    assert_eq!(table.verdict(), Verdict::Unknown);
    assert!(read("PyTorch CUDA memory summary, device ID 0\n").is_empty(), "a headline alone is no table");
}

#[test]
fn counts_of_thousands() {
    let table = &read("PyTorch CUDA memory summary, device ID 7\n| Allocations           |    1204 K  |    2 M   |   x   |")[0];
    assert_eq!(table.row(Metric::Allocations).all.current, Some(Figure { value: 1_204_000, unit: 1000 }));
    assert_eq!(table.row(Metric::Allocations).all.peak, Some(Figure { value: 2_000_000, unit: 1_000_000 }));
    assert_eq!(table.row(Metric::Allocations).all.allocated, None);
    assert_eq!(table.device, Some(7));
}

proptest! {
    /// The figures that torch would print for any amounts come back: less than one printed unit below.
    #[test]
    fn what_was_printed_is_read(values in proptest::collection::vec(0_u64..1 << 45, 4), indent in 0_usize..40, old in any::<bool>()) {
        let print = |bytes: u64| {
            let names = if old { ["B", "KB", "MB", "GB", "TB"] } else { ["B", "KiB", "MiB", "GiB", "TiB"] };
            let mut power = 0;
            while power < 4 && bytes >> (10 * power) >= 768 * 1024 { power += 1; }
            (format!("{:>7} {:<3}", bytes >> (10 * power), names[power]), 1_u64 << (10 * power))
        };
        let cells: Vec<_> = values.iter().map(|value| print(*value)).collect();
        let row = cells.iter().flat_map(|(text, _)| ["| ", text, " "]).collect::<String>();
        let pad = " ".repeat(indent);
        let log = format!("{pad}| PyTorch CUDA memory summary, device ID 1 |\n{pad}| Allocated memory      {row}|\n");
        let tables = read(&log);
        let all = tables[0].row(Metric::Allocated).all;
        for ((value, (_, unit)), figure) in values.iter().zip(&cells).zip([all.current, all.peak, all.allocated, all.freed]) {
            let figure = figure.expect("a figure");
            prop_assert_eq!(figure.unit, *unit);
            prop_assert!(figure.value <= *value && value - figure.value < *unit);
        }
    }

    #[test]
    fn any_change_of_the_text_is_borne(at in 0_usize..4000, with in proptest::collection::vec(any::<u8>(), 0..12), cut in 0_usize..12) {
        let mut bytes = H200.as_bytes().to_vec();
        let at = at.min(bytes.len());
        let end = (at + cut).min(bytes.len());
        bytes.splice(at..end, with);
        let mut reader = Reader::new();
        bytes.split(|byte| *byte == b'\n').for_each(|line| reader.line(line));
        for table in reader.finish().0 {
            let _ = (table.layers(), table.verdict());
        }
    }
}
