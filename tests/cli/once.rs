//! `--once`: the figures, which GPUs, and the width.

use serde_json::{Value, json};

use crate::{Machine, objects, printed, read, said};

const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;

/// 143 771 MiB, of which the driver keeps 644 939 776 bytes.
const TOTAL: u64 = 143_771 * MIB;
const RESERVED: u64 = 644_939_776;

/// GPU 0: 40 and 24 GiB of two processes and 540 MiB of nobody: 64.53 GiB, 46.2 % of 139.8. GPU 1: 24 GiB and 540 MiB: 24.53 GiB, 17.5 %.
const TWO_LINES: [&str; 2] = [
    "0 NVIDIA H200  64.5/140.4 GiB   46%  free  75.3  util 40%  41°C 250/700W  ?(5000010) 40.0G  ?(5000020) 24.0G  unattributed 0.5G\n",
    "1 NVIDIA H200  24.5/140.4 GiB   18%  free 115.3  util 35%  30°C 310/700W  ?(5000020) 24.0G  unattributed 0.5G\n",
];

fn two() -> Machine {
    Machine::named("two-h200-jobs")
}

#[test]
fn the_line_has_the_figures_of_the_scenario() {
    assert_eq!(printed(&mut two().vramtop(&["--once"])), TWO_LINES.concat());
}

#[test]
fn json_has_the_figures_of_the_scenario() {
    let text = printed(&mut two().vramtop(&["--once", "--format", "json"]));
    let [sample] = objects(&text).try_into().expect("one object");
    assert_eq!(
        (&sample["type"], &sample["schema"], &sample["driver"], &sample["cuda"]),
        (&json!("sample"), &json!(1), &json!("580.82.07"), &json!("13.0"))
    );
    assert_eq!(sample["faults"], json!([]));
    let none = 540 * MIB;
    let gpus = [
        (64 * GIB, json!({"gpu": 40, "bus": 0, "encoder": 0, "decoder": 0}), 41, 250.0, "00000000:00:06.0"),
        (24 * GIB, json!({"gpu": 35, "bus": 0, "encoder": 0, "decoder": 0}), 30, 310.0, "00000000:01:06.0"),
    ];
    assert_eq!(sample["gpus"].as_array().map(Vec::len), Some(2));
    for (index, (processes, utilization, degrees, watts, pci)) in gpus.into_iter().enumerate() {
        let gpu = &sample["gpus"][index];
        let used = processes + none;
        for (path, value) in [
            ("/index", json!(index)),
            ("/uuid", json!(format!("GPU-00000000-0000-0000-0000-{:012}", index + 1))),
            ("/pci", json!(pci)),
            ("/name", json!("NVIDIA H200")),
            ("/parent", Value::Null),
            ("/memory/total", json!(TOTAL)),
            ("/memory/used", json!(used)),
            ("/memory/free", json!(TOTAL - RESERVED - used)),
            ("/memory/driver", json!(RESERVED)),
            ("/memory/host", json!(0)),
            ("/memory/processes", json!(processes)),
            ("/memory/unattributed", json!(none)),
            ("/memory/overlap", json!(0)),
            ("/utilization", utilization),
            ("/temperature_c", json!(degrees)),
            ("/fan_percent", Value::Null),
            ("/absent/fan_percent", json!("not supported")),
            ("/power_w", json!(watts)),
            ("/power_limit_w", json!(700.0)),
            ("/clocks", json!({"sm_mhz": 345, "memory_mhz": 3201})),
            ("/pstate", json!(0)),
            ("/throttle", json!([])),
        ] {
            assert_eq!(gpu.pointer(path), Some(&value), "GPU {index} {path}");
        }
    }
    let processes = sample["processes"].as_array().expect("a list").iter();
    let processes: Vec<_> = processes.map(|row| (row["gpu"].clone(), row["pid"].clone(), row["memory"].clone(), row["type"].clone())).collect();
    let row = |gpu: u32, pid: u32, gib: u64| (json!(gpu), json!(pid), json!(gib * GIB), json!("C"));
    assert_eq!(processes, [row(0, 5_000_010, 40), row(0, 5_000_020, 24), row(1, 5_000_020, 24)]);
}

