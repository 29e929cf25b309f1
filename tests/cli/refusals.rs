//! What cannot be done: each with its exit code, and with a text that says what happened and what to do. stdout stays empty.

use std::io::{BufRead, BufReader};
use std::time::{Duration, Instant};

use crate::{Machine, Said, alone, said};

/// Two lines on stderr, the second of them what to do.
#[track_caller]
fn refused(machine: &Machine, args: &[&str], code: i32, happened: &str, to_do: &str) {
    let said = said(&mut machine.vramtop(args));
    assert_eq!((said.code, said.out.as_str()), (Some(code), ""), "{args:?}: {}", said.err);
    let [first, second] = said.err.lines().collect::<Vec<_>>().try_into().unwrap_or_else(|_| panic!("two lines: {}", said.err));
    assert!(first.starts_with("vramtop: ") && first.contains(happened), "{first}");
    assert!(second.contains(to_do), "{second}");
}

#[test]
fn without_driver_permission_or_gpu_two_lines_say_so() {
    let init = |error: &str| format!("[[fault]]\ncall = \"init\"\nerror = \"{error}\"\n");
    for (toml, code, happened, to_do) in [
        (init("DriverNotLoaded"), 3, "the NVIDIA kernel driver is not loaded", "modprobe nvidia"),
        (init("LibRmVersionMismatch"), 3, "different versions", "reboot"),
        (init("GpuLost"), 3, "lost its GPU", "dmesg"),
        (init("Unknown"), 3, "without giving a reason", "dmesg"),
        (init("NoPermission"), 4, "may not use the NVIDIA driver", "/dev/nvidia"),
        ("[driver]\ncount_steps = [[0, 0]]\n[[gpu]]\n".to_owned(), 3, "no GPU", "--gpus all"),
        ("[[gpu]]\nrepeat = 2\n[[fault]]\ncall = \"*\"\ngpu = [0, 1]\nerror = \"GpuLost\"\n".to_owned(), 3, "GPU is lost", "dmesg"),
        (
            "[[gpu]]\nrepeat = 2\n[[fault]]\ncall = \"*\"\ngpu = [0, 1]\nerror = \"NoPermission\"\n".to_owned(),
            4,
            "Insufficient Permissions",
            "/dev/nvidia*",
        ),
    ] {
        let machine = Machine::of(&toml);
        for args in [["--once"].as_slice(), &["-l", "0.05"], &["-l", "0.05", "--format", "json"], &[]] {
            refused(&machine, args, code, happened, to_do);
        }
    }
}

#[test]
fn a_library_that_is_none_is_named() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let text = folder.path().join("text.so");
    std::fs::write(&text, "no library").expect("file");
    for library in ["/nonexistent/libnvidia-ml.so.1", text.to_str().expect("UTF-8"), env!("CARGO_BIN_EXE_vramtop"), "/x\x1b[31m"] {
        let said = said(&mut alone(&["--once", "--nvml-library", library]));
        assert_eq!((said.code, said.out.as_str(), said.err.lines().count()), (Some(3), "", 2), "{}", said.err);
        assert!(said.err.contains("--nvml-library") && said.err.ends_with("vramtop demo\n") && !said.err.contains('\x1b'), "{}", said.err);
    }
}

/// The GPU that answers is printed, and the other is not passed over in silence.
#[test]
fn some_gpus_lost_is_5_and_the_others_are_printed() {
    let machine = Machine::of("[[gpu]]\nrepeat = 2\n[[fault]]\ncall = \"*\"\ngpu = 1\nerror = \"GpuLost\"\n");
    let said = said(&mut machine.vramtop(&["--once"]));
    assert_eq!(said.code, Some(5));
    assert!(said.out.starts_with("0 NVIDIA H200  0.0/140.4 GiB"), "{}", said.out);
    assert!(said.err.starts_with("vramtop: ") && said.err.contains("GPU 1"), "{}", said.err);
}

