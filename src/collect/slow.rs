//! The slow lane: questions that hold the driver's lock for milliseconds, on a thread of their own and never unasked.
//!
//! Measured on H200s: process utilization takes 2.4 ms and stalls every GPU, energy 3 to 17 ms and stalls its own,
//! `PCIe` throughput sleeps 21 ms a direction.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

use super::nvml::Device;
use crate::model::{GpuId, PcieRate, Reading, UtilizationPercent};

/// How often process utilization is asked while somebody looks at it.
pub(super) const PERIOD_MS: u64 = 5_000;

/// What to ask.
pub(super) struct Question {
    pub(super) devices: Vec<(GpuId, Device)>,
    /// Energy and `PCIe` as well.
    pub(super) all: bool,
}

/// One device's answers.
pub(super) struct Answer {
    pub(super) gpu: GpuId,
    pub(super) asked: Reading<()>,
    pub(super) sm: Vec<(u32, UtilizationPercent)>,
    pub(super) pcie: Reading<PcieRate>,
    pub(super) energy_mj: Reading<u64>,
}

/// The slow lane's thread, seen from the lanes.
pub(super) struct SlowLane {
    questions: SyncSender<Question>,
    answers: Receiver<Answer>,
    next_ms: u64,
}

impl SlowLane {
    /// Starts the thread; `None` where the system gives none, and then the slow readings stay "not asked".
    pub(super) fn start(now_ms: u64) -> Option<Self> {
        let (questions, asked) = sync_channel::<Question>(1);
        // Room for the answers of every device, so that the thread never waits for the lanes.
        let (answer, answers) = sync_channel::<Answer>(256);
        let run = move || {
            let mut seen_us = 0;
            for question in asked {
                for (gpu, mut device) in question.devices {
                    let reply = ask(&gpu, &mut device, question.all, &mut seen_us);
                    if answer.send(reply).is_err() {
                        return;
                    }
                }
            }
        };
        thread::Builder::new().name("slow lane".into()).stack_size(256 * 1024).spawn(run).ok()?;
        Some(Self { questions, answers, next_ms: now_ms })
    }

    /// Asks, unless it is too early or the last question is still being answered.
    pub(super) fn ask(&mut self, now_ms: u64, question: impl FnOnce() -> Question) {
        if now_ms >= self.next_ms && self.questions.try_send(question()).is_ok() {
            self.next_ms = now_ms + PERIOD_MS;
        }
    }

    /// The answers that have come.
    pub(super) fn answers(&self) -> impl Iterator<Item = Answer> + '_ {
        self.answers.try_iter()
    }

    /// Waits for the answers of `devices` devices, for one-shot modes.
    pub(super) fn wait(&self, devices: usize, patience: Duration) -> Vec<Answer> {
        (0..devices).map_while(|_| self.answers.recv_timeout(patience).ok()).collect()
    }
}

fn ask(gpu: &GpuId, device: &mut Device, all: bool, seen_us: &mut u64) -> Answer {
    let mut samples = Vec::new();
    let asked = device.process_utilization(*seen_us, &mut samples);
    let mut sm: Vec<(u32, UtilizationPercent)> = Vec::with_capacity(samples.len());
    // The driver keeps several samples a process; the last one counts.
    samples.sort_unstable_by_key(|(pid, _, at)| (*pid, *at));
    for (pid, percent, _) in samples {
        match sm.last_mut() {
            Some(last) if last.0 == pid => last.1 = percent,
            _ => sm.push((pid, percent)),
        }
    }
    let (pcie, energy_mj) = if all { (device.pcie(), device.energy()) } else { (Reading::NOT_ASKED, Reading::NOT_ASKED) };
    Answer { gpu: gpu.clone(), asked, sm, pcie, energy_mj }
}
