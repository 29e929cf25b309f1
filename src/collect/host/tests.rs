//! The host's side over a made-up `/proc` and over real children.

use super::*;
use crate::model::RunState;

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Instant;

const HOST: &str = "pid:[4026531836]";
const CONTAINER: &str = "pid:[4026532198]";
const LONG: Duration = Duration::from_secs(10);

/// A `/proc` made of plain files.
struct FakeProc(tempfile::TempDir);

impl FakeProc {
    fn new(namespace: &str) -> Self {
        let fake = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(fake.0.path().join("self/ns")).unwrap();
        symlink(namespace, fake.0.path().join("self/ns/pid")).unwrap();
        fake
    }

    fn folder(&self, pid: u32) -> PathBuf {
        self.0.path().join(pid.to_string())
    }

    fn process(&self, pid: u32, state: char, start_ticks: u64, cmdline: &[u8]) -> &Self {
        let folder = self.folder(pid);
        fs::create_dir_all(folder.join("fd")).unwrap();
        let stat = format!("{pid} (python (x)) {state} 1 1 1 0 -1 4194304 9 0 0 0 3 4 0 0 20 0 1 0 {start_ticks} 5885952 417 0 0\n");
        fs::write(folder.join("stat"), stat).unwrap();
        fs::write(folder.join("status"), "Name:\tpython\nUid:\t4242\t0\t0\t0\n").unwrap();
        fs::write(folder.join("cmdline"), cmdline).unwrap();
        fs::write(folder.join("environ"), b"HOME=/root\0").unwrap();
        fs::write(folder.join("cgroup"), b"0::/\n").unwrap();
        self
    }

    /// Makes it the child of another.
    fn child_of(&self, pid: u32, parent: u32) -> &Self {
        let file = self.folder(pid).join("stat");
        let line = fs::read_to_string(&file).unwrap();
        let (name, rest) = line.rsplit_once(") ").unwrap();
        let mut fields: Vec<String> = rest.split(' ').map(str::to_owned).collect();
        fields[1] = parent.to_string();
        fs::write(file, format!("{name}) {}", fields.join(" "))).unwrap();
        self
    }

    fn opens(&self, pid: u32, device: &str) -> &Self {
        symlink(device, self.folder(pid).join("fd/3")).unwrap();
        self
    }

    /// A host whose user directory knows nobody.
    fn host(&self) -> Host {
        nameless(self.0.path())
    }
}

/// A child that is ended with the test.
struct Running(Child);

impl Running {
    fn start(program: &str, argument: &str) -> Self {
        Self(Command::new(program).arg(argument).stdout(Stdio::null()).spawn().unwrap())
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A host whose user directory knows nobody, so that no name arrives in the middle of a test.
fn nameless(root: &Path) -> Host {
    Host::with_users(root, Users::answered_by(|_| None))
}

fn proc() -> Host {
    nameless(Path::new("/proc"))
}

/// Tries until it works; a test that waits for a condition needs no fixed sleep.
fn until(mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < LONG, "the condition never came true");
        std::thread::yield_now();
    }
}

/// `spawn` returns when the child has begun to run its program; its memory is there a moment later.
fn until_named(pid: u32, name: &str) {
    until(|| fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.starts_with(name)));
}

fn meet(host: &mut Host, pids: &[u32]) -> Vec<Arc<ProcessFacts>> {
    let mut changed = Vec::new();
    host.meet(pids, &mut changed);
    changed
}

#[test]
fn a_pid_is_named_only_where_the_driver_must_mean_it() {
    let cases = [
        ("in the host's namespace", HOST, "/tmp/log", Visibility::Here),
        ("a container's stranger of the same number", CONTAINER, "/tmp/log", Visibility::NotHere),
        ("a container's own process", CONTAINER, "/dev/nvidia0", Visibility::Here),
        ("a container's CUDA process", CONTAINER, "/dev/nvidia-uvm", Visibility::Here),
        ("a WSL guest's own process", CONTAINER, "/dev/dxg", Visibility::Here),
        ("a disk is no GPU", CONTAINER, "/dev/nvme0", Visibility::NotHere),
        ("a file of that name elsewhere", CONTAINER, "/tmp/dev/nvidia0", Visibility::NotHere),
    ];
    for (case, namespace, file, expected) in cases {
        let fake = FakeProc::new(namespace);
        fake.process(37, 'S', 500, b"python\0train.py\0").opens(37, file);
        let mut host = fake.host();
        let changed = meet(&mut host, &[37]);
        assert_eq!(changed.len(), 1, "{case}");
        assert_eq!(changed[0].visibility, expected, "{case}");
        let ticks = if expected == Visibility::Here { Some(500) } else { None };
        assert_eq!(changed[0].key, ProcessKey { pid: 37, start_ticks: ticks }, "{case}");
        assert_eq!(changed[0].cmdline.len(), if expected == Visibility::Here { 2 } else { 0 }, "{case}");
    }
}