#[test]
fn memory_that_cannot_be_read_is_5_of_some_and_1_or_4_of_all() {
    for (gpus, error, code) in [("1", "Unknown", 5), ("[0, 1]", "Unknown", 1), ("1", "NoPermission", 5), ("[0, 1]", "NoPermission", 4)] {
        let machine = Machine::of(&format!("[[gpu]]\nrepeat = 2\n[[fault]]\ncall = \"memory\"\ngpu = {gpus}\nerror = \"{error}\"\n"));
        for form in ["text", "json"] {
            let said = said(&mut machine.vramtop(&["--once", "--format", form]));
            assert_eq!(said.code, Some(code), "{gpus} {error}: {}{}", said.out, said.err);
            assert!(!said.out.is_empty());
        }
    }
}

#[test]
fn a_user_that_is_nobody_is_2_and_named() {
    let said = said(&mut Machine::named("two-h200-jobs").vramtop(&["--once", "-u", "root,no-such-user"]));
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""));
    assert!(said.err.contains("no user no-such-user") && !said.err.contains("root"), "{}", said.err);
}

/// What a file had is kept until there is something better.
#[test]
fn a_file_is_emptied_only_by_a_record() {
    let machine = Machine::named("two-h200-jobs");
    let file = machine.path("log");
    std::fs::write(&file, "of yesterday\n".repeat(1000)).expect("file");
    let broken = Machine::named("init-no-driver");
    for args in [["--once", "-o"].as_slice(), &["-l", "0.05", "-o"]] {
        assert_eq!(said(broken.vramtop(args).arg(&file)).code, Some(3));
        assert!(crate::read(&file).starts_with("of yesterday"));
    }
    assert_eq!(said(machine.vramtop(&["-l", "0.05", "-n", "1", "-o"]).arg(&file)).code, Some(0));
    assert_eq!(crate::read(&file).lines().count(), 2);
    let full = said(&mut machine.vramtop(&["-l", "0.05", "-n", "1", "-o", "/dev/full"]));
    assert_eq!(full.code, Some(1));
    assert!(full.err.starts_with("vramtop: cannot write /dev/full (--output): "), "{}", full.err);
}

#[test]
fn a_file_that_outgrows_the_limit_is_a_write_that_failed() {
    let machine = Machine::named("two-h200-jobs");
    let vramtop = machine.running(&["-l", "0.05", "--format", "json", "-o"]);
    let mut limited = std::process::Command::new("sh");
    // 8 × 512 bytes hold the header and no more than a sample.
    limited.args(["-c", "ulimit -f 8; exec \"$@\"", "sh"]).arg(vramtop.get_program()).args(vramtop.get_args()).arg(machine.path("log"));
    for (name, value) in vramtop.get_envs() {
        match value {
            Some(value) => limited.env(name, value),
            None => limited.env_remove(name),
        };
    }
    let full = said(&mut limited);
    assert_eq!(full.code, Some(1), "{}", full.err);
    assert!(full.err.contains("/log (--output): ") && full.err.contains("File too large"), "{}", full.err);
}

