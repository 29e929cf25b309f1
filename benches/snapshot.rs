//! How long a large torch memory snapshot takes to read, and how much memory: one is generated, read and deleted again.
//!
//! `cargo bench --bench snapshot` prints a line for each kind; `-- --mib 100` makes smaller ones. Nothing here passes or fails.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    clippy::too_many_lines,
    clippy::similar_names,
    reason = "a harness for people, not a part of the product"
)]

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use std::{env, process};

use vramtop::inside::snapshot;
use vramtop::model::Bytes;

/// What the events have beside their figures.
const KINDS: [(&str, u32); 2] = [("events with 40 frames each", 40), ("events without frames", 0)];
/// Segments of 20 MiB, each with eight blocks.
const SEGMENTS: u64 = 20_000;
const PLACES: u32 = 5_000;

fn main() {
    let args: Vec<String> = env::args().collect();
    if let [_, flag, file] = args.as_slice()
        && flag == "--read"
    {
        read(Path::new(file));
        return;
    }
    let mib: u64 = args.iter().position(|arg| arg == "--mib").and_then(|at| args.get(at + 1)?.parse().ok()).unwrap_or(500);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    for (name, frames) in KINDS {
        let path = folder.join(format!("snapshot-{frames}-{}.pickle", process::id()));
        let file = File::create(&path).expect("a file");
        let events = Pickle::new(BufWriter::new(file)).write(mib << 20, frames);
        let size = fs::metadata(&path).expect("the file").len();
        print!("{name}: {} MiB, {events} events, {} blocks: ", size >> 20, SEGMENTS * 8);
        std::io::stdout().flush().expect("stdout");
        let status = Command::new(env::current_exe().expect("own path")).arg("--read").arg(&path).status();
        fs::remove_file(&path).expect("deleted");
        assert!(status.expect("started").success());
    }
}

/// Reads it in a process of its own, so that the memory is that of reading alone.
fn read(path: &Path) {
    let start = Instant::now();
    let snapshot = snapshot::read(File::open(path).expect("the file")).expect("a snapshot");
    let read = start.elapsed().as_secs_f64();
    let reports = snapshot::examine(&snapshot, Some(Bytes::gib(2)));
    let all = start.elapsed().as_secs_f64();
    let status = fs::read_to_string("/proc/self/status").expect("status");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("peak RSS").trim();
    // Fields 14 and 15 of stat are the CPU time in hundredths of a second: on a busy machine the wall clock is somebody else's.
    let times = fs::read_to_string("/proc/self/stat").expect("times");
    let fields = times.rsplit(')').next().expect("fields").split_whitespace();
    let cpu: f64 = fields.skip(11).take(2).map(|ticks| ticks.parse::<f64>().expect("ticks")).sum::<f64>() / 100.0;
    println!("read in {read:.2} s, judged ({}) after {all:.2} s ({cpu:.2} s of CPU), peak RSS {peak}", reports[0].verdict.word());
}

/// Writes as Python's pickler does with protocol 4: each text, list and dictionary is remembered.
struct Pickle<W> {
    out: W,
    written: u64,
    remembered: u32,
}

impl<W: Write> Pickle<W> {
    fn new(out: W) -> Self {
        Self { out, written: 0, remembered: 0 }
    }

    fn put(&mut self, bytes: &[u8]) {
        self.out.write_all(bytes).expect("written");
        self.written += bytes.len() as u64;
    }

    fn remember(&mut self) -> u32 {
        self.put(b"\x94");
        self.remembered += 1;
        self.remembered - 1
    }

    fn recall(&mut self, id: u32) {
        if let Ok(id) = u8::try_from(id) {
            self.put(&[b'h', id]);
        } else {
            self.put(b"j");
            self.put(&id.to_le_bytes());
        }
    }

    fn text(&mut self, text: &str) -> u32 {
        self.put(&[0x8c, u8::try_from(text.len()).expect("short")]);
        self.put(text.as_bytes());
        self.remember()
    }

    fn int(&mut self, n: u64) {
        if let Ok(n) = u8::try_from(n) {
            self.put(&[b'K', n]);
        } else if let Ok(n) = i32::try_from(n) {
            self.put(b"J");
            self.put(&n.to_le_bytes());
        } else {
            self.put(b"\x8a\x08");
            self.put(&n.to_le_bytes());
        }
    }

    fn open(&mut self, sign: u8) {
        self.put(&[sign]);
        self.remember();
        self.put(b"(");
    }

