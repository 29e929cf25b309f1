//! The program over whatever may be named on its command line: several kinds at once, things that are no input at all, packings, and
//! the exit code of each.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Output;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder};

use crate::common::alone;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/explain");

fn explain(folder: &Path, args: &[&str]) -> Output {
    alone(&["explain", "--no-device"]).args(args).current_dir(folder).output().expect("it starts")
}

fn own(args: &[&str]) -> Output {
    explain(Path::new(FOLDER), args)
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A zip of one file as `torch.save` writes it: not packed, its size behind it (bit 3 of the flags), padded by an extra field.
fn zip(name: &str, method: u16, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"PK\x03\x04\0\0\x08\x08".to_vec();
    bytes.extend(method.to_le_bytes());
    bytes.extend([0; 16]);
    bytes.extend(u16::try_from(name.len()).expect("short").to_le_bytes());
    bytes.extend(8_u16.to_le_bytes());
    bytes.extend(name.as_bytes());
    bytes.extend(b"FB\x04\0ZZZZ");
    bytes.extend(data);
    bytes.extend(b"PK\x07\x08 and the directory");
    bytes
}

#[test]
fn one_bad_input_does_not_hide_the_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    fs::copy(format!("{FOLDER}/oom-texts/14-torch25-too-big.txt"), at("job.log")).expect("copied");
    fs::copy(format!("{FOLDER}/story-4.pickle"), at("good.pickle")).expect("copied");
    fs::copy(format!("{FOLDER}/summary-h200.txt"), at("table.log")).expect("copied");
    fs::create_dir(at("folder")).expect("made");
    fs::write(at("empty.log"), b"").expect("written");
    fs::write(at("junk.bin"), [0, 159, 146, 150, 0, 1, 2, 3]).expect("written");
    fs::write(at("other.pickle"), b"\x80\x04K\x05.").expect("written");
    let bad = [
        ("missing.log", "cannot read missing.log: No such file"),
        ("folder", "folder is a folder: name the files in it"),
        ("empty.log", "empty.log: it is empty"),
        ("/dev/null", "/dev/null: it is empty"),
        ("junk.bin", "junk.bin: binary data of no kind that is known"),
        ("other.pickle", "cannot explain other.pickle: this pickle is no torch memory snapshot"),
    ];
    let mut args: Vec<&str> = vec!["job.log"];
    args.extend(bad.iter().map(|(name, _)| *name));
    args.extend(["good.pickle", "table.log"]);
    let output = explain(folder.path(), &args);
    assert_eq!(output.status.code(), Some(1));
    let (page, errors) = (out(&output), said(&output));
    let titles: Vec<&str> = page.lines().filter(|line| line.contains("GPU 0, ")).collect();
    assert_eq!(titles.len(), 3, "{page}");
    for (title, begins) in titles.iter().zip(["job.log:1", "good.pickle", "table.log:"]) {
        assert!(title.starts_with(begins), "{title}");
    }
    for (name, says) in bad {
        assert!(errors.contains(says), "{name}: {errors}");
        let alone = explain(folder.path(), &[name]);
        assert_eq!((alone.status.code(), out(&alone)), (Some(1), String::new()), "{name}");
    }
}

#[test]
fn a_packed_log_that_is_cut_is_answered_as_far_as_it_goes() {
    let folder = tempfile::tempdir().expect("a folder");
    let log = fs::read_to_string(format!("{FOLDER}/oom-texts/14-torch25-too-big.txt")).expect("there");
    // Figures that do not pack well, so that half of the file is beyond the failure.
    let rest: Vec<String> = (0_u64..20_000).map(|n| format!("step {n} loss {}", n.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(format!("{log}\n{}", rest.join("\n")).as_bytes()).expect("memory");
    let packed = packed.finish().expect("memory");
    fs::write(folder.path().join("job.log.gz"), &packed[..packed.len() / 2]).expect("written");
    let output = explain(folder.path(), &["job.log.gz"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(out(&output).lines().next().is_some_and(|line| line.ends_with("too-big")), "{}", out(&output));
    assert!(said(&output).contains("job.log.gz could not be read to its end"), "{}", said(&output));
    let snapshot = fs::read(format!("{FOLDER}/snapshot.pickle.gz")).expect("there");
    fs::write(folder.path().join("half.gz"), &snapshot[..snapshot.len() / 2]).expect("written");
    let output = explain(folder.path(), &["half.gz"]);
    assert_eq!((output.status.code(), out(&output)), (Some(1), String::new()));
    assert!(said(&output).contains("cannot explain half.gz: the snapshot could not be read beyond byte"), "{}", said(&output));
}

#[test]
fn what_torch_save_wrote_is_looked_into() {
    let folder = tempfile::tempdir().expect("a folder");
    let snapshot = fs::read(format!("{FOLDER}/story-2.pickle")).expect("there");
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&snapshot).expect("memory");
    fs::write(folder.path().join("saved.pt"), zip("saved/data.pkl", 0, &snapshot)).expect("written");
    fs::write(folder.path().join("mailed.zip"), zip("snapshot.pickle", 8, &packed.finish().expect("memory"))).expect("written");
    let plain = own(&["--format", "json", "story-2.pickle"]);
    let zipped = explain(folder.path(), &["--format", "json", "saved.pt", "mailed.zip"]);
    assert_eq!(zipped.status.code(), Some(0), "{}", said(&zipped));
    let lines = out(&zipped);
    for (line, name) in lines.lines().zip(["saved.pt:data.pkl", "mailed.zip:snapshot.pickle"]) {
        assert_eq!(format!("{line}\n"), out(&plain).replace("story-2.pickle", name));
    }
    // A model's weights: their pickle imports what rebuilds tensors.
    fs::write(folder.path().join("model.pt"), zip("model/data.pkl", 0, b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\nq\0.")).expect("written");
    let model = explain(folder.path(), &["model.pt"]);
    assert_eq!((model.status.code(), out(&model)), (Some(1), String::new()));
    assert!(said(&model).contains("cannot explain model.pt:data.pkl") && said(&model).contains("_dump_snapshot"), "{}", said(&model));
}

/// A free block of 11 MiB is the largest of the real one; the story's GPU 0 had 30 MiB free on the card when a request failed.
#[test]
fn whether_it_fits_is_the_exit_code() {
    for (args, code, says) in [
        (["--fit", "11MiB", "snapshot.pickle.gz"], 0, "Would 11.0 MiB fit?  yes"),
        (["--fit", "2GiB", "snapshot.pickle.gz"], 1, "Would 2.0 GiB fit?  not without the driver"),
        (["--fit", "1GiB", "story-4.pickle"], 1, "Would 1.0 GiB fit?  no\n"),
    ] {
        let output = own(&args);
        assert_eq!(output.status.code(), Some(code), "{args:?}");
        assert!(out(&output).contains(says), "{}", out(&output));
    }
    // Asked about a log it makes no sense; a snapshot beside it is answered all the same.
    let output = own(&["--fit", "11MiB", "summary-h200.txt", "snapshot.pickle.gz"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(said(&output).contains("--fit needs a torch memory snapshot, and summary-h200.txt is a log"), "{}", said(&output));
    assert!(out(&output).contains("Would 11.0 MiB fit?  yes") && !out(&output).contains("memory summary"), "{}", out(&output));
}
