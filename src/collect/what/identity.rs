//! Who a process is in something bigger: its rank, its batch job, its container.
//!
//! It holds the tables of variables and cgroup names that say so. It refuses to guess: text that
//! does not have the documented form says nothing.

use super::{Rank, text};

type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Where launchers write the rank.
struct RankSource {
    rank: &'static str,
    world: &'static str,
    local: &'static str,
    /// Whether a world of one says nothing, because a scheduler sets it for every program.
    needs_company: bool,
}

const RANKS: &[RankSource] = &[
    // https://pytorch.org/docs/stable/elastic/run.html#environment-variables (accelerate, deepspeed too)
    RankSource { rank: "RANK", world: "WORLD_SIZE", local: "LOCAL_RANK", needs_company: false },
    // https://docs.open-mpi.org/en/main/tuning-apps/environment-var.html
    RankSource { rank: "OMPI_COMM_WORLD_RANK", world: "OMPI_COMM_WORLD_SIZE", local: "OMPI_COMM_WORLD_LOCAL_RANK", needs_company: false },
    // The process manager of MPICH and Intel MPI; Slurm sets these too.
    RankSource { rank: "PMI_RANK", world: "PMI_SIZE", local: "MPI_LOCALRANKID", needs_company: true },
    // https://slurm.schedmd.com/srun.html#SECTION_OUTPUT-ENVIRONMENT-VARIABLES
    RankSource { rank: "SLURM_PROCID", world: "SLURM_NTASKS", local: "SLURM_LOCALID", needs_company: true },
];

/// Slurm's step ids from here on are not steps: 4294967290 interactive, …291 batch, …292 extern.
const SLURM_SPECIAL_STEPS: u32 = 0xffff_fff0;

/// The rank of a process, from the first launcher that gives a sound one.
pub(super) fn rank(env: Env<'_>) -> Option<Rank> {
    RANKS.iter().find_map(|source| {
        let number = |name| env(name)?.trim().parse::<u32>().ok();
        let rank = number(source.rank)?;
        let world = number(source.world);
        let local = number(source.local).filter(|local| *local <= rank);
        let sound = world.is_none_or(|world| rank < world) && (!source.needs_company || world.is_some_and(|world| world > 1));
        sound.then_some(Rank { rank, world, local })
    })
}

/// The batch job of a process, from its environment or else from its cgroup, which may be read
/// where the environment may not.
pub(super) fn job(env: Env<'_>, cgroup: &str) -> Option<String> {
    let id = |name| env(name).filter(|id| is_id(id));
    let slurm = || id("SLURM_JOB_ID").map(|job| slurm_job(&job, id("SLURM_STEP_ID").as_deref()));
    let pbs = || id("PBS_JOBID").map(|job| format!("pbs {}", job.split('.').next().unwrap_or(&job)));
    let lsf = || id("LSB_JOBID").map(|job| format!("lsf {job}"));
    let ray = || id("RAY_JOB_ID").map(|job| format!("ray {job}"));
    slurm().or_else(pbs).or_else(lsf).or_else(|| slurm_cgroup(cgroup)).or_else(ray)
}

/// `slurm 48211.0`, or `slurm 48211` where the step is none of the user's.
fn slurm_job(job: &str, step: Option<&str>) -> String {
    match step.and_then(|step| step.parse::<u32>().ok()).filter(|step| *step < SLURM_SPECIAL_STEPS) {
        Some(step) => format!("slurm {job}.{step}"),
        None => format!("slurm {job}"),
    }
}

/// Slurm's cgroups: `…/slurm/uid_1000/job_48211/step_0/…` and `…/slurmstepd.scope/job_48211/step_0/…`.
fn slurm_cgroup(cgroup: &str) -> Option<String> {
    let mut parts = parts(cgroup).skip_while(|part| !part.starts_with("slurm"));
    let job = parts.by_ref().find_map(|part| part.strip_prefix("job_")).filter(|job| is_id(job))?;
    let step = parts.next().and_then(|part| part.strip_prefix("step_"));
    Some(slurm_job(job, step))
}

/// Whether a job's id has the form of one.
fn is_id(id: &str) -> bool {
    (1..=64).contains(&id.len()) && id.chars().all(|c| c.is_ascii_alphanumeric() || "._-[]".contains(c))
}

