//! `explain`: what a crash left behind, recognised by its content, and what a colleague who knows would say of it.

mod accounts;
mod beside;
mod input;
mod packed;

use std::io::{self, IsTerminal as _};
use std::path::PathBuf;

use jiff::tz::TimeZone;

use crate::cli::{Explain, ReportForm};
use crate::config::Config;
use crate::exit::{Exit, UsageError};
use crate::inside::oom::{self, Log};
use crate::model::SafeText;
use crate::output::explain::{ExplainLook, answers, json_line, seen_line, sentences};
use crate::view::Colors;
use accounts::Beheld;
use beside::Beside;
use input::{Input, Look, Opened};

/// No answer is drawn wider: lines of text that are longer are hard to read.
const WIDEST: usize = 108;

/// What came of one input.
struct Answer {
    /// To be printed; `None` where there is nothing to be said.
    text: Option<String>,
    /// Fine, or that the answer is no.
    exit: Exit,
    /// What is to be said beside it.
    remark: Option<String>,
}

/// Explains each input in turn. One that cannot be read does not keep the others from their answers; the first trouble is the exit code.
///
/// # Errors
/// When nothing was asked for that could be read, or stdout fails.
pub(super) fn run(wanted: &Explain, config: &Config) -> anyhow::Result<Exit> {
    let files = if wanted.files.is_empty() { vec![PathBuf::from("-")] } else { wanted.files.clone() };
    if files.iter().any(|file| file.as_os_str() == "-") && io::stdin().is_terminal() {
        let hint = "explain reads a log: name one (vramtop explain job.log), or pipe one in (python train.py 2>&1 | tee job.log | vramtop explain)";
        return Err(UsageError(hint.to_owned()).into());
    }
    let mut beside = Beside::new(wanted, config);
    let mut exit = Exit::Fine;
    let mut printed = false;
    for file in &files {
        let answer = match Opened::open(file).and_then(|opened| explain(opened, wanted, config, &mut beside)) {
            Ok(answer) => answer,
            Err(error) => {
                let Some(exit) = Exit::of(&error) else { return Err(error) };
                Answer { text: None, exit, remark: Some(format!("{error:#}")) }
            }
        };
        if let Some(text) = answer.text {
            if printed && wanted.format == ReportForm::Text {
                super::print("\n")?;
            }
            super::print(&text)?;
            printed = true;
        }
        if let Some(remark) = answer.remark {
            super::say(&remark)?;
        }
        if exit == Exit::Fine {
            exit = answer.exit;
        }
    }
    Ok(exit)
}

/// The answer to one input.
fn explain(opened: Opened, wanted: &Explain, config: &Config, beside: &mut Beside) -> anyhow::Result<Answer> {
    let Opened { name, input } = opened;
    if wanted.fit.is_some() && !matches!(input, Input::Snapshot(_)) {
        let text = format!(
            "--fit needs a torch memory snapshot, and {} is {}: torch.cuda.memory._dump_snapshot(\"snapshot.pickle\") writes one",
            SafeText::new(&name),
            input.kind()
        );
        return Err(UsageError(text).into());
    }
    let found = |text: Option<String>, look: Look| match text {
        Some(_) => Answer { text, exit: Exit::Fine, remark: None },
        None => Answer { text, exit: Exit::Failed, remark: Some(nothing_found(&name, look)) },
    };
    match input {
        Input::Log { reader, recent, look: beginning } => {
            let mut reader = Beheld::new(reader);
            let log = oom::read(&mut reader).map_err(|error| anyhow::anyhow!("cannot read {}: {error}", SafeText::new(&name)))?;
            beside.recent = recent;
            let failures = of_log(&name, &log, wanted, config, beside)?;
            let (mut accounts, ended) = reader.finish();
            if failures.is_some() {
                // The answer to a failure has those figures already.
                accounts.notes.clear();
                if wanted.format == ReportForm::Json {
                    // One object a failure and nothing else, so that whoever counts objects counts failures.
                    accounts.tables.clear();
                }
            }
            let accounts = accounts::of_log(base_name(&name), &accounts, wanted.format, look(config));
            let mut answer = found(accounts::joined(failures, accounts), beginning);
            if let Some(error) = ended {
                let part = if answer.text.is_some() { "the answer is of what stands before that" } else { "nothing was found before that" };
                answer.remark = Some(format!("{} could not be read to its end ({error}): {part}", SafeText::new(&name)));
                answer.exit = Exit::Failed;
            }
            Ok(answer)
        }
        Input::Snapshot(reader) => accounts::of_snapshot(base_name(&name), reader, wanted, look(config)),
        Input::Recording(reader) => Ok(found(of_recording(&name, reader, wanted.format)?, Look::Text)),
    }
}

