//! Recordings of every shape that a source can send, for properties.

use std::sync::Arc;

use proptest::prelude::*;
use vramtop::model::{
    Absence, Ancestor, Bytes, DeviceMemory, Event, EventKind, Fault, GpuFacts, GpuId, GpuSample, GpuState, Header, HostReading, Kind, Lane,
    LanePoint, ListState, Moment, OwnCost, PcieRate, ProcessFacts, ProcessKey, ProcessSample, Rank, Reading, Record, RunState, SafeText, Sample,
    Telemetry, Throttle, Untracked, UtilizationPercent, Visibility,
};

fn any_text() -> impl Strategy<Value = SafeText> {
    any::<String>().prop_map(|text| SafeText::new(&text))
}

/// Boxed, as trees of many strategies outgrow a test's stack.
fn reading<T: Clone + std::fmt::Debug + 'static>(value: impl Strategy<Value = T> + 'static) -> BoxedStrategy<Reading<T>> {
    prop_oneof![value.prop_map(Reading::Value), absence().prop_map(Reading::Absent)].boxed()
}

fn absence() -> BoxedStrategy<Absence> {
    prop_oneof![
        Just(Absence::NotSupported),
        Just(Absence::NotPermitted),
        Just(Absence::NotAsked),
        Just(Absence::NotYet),
        any::<u64>().prop_map(Absence::StaleSince),
        any_text().prop_map(|text| Absence::Failed(text.as_str().to_owned().into())),
    ]
    .boxed()
}

fn moment() -> impl Strategy<Value = Moment> {
    (0..4_000_000_000_000_i64).prop_map(|unix_ms| Moment { unix_ms })
}

fn option<T: std::fmt::Debug>(value: impl Strategy<Value = T>) -> impl Strategy<Value = Option<T>> {
    proptest::option::of(value)
}

prop_compose! {
    fn any_facts(at: usize)(
        whole in (option(any::<u32>()), option(any::<u32>()), option(any_text()), option(any_text()), any_text(), any::<bool>()),
        figures in (reading(any::<u64>()), reading(any::<u32>()), reading(any::<u32>()), reading(any::<u32>()), reading(any::<u64>()), reading(any::<bool>())),
    ) -> Arc<GpuFacts> {
        let (index, instance, parent, pci, name, shared_with_host) = whole;
        let (total, power_limit_mw, max_sm_mhz, max_memory_mhz, bar1_total, mig) = figures;
        let parent = parent.map(|id| GpuId::new(id.as_str()));
        let (total, bar1_total) = (total.map(Bytes), bar1_total.map(Bytes));
        let id = GpuId::new(&format!("GPU-{at}"));
        Arc::new(GpuFacts { id, index, instance, parent, pci, name, total, shared_with_host, power_limit_mw, max_sm_mhz, max_memory_mhz, bar1_total, mig })
    }
}

prop_compose! {
    fn any_header(gpus: usize)(
        texts in (any_text(), any_text(), option(any_text()), option(any_text())),
        time in moment(), interval_ms in 1..=86_400_000_u64, memory_hz in any::<u32>(),
        gpus in (0..gpus).map(|at| any_facts(at).boxed()).collect::<Vec<_>>(),
    ) -> Header {
        let (version, host, driver, cuda) = texts;
        Header { time, version, host, driver, cuda, interval_ms, memory_hz, gpus }
    }
}

fn any_memory() -> impl Strategy<Value = Reading<DeviceMemory>> {
    let amounts = (1..1_u64 << 50, 0.0..=1.0_f64, 0.0..=1.0_f64, 0..3);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "shares of amounts below 2^50")]
    let memory = amounts.prop_map(|(total, used, driver, source)| {
        let used = (total as f64 * used) as u64;
        let driver = ((total - used) as f64 * driver) as u64;
        match source {
            0 => DeviceMemory::new(total, used, 0, Some(driver)),
            1 => DeviceMemory::new(total, used, 0, None),
            _ => DeviceMemory::shared(Bytes(total), Bytes(driver), (!used.is_multiple_of(4)).then_some(Bytes(used))),
        }
        .get()
        .expect("adds up")
    });
    reading(memory)
}

fn any_lane() -> impl Strategy<Value = Lane> {
    proptest::collection::vec((0..1_u64 << 40, option(any::<u64>())), 0..80).prop_map(|points| {
        let mut lane = Lane::default();
        for (at_ms, used) in points {
            lane.push(LanePoint { at_ms, used: used.map(Bytes) });
        }
        lane
    })
}

prop_compose! {
    fn any_telemetry()(
        shares in proptest::array::uniform4(reading((0..=100_u32).prop_map(|n| UtilizationPercent::new(n).expect("at most 100")))),
        figures in proptest::array::uniform6(reading(any::<u32>())),
        pstate in reading(any::<u8>()),
        counts in proptest::array::uniform3(reading(any::<u64>())),
        pcie in reading((any::<u64>(), any::<u64>()).prop_map(|(sent, received)| PcieRate { sent, received })),
    ) -> Telemetry {
        let [gpu, bus, encoder, decoder] = shares;
        let [temperature_c, fan_percent, power_mw, sm_mhz, memory_mhz, remapped_rows] = figures;
        let [throttle, ecc_errors, energy_mj] = counts;
        let throttle = throttle.map(Throttle);
        Telemetry {
            gpu, bus, encoder, decoder, temperature_c, fan_percent, power_mw, sm_mhz, memory_mhz, pstate, throttle, ecc_errors, remapped_rows, pcie, energy_mj,
            asked: Vec::new(),
        }
    }
}

