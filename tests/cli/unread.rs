//! What cannot be read is said, on stderr and in the exit code, in every form of output.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use crate::{Machine, said};

/// Two cards; the driver fails this on the second, as the manual of `nvmlDeviceGetHandleByIndex` and its kin has it.
fn second_fails(call: &str, error: &str) -> Machine {
    let cards = "[[gpu]]\nprocess = [{ pid = 5000900, memory = \"2GiB\" }]\n[[gpu]]\nprocess = [{ pid = 5000901, memory = \"3GiB\" }]\n";
    Machine::of(&format!("{cards}[[fault]]\ncall = {call}\ngpu = 1\nerror = \"{error}\"\n"))
}

const LISTS: &str = r#"["compute", "graphics", "mps"]"#;

#[test]
fn a_list_that_fails_is_not_an_empty_list() {
    let query = ["--query-compute-apps=pid,used_memory", "--format=csv,noheader"];
    let mut machine = second_fails(LISTS, "Unknown");
    let one = said(&mut machine.vramtop(&query));
    assert_eq!((one.code, one.out.as_str()), (Some(5), "5000900, 2048 MiB\n"));
    assert!(one.err.starts_with("vramtop: GPU 1: its processes cannot be listed (") && one.err.contains("nknown"), "{}", one.err);

    machine = Machine::of(&format!("[[gpu]]\n[[fault]]\ncall = {LISTS}\nerror = \"NoPermission\"\n"));
    let none = said(&mut machine.vramtop(&query));
    assert_eq!((none.code, none.out.as_str()), (Some(4), ""));
    assert!(none.err.contains("GPU 0: its processes cannot be listed"), "{}", none.err);

    let fine = said(&mut Machine::of("[[gpu]]\n").vramtop(&query));
    assert_eq!((fine.code, fine.out.as_str(), fine.err.as_str()), (Some(0), "", ""), "nobody is there");
}

#[test]
fn a_loop_says_it_once_and_ends_as_a_look_does() {
    let machine = second_fails(LISTS, "Unknown");
    let looped = said(&mut machine.vramtop(&["--query-compute-apps=pid", "--format=csv,noheader", "-lms", "50", "-n", "3"]));
    assert_eq!((looped.code, looped.out.as_str()), (Some(5), "5000900\n5000900\n5000900\n"));
    assert_eq!(looped.err.matches("cannot be listed").count(), 1, "{}", looped.err);
}

#[test]
fn a_gpu_that_cannot_be_opened_is_named_by_a_look_and_by_a_log() {
    let machine = second_fails("\"handle\"", "GpuLost");
    for args in [&["--once"][..], &["-l", "0.05", "-n", "2"], &["--query-gpu=index", "--format=csv,noheader"]] {
        let said = said(&mut machine.vramtop(args));
        assert_eq!(said.code, Some(5), "{args:?}: {}", said.err);
        assert!(!said.out.is_empty(), "{args:?}");
        assert_eq!(said.err.matches("GPU 1: GPU is lost, so it is left out").count(), 1, "{args:?}: {}", said.err);
    }
}

#[test]
fn a_gpu_that_was_asked_for_and_cannot_be_opened_is_no_wrong_usage() {
    for (error, code, word) in [("GpuLost", 1, "GPU is lost"), ("NoPermission", 4, "Insufficient Permissions")] {
        let said = said(&mut second_fails("\"handle\"", error).vramtop(&["--once", "-i", "1"]));
        assert_eq!((said.code, said.out.as_str()), (Some(code), ""), "{}", said.err);
        assert!(said.err.contains(&format!("Not opened, so it may be that one: GPU 1: {word}. See dmesg")), "{}", said.err);
    }
    let usage = said(&mut Machine::of("[[gpu]]\n").vramtop(&["--once", "-i", "1"]));
    assert_eq!(usage.code, Some(2), "{}", usage.err);
}

