//! `explain`: what a crash left behind, recognised by its content, and what a colleague who knows would say of it.

mod accounts;
mod beside;
mod input;

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
use input::{Input, Opened};

/// No answer is drawn wider: lines of text that are longer are hard to read.
const WIDEST: usize = 108;

/// Explains each input in turn.
///
/// # Errors
/// When an input cannot be read, or stdout fails.
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
        let opened = Opened::open(file)?;
        let text = explain(&opened.name, opened.input, wanted, config, &mut beside)?;
        let Some(text) = text else {
            super::say(&nothing_found(&opened.name))?;
            exit = Exit::Failed;
            continue;
        };
        if printed && wanted.format == ReportForm::Text {
            super::print("\n")?;
        }
        super::print(&text)?;
        printed = true;
    }
    Ok(exit)
}

/// The answer to one input; `None` where there is nothing to be said.
fn explain(name: &str, input: Input, wanted: &Explain, config: &Config, beside: &mut Beside) -> anyhow::Result<Option<String>> {
    match input {
        Input::Log { reader, recent } => {
            let mut reader = Beheld::new(reader);
            let log = oom::read(&mut reader).map_err(|error| anyhow::anyhow!("cannot read {}: {error}", SafeText::new(name)))?;
            beside.recent = recent;
            let failures = of_log(name, &log, wanted, config, beside)?;
            let mut found = reader.finish();
            if failures.is_some() {
                // The answer to a failure has those figures already.
                found.notes.clear();
                if wanted.format == ReportForm::Json {
                    // One object a failure and nothing else, so that whoever counts objects counts failures.
                    found.tables.clear();
                }
            }
            let accounts = accounts::of_log(base_name(name), &found, wanted.format, look(config));
            Ok(accounts::joined(failures, accounts))
        }
        Input::Snapshot(reader) => accounts::of_snapshot(base_name(name), reader, wanted, look(config)).map(Some),
        Input::Recording(reader) => of_recording(name, reader, wanted.format),
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
    let terminal = || super::stdout_is_terminal().then(|| crossterm::terminal::size().map_or(80, |(width, _)| usize::from(width)));
    let colors = match style.color {
        crate::config::Color::Auto => super::stdout_is_terminal() && style.colors() != Colors::Never,
        _ => style.colors() != Colors::Never,
    };
    ExplainLook { width: columns.or_else(terminal).unwrap_or(WIDEST).clamp(40, WIDEST), ascii: style.is_ascii(), colors }
}

fn base_name(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn nothing_found(name: &str) -> String {
    format!(
        "{}: no out-of-memory text and no account of an allocator in it. Looked for those of torch, TensorFlow, JAX, CuPy, RMM, Numba, CUDA.jl, Paddle, llama.cpp, Ollama, vLLM, SGLang, TGI, \
         TensorRT, ONNX Runtime, NCCL, cuBLAS, cuDNN, the driver and the kernel.\n\
         Next time keep both streams (python train.py 2>&1 | tee job.log) and a recording beside it (vramtop -l 1 --format json -o run.jsonl)",
        SafeText::new(name)
    )
}