#[test]
fn this_program_is_not_what_the_driver_lists_in_another_namespace() {
    let fake = FakeProc::new(CONTAINER);
    let own = std::process::id();
    fake.process(own, 'R', 500, b"vramtop\0").opens(own, "/dev/nvidiactl");
    assert_eq!(*meet(&mut fake.host(), &[own])[0], ProcessFacts::unseen(own));
}

#[test]
fn a_listed_pid_without_a_process_keeps_a_row() {
    let mut host = FakeProc::new(HOST).host();
    assert_eq!(*meet(&mut host, &[6002])[0], ProcessFacts::unseen(6002));
    assert_eq!(meet(&mut host, &[6002]), [], "it is told once");
    host.refresh(&[6002], 0);
    assert_eq!(host.reading(6002), Reading::Absent(Absence::NotPermitted));
}

#[test]
fn facts_come_from_the_files() {
    let fake = FakeProc::new(HOST);
    fake.process(37, 'S', 500, b"python\0train.py\0--bs\x0016\0");
    let mut host = fake.host();
    let facts = meet(&mut host, &[37, 37]).remove(0);
    assert_eq!(facts.cmdline.iter().map(SafeText::as_str).collect::<Vec<_>>(), ["python", "train.py", "--bs", "16"]);
    // The folder is this test's own; where that is root, the real user stands in `status`.
    let uid = if getuid().is_root() { 4242 } else { getuid().as_raw() };
    assert_eq!(facts.user, Some(SafeText::new(&uid.to_string())));
    assert_eq!(facts.mine, !getuid().is_root());
    // 500 ticks of 10 ms.
    let boot_ms = i64::try_from(sysinfo::System::boot_time().unwrap()).unwrap() * 1_000;
    assert_eq!(facts.started, Some(Moment { unix_ms: boot_ms + 5_000 }));
}

#[test]
fn a_process_stuck_in_the_kernel_is_read_further_when_it_comes_back() {
    let fake = FakeProc::new(HOST);
    fake.process(37, 'D', 500, b"python\0train.py\0");
    let mut host = fake.host();
    let stuck = meet(&mut host, &[37]).remove(0);
    assert_eq!((stuck.visibility, stuck.what.as_str(), stuck.cmdline.len()), (Visibility::Here, "[python (x)]", 0));
    assert_eq!(meet(&mut host, &[37]), []);
    fake.process(37, 'S', 500, b"python\0train.py\0");
    let back = meet(&mut host, &[37]).remove(0);
    assert_eq!((back.key, back.cmdline.len()), (stuck.key, 2));
    assert_eq!(meet(&mut host, &[37]), []);
}

#[test]
fn a_parent_that_dies_stays_in_the_facts() {
    let fake = FakeProc::new(HOST);
    fake.process(20, 'S', 100, b"sh\0").process(37, 'D', 500, b"").child_of(37, 20);
    let mut host = fake.host();
    let first = meet(&mut host, &[37]).remove(0);
    let family = |facts: &ProcessFacts| (facts.parent, facts.ancestors.iter().map(|ancestor| ancestor.key.pid).collect::<Vec<_>>());
    assert_eq!(family(&first), (Some(20), vec![20]));
    // It is read once more, and is the child of the first process by then.
    fake.process(37, 'S', 500, b"python\0train.py\0");
    let again = meet(&mut host, &[37]).remove(0);
    assert_eq!((again.cmdline.len(), family(&again)), (2, (Some(20), vec![20])));
}

#[test]
fn a_pid_that_comes_back_is_another_process() {
    let fake = FakeProc::new(HOST);
    fake.process(37, 'S', 500, b"first\0");
    let mut host = fake.host();
    assert_eq!(meet(&mut host, &[37])[0].key.start_ticks, Some(500));
    fake.process(37, 'S', 900, b"second\0");
    assert_eq!(meet(&mut host, &[37]), [], "known PIDs cost nothing");
    host.retain(&|pid| pid != 37);
    assert_eq!(host.facts(37), None);
    assert_eq!(meet(&mut host, &[37])[0].key.start_ticks, Some(900));
}

#[test]
fn a_refresh_notices_that_a_pid_has_passed_on() {
    let child = Running::start("sleep", "600");
    let fake = FakeProc::new(HOST);
    // The made-up process started at boot, the real one of this PID did not.
    fake.process(child.pid(), 'S', 1, b"first\0");
    let mut host = fake.host();
    meet(&mut host, &[child.pid()]);
    fake.process(child.pid(), 'S', 2, b"second\0");
    host.refresh(&[child.pid()], 0);
    assert_eq!(host.reading(child.pid()), Reading::failed("process is gone"));
    assert_eq!(meet(&mut host, &[child.pid()])[0].key.start_ticks, Some(2));
}