#[test]
fn the_list_of_gpus_needs_no_figure() {
    let machine = Machine::of("[[gpu]]\n[[fault]]\ncall = \"memory\"\nerror = \"Unknown\"\n");
    assert_eq!(said(&mut machine.vramtop(&["--once"])).code, Some(1));
    assert_eq!(said(&mut machine.vramtop(&["-L"])).code, Some(0));
}

#[test]
fn a_log_in_lines_says_that_the_driver_is_gone_and_that_it_is_back() {
    let machine = Machine::of(
        "[[gpu]]\n[[fault]]\ncall = \"*\"\nfrom_s = 1\nto_s = 2\nerror = \"Uninitialized\"\n[[fault]]\ncall = \"init\"\nfrom_s = 1\nto_s = 2\nerror = \"DriverNotLoaded\"\n",
    );
    let mut child = machine.running(&["-l", "0.1"]).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it starts");
    let lines: Vec<String> = BufReader::new(child.stderr.take().expect("a pipe")).lines().take(2).map(|line| line.expect("UTF-8")).collect();
    let _ = child.kill();
    let _ = child.wait();
    assert!(lines[0].starts_with("vramtop: the driver is gone (") && lines[0].contains("waiting until it answers again"), "{}", lines[0]);
    assert_eq!(lines[1], "vramtop: the driver answers again");
}

#[test]
fn a_list_that_fails_in_part_is_not_a_whole_one() {
    let two = "[[gpu]]\nprocess = [{ pid = 5000002, memory = \"4GiB\" }, { pid = 5000003, memory = \"2GiB\", kind = \"graphics\" }]\n";
    let machine = Machine::of(&format!("{two}[[fault]]\ncall = \"graphics\"\nerror = \"Unknown\"\n"));
    let one = said(&mut machine.vramtop(&["--query-compute-apps=pid,used_memory", "--format=csv,noheader"]));
    assert_eq!((one.code, one.out.as_str()), (Some(5), "5000002, 4096 MiB\n"));
    assert_eq!(one.err, "vramtop: GPU 0: not all of its processes can be listed (failed: Unknown)\n");
    let look = said(&mut machine.vramtop(&["--once"]));
    assert!(look.out.ends_with("holders: some unknown, failed: Unknown  ?(5000002) 4.0G\n"), "{}", look.out);
}

#[test]
fn a_figure_of_a_list_that_fails_since_is_none_of_the_line() {
    // Each reading of the memory is a second later than the one before; the lists fail from the second second on.
    let machine = Machine::of(
        "[time]\nmode = \"calls\"\n[[gpu]]\nprocess = [{ pid = 5000002, memory = \"4GiB\" }]\n[[fault]]\ncall = \"processes\"\nfrom_s = 2\nerror = \"Unknown\"\n",
    );
    let mut query = machine.running(&["--query-compute-apps=pid,used_memory", "--format=csv,noheader", "-lms", "50", "-n", "6"]);
    let looped = said(&mut query);
    assert_eq!(looped.code, Some(1), "nobody could be listed at last");
    assert!(looped.out.starts_with("5000002, 4096 MiB\n") && looped.out.ends_with("5000002, [N/A]\n"), "{}", looped.out);
    assert_eq!(looped.err.matches("GPU 0: its processes cannot be listed (failed: Unknown)").count(), 1, "{}", looped.err);
}

#[test]
fn a_card_without_a_compute_list_is_no_failure_and_says_so() {
    let machine = Machine::of("[[gpu]]\nprocess = [{ pid = 5000002, memory = \"4GiB\" }]\n[[fault]]\ncall = \"compute\"\nerror = \"NotSupported\"\n");
    let one = said(&mut machine.vramtop(&["--query-compute-apps=pid", "--format=csv,noheader"]));
    assert_eq!((one.code, one.out.as_str(), one.err.as_str()), (Some(0), "", "vramtop: GPU 0: its processes cannot be listed (not supported)\n"));
}