fn of_log(name: &str, log: &Log, wanted: &Explain, config: &Config, beside: &mut Beside) -> anyhow::Result<Option<String>> {
    if log.reports.is_empty() {
        return Ok(None);
    }
    if wanted.format == ReportForm::Json {
        let lines: Result<String, _> = log.reports.iter().map(|report| json_line(base_name(name), report)).collect();
        return Ok(Some(lines?));
    }
    let mut failed = None;
    let text = answers(name, log, look(config), &mut |report| {
        beside.seen(report).unwrap_or_else(|error| {
            failed = Some(error);
            Vec::new()
        })
    });
    match failed {
        Some(error) => Err(error),
        None => Ok(Some(text)),
    }
}

fn of_recording(name: &str, reader: Box<dyn io::BufRead + Send>, format: ReportForm) -> anyhow::Result<Option<String>> {
    let seen = beside::fullest(reader, None)?.finish();
    if seen.is_empty() {
        return Ok(None);
    }
    let name = SafeText::new(name);
    if format == ReportForm::Json {
        let lines: Result<String, _> = seen.iter().map(|seen| seen_line(base_name(name.as_str()), seen)).collect();
        return Ok(Some(lines?));
    }
    let zone = TimeZone::system();
    let mut text = format!("{name}: a recording. The fullest moment of each GPU:\n");
    for line in seen.iter().flat_map(|seen| sentences(seen, &zone)) {
        text.push_str("  ");
        text.push_str(&line);
        text.push('\n');
    }
    Ok(Some(text))
}

fn look(config: &Config) -> ExplainLook {
    let style = config.style();
    let columns = std::env::var("COLUMNS").ok().and_then(|text| text.parse().ok()).filter(|n: &usize| *n > 0);
    let terminal = || super::stdout_is_terminal().then(|| usize::from(super::size::size().0));
    let colors = match style.color {
        crate::config::Color::Auto => super::stdout_is_terminal() && style.colors() != Colors::Never,
        _ => style.colors() != Colors::Never,
    };
    ExplainLook { width: columns.or_else(terminal).unwrap_or(WIDEST).clamp(40, WIDEST), ascii: style.is_ascii(), colors }
}

fn base_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn nothing_found(name: &str, look: Look) -> String {
    match look {
        Look::Nothing => return format!("{}: it is empty", SafeText::new(name)),
        Look::Binary => {
            return format!(
                "{}: binary data of no kind that is known here. Logs, torch memory snapshots (pickle) and recordings are, also within gzip or zip",
                SafeText::new(name)
            );
        }
        Look::Text => {}
    }
    format!(
        "{}: no out-of-memory text and no account of an allocator in it. Looked for those of torch, TensorFlow, JAX, CuPy, RMM, Numba, CUDA.jl, Paddle, llama.cpp, Ollama, vLLM, SGLang, TGI, \
         TensorRT, ONNX Runtime, NCCL, cuBLAS, cuDNN, the driver and the kernel.\n\
         Next time keep both streams (python train.py 2>&1 | tee job.log) and a recording beside it (vramtop -l 1 --format json -o run.jsonl)",
        SafeText::new(name)
    )
}