#[test]
fn a_process_that_ends_keeps_its_name_and_loses_its_signals() {
    let child = Running::start("sleep", "600");
    let pid = child.pid();
    until_named(pid, "sleep");
    let mut host = proc();
    // A child that waits for its pages from the disk is in D state, and told further when it goes on.
    let mut changed = Vec::new();
    until(|| {
        host.meet(&[pid], &mut changed);
        changed.last().is_some_and(|facts| !facts.cmdline.is_empty())
    });
    let before = changed.remove(changed.len() - 1);
    assert_eq!(before.cmdline.iter().map(SafeText::as_str).collect::<Vec<_>>(), ["sleep", "600"]);
    assert!(before.mine);
    // Its file is kept open, and tells of nobody else.
    host.refresh(&[pid], 0);
    assert!(host.reading(pid).is_value());
    drop(child);
    host.refresh(&[pid], 1_000);
    assert_eq!(host.reading(pid), Reading::failed("process is gone"));
    let after = meet(&mut host, &[pid]).remove(0);
    assert_eq!((after.visibility, after.key, &after.what), (Visibility::NotHere, before.key, &before.what));
    assert_eq!(meet(&mut host, &[pid]), []);
}

#[test]
fn a_zombie_is_visible_under_the_kernels_name() {
    let mut child = Running::start("sleep", "600");
    until_named(child.pid(), "sleep");
    child.0.kill().unwrap();
    let stat = |pid: u32| fs::read(format!("/proc/{pid}/stat")).ok().and_then(|line| stat::Stat::parse(&line));
    until(|| stat(child.pid()).is_some_and(|stat| stat.state == 'Z'));
    let mut host = proc();
    let facts = meet(&mut host, &[child.pid()]).remove(0);
    assert_eq!((facts.visibility, facts.what.as_str()), (Visibility::Here, "[sleep]"));
    host.refresh(&[child.pid()], 0);
    assert_eq!(host.reading(child.pid()).get().map(|reading| (reading.rss, reading.state)), Some((Bytes::ZERO, RunState('Z'))));
}

#[test]
fn cpu_time_is_counted_between_refreshes() {
    let idle = Running::start("sleep", "600");
    let busy = Running::start("yes", "x");
    let (idle, busy) = (idle.pid(), busy.pid());
    until_named(idle, "sleep");
    until_named(busy, "yes");
    let mut host = proc();
    meet(&mut host, &[idle, busy]);
    assert_eq!(host.reading(idle), Reading::NOT_ASKED);
    host.refresh(&[idle, busy, busy], 10_000);
    let first = host.reading(busy).get().unwrap();
    assert_eq!(first.cpu_permille, None, "nothing to compare with yet");
    // It bears its name before it has read much of itself in.
    assert!(host.reading(idle).get().is_some_and(|reading| reading.rss > Bytes::ZERO && reading.rss < Bytes::mib(64)));
    // The clock is made up: one second passes while `yes` burns at least one tick of 10 ms.
    let mut now_ms = 10_000;
    until(|| {
        now_ms += 1_000;
        host.refresh(&[busy], now_ms);
        host.reading(busy).get().and_then(|reading| reading.cpu_permille).is_some_and(|permille| permille >= 10)
    });
    assert_eq!(host.reading(idle), Reading::NOT_ASKED, "it was not in the last refresh");
    host.refresh(&[idle], now_ms + 1_000);
    assert_eq!(host.reading(idle).get().map(|reading| (reading.cpu_permille, reading.state)), Some((Some(0), RunState('S'))));
}

#[test]
fn usage_is_what_the_line_says() {
    let fake = FakeProc::new(HOST);
    fake.process(37, 'S', 500, b"python\0");
    let units = KernelUnits { ticks_per_s: 100, page_bytes: 4096 };
    let usage = StatFile::open(fake.0.path(), "37").and_then(|stat| stat.usage(units));
    // 3 ticks in user mode and 4 in the kernel, of 10 ms each; 417 pages.
    assert_eq!(usage, Some(Usage { cpu_ms: 70, rss: Bytes(1_708_032), state: RunState('S'), start_ticks: 500 }));
}

#[test]
fn a_share_of_no_time_is_unknown() {
    assert_eq!(permille(250, 1_000), Some(250));
    assert_eq!(permille(4_000, 1_000), Some(4_000));
    assert_eq!(permille(1, 0), None);
}

