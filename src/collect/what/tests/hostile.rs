//! Input that no honest program gives: nothing may panic, leak or take long.

use super::commands::command_lines;
use super::named;
use std::time::{Duration, Instant};

/// A small generator of numbers, the same in every run (xorshift64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).unwrap() % limit.max(1)
    }
}

const SPOILS: &[&str] = &[
    "", " ", "-", "--", "=", "'", "\"", "\\", "/", ".", "::", "ray::", "é", "日本", "🦀", "\u{202e}", "\u{fffd}", "\x1b[2J", "\n", "\0", "-c", "-m",
    "--model", "sh -c \"", ";", "&", "C:\\", ".exe", "models--", "sha256-", "bash", "python",
];

/// Spoils one argument, or the list of them.
fn spoil(args: &mut Vec<String>, random: &mut Random) {
    let at = random.below(args.len());
    let piece = SPOILS[random.below(SPOILS.len())];
    match (random.below(6), args.get_mut(at)) {
        (0, Some(arg)) => {
            let places: Vec<usize> = arg.char_indices().map(|(at, _)| at).collect();
            arg.insert_str(places.get(random.below(places.len())).copied().unwrap_or(0), piece);
        }
        (1, Some(arg)) => *arg = arg.chars().take(random.below(12)).collect(),
        (2, Some(arg)) => *arg = arg.chars().rev().collect(),
        (3, Some(_)) => drop(args.remove(at)),
        (4, Some(arg)) => *arg = piece.to_owned(),
        _ => args.insert(at, piece.to_owned()),
    }
}

#[test]
fn spoilt_command_lines_get_sound_names() {
    let lines = command_lines();
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for round in 0..10_000 {
        let mut args = lines[random.below(lines.len())].clone();
        for _ in 0..=random.below(4) {
            spoil(&mut args, &mut random);
        }
        let text = args.concat();
        let env = [("RANK", text.as_str()), ("JPY_SESSION_NAME", text.as_str()), ("SLURM_JOB_ID", text.as_str()), ("PWD", text.as_str())];
        let env = if round % 2 == 0 { env.as_slice() } else { &[] };
        let what = named(args.last().map_or("", String::as_str), &args, env, &text);
        for name in [&what.short, &what.full] {
            assert!(!name.is_empty() && !name.chars().any(char::is_control), "{args:?}: {name:?}");
            assert!(name.chars().count() <= 160, "{args:?}: {name:?}");
        }
        for name in [what.job, what.container].into_iter().flatten() {
            assert!(!name.chars().any(char::is_control), "{args:?}: {name:?}");
        }
    }
}

#[test]
fn huge_command_lines_are_cheap() {
    let long = "é-u/x ".repeat(100_000);
    let lines: Vec<Vec<String>> = vec![
        vec!["x".to_owned(); 100_000],
        vec![long.clone(), long.clone(), long.clone()],
        vec![long],
        std::iter::once("python").chain(["-uuuuuuuuuuuuuuu"; 100]).map(str::to_owned).collect(),
        vec!["python".to_owned(), "-u".repeat(1 << 20)],
        vec!["sh".to_owned(), "-c".to_owned(), "sh -c '".repeat(1 << 16)],
        vec!["env".to_owned(); 100],
        vec![".".repeat(1 << 20), "\u{1f980}".repeat(1 << 18)],
    ];
    let start = Instant::now();
    for args in &lines {
        let cgroup = "a/".repeat(1 << 20);
        assert!(named("x", args, &[], &cgroup).full.chars().count() <= 160);
    }
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

#[test]
fn secrets_stay_out_of_every_name() {
    const SECRET: &str = "hf_S3cretS3cretS3cret";
    let plain = "s3cret-of-mine";
    let ways = [
        format!("python train.py --token {SECRET}"),
        format!("python train.py --hf-token={plain} --config a.yaml"),
        format!("python train.py --api-key {plain}"),
        format!("python train.py --model {SECRET}"),
        format!("python train.py name={SECRET}"),
        format!("python {SECRET}"),
        format!("vllm serve {SECRET}"),
        format!("vllm serve m --api-key {plain}"),
        format!("my-title password={plain} --token {plain}"),
        format!("my-title api_key: {plain}"),
        format!("my-title https://ann:{plain}@host/"),
        format!("sh -c export HF_TOKEN={plain}"),
    ];
    for way in ways {
        let args: Vec<String> = way.split(' ').map(str::to_owned).collect();
        for args in [args, vec![way.clone()]] {
            let what = named("x", &args, &[], "");
            for name in [what.short, what.full] {
                assert!(!name.contains(SECRET) && !name.contains(plain), "{way}: {name}");
            }
        }
    }
    let code = ["python", "-c", &format!("login(token='{plain}'); hub({{'password': '{plain}'}})")].map(str::to_owned);
    let full = named("x", &code, &[], "").full;
    assert!(!full.contains(plain), "{full}");
}