#[test]
fn a_sum_with_an_unknown_share_is_unknown_and_says_why() {
    let machine = Machine::of("[[gpu]]\nunattributed = \"3GiB\"\nprocess = [{ pid = 5000001, memory = \"unavailable\" }]\n");
    let text = printed(&mut machine.vramtop(&["--once", "--format", "json"]));
    let [sample] = objects(&text).try_into().expect("one object");
    let gpu = &sample["gpus"][0];
    for term in ["processes", "unattributed", "overlap"] {
        assert_eq!(gpu["memory"][term], Value::Null, "{term}");
        assert_eq!(gpu["absent"][format!("memory.{term}")], sample["processes"][0]["absent"]["memory"], "{term}");
    }
    assert_eq!(gpu["memory"]["used"], json!(3 * GIB));
}

#[test]
fn a_gpu_is_chosen_by_index_uuid_or_pci_id() {
    let machine = two();
    // Alone, the columns are as wide as this line needs: the others' widths are its own here.
    for id in ["1", "GPU-00000000-0000-0000-0000-000000000002", "00000000:01:06.0", "0000:01:06.0", "01:06.0"] {
        assert_eq!(printed(&mut machine.vramtop(&["--once", "-i", id])), TWO_LINES[1], "{id}");
    }
    for ids in ["0,1", "1,0", " 1 , 0 "] {
        assert_eq!(printed(&mut machine.vramtop(&["--once", "-i", ids])), TWO_LINES.concat(), "{ids}");
    }
}

#[test]
fn visible_means_the_gpus_of_cuda_visible_devices() {
    let machine = two();
    for (value, expected) in
        [("1", TWO_LINES[1]), ("GPU-00000000-0000-0000-0000-000000000002", TWO_LINES[1]), ("0,1", &TWO_LINES.concat()), ("1,-1,0", TWO_LINES[1])]
    {
        let text = printed(machine.vramtop(&["--once", "--visible"]).env("CUDA_VISIBLE_DEVICES", value));
        assert_eq!(text, expected, "{value}");
    }
    assert_eq!(printed(&mut machine.vramtop(&["--once", "--visible"])), TWO_LINES.concat(), "not set");
}

#[test]
fn visible_with_indices_on_mixed_cards_needs_the_order_of_the_bus() {
    let machine = Machine::of("[[gpu]]\nname = \"NVIDIA H200\"\n[[gpu]]\nname = \"NVIDIA A100\"\n");
    let visible = |order: Option<&str>| {
        let mut command = machine.vramtop(&["--once", "--visible"]);
        command.env("CUDA_VISIBLE_DEVICES", "1").envs(order.map(|order| ("CUDA_DEVICE_ORDER", order)));
        said(&mut command)
    };
    let refused = visible(None);
    assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""));
    assert!(refused.err.contains("CUDA_DEVICE_ORDER=PCI_BUS_ID"), "{}", refused.err);
    let understood = visible(Some("PCI_BUS_ID"));
    assert!(understood.out.starts_with("1 NVIDIA A100"), "{}", understood.out);
}

#[test]
fn other_processes_than_those_asked_for_are_counted() {
    let text = printed(&mut two().vramtop(&["--once", "-p", "5000010"]));
    let [first, second] = text.lines().collect::<Vec<_>>().try_into().expect("two lines");
    assert!(
        first.contains("64.5/140.4 GiB") && first.contains("?(5000010) 40.0G") && !first.contains("5000020") && first.contains("24.0G"),
        "{first}"
    );
    assert!(second.contains("24.5/140.4 GiB") && !second.contains("5000020"), "{second}");
}