#[test]
fn a_help_that_cannot_be_written_is_no_success() {
    for args in [["--help"], ["--version"], ["-h"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has it");
        let said: crate::Said = crate::alone(&args).stdout(full).output().expect("it starts").into();
        assert_eq!(said.code, Some(1), "{args:?}");
        assert!(said.err.starts_with("vramtop: stdout: No space left on device"), "{args:?}: {}", said.err);
    }
}

#[test]
fn a_gpu_that_is_not_there_is_2_and_says_which_there_are() {
    let machine = Machine::named("two-h200-jobs");
    for id in ["2", "GPU-ffffffff", "00:1f.0", "x", "0,7"] {
        let said = said(&mut machine.vramtop(&["--once", "-i", id]));
        assert_eq!((said.code, said.out.as_str()), (Some(2), ""), "{id}");
        assert!(said.err.contains("there are 0, 1") && said.err.contains("vramtop -i 0,1"), "{}", said.err);
    }
}

/// A choice of none at all: said at once, not waited for.
#[test]
fn no_gpu_chosen_is_2() {
    let machine = Machine::named("two-h200-jobs");
    for (what, args, visible) in [
        ("-i with nothing in it", ["--once", "-i", ","].as_slice(), ""),
        ("nothing visible", &["--once", "--visible"], ""),
        ("-1", &["--once", "--visible"], "-1"),
    ] {
        let mut child = machine.vramtop(args).env("CUDA_VISIBLE_DEVICES", visible).stdout(std::process::Stdio::null()).spawn().expect("it starts");
        let end = Instant::now() + Duration::from_secs(10);
        let status = loop {
            match child.try_wait().expect("own child") {
                Some(status) => break Some(status),
                None if Instant::now() > end => break None,
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        let _ = child.kill();
        assert_eq!(status.and_then(|status| status.code()), Some(2), "{what}");
    }
}

#[test]
fn files_that_cannot_be_read_or_written_are_named() {
    let machine = Machine::named("two-h200-jobs");
    for (args, code) in [
        (["--once", "-o", "/nonexistent/x\x1b[31m"].as_slice(), 1),
        (&["-l", "1", "-o", "/nonexistent/x\x1b[31m"], 1),
        (&["replay", "/nonexistent/x\x1b[31m"], 1),
    ] {
        let said = match args[0] {
            "replay" => said(&mut alone(args)),
            _ => said(&mut machine.vramtop(args)),
        };
        assert_eq!((said.code, said.out.as_str()), (Some(code), ""), "{args:?}: {}", said.err);
        assert!(said.err.starts_with("vramtop: cannot ") && said.err.contains("/nonexistent/x") && !said.err.contains('\x1b'), "{:?}", said.err);
    }
}

#[test]
fn a_replay_without_a_terminal_says_what_to_use() {
    let machine = Machine::named("two-h200-jobs");
    let file = machine.path("run.jsonl");
    assert!(machine.vramtop(&["-l", "0.05", "-n", "1", "--format", "json", "-o"]).arg(&file).status().expect("it starts").success());
    let said = said(&mut alone(&["replay", file.to_str().expect("UTF-8")]));
    assert_eq!((said.code, said.out.as_str()), (Some(2), ""));
    assert!(said.err.contains("needs a terminal") && said.err.contains("jq"), "{}", said.err);
    // The demo has no file that could be read otherwise.
    let demo = crate::said(&mut alone(&["demo"]));
    let right = "vramtop: the demo needs a terminal to draw on, and stdout is no terminal. \
                 Without one there are the status lines of this machine: vramtop --once\n";
    assert_eq!((demo.code, demo.out.as_str(), demo.err.as_str()), (Some(2), "", right));
}

/// Slow, since the program has 15 seconds of patience with one question.
#[test]
fn a_driver_that_hangs_is_given_up_on() {
    let machines = ["memory", "init"].map(|call| Machine::of(&format!("[[gpu]]\n[[fault]]\ncall = \"{call}\"\nhang = true\n")));
    let began = Instant::now();
    // Both at once, so that the patience is spent once.
    let pipe = std::process::Stdio::piped;
    let children = machines.each_ref().map(|machine| machine.vramtop(&["--once"]).stdout(pipe()).stderr(pipe()).spawn().expect("it starts"));
    let mut log = machines[0].vramtop(&["-l", "1"]).stdout(pipe()).stderr(pipe()).spawn().expect("it starts");
    for child in children {
        let said = Said::from(child.wait_with_output().expect("own child"));
        assert_eq!((said.code, said.out.as_str()), (Some(1), ""), "{}", said.err);
        assert!(said.err.starts_with("vramtop: the NVIDIA driver has not answered") && said.err.contains("dmesg"), "{}", said.err);
    }
    // A log says so, and waits.
    let mut told = String::new();
    BufReader::new(log.stderr.take().expect("a pipe")).read_line(&mut told).expect("UTF-8");
    assert!(told.starts_with("vramtop: the driver has not answered `memory` for 1") && told.ends_with(" s; still waiting\n"), "{told}");
    assert!(log.try_wait().expect("own child").is_none());
    log.kill().expect("it runs");
    log.wait().expect("own child");
    assert!(began.elapsed() < Duration::from_secs(30));
}
