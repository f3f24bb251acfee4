"""Where a machine cannot isolate by itself, containers also read texts and files."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandtable.catalog.convert import ConvertRequest
from sandtable.catalog.stored.store import DataStore
from sandtable.errors import ErrorCode
from sandtable.sandbox.convert import SandboxedConvert
from sandtable.sandbox.docker.executor import DockerExecutor
from sandtable.sandbox.export import parquet_of
from sandtable.sandbox.job import Job, JobResult, Limits, ResultColumn
from tests.needs import RUNNER_IMAGE
from tests.sandbox.docker.engine import HOST, containers
from tests.sandbox.stores import Store, sql_job

pytestmark = pytest.mark.needs("docker_images")


async def _run(executor: DockerExecutor, job: Job) -> JobResult:
    await executor.submit(job)
    return await executor.result(job.id)


async def test_a_text_is_parsed(executor: DockerExecutor) -> None:
    job = Job(id="job", mode="parse", text="SELECT  1", options={"float_columns": []})
    assert (await _run(executor, job)).output["canonical"] == "SELECT 1"


async def test_a_file_is_converted(tmp_path: Path) -> None:
    store = DataStore(tmp_path / "data")
    executor = DockerExecutor(store.root, image=RUNNER_IMAGE, host=HOST, warm=0)
    work = store.open_workspace()
    (source := tmp_path / "people.csv").write_text("name,age\nAda,36\nAlan,41\n")
    path, _ = store.stage(work, source, "people.csv")
    request = ConvertRequest(table="people", source=path, format="csv", columns=None, staging=work.staging)
    (converted,) = (await SandboxedConvert(executor, threads=1)(request)).tables
    assert (converted.rows, [column.name for column in converted.columns]) == (2, ["name", "age"])
    made = store.root / work.staging / str(converted.output)
    assert made.read_bytes()[:4] == b"PAR1"
    await executor.aclose()
    assert containers(executor.instance) == set()


async def test_a_result_becomes_a_file(tmp_path: Path) -> None:
    store = DataStore(tmp_path / "data")
    executor = DockerExecutor(store.root, image=RUNNER_IMAGE, host=HOST, warm=0)
    content = await parquet_of(
        executor, store, [ResultColumn(name="x", type="INTEGER")], [[1], [2]], Limits()
    )
    await executor.aclose()
    assert content[:4] == content[-4:] == b"PAR1"


async def test_one_killed_from_outside(executor: DockerExecutor, store: Store) -> None:
    """The operator, or a machine that ran out of memory, ends the container itself."""
    slow = "SELECT count(*) FROM range(10000000) a, range(10000000) b WHERE a.range + b.range = 7"
    await executor.warm(sql_job(store, "example", ""))
    (name,) = containers(executor.instance)
    await executor.submit(sql_job(store, "job", slow))
    await executor._engine.api.call("POST", f"/containers/{name}/kill")
    result = await executor.result("job")
    assert result.error is not None
    assert result.error.code == ErrorCode.RUNNER_RESOURCE_EXCEEDED, result.error
    assert (await _run(executor, sql_job(store, "next", "SELECT 1 AS x"))).rows == ((1,),)