#[test]
fn a_users_name_arrives_later() {
    let fake = FakeProc::new(HOST);
    fake.process(37, 'S', 500, b"python\0");
    let (directory, names) = channel::<&str>();
    let mut host = Host::with_users(fake.0.path(), Users::answered_by(move |_| names.recv().ok().map(SafeText::new)));
    let number = meet(&mut host, &[37]).remove(0);
    assert!(number.user.as_ref().is_some_and(|user| user.as_str().parse::<u32>().is_ok()));
    let mut changed = Vec::new();
    host.wait_for_users(Duration::ZERO, &mut changed);
    assert_eq!(changed, [], "the directory is silent");
    directory.send("alice").unwrap();
    until(|| {
        host.meet(&[37], &mut changed);
        !changed.is_empty()
    });
    assert_eq!(*changed[0], ProcessFacts { user: Some(SafeText::new("alice")), ..(*number).clone() });
    assert_eq!(meet(&mut host, &[37]), []);
}

#[test]
fn one_shot_modes_wait_a_moment_for_names() {
    let mut host = Host::new(Path::new("/proc"));
    let own = std::process::id();
    let mut changed = meet(&mut host, &[own]);
    host.wait_for_users(LONG, &mut changed);
    let name = nix::unistd::User::from_uid(getuid()).ok().flatten().map(|user| SafeText::new(&user.name));
    let expected = name.unwrap_or_else(|| SafeText::new(&getuid().to_string()));
    assert_eq!(host.facts(own).and_then(|facts| facts.user.clone()), Some(expected));
}

#[test]
fn a_budget_bounds_what_is_read_at_once() {
    let fake = FakeProc::new(HOST);
    for pid in 1..=5 {
        fake.process(pid, 'S', 500, b"python\0");
    }
    let mut host = fake.host();
    let pids = [1, 2, 3, 4, 5];
    let mut changed = Vec::new();
    assert!(!host.meet_some(&pids, 2, &mut changed));
    assert_eq!((changed.len(), host.facts(3)), (2, None));
    assert!(!host.meet_some(&pids, 2, &mut changed));
    assert!(host.meet_some(&pids, 2, &mut changed));
    assert_eq!(changed.len(), 5);
}

#[test]
fn own_cost_grows_and_the_machine_has_memory() {
    let mut host = proc();
    let (before, rss) = host.own();
    assert!(rss.is_some_and(|rss| rss > Bytes::mib(1)));
    let mut last = before;
    until(|| {
        let (now, _) = host.own();
        assert!(now >= last, "CPU time never shrinks");
        last = now;
        now > before
    });
    let pool = host.pool().get().unwrap();
    assert!(pool.total > Bytes::mib(64) && pool.available <= pool.total && pool.available > Bytes::ZERO);
    assert!(!Host::hostname().as_str().is_empty());
}

/// What meeting and refreshing cost; run it by name in a release build with `--nocapture`.
#[test]
#[ignore = "a measurement: it starts a thousand processes"]
fn cost_of_a_thousand_processes() {
    let children: Vec<Running> = (0..1_000).map(|_| Running::start("sleep", "600")).collect();
    let pids: Vec<u32> = children.iter().map(Running::pid).collect();
    let asleep =
        |pid: &u32| fs::read(format!("/proc/{pid}/stat")).ok().and_then(|line| stat::Stat::parse(&line)).is_some_and(|stat| stat.state == 'S');
    until(|| pids.iter().all(asleep));
    let mut host = proc();
    let (_, rss) = host.own();
    // CPU time too: whatever else runs on the machine is not in it.
    let timed = |name: &str, work: &mut dyn FnMut()| {
        let (start, cpu_us) = (Instant::now(), proc().own().0);
        work();
        println!("{name}: {:?}, CPU {} us", start.elapsed(), proc().own().0.zip(cpu_us).map_or(0, |(now, before)| now - before));
    };
    timed("meet 1000 fresh", &mut || assert_eq!(meet(&mut host, &pids).len(), 1_000));
    timed("meet 1000 fresh, once more", &mut || assert_eq!(meet(&mut proc(), &pids).len(), 1_000));
    timed("meet 1000 known", &mut || assert!(meet(&mut host, &pids).len() <= 1_000));
    println!("RSS grew by {} KiB", host.own().1.zip(rss).map_or(0, |(now, before)| now.saturating_sub(before).0 / 1024));
    for at in 1..=3_u64 {
        timed("refresh 40", &mut || host.refresh(&pids[..40], at * 1_000));
        timed("refresh 3", &mut || host.refresh(&pids[..3], at * 1_000));
    }
    timed("refresh 1000", &mut || host.refresh(&pids, 4_000));
    println!("RSS grew by {} KiB", host.own().1.zip(rss).map_or(0, |(now, before)| now.saturating_sub(before).0 / 1024));
    timed("refresh 3 (drops sysinfo's table)", &mut || host.refresh(&pids[..3], 5_000));
    timed("pool", &mut || assert!(host.pool().is_value()));
    timed("own", &mut || assert!(host.own().0 > Some(0)));
}
