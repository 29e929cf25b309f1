//! Ranks, jobs and containers.

use super::super::Rank;
use super::{Variable, named};

const ID: &str = "3f2a9c11be04aa55aa55aa55aa55aa55aa55aa55aa55aa55aa55aa55aa55aa55";

fn rank(env: &[Variable<'_>]) -> Option<(u32, Option<u32>, Option<u32>)> {
    named("x", &[], env, "").rank.map(|Rank { rank, world, local }| (rank, world, local))
}

fn job(env: &[Variable<'_>], cgroup: &str) -> Option<String> {
    named("x", &[], env, cgroup).job
}

fn container(env: &[Variable<'_>], cgroup: &str) -> Option<String> {
    named("x", &[], env, &cgroup.replace("ID", ID)).container
}

#[test]
fn ranks_come_from_launchers() {
    assert_eq!(rank(&[]), None);
    let torch = [("RANK", "3"), ("WORLD_SIZE", "8"), ("LOCAL_RANK", "1")];
    assert_eq!(rank(&torch), Some((3, Some(8), Some(1))));
    assert_eq!(rank(&[("RANK", "0")]), Some((0, None, None)));
    let ompi = [("OMPI_COMM_WORLD_RANK", "5"), ("OMPI_COMM_WORLD_SIZE", "16"), ("OMPI_COMM_WORLD_LOCAL_RANK", "5")];
    assert_eq!(rank(&ompi), Some((5, Some(16), Some(5))));
    assert_eq!(rank(&[("PMI_RANK", "2"), ("PMI_SIZE", "4")]), Some((2, Some(4), None)));
    let slurm = [("SLURM_PROCID", "1"), ("SLURM_NTASKS", "4"), ("SLURM_LOCALID", "1")];
    assert_eq!(rank(&slurm), Some((1, Some(4), Some(1))));
}

#[test]
fn nonsense_is_no_rank() {
    assert_eq!(rank(&[("RANK", "-1"), ("WORLD_SIZE", "8")]), None);
    assert_eq!(rank(&[("RANK", "first")]), None);
    assert_eq!(rank(&[("RANK", "99999999999999")]), None);
    assert_eq!(rank(&[("RANK", "8"), ("WORLD_SIZE", "8")]), None);
    assert_eq!(rank(&[("RANK", "0"), ("WORLD_SIZE", "0")]), None);
    assert_eq!(rank(&[("LOCAL_RANK", "1")]), None);
    // A plain sbatch sets PROCID 0 of 1, or of none.
    assert_eq!(rank(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "1")]), None);
    assert_eq!(rank(&[("SLURM_PROCID", "0")]), None);
    // A source that makes no sense leaves the word to the next.
    let both = [("RANK", "?"), ("SLURM_PROCID", "1"), ("SLURM_NTASKS", "2")];
    assert_eq!(rank(&both), Some((1, Some(2), None)));
}

#[test]
fn a_rank_reads_as_words() {
    let rank = |world| Rank { rank: 3, world, local: None }.to_string();
    assert_eq!(rank(Some(8)), "rank 3 of 8");
    assert_eq!(rank(None), "rank 3");
}

#[test]
fn jobs_come_from_schedulers() {
    let slurm = |step| job(&[("SLURM_JOB_ID", "48211"), ("SLURM_STEP_ID", step)], "");
    assert_eq!(slurm("0").as_deref(), Some("slurm 48211.0"));
    assert_eq!(slurm("4294967291").as_deref(), Some("slurm 48211"));
    assert_eq!(slurm("x").as_deref(), Some("slurm 48211"));
    assert_eq!(job(&[("SLURM_JOB_ID", "7")], "").as_deref(), Some("slurm 7"));
    assert_eq!(job(&[("PBS_JOBID", "1234.pbs01")], "").as_deref(), Some("pbs 1234"));
    assert_eq!(job(&[("PBS_JOBID", "1234[5].pbs01")], "").as_deref(), Some("pbs 1234[5]"));
    assert_eq!(job(&[("LSB_JOBID", "991")], "").as_deref(), Some("lsf 991"));
    assert_eq!(job(&[("RAY_JOB_ID", "01000000")], "").as_deref(), Some("ray 01000000"));
    assert_eq!(job(&[("SLURM_JOB_ID", "")], ""), None);
    assert_eq!(job(&[("SLURM_JOB_ID", "4 \x1b[2J")], ""), None);
}

#[test]
fn a_slurm_job_shows_in_the_cgroup_too() {
    let v1 = "4:memory:/slurm/uid_1000/job_48211/step_3/task_0";
    assert_eq!(job(&[], v1).as_deref(), Some("slurm 48211.3"));
    let v2 = "0::/system.slice/slurmstepd.scope/job_48211/step_batch/user/task_0\n";
    assert_eq!(job(&[], v2).as_deref(), Some("slurm 48211"));
    assert_eq!(job(&[], "0::/user.slice/job_5"), None);
}

#[test]
fn containers_come_from_cgroups() {
    let cases = [
        ("0::/system.slice/docker-ID.scope", "docker 3f2a9c11be04"),
        ("12:memory:/docker/ID\n11:cpu:/docker/ID\n", "docker 3f2a9c11be04"),
        ("/docker/ID", "docker 3f2a9c11be04"),
        ("0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-ID.scope/container", "podman 3f2a9c11be04"),
        ("0::/libpod_parent/libpod-ID", "podman 3f2a9c11be04"),
        (
            "0::/kubepods.slice/kubepods-burstable.slice/\
             kubepods-burstable-pod8f5d0c2e_1b2c_4d3e_9f00_aabbccddeeff.slice/cri-containerd-ID.scope",
            "containerd 3f2a9c11be04",
        ),
        ("1:cpu:/system.slice/containerd.service/kubepods-pod8f5d0c2e_1b2c.slice:cri-containerd:ID", "containerd 3f2a9c11be04"),
        ("1:cpu:/kubepods/burstable/pod8f5d0c2e-1b2c-4d3e-9f00-aabbccddeeff/ID", "k8s 3f2a9c11be04"),
        ("0::/kubepods.slice/kubepods-pod8f5d0c2e_1b2c_4d3e_9f00_aabbccddeeff.slice", "k8s pod 8f5d0c2e"),
        ("0::/lxc/web01/init.scope", "lxc web01"),
        ("0::/lxc.payload.web01/system.slice", "lxc web01"),
        ("0::/machine.slice/machine-build\\x2dbox.scope/payload", "nspawn build-box"),
    ];
    for (cgroup, expected) in cases {
        assert_eq!(container(&[], cgroup).as_deref(), Some(expected), "{cgroup}");
    }
}

#[test]
fn other_cgroups_are_no_containers() {
    let cases = [
        "",
        "0::/",
        "0::/user.slice/user-1000.slice/session-3.scope",
        "0::/system.slice/docker.service",
        "0::/system.slice/docker-3f2a.scope",
        "0::/machine.slice/libpod-conmon-ID.scope",
        "0::/machine.slice/machine-qemu\\x2d1\\x2dvm.scope",
        "0::/system.slice/lxc.monitor.web01",
        "::::////\n\n",
    ];
    for cgroup in cases {
        assert_eq!(container(&[], cgroup), None, "{cgroup}");
    }
}

#[test]
fn apptainer_shows_in_the_environment_only() {
    let session = "0::/user.slice/user-1000.slice/session-3.scope";
    let apptainer = [("APPTAINER_NAME", "pytorch.sif")];
    assert_eq!(container(&apptainer, session).as_deref(), Some("apptainer pytorch.sif"));
    let singularity = [("SINGULARITY_NAME", "/images/tf.sif")];
    assert_eq!(container(&singularity, session).as_deref(), Some("apptainer tf.sif"));
    assert_eq!(container(&[("APPTAINER_NAME", " ")], session), None);
}
