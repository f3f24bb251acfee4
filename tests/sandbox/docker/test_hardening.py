"""What the engine itself says of a container of ours while it waits for its job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sandtable.sandbox.docker.engine import APP, INSTANCE, KIND, NAME, OWNER, WARM
from sandtable.sandbox.docker.executor import DockerExecutor
from sandtable.sandbox.docker.hardening import Able, Mount, Size, mounts_of, specification
from sandtable.sandbox.job import Job, Limits
from tests.sandbox.docker.engine import containers, inspect
from tests.sandbox.stores import OTHER_VERSION, VERSION, Store, sql_job

_NEEDED = pytest.mark.needs("docker_images")
_MB = 1 << 20


async def _waiting(executor: DockerExecutor, job: Job) -> dict[str, Any]:
    await executor.warm(job)
    (name,) = containers(executor.instance)
    return inspect(name)


@_NEEDED
async def test_every_wall_stands(executor: DockerExecutor, store: Store) -> None:
    if (await executor._engine.facts()).name == "podman":
        pytest.skip("podman (describes containers otherwise; the tests of processes hold for it)")
    found = await _waiting(executor, sql_job(store, "job", "", memory_mb=300, tmp_mb=32, pids=20))
    config, host = found["Config"], found["HostConfig"]
    assert found["State"]["Running"]
    assert config["User"] == "65532:65532"
    assert config["NetworkDisabled"] is True
    assert (config["Tty"], config["OpenStdin"], config["StdinOnce"]) == (False, True, True)
    assert host["NetworkMode"] == "none"
    assert found["NetworkSettings"]["Networks"].keys() <= {"none"}
    assert host["ReadonlyRootfs"] is True
    assert host["CapDrop"] == ["ALL"]
    assert not host["CapAdd"]
    assert host["Privileged"] is False
    assert host["SecurityOpt"] == ["no-new-privileges"], "and the engine's own filter of system calls"
    assert (host["IpcMode"], host["CgroupnsMode"]) == ("none", "private")
    assert (host["PidMode"], host["UTSMode"], host["UsernsMode"]) == ("", "", "")
    assert host["Memory"] == host["MemorySwap"] == (300 + 32 + 384) * _MB
    assert host["PidsLimit"] == 28
    assert host["NanoCpus"] == 1_000_000_000
    assert not host["Devices"] and not host["DeviceRequests"]
    assert host["Init"] is False
    assert host["OomScoreAdj"] == 500
    assert host["AutoRemove"] is True
    assert host["RestartPolicy"]["Name"] == "no"
    assert host["LogConfig"]["Type"] == "none", "results would lie in a log of the engine"
    assert host["Tmpfs"] == {"/scratch": "rw,noexec,nosuid,nodev,size=32m,mode=1777"}
    limits = {entry["Name"]: (entry["Soft"], entry["Hard"]) for entry in host["Ulimits"]}
    assert limits == {"core": (0, 0), "nofile": (1024, 1024), "memlock": (0, 0), "nproc": (4096, 4096)}
    assert not host["Binds"] and not host["VolumesFrom"] and not host["PortBindings"]


@_NEEDED
async def test_only_the_jobs_own_data_is_there(executor: DockerExecutor, store: Store) -> None:
    found = await _waiting(executor, sql_job(store, "job", ""))
    mounts = {(mount["Source"], mount["Destination"], mount["RW"]) for mount in found["Mounts"]}
    assert mounts == {(str(store.folder), f"/data/versions/{VERSION}", False)}


@_NEEDED
async def test_a_container_without_data_has_none(executor: DockerExecutor) -> None:
    found = await _waiting(executor, Job(id="job", mode="parse", text="SELECT 1"))
    assert found["Mounts"] == []


@_NEEDED
async def test_nothing_of_the_server_is_in_the_environment(executor: DockerExecutor, store: Store) -> None:
    found = await _waiting(executor, sql_job(store, "job", ""))
    names = {entry.split("=")[0] for entry in found["Config"]["Env"]}
    ours = {"PATH", "HOME", "LANG", "TZ", "OMP_NUM_THREADS", "MALLOC_ARENA_MAX", "PYTHONDONTWRITEBYTECODE"}
    assert names <= ours | {"container", "HOSTNAME", "TERM"}, "the last ones are Podman's"


@_NEEDED
async def test_it_says_whose_it_is(executor: DockerExecutor, store: Store) -> None:
    found = await _waiting(executor, sql_job(store, "job", ""))
    labels = found["Config"]["Labels"]
    assert (labels[NAME], labels[INSTANCE], labels[WARM], labels[KIND]) == (
        APP,
        executor.instance,
        "true",
        "sql",
    )
    assert labels[OWNER].count("/") >= 3


@_NEEDED
async def test_the_process_inside_has_no_right_left(executor: DockerExecutor, store: Store) -> None:
    """As the kernel tells it, for every process of the container."""
    found = await _waiting(executor, sql_job(store, "job", ""))
    first = found["State"]["Pid"]
    pids = [str(first), *Path(f"/proc/{first}/task/{first}/children").read_text().split()]
    assert len(pids) == 2, "the supervisor and its child"
    for pid in pids:
        status = _status(pid)
        assert {status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {"0" * 16}
        assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
        assert set(status["Uid"].split()) == set(status["Gid"].split()) == {"65532"}


def _status(pid: str) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text("utf-8").splitlines()
    return dict(line.split(":\t", 1) for line in lines if ":\t" in line)


_SIZE = Size(memory_mb=100, tmp_mb=0, pids=4, threads=8)


def _host(able: Able, size: Size = _SIZE) -> dict[str, Any]:
    return specification("image", {}, kind="sql", size=size, mounts=(), able=able, labels={})["HostConfig"]


def test_what_an_engine_cannot_limit_is_left_out_and_told() -> None:
    able = Able(memory=False, swap=False, pids=False, cpus=0)
    assert not _host(able).keys() & {"Memory", "MemorySwap", "PidsLimit", "NanoCpus"}
    assert "memory, processes, processor time" in able.reasons[0]
    assert Able(cpus=2).reasons == ()


def test_no_more_processors_than_there_are() -> None:
    assert _host(Able(cpus=2))["NanoCpus"] == 2_000_000_000


def test_a_runtime_is_asked_for_by_name() -> None:
    assert _host(Able(runtime="runsc"))["Runtime"] == "runsc"
    assert "Runtime" not in _host(Able())


def test_without_scratch_there_is_nothing_to_write_to() -> None:
    assert "Tmpfs" not in _host(Able())


def test_what_is_mounted() -> None:
    assert mounts_of("/store", "versions/a", None) == (Mount("/store/versions/a", "/data/versions/a"),)
    assert mounts_of(None, "versions/a", None) == (), "the image has the data"
    assert mounts_of("/store", "incoming/w", "w") == (
        Mount("/store/incoming/w", "/data/incoming/w"),
        Mount("/store/staging/w", "/data/staging/w", writable=True),
    )


@pytest.mark.parametrize("folder", ["..", "versions/../..", "/etc", ""])
def test_nothing_outside_the_store_can_be_mounted(folder: str) -> None:
    if folder:
        with pytest.raises(ValueError, match="no place in the data store"):
            mounts_of("/store", folder, None)
    with pytest.raises(ValueError, match="no place in the data store"):
        mounts_of("/store", None, f"../{folder}/x")


def test_a_job_that_writes_needs_the_store() -> None:
    with pytest.raises(ValueError, match="needs the data store"):
        mounts_of(None, None, OTHER_VERSION)


def test_limits_of_the_job_are_limits_of_the_container() -> None:
    limits = Limits()
    size = Size(limits.memory_mb, limits.tmp_mb, limits.pids, 1)
    host = _host(Able(), size)
    assert host["Memory"] > (limits.memory_mb + limits.tmp_mb) * _MB
    assert host["PidsLimit"] > limits.pids