#[test]
fn columns_is_honoured_and_cuts_after_a_whole_part() {
    let machine = two();
    for columns in [130, 120, 100, 80, 60, 40] {
        let text = printed(machine.vramtop(&["--once"]).env("COLUMNS", columns.to_string()));
        assert!(text.lines().all(|line| line.chars().count() <= columns), "{columns}: {text}");
    }
    let first = |machine: &Machine, columns: &str| {
        let text = printed(machine.vramtop(&["--once"]).env("COLUMNS", columns));
        text.lines().next().map(str::to_owned)
    };
    // Power and temperature make way for the largest holder's name; the rest for nothing but how many there are.
    let lines = [
        ("100", "0 NVIDIA H200  64.5/140.4 GiB   46%  free  75.3  util 40%  41°C  ?(5000010) 40.0G  … +2 24.5G"),
        ("90", "0 NVIDIA H200  64.5/140.4 GiB   46%  free  75.3  util 40%  ?(5000010) 40.0G  … +2 24.5G"),
        ("80", "0 NVIDIA H200  64.5/140.4 GiB   46%  free  75.3  util 40%  41°C  … +3 64.5G"),
        ("60", "0 NVIDIA H200  64.5/140.4 GiB   46%  free  75.3  … +3 64.5G"),
        ("50", "0  64.5/140.4 GiB  free  75.3  … +3 64.5G"),
        ("40", "0  64.5/140.4 GiB  free  75.3  …"),
    ];
    for (columns, line) in lines {
        assert_eq!(first(&machine, columns).as_deref(), Some(line), "{columns}");
    }
    // Why the holders are unknown is not dropped either.
    let silent = Machine::of("[[gpu]]\n[[fault]]\ncall = [\"compute\", \"graphics\", \"mps\"]\nerror = \"Unknown\"\n");
    let line = first(&silent, "80").expect("a line");
    assert!(line.contains("holders: "), "{line}");
}

#[test]
fn ascii_where_the_locale_has_nothing_else() {
    let machine = Machine::of("[[gpu]]\nname = \"NVIDIA H200 – Größe\"\npower_w = \"NotSupported\"\n");
    let text = printed(machine.vramtop(&["--once"]).env("LC_ALL", "C"));
    assert!(text.is_ascii() && text.contains(" 30C "), "{text}");
    assert!(!printed(&mut machine.vramtop(&["--once"])).is_ascii(), "as it is");
    assert!(printed(&mut machine.vramtop(&["--once", "--ascii"])).is_ascii(), "--ascii");
}

#[test]
fn output_goes_to_the_file_and_nothing_to_stdout() {
    let machine = two();
    let file = machine.path("lines.txt");
    for option in ["-o", "-f", "--output"] {
        assert_eq!(printed(machine.vramtop(&["--once", option]).arg(&file)), "");
        assert_eq!(read(&file), TWO_LINES.concat(), "{option}");
    }
}

#[test]
fn without_a_terminal_the_dashboard_prints_the_lines_once_and_says_so() {
    let said = said(&mut two().vramtop(&[]));
    assert_eq!((said.code, said.out), (Some(0), TWO_LINES.concat()));
    assert!(said.err.starts_with("vramtop: stdout is no terminal") && said.err.contains("vramtop -l 1"), "{}", said.err);
}

/// Names come from the driver and command lines from other users.
#[test]
fn no_escape_sequence_reaches_stdout() {
    let mut other = std::process::Command::new("sh")
        .args(["-c", "read -r line", "\x1b]0;evil\x07\u{202e}"])
        .stdin(std::process::Stdio::piped())
        .spawn()
        .expect("sh");
    let toml = "[[gpu]]\ngarbage = { name_bytes = [0x4e, 0x56, 0x1b, 0x5b, 0x33, 0x31, 0x6d, 0x9b, 0x07] }\nprocess = [{ pid = \"env:OTHER\", memory = \"1GiB\" }]\n";
    let machine = Machine::of(toml);
    for args in [["--once", "--format", "text"], ["--once", "--format", "json"]] {
        let text = printed(machine.vramtop(&args).env("OTHER", other.id().to_string()));
        assert!(text.chars().all(|c| c == '\n' || !(c.is_control() || c == '\u{202e}')), "{text:?}");
        assert!(text.contains("NV") && text.contains("u{1b}[31m"), "{text}");
    }
    drop(other.stdin.take());
    other.wait().expect("own child");
}
