//! nvidia-smi's dialect, against what nvidia-smi itself printed on the cards that the scenarios describe.

use std::os::unix::process::CommandExt as _;
use std::process::Command;

use serde_json::Value;

use crate::{Machine, alone, printed, read, said};

const IDLE: &str = include_str!("../fixtures/smi/idle.toml");
const BUSY: &str = include_str!("../fixtures/smi/busy.toml");

fn fixture(text: &str) -> Value {
    serde_json::from_str(text).expect("the fixture")
}

fn idle() -> Value {
    fixture(include_str!("../fixtures/smi/idle.json"))
}

fn busy() -> Value {
    fixture(include_str!("../fixtures/smi/busy.json"))
}

/// The lines that nvidia-smi printed for one field.
fn lines(of: &Value) -> String {
    of.as_array().expect("lines").iter().flat_map(|line| [line.as_str().expect("a line"), "\n"]).collect()
}

fn text<'a>(of: &'a Value, path: &str) -> &'a str {
    of.pointer(path).and_then(Value::as_str).unwrap_or_else(|| panic!("no text at {path}"))
}

/// The fields of the fixture that are offered, asked one by one.
fn offered(machine: &Machine, fixture: &Value) -> Vec<String> {
    let fields = fixture["gpu"].as_object().expect("fields");
    let is_offered = |field: &&String| {
        let said = said(&mut machine.vramtop(&[&format!("--query-gpu={field}")]));
        if said.code == Some(0) {
            return true;
        }
        let refusal = format!("vramtop: the field \"{field}\" is nvidia-smi's, but vramtop does not offer it. See nvidia-smi --query-gpu={field}\n");
        assert_eq!((said.code, said.out, said.err), (Some(2), String::new(), refusal));
        false
    };
    fields.keys().filter(is_offered).cloned().collect()
}

/// A process whose first word is that of the fixture's job; it ends with this.
struct Job(std::process::Child);