    fn frames(&mut self, of: &[u32], count: u32, seed: u64) {
        self.put(b"]");
        self.remember();
        if count > 0 {
            self.put(b"(");
            for n in 0..u64::from(count) {
                // Stacks differ at the inner end and share the outer one.
                let place = if n < 10 { (seed * 31 + n * 7) % of.len() as u64 } else { n };
                self.recall(of[usize::try_from(place).expect("small")]);
            }
            self.put(b"e");
        }
    }

    fn write(mut self, size: u64, frames: u32) -> u64 {
        self.put(b"\x80\x04");
        self.open(b'}');
        let words = [
            "filename",
            "line",
            "name",
            "frames",
            "address",
            "size",
            "requested_size",
            "state",
            "active_allocated",
            "inactive",
            "device",
            "total_size",
            "stream",
            "segment_type",
            "large",
            "segment_pool_id",
            "is_expandable",
            "blocks",
            "action",
            "alloc",
            "free_completed",
            "addr",
            "time_us",
            "compile_context",
            "user_metadata",
            "N/A",
        ];
        // A list that nobody asks for holds texts and frames; a real file has them where they first appear.
        self.text("first");
        self.open(b']');
        let words: Vec<u32> = words.iter().map(|word| self.text(word)).collect();
        let [
            filename,
            line,
            name,
            frames_key,
            address,
            size_key,
            requested,
            state,
            live,
            inactive,
            device,
            total,
            stream,
            kind,
            large,
            pool,
            expandable,
            blocks,
            action,
            alloc,
            freed,
            addr,
            time,
            context,
            metadata,
            none,
        ] = words[..]
        else {
            unreachable!("as many as there are words")
        };
        let places: Vec<u32> = (0..PLACES)
            .map(|n| {
                self.put(b"}");
                let place = self.remember();
                self.put(b"(");
                self.recall(filename);
                self.text(&format!("/opt/venv/lib/python3.12/site-packages/package/module_{}.py", n / 10));
                self.recall(line);
                self.int(u64::from(n) + 1);
                self.recall(name);
                self.text(&format!("function_{n}"));
                self.put(b"u");
                place
            })
            .collect();
        self.put(b"e");
        self.text("segments");
        self.open(b']');
        for n in 0..SEGMENTS {
            if n > 0 && n % 1000 == 0 {
                self.put(b"e(");
            }
            let start = 0x7f00_0000_0000 + n * (32 << 20);
            self.open(b'}');
            for (key, value) in [(device, 0), (address, start), (total, 20 << 20), (stream, 0)] {
                self.recall(key);
                self.int(value);
            }
            self.recall(kind);
            self.recall(large);
            self.recall(pool);
            self.put(b"K\0K\0\x86");
            self.remember();
            self.recall(expandable);
            self.put(b"\x89");
            self.recall(frames_key);
            self.frames(&places, 0, 0);
            self.recall(blocks);
            self.open(b']');
            for block in 0..8 {
                self.open(b'}');
                for (key, value) in [(address, start + block * (5 << 19)), (size_key, 5 << 19), (requested, (5 << 19) - 100)] {
                    self.recall(key);
                    self.int(value);
                }
                self.recall(state);
                self.recall(if block % 2 == 0 { live } else { inactive });
                self.recall(frames_key);
                self.frames(&places, frames, n + block);
                self.put(b"u");
            }
            self.put(b"eu");
        }
        self.put(b"e");
        self.text("device_traces");
        self.open(b']');
        self.open(b']');
        let mut events = 0;
        while self.written < size - 16 {
            if events > 0 && events % 1000 == 0 {
                self.put(b"e(");
            }
            self.open(b'}');
            self.recall(action);
            self.recall(if events % 2 == 0 { alloc } else { freed });
            for (key, value) in [
                (addr, 0x7e00_0000_0000 + events / 2 % 100_000 * 512),
                (size_key, 4_000_000 + events / 2),
                (stream, 0),
                (time, 1_796_040_483_997_476 + events),
            ] {
                self.recall(key);
                self.int(value);
            }
            self.recall(context);
            self.recall(none);
            self.recall(metadata);
            self.recall(none);
            self.recall(frames_key);
            self.frames(&places, frames, events);
            self.put(b"u");
            events += 1;
        }
        self.put(b"eeu.");
        self.out.flush().expect("written");
        events
    }
}
