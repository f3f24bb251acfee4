"""Every mode but sessions: what a container is asked to do, it does as a sandbox of the local tier would."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sandtable.sandbox.job import Job, Limits
from tests.runner.once import as_order, frame, started
from tests.sandbox.stores import Store, make_store, sql_job


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    yield make_store(tmp_path_factory.mktemp("store"))


@pytest.fixture(params=[True, False], ids=["namespaces", "landlock"])
def namespaces(request: pytest.FixtureRequest) -> bool:
    return request.param


def _answer(store: Store, job: Job, *, namespaces: bool, kind: str = "sql") -> dict[str, Any]:
    with started(store.root, kind=kind, namespaces=namespaces) as once:
        once.ready()
        once.send(frame(as_order(job)))
        report = once.report()
        assert report["answer"] is not None, report
        assert once.end() == 0
        return report["answer"]


def test_parse(store: Store, namespaces: bool) -> None:
    job = sql_job(store, "job", "SELECT 1 AS x", mode="parse", options={"float_columns": [], "hold": True})
    assert _answer(store, job, namespaces=namespaces)["output"]["canonical"] == "SELECT 1 AS x"


@pytest.mark.parametrize("mode", ["dry_run", "fetch_schema", "profile"])
def test_looking(store: Store, mode: str) -> None:
    job = sql_job(store, "job", "SELECT id FROM orders", mode=mode, options={"values": 2, "seconds": 60})
    answer = _answer(store, job, namespaces=False)
    assert (answer["status"], bool(answer["output"])) == ("succeeded", True)


def test_ingest(store: Store, namespaces: bool) -> None:
    (source := store.root / "incoming/work").mkdir(exist_ok=True)
    (source / "people.csv").write_text("name,age\nAda,36\nAlan,41\n")
    (staging := store.root / "staging/work").mkdir(exist_ok=True)
    staging.chmod(0o777)
    options = {"source": "people.csv", "format": "csv", "table": "people", "columns": None, "recipes": None,
               "answers": {}, "repairs": [],
               "folder": "incoming/work", "staging": "work", "file_mb": 64}  # fmt: skip
    job = Job(id="job", mode="ingest", limits=Limits(tmp_mb=0, rows=0), options=options)
    answer = _answer(store, job, namespaces=namespaces)
    assert (answer["status"], answer["output"]["tables"][0]["rows"]) == ("succeeded", 2), answer
    made = staging / "people.parquet"
    assert made.read_bytes()[:4] == b"PAR1"
    made.unlink()


def test_export(store: Store, namespaces: bool) -> None:
    (store.root / "incoming/out").mkdir(exist_ok=True)
    (staging := store.root / "staging/out").mkdir(exist_ok=True)
    staging.chmod(0o777)
    options = {"columns": [{"name": "x", "type": "INTEGER"}], "rows": [[1], [2]], "folder": "incoming/out",
               "staging": "out", "file_mb": 64}  # fmt: skip
    job = Job(id="job", mode="export", limits=Limits(rows=0), options=options)
    answer = _answer(store, job, namespaces=namespaces)
    assert answer["status"] == "succeeded" and answer["output"]["parquet"], answer


def test_a_lone_surrogate_is_told_to_its_author(store: Store) -> None:
    answer = _answer(store, sql_job(store, "job", "SELECT '\ud800'"), namespaces=False)
    assert "surrogate" in answer["error"]["message"]


_CODE = """
print(hash("the same everywhere"))
orders.groupby("region")["amount"].sum()
"""


def test_code(store: Store, namespaces: bool) -> None:
    job = sql_job(store, "job", _CODE, mode="python", wall_ms=30_000)
    first, second = (_answer(store, job, namespaces=namespaces, kind="py") for _ in range(2))
    assert first["status"] == "succeeded", first
    assert first["stdout"] == second["stdout"] != ""
    assert first["output"]["artifacts"] == second["output"]["artifacts"] != []


def test_a_sql_order_is_not_for_a_container_with_libraries(store: Store) -> None:
    with started(store.root, kind="py") as once:
        once.ready()
        once.send(frame(as_order(sql_job(store, "job", "SELECT 1"))))
        assert "'py'" in once.report()["trouble"]


def test_no_file_is_written_beside_the_staging_folder(store: Store) -> None:
    before = {path for path in Path(store.root).rglob("*") if path.is_file()}
    _answer(store, sql_job(store, "job", "SELECT 1"), namespaces=False)
    assert {path for path in Path(store.root).rglob("*") if path.is_file()} == before