impl Job {
    fn start() -> Self {
        Self(Command::new("sleep").arg0("/opt/torch/.venv/bin/python3").arg("600").spawn().expect("sleep"))
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn every_offered_field_is_byte_for_byte_nvidia_smis() {
    let (machine, fixture) = (Machine::of(IDLE), idle());
    let offered = offered(&machine, &fixture);
    assert_eq!(offered.len(), 78);
    for field in offered.iter().filter(|field| *field != "timestamp") {
        let text = printed(&mut machine.vramtop(&[&format!("--query-gpu={field}"), "--format=csv"]));
        assert_eq!(text, lines(&fixture["gpu"][field]), "{field}");
    }
}

#[test]
fn a_busy_card_is_byte_for_byte_the_same() {
    let (machine, fixture, job) = (Machine::of(BUSY), busy(), Job::start());
    let pid = job.0.id().to_string();
    for field in ["memory.total", "memory.reserved", "memory.used", "memory.free", "clocks_event_reasons.active", "power.draw", "clocks.current.sm"] {
        let text = printed(machine.vramtop(&[&format!("--query-gpu={field}")]).env("JOB", &pid));
        assert_eq!(text, lines(&fixture["gpu"][field]), "{field}");
    }
    for (field, expected) in fixture["apps"].as_object().expect("fields").iter().filter(|(field, _)| *field != "timestamp") {
        let text = printed(machine.vramtop(&[&format!("--query-compute-apps={field}")]).env("JOB", &pid));
        assert_eq!(text, lines(expected).replace("1589", &pid), "{field}");
    }
}

#[test]
fn each_form_has_the_header_and_the_units_that_nvidia_smis_has() {
    let (machine, fixture, job) = (Machine::of(BUSY), busy(), Job::start());
    let pid = job.0.id().to_string();
    let fields = "gpu_name,gpu_bus_id,gpu_serial,gpu_uuid,pid,process_name,used_gpu_memory";
    for (form, key) in [("csv", "csv"), ("csv,noheader", "noheader"), ("csv,noheader,nounits", "nounits"), ("csv,nounits", "units_off_header")] {
        let text_of = |args: &[&str]| printed(machine.vramtop(args).env("JOB", &pid));
        let text = text_of(&[&format!("--query-compute-apps={fields}"), &format!("--format={form}")]);
        let real = text_without_first_column(fixture["apps_all"][key].as_str().expect("text"));
        assert_eq!(text, real.replace("1589", &pid), "{form}");
        let some = "memory.total,memory.used,utilization.gpu,power.limit,fan.speed,clocks.max.sm,pci.domain";
        let text = text_of(&[&format!("--query-gpu={some}"), &format!("--format={form}")]);
        assert_eq!(text, columns(&fixture, key, some), "{form}");
    }
}

/// The lines without the time, which is another's.
fn text_without_first_column(text: &str) -> String {
    text.lines().flat_map(|line| [line.split_once(", ").expect("columns").1, "\n"]).collect()
}

/// Some of the columns of the fixture's line of all fields.
fn columns(fixture: &Value, key: &str, some: &str) -> String {
    let all: Vec<&str> = fixture["gpu_all"]["fields"].as_array().expect("fields").iter().filter_map(Value::as_str).collect();
    let places: Vec<usize> = some.split(',').map(|field| all.iter().position(|name| *name == field).expect(field)).collect();
    let line = |line: &str| {
        let cells: Vec<&str> = line.split(", ").collect();
        places.iter().map(|place| cells[*place]).collect::<Vec<_>>().join(", ") + "\n"
    };
    text(fixture, &format!("/gpu_all/{key}")).lines().map(line).collect()
}

#[test]
fn a_timestamp_is_local_time_as_nvidia_smi_writes_it() {
    let text = printed(Machine::of(IDLE).vramtop(&["--query-gpu=timestamp", "--format=csv,noheader"]).env("TZ", "UTC-14"));
    let first = text.lines().next().expect("a line");
    let shape: String = first.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    assert_eq!(shape, "0000/00/00 00:00:00.000");
}

#[test]
fn other_names_of_a_field_are_understood_and_its_own_is_printed() {
    let machine = Machine::of(IDLE);
    let text = printed(&mut machine.vramtop(&["--query-gpu=gpu_name,clocks.sm,clocks_throttle_reasons.gpu_idle", "-i", "0"]));
    assert_eq!(text, "name, clocks.current.sm [MHz], clocks_event_reasons.gpu_idle\nNVIDIA H200, 345 MHz, Active\n");
}

#[test]
fn without_a_form_and_with_a_choice_of_gpus_it_is_as_nvidia_smi_does() {
    let (machine, fixture) = (Machine::of(IDLE), idle());
    assert_eq!(printed(&mut machine.vramtop(&["--query-gpu=memory.used"])), text(&fixture, "/no_format/1"));
    assert_eq!(printed(&mut machine.vramtop(&["-i", "0", "--query-gpu=index,name", "--format=csv"])), text(&fixture, "/id/1"));
    // A machine without a job has no lines but the header.
    assert_eq!(printed(&mut machine.vramtop(&["--query-compute-apps=pid,used_memory"])), "pid, used_gpu_memory [MiB]\n");
    let usual = printed(&mut machine.vramtop(&["--format", "csv,nounits"]));
    let [header, first, _] = usual.lines().collect::<Vec<_>>().try_into().expect("a header and two GPUs");
    assert!(header.starts_with("timestamp, index, name, uuid, pci.bus_id, memory.total [MiB], memory.used [MiB], "), "{header}");
    assert!(first.contains(", 0, NVIDIA H200, GPU-00000000-0000-0000-0000-000000000001, 00000000:00:06.0, 143771, 0, 143156, 616, "), "{first}");
}

#[test]
fn the_list_is_nvidia_smis() {
    assert_eq!(printed(&mut Machine::of(IDLE).vramtop(&["-L"])), text(&idle(), "/list"));
    // As in NVIDIA's user guide of MIG: the name of the profile in eleven columns.
    let expected = "\
GPU 0: NVIDIA H200 (UUID: GPU-00000000-0000-0000-0000-000000000001)
  MIG 1g.18gb     Device  0: (UUID: MIG-00000000-0000-0000-0000-000000000011)
  MIG 3g.71gb     Device  1: (UUID: MIG-00000000-0000-0000-0000-000000000012)
  MIG 2g.35gb     Device  2: (UUID: MIG-00000000-0000-0000-0000-000000000013)
GPU 1: NVIDIA H200 (UUID: GPU-00000000-0000-0000-0000-000000000002)
";
    assert_eq!(printed(&mut Machine::named("mig").vramtop(&["--list-gpus"])), expected);
}

#[test]
fn a_split_gpu_is_one_line_and_its_processes_are_its_own() {
    let machine = Machine::named("mig");
    assert_eq!(printed(&mut machine.vramtop(&["--query-gpu=index,mig.mode.current", "--format=csv,noheader"])), "0, Enabled\n1, Disabled\n");
    let text = printed(&mut machine.vramtop(&["--query-compute-apps=gpu_bus_id,pid,name,used_memory", "--format=csv,noheader,nounits"]));
    let expected = "\
00000000:00:06.0, 5000100, [Not Found], 9216
00000000:00:06.0, 5000101, [Not Found], 2048
00000000:00:06.0, 5000102, [Not Found], 30720
00000000:01:06.0, 5000110, [Not Found], 5120
";
    assert_eq!(text, expected);
}

#[test]
fn what_cannot_be_read_says_why_and_the_line_stays() {
    let toml = "[[gpu]]\nfan = 30\nfans = 1\n[[gpu]]\npower_w = \"NoPermission\"\ntemperature = \"Unknown\"\n";
    let text = printed(&mut Machine::of(toml).vramtop(&["--query-gpu=index,fan.speed,power.draw,temperature.gpu", "--format=csv,noheader"]));
    assert_eq!(text, "0, 30 %, 76.00 W, 30\n1, [N/A], [Insufficient Permissions], [Unknown Error]\n");
    let lost = "[[gpu]]\n[[gpu]]\n[[fault]]\ncall = [\"memory\", \"utilization\", \"processes\"]\ngpu = 1\nerror = \"GpuLost\"\n";
    let said = said(&mut Machine::of(lost).vramtop(&["--query-gpu=index,memory.used,utilization.gpu", "--format=csv,noheader"]));
    assert_eq!((said.code, said.out.as_str()), (Some(5), "0, 0 MiB, 0 %\n1, [GPU is lost], [GPU is lost]\n"));
}

#[test]
fn a_loop_has_one_header_and_goes_where_it_is_told() {
    let machine = Machine::of(IDLE);
    let expected = "index, memory.used [MiB]\n0, 0 MiB\n1, 0 MiB\n0, 0 MiB\n1, 0 MiB\n0, 0 MiB\n1, 0 MiB\n";
    for period in [["-l", "0.05"], ["-lms", "50"]] {
        let mut args = period.to_vec();
        args.extend(["-n", "3", "--query-gpu=index,memory.used", "--format=csv"]);
        assert_eq!(printed(&mut machine.running(&args)), expected, "{period:?}");
        let file = machine.path("out.csv");
        args.extend(["-f", file.to_str().expect("UTF-8")]);
        assert_eq!(printed(&mut machine.running(&args)), "");
        assert_eq!(read(&file), expected);
    }
}

#[test]
fn only_what_the_fields_need_is_asked() {
    let machine = Machine::of(&format!("{IDLE}\n[log]\npath = \"calls\"\n"));
    printed(&mut machine.vramtop(&["--query-gpu=index,memory.used,temperature.gpu"]));
    let calls = read(&machine.path("calls"));
    let times = |name: &str| calls.lines().filter(|line| line.split_whitespace().nth(2).is_some_and(|call| call.starts_with(name))).count();
    assert_eq!(times("nvmlDeviceGetTemperature"), 2);
    for name in ["Utilization", "Encoder", "PowerUsage", "Clock", "TotalEcc", "FieldValues", "Remapped", "MaxClock", "BAR1", "Serial"] {
        assert_eq!(times(&format!("nvmlDeviceGet{name}")), 0, "{name}");
    }
}

#[test]
fn what_is_wrong_is_2_and_is_told_with_what_was_meant() {
    let machine = Machine::of(IDLE);
    for (args, happened) in [
        (["--query-gpu=memory.usde", "--format=csv"], "unknown field \"memory.usde\": did you mean memory.used?"),
        (["--query-gpu=memory.used, memory.free", "--format=csv"], "unknown field \" memory.free\": did you mean memory.free?"),
        (["--query-compute-apps=pdi", "--format=csv"], "unknown field \"pdi\": did you mean pid?"),
        (["--query-gpu=INDEX", "--format=csv"], "unknown field \"INDEX\": did you mean index?"),
        (["--query-gpu=", "--format=csv"], "a field is missing in --query-gpu=: vramtop --help-query-gpu lists them"),
        (["--query-gpu=index,", "--format=csv"], "a field is missing in --query-gpu=index,: "),
        (["--query-compute-apps=foo", "--format=csv"], "unknown field \"foo\": vramtop --help-query-compute-apps lists the fields"),
        (["--query-gpu=memory.used", "--format=json"], "a query is printed as csv"),
        (["--query-gpu=memory.used", "--format=xml"], "\"xml\" is no form: give text, json or csv[,noheader][,nounits]"),
        (["--query-gpu=memory.used", "-i9"], "no GPU \"9\" here: there are 0, 1"),
    ] {
        let said = said(&mut machine.vramtop(&args));
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{args:?}");
        assert!(said.err.contains(happened), "{args:?}: {}", said.err);
    }
    // nvidia-smi's own code for it is the same.
    assert_eq!(idle()["unknown"][0], 2);
}

#[test]
fn without_a_driver_it_is_3_and_there_is_no_header() {
    let machine = Machine::of("[[fault]]\ncall = \"init\"\nerror = \"DriverNotLoaded\"\n");
    for args in [["-L"].as_slice(), &["--query-gpu=name"], &["--query-gpu=name", "-l", "0.05"], &["--query-compute-apps=pid"]] {
        let said = said(&mut machine.vramtop(args));
        assert_eq!((said.code, said.out.as_str()), (Some(3), ""), "{args:?}: {}", said.err);
    }
}

/// Needs neither a driver nor right settings. The fields are those that are offered, in nvidia-smi's order.
#[test]
fn the_help_lists_the_fields_that_are_offered() {
    let (machine, fixture) = (Machine::of(IDLE), idle());
    let help = |option: &str| printed(alone(&[option]).env("VRAMTOP_SLOW", "perhaps"));
    let names = |text: &str| {
        let heads = text.lines().skip(2).filter(|line| !line.starts_with(' '));
        heads.map(|line| line.split([' ']).next().expect("a name").to_owned()).collect::<Vec<_>>()
    };
    let mut right = offered(&machine, &fixture);
    let mut listed = names(&help("--help-query-gpu"));
    right.sort();
    listed.sort();
    assert_eq!(listed, right);
    assert_eq!(
        names(&help("--help-query-compute-apps")),
        ["timestamp", "gpu_name", "gpu_bus_id", "gpu_serial", "gpu_uuid", "pid", "process_name", "used_gpu_memory"]
    );
    assert!(help("--help-query-gpu").contains("\nmemory.used [MiB]\n    in use, without the reserve\n"));
}

#[test]
fn gpus_are_chosen_in_one_list_or_one_by_one() {
    let machine = Machine::of(IDLE);
    for choice in [["-i", "1,0"].as_slice(), &["-i", "1", "-i", "0"], &["--id=0", "--id=1,0"]] {
        let args = [choice, &["--query-gpu=index", "--format=csv,noheader"]].concat();
        assert_eq!(printed(&mut machine.vramtop(&args)), "0\n1\n", "{choice:?}");
    }
}

/// The list of names that is built in is that of nvidia-smi's help.
#[test]
fn the_names_are_those_of_the_help() {
    let built_in = include_str!("../../src/output/smi/names.txt");
    let names = |line: &Value| {
        let mut names: Vec<String> = line.as_str().expect("a line").split(" or ").map(|name| name.trim_matches('"').to_owned()).collect();
        names.dedup();
        names.join(" ")
    };
    let help: Vec<String> = idle()["help_gpu"].as_array().expect("lines").iter().map(names).collect();
    assert_eq!(built_in.lines().collect::<Vec<_>>(), help);
}