/// The container of a process: the innermost that its cgroup names, or else Apptainer's, which
/// makes no cgroup of its own.
pub(super) fn container(env: Env<'_>, cgroup: &str) -> Option<String> {
    let image = || env("APPTAINER_NAME").or_else(|| env("SINGULARITY_NAME"));
    let apptainer = || image().map(|image| format!("apptainer {}", text::clean(text::base(text::cut(&image, 128)))));
    cgroup_container(cgroup).or_else(apptainer).filter(|name| !name.ends_with(' '))
}

/// How the names of containers' cgroups begin, with systemd, and who makes them.
const SCOPES: &[(&str, &str)] =
    &[("docker-", "docker"), ("libpod-", "podman"), ("cri-containerd-", "containerd"), ("nerdctl-", "containerd"), ("crio-", "cri-o")];
/// The cgroups above a bare id, without systemd.
const PARENTS: &[(&str, &str)] = &[
    ("docker", "docker"),
    ("libpod_parent", "podman"),
    ("machine.slice", "podman"),
    ("cri-containerd", "containerd"),
    ("crio", "cri-o"),
    ("kubepods", "k8s"),
];

fn cgroup_container(cgroup: &str) -> Option<String> {
    let mut found = None;
    let mut pod = None;
    let mut parent = "container";
    for part in parts(cgroup) {
        let name = part.strip_suffix(".scope").or_else(|| part.strip_suffix(".slice")).unwrap_or(part);
        let scope = SCOPES.iter().find_map(|(start, maker)| Some((*maker, name.strip_prefix(start)?)));
        let (maker, id) = scope.unwrap_or((parent, name));
        if let Some(id) = container_id(id) {
            found = Some(format!("{maker} {id}"));
        } else if let Some(name) = machine(part, parent) {
            found = Some(name);
        }
        pod = pod_uid(name).or(pod);
        parent = match PARENTS.iter().find(|(start, _)| part.starts_with(start)) {
            Some((_, maker)) => maker,
            None if part == "lxc" || part == "lxc.payload" => "lxc",
            None if parent == "lxc" => "container",
            None => parent,
        };
    }
    found.or_else(|| pod.map(|uid| format!("k8s pod {uid}")))
}

/// The parts of a cgroup's paths; `cri-containerd:<id>` is two.
fn parts(cgroup: &str) -> impl Iterator<Item = &str> {
    text::cut(cgroup, 16 * 1024).split(['/', ':', '\n']).map(str::trim).filter(|part| !part.is_empty())
}

/// The first 12 digits of a container's id of 64, as the tools print it.
fn container_id(id: &str) -> Option<&str> {
    if id.len() == 64 && id.bytes().all(|byte| byte.is_ascii_hexdigit()) { id.get(..12) } else { None }
}

/// Containers with names: `lxc/NAME`, `lxc.payload.NAME`, systemd-nspawn's `machine-NAME.scope`.
fn machine(part: &str, parent: &str) -> Option<String> {
    let named = |maker: &str, name: &str| Some(format!("{maker} {}", text::clean(&name.replace("\\x2d", "-"))));
    if let Some(name) = part.strip_prefix("lxc.payload.") {
        return named("lxc", name);
    }
    if parent == "lxc" {
        return named("lxc", part);
    }
    let nspawn = part.strip_prefix("machine-").and_then(|name| name.strip_suffix(".scope"));
    // libvirt's virtual machines are `machine-qemu…`: their insides are not containers.
    nspawn.filter(|name| !name.starts_with("qemu")).and_then(|name| named("nspawn", name))
}

/// The first block of a Kubernetes pod's uid: `kubepods-burstable-pod8f5d0c2e_1b2c_….slice`, or `pod8f5d0c2e-…`.
fn pod_uid(name: &str) -> Option<&str> {
    let uid = name.strip_prefix("pod").or_else(|| name.strip_prefix("kubepods").and_then(|rest| rest.rsplit_once("-pod")).map(|(_, uid)| uid))?;
    let first = uid.split(['-', '_']).next()?;
    (first.len() == 8 && first.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(first)
}