prop_compose! {
    fn any_gpu(at: usize, elapsed_ms: u64)(
        state in prop_oneof![
            Just(GpuState::Present),
            (0..=elapsed_ms).prop_map(|since_ms| GpuState::Lost { since_ms }),
            (0..=elapsed_ms).prop_map(|since_ms| GpuState::Asleep { since_ms }),
        ],
        memory in any_memory(), lane in any_lane(),
        processes in reading(prop_oneof![Just(ListState::Fresh), absence().prop_map(ListState::Partial)]),
        untracked in (any::<u32>(), proptest::option::of(any::<u64>())), telemetry in any_telemetry().boxed(),
    ) -> GpuSample {
        GpuSample { id: GpuId::new(&format!("GPU-{at}")), state, memory, lane, processes, untracked: Untracked { count: untracked.0, memory: untracked.1.map(Bytes) }, telemetry }
    }
}

prop_compose! {
    fn any_process(pid: u32)(
        start_ticks in option(any::<u64>()), here in any::<bool>(), mine in any::<bool>(),
        texts in (option(any_text()), any_text(), any_text(), option(any_text()), option(any_text())),
        cmdline in proptest::collection::vec(any_text(), 0..4),
        rank in option((any::<u32>(), option(any::<u32>()), option(any::<u32>()))), started in option(moment()), parent in option(any::<u32>()),
        ancestors in proptest::collection::vec((key(), any_text()).prop_map(|(key, name)| Ancestor { key, name }), 0..4),
    ) -> Arc<ProcessFacts> {
        let (user, what, what_full, container, job) = texts;
        let visibility = if here { Visibility::Here } else { Visibility::NotHere };
        let rank = rank.map(|(rank, world, local)| Rank { rank, world, local });
        Arc::new(ProcessFacts { key: ProcessKey { pid, start_ticks }, visibility, user, mine, what, what_full, cmdline, container, job, rank, started, parent, ancestors })
    }
}

prop_compose! {
    fn any_row(gpus: usize, facts: Vec<Arc<ProcessFacts>>)(
        gpu in 0..gpus, facts in proptest::sample::select(facts), lists in any::<(bool, bool, bool)>(),
        memory in reading(any::<u64>()), range in option((any::<u64>(), any::<u64>())),
        sm_percent in reading((0..=100_u32).prop_map(|n| UtilizationPercent::new(n).expect("at most 100"))),
        host in reading((option(any::<u32>()), any::<u64>(), proptest::char::range('!', '~'))),
    ) -> ProcessSample {
        let host = host.map(|(cpu_permille, rss, state)| HostReading { cpu_permille, rss: Bytes(rss), state: RunState(state) });
        let kind = Kind { compute: lists.0, graphics: lists.1, mps: lists.2 };
        ProcessSample { gpu, facts, kind, memory: memory.map(Bytes), range: range.map(|(a, b)| (Bytes(a), Bytes(b))), sm_percent, host }
    }
}

fn any_sample(gpus: usize, facts: Vec<Arc<ProcessFacts>>) -> impl Strategy<Value = Record> {
    (moment(), 0..1_u64 << 53).prop_flat_map(move |(time, elapsed_ms)| {
        let devices = (0..gpus).map(|at| any_gpu(at, elapsed_ms).boxed()).collect::<Vec<_>>();
        let rows = proptest::collection::vec(any_row(gpus, facts.clone()).boxed(), 0..5);
        let fault = (option(0..9_u8), prop_oneof![Just("memory"), Just("process utilization"), Just("pci")], any_text());
        let faults = proptest::collection::vec(fault, 0..3);
        (devices, rows, faults, any::<(Option<u32>, Option<u32>, Option<u64>)>()).prop_map(move |(gpus, processes, faults, own)| {
            let fault = |(gpu, call, reason): (Option<u8>, _, _)| Fault { gpu: gpu.map(|n| GpuId::new(&format!("GPU-{n}"))), call, reason };
            let faults = faults.into_iter().map(fault).collect();
            let own = OwnCost { cpu_permille: own.0, driver_us_per_s: own.1, rss: own.2.map(Bytes) };
            Record::Sample(Box::new(Sample { time, elapsed_ms, gpus, processes, faults, own }))
        })
    })
}

fn key() -> impl Strategy<Value = ProcessKey> {
    (any::<u32>(), option(any::<u64>())).prop_map(|(pid, start_ticks)| ProcessKey { pid, start_ticks })
}

fn any_event() -> impl Strategy<Value = Record> {
    let kind = prop_oneof![
        any::<u64>().prop_map(|ms| EventKind::Gap { ms }),
        any_text().prop_map(EventKind::Lost),
        Just(EventKind::Found),
        key().prop_map(EventKind::Untracked),
        key().prop_map(EventKind::Tracked)
    ];
    (moment(), 0..1_u64 << 53, option(any_text()), kind)
        .prop_map(|(time, elapsed_ms, gpu, kind)| Record::Event(Event { time, elapsed_ms, gpu: gpu.map(|id| GpuId::new(id.as_str())), kind }))
}

/// A header, the processes, and samples and events of them: any that a source can send.
pub(crate) fn any_recording() -> impl Strategy<Value = Vec<Record>> {
    let processes = (1..5_u32).map(|pid| any_process(pid).boxed()).collect::<Vec<_>>();
    (1..4_usize, processes).prop_flat_map(|(gpus, facts)| {
        let told: Vec<Record> = facts.iter().map(|facts| Record::Process { gpu: GpuId::new("GPU-0"), facts: Arc::clone(facts) }).collect();
        let later = proptest::collection::vec(prop_oneof![2 => any_sample(gpus, facts).boxed(), 1 => any_event().boxed()], 0..4);
        (any_header(gpus).boxed(), later).prop_map(move |(header, later)| {
            let mut records = vec![Record::Header(Arc::new(header))];
            records.extend(told.iter().cloned());
            records.extend(later);
            records
        })
    })
}
