"""What becomes of a job: taken once, waited for, killed, given up, forgotten."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from sandtable.errors import SandboxUnavailable
from sandtable.sandbox.fake import Script
from sandtable.sandbox.job import Job, JobResult
from sandtable.server.execd.admit import LARGEST_RESULT, DataFolder
from sandtable.server.execd.app import execd_openapi
from sandtable.server.execd.desk import Desk, Full
from tests.catalog.damage import flip
from tests.sandbox.stores import write_digests
from tests.server.execd.house import SLOW, VERSION, Caller, FakeTier, job, make_app, make_data


async def _until(condition: Any) -> None:
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.005)


async def test_a_job_and_its_result_in_one_request(caller: Caller, tier: FakeTier) -> None:
    answer = await caller.submit(job(), wait_s=5)
    state = answer.json()
    assert (answer.status_code, state["status"], state["job_id"]) == (200, "done", "job-1")
    result = JobResult.model_validate(state["result"])
    assert (result.job_id, result.rows) == ("job-1", ((42,),))
    assert tier.jobs[0].text == "SELECT 42"


async def test_a_job_in_several_requests(caller: Caller, tier: FakeTier) -> None:
    tier.on("SELECT soon", Script(delay_s=0.2))
    first = await caller.submit(job(text="SELECT soon"))
    assert (first.status_code, first.json()["result"]) == (202, None)
    assert (await caller.send("GET", "/v1/jobs/job-1")).json()["status"] in ("pending", "running")
    early = await caller.send("GET", "/v1/jobs/job-1/result?wait_s=0")
    assert early.status_code == 202
    late = await caller.send("GET", "/v1/jobs/job-1/result?wait_s=5")
    assert (late.status_code, late.json()["result"]["status"]) == (200, "succeeded")
    assert (await caller.send("GET", "/v1/jobs/job-1")).json()["status"] == "done"
    assert (await caller.send("GET", "/v1/jobs/job-1/result")).json() == late.json()


async def test_the_same_id_again_takes_nothing_anew(caller: Caller, tier: FakeTier) -> None:
    first = await caller.submit(job(), wait_s=5)
    again = await caller.submit(job(text="SELECT other"), wait_s=5)
    assert again.json() == first.json()
    assert [taken.text for taken in tier.jobs] == ["SELECT 42"]


async def test_text_without_a_utf8_form_arrives_as_it_is(caller: Caller, tier: FakeTier) -> None:
    text = "SELECT '\ud800'"
    tier.on(text, Script(rows=[["\ud800"]]))
    answer = await caller.submit(job(text=text), wait_s=5)
    assert tier.jobs[0].text == text
    assert answer.json()["result"]["rows"] == [["\ud800"]]


@pytest.mark.parametrize(("method", "rest"), [("GET", ""), ("GET", "/result"), ("DELETE", "")])
async def test_an_unknown_job(caller: Caller, method: str, rest: str) -> None:
    answer = await caller.send(method, f"/v1/jobs/no-such-job{rest}")
    error = answer.json()["error"]
    assert (answer.status_code, error["details"]["why"]) == (404, "unknown_job")
    assert error["details"]["replica"]


async def test_a_killed_job_is_cancelled_for_all_who_ask(caller: Caller, tier: FakeTier) -> None:
    await caller.submit(job(text=SLOW))
    await tier.taken()
    waiting = asyncio.create_task(caller.send("GET", "/v1/jobs/job-1/result?wait_s=20"))
    await asyncio.sleep(0.02)
    killed = await caller.send("DELETE", "/v1/jobs/job-1")
    assert killed.json()["result"]["status"] == "cancelled"
    assert (await waiting).json()["result"]["status"] == "cancelled"
    assert (await caller.send("DELETE", "/v1/jobs/job-1")).json()["result"]["status"] == "cancelled"


async def test_killing_what_has_ended_keeps_its_result(caller: Caller) -> None:
    await caller.submit(job(), wait_s=5)
    assert (await caller.send("DELETE", "/v1/jobs/job-1")).json()["result"]["status"] == "succeeded"


_REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "ingest": ({"mode": "ingest"}, "does not do `ingest`"),
    "export": ({"mode": "export"}, "does not do `export`"),
    "session": ({"mode": "session"}, "does not do `session`"),
    "an id with a slash": ({"id": "a/b"}, "`id`"),
    "a long id": ({"id": "a" * 201}, "`id`"),
    "a version that leads elsewhere": ({"dataset_version": "sha256:../../../etc"}, "not a dataset version"),
    "a path that leads elsewhere": ({"data": ({"table": "t", "path": "../b/x"},)}, "no file of its dataset"),
    "the folder above": ({"data": ({"table": "t", "path": ".."},)}, "no file of its dataset"),
    "a day": ({"limits": {"wall_ms": 86_400_000}}, "limits.wall_ms"),
    "a huge result": ({"limits": {"result_bytes": LARGEST_RESULT + 1}}, "limits.result_bytes"),
}


@pytest.mark.parametrize(("given", "said"), _REFUSED.values(), ids=list(_REFUSED))
@pytest.mark.parametrize("path", ["/v1/jobs", "/v1/warm"])
async def test_what_is_not_taken(
    caller: Caller, tier: FakeTier, given: dict[str, Any], said: str, path: str
) -> None:
    body = {**job().model_dump(mode="json"), **given}
    answer = await caller.send("POST", path, body)
    assert answer.status_code == 422
    assert said in answer.json()["error"]["message"]
    assert tier.jobs == [] and tier.warmed == []


async def test_python_can_be_switched_off(tier: FakeTier, tmp_path: Path) -> None:
    caller = Caller(make_app(tier, tmp_path, modes=("sql",)))
    assert (await caller.send("GET", "/v1/hello")).json()["modes"] == ["sql"]
    assert (await caller.submit(job(mode="python"))).status_code == 422


async def test_no_parser_is_kept_for_a_second_text(caller: Caller, tier: FakeTier) -> None:
    options = {"keep": True, "hold": True, "float_columns": ["x"]}
    await caller.submit(job(mode="parse", options=options), wait_s=5)
    assert tier.jobs[0].options == {"float_columns": ["x"]}


@pytest.mark.parametrize(
    ("given", "said"),
    [({"dataset_version": "sha256:" + "d" * 64}, "the data of version sha256:" + "d" * 64),
     ({"data": ({"table": "t", "path": "gone.parquet"},)}, f"gone.parquet of version sha256:{VERSION}")],
    ids=["version", "file"],
)  # fmt: skip
async def test_data_that_are_not_here(
    caller: Caller, tier: FakeTier, given: dict[str, Any], said: str
) -> None:
    body = {**job().model_dump(mode="json"), **given}
    error = (await caller.send("POST", "/v1/jobs?wait_s=5", body)).json()["result"]["error"]
    assert (error["code"], error["type"]) == ("SANDBOX_UNAVAILABLE", "DataMissing")
    assert said in error["message"] and "shop" in error["message"]
    assert "SANDTABLE_HOME" in error["suggestion"]
    assert tier.jobs == []


async def test_data_that_come_later_are_found(caller: Caller, tier: FakeTier, tmp_path: Path) -> None:
    late = job("late", dataset_version="sha256:" + "e" * 64)
    assert (await caller.submit(late, wait_s=5)).json()["result"]["status"] == "failed"
    folder = tmp_path / "versions" / ("e" * 64)
    folder.mkdir()
    (folder / "orders.parquet").write_bytes(b"rows")
    write_digests(folder)
    again = late.model_copy(update={"id": "again"})
    assert (await caller.submit(again, wait_s=5)).json()["result"]["status"] == "succeeded"


async def test_data_that_changed_are_not_executed_on(caller: Caller, tier: FakeTier, tmp_path: Path) -> None:
    assert (await caller.submit(job("before"), wait_s=5)).json()["result"]["status"] == "succeeded"
    file = tmp_path / "versions" / VERSION / "orders.parquet"
    flip(file)
    error = (await caller.submit(job("damaged"), wait_s=5)).json()["result"]["error"]
    assert (error["code"], error["type"]) == ("DATA_DAMAGED", "DataDamaged")
    assert "`shop`" in error["message"] and str(tmp_path) not in json.dumps(error)
    assert (await caller.send("POST", "/v1/warm", job().model_dump(mode="json"))).json() == {"warmed": False}
    assert len(tier.jobs) == 1
    flip(file)
    assert (await caller.submit(job("restored"), wait_s=5)).json()["result"]["status"] == "succeeded"
    before, after = (taken.data[0].stamp for taken in tier.jobs)
    assert before != after, "sandboxes that were made for the former files are not used"


async def test_what_was_read_while_the_data_changed_is_not_answered(
    caller: Caller, tier: FakeTier, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = tier.result

    async def meanwhile(job_id: str) -> JobResult:
        flip(tmp_path / "versions" / VERSION / "orders.parquet")
        return await result(job_id)

    monkeypatch.setattr(tier, "result", meanwhile)
    answered = (await caller.submit(job(), wait_s=5)).json()["result"]
    assert (answered["error"]["code"], answered["rows"]) == ("DATA_DAMAGED", [])


async def test_data_without_digests_are_not_executed_on(
    caller: Caller, tier: FakeTier, tmp_path: Path
) -> None:
    (tmp_path / "versions" / VERSION / "digests.json").unlink()
    error = (await caller.submit(job(), wait_s=5)).json()["result"]["error"]
    assert error["type"] == "DataMissing" and "digests.json" in error["message"]


async def test_the_self_test_of_a_server_needs_no_bait_here(caller: Caller, tier: FakeTier) -> None:
    probe = Job(id="probe", mode="probe", dataset_version="sha256:" + "f" * 64)
    assert (await caller.submit(probe, wait_s=5)).json()["result"]["status"] == "succeeded"
    assert tier.jobs[0].dataset_version == ""


async def test_hello(caller: Caller, tmp_path: Path) -> None:
    bait = tmp_path / "versions" / ("9" * 64)
    bait.mkdir()
    (bait / "bait.parquet").write_bytes(b"untouched")
    offer = (await caller.send("GET", "/v1/hello")).json()
    assert (offer["protocol"], offer["engine"], offer["layers"]) == (1, "fakedb 1.0", ["paper walls"])
    assert offer["data"] == [f"sha256:{VERSION}"]
    assert "ingest" not in offer["modes"]


async def test_warm(caller: Caller, tier: FakeTier) -> None:
    assert (await caller.send("POST", "/v1/warm", job().model_dump(mode="json"))).json() == {"warmed": True}
    assert [made.model_dump() for made in tier.warmed] == [job().model_dump()]
    elsewhere = job(dataset_version="sha256:" + "d" * 64).model_dump(mode="json")
    assert (await caller.send("POST", "/v1/warm", elsewhere)).json() == {"warmed": False}


async def test_a_job_for_another_kind_of_replica_is_refused(caller: Caller, tier: FakeTier) -> None:
    likeness = (await caller.send("GET", "/v1/hello")).json()["likeness"]
    assert (await caller.submit(job(), wait_s=5, likeness=likeness)).status_code == 200
    tier.engine = "fakedb 2.0"
    refused = await caller.submit(job("job-2"), likeness=likeness)
    error = refused.json()["error"]
    assert (refused.status_code, error["details"]["why"]) == (503, "unlike")
    assert "fakedb 2.0" in error["message"] and len(tier.jobs) == 1


async def test_full_is_told_with_when_to_come_again(tier: FakeTier, tmp_path: Path) -> None:
    app = make_app(tier, tmp_path, most=1)
    caller = Caller(app)
    await caller.submit(job(text=SLOW))
    refused = await caller.submit(job("job-2"))
    error = refused.json()["error"]
    assert (refused.status_code, error["code"], error["details"]["why"]) == (
        503,
        "SANDBOX_UNAVAILABLE",
        "full",
    )
    assert refused.headers["retry-after"] == "1"
    assert (await caller.submit(job(text=SLOW))).status_code == 202, "it has its place already"
    await caller.send("DELETE", "/v1/jobs/job-1")
    assert (await caller.submit(job("job-2"), wait_s=5)).status_code == 200
    await app.state.execd.desk.aclose()


async def test_broken_machinery_is_told_and_tried_again(caller: Caller, tier: FakeTier) -> None:
    broken = SandboxUnavailable("this host cannot isolate", suggestion="use another")
    tier.on("SELECT 42", Script(raises=broken))
    error = (await caller.submit(job(), wait_s=5)).json()["error"]
    assert (error["code"], error["message"]) == ("SANDBOX_UNAVAILABLE", "this host cannot isolate")
    tier.on("SELECT 42", Script())
    assert (await caller.submit(job(), wait_s=5)).json()["result"]["status"] == "succeeded"


def _desk(tier: FakeTier, root: Path, **given: Any) -> Desk:
    return Desk(tier, DataFolder(make_data(root)), **given)


async def test_a_job_for_which_nobody_asks_is_given_up(tier: FakeTier, tmp_path: Path) -> None:
    desk = _desk(tier, tmp_path, lease_s=0.05)
    desk.take(job(text=SLOW))
    await _until(lambda: tier.cancelled)
    assert tier.cancelled[0].startswith("job-1.")
    await desk.aclose()


async def test_asking_keeps_it_alive(tier: FakeTier, tmp_path: Path) -> None:
    desk = _desk(tier, tmp_path, lease_s=0.1)
    desk.take(job(text=SLOW))
    for _ in range(4):
        assert await desk.wait("job-1", 0.06) is None
    assert await desk.status("job-1") == "running"
    assert tier.cancelled == []
    await _until(lambda: tier.cancelled)
    await desk.aclose()


async def test_a_job_ends_with_the_last_connection_that_held_it(tier: FakeTier, tmp_path: Path) -> None:
    desk = _desk(tier, tmp_path, lease_s=60)
    desk.take(job(text=SLOW))
    await tier.taken()
    hung_up, stays = asyncio.Event(), asyncio.Event()
    first = asyncio.create_task(desk.wait("job-1", 60, asyncio.create_task(hung_up.wait())))
    second = asyncio.create_task(desk.wait("job-1", 60, asyncio.create_task(stays.wait())))
    await asyncio.sleep(0.01)
    hung_up.set()
    assert await first is None
    assert tier.cancelled == [], "the other one still waits"
    stays.set()
    assert await second is None
    await _until(lambda: tier.cancelled)
    desk.take(job())
    assert (await desk.wait("job-1", 5)) is not None, "and may be submitted anew"
    await desk.aclose()


async def test_ended_jobs_are_forgotten_by_number_and_by_time(tier: FakeTier, tmp_path: Path) -> None:
    desk = _desk(tier, tmp_path, kept=2, lease_s=0.3)
    for number in range(5):
        desk.take(job(f"job-{number}"))
        assert await desk.wait(f"job-{number}", 5) is not None
    assert len(desk._entries) <= 3
    await _until(lambda: not desk._entries)
    assert tier.cancelled == [], "what has ended is not cancelled"
    await desk.aclose()


async def test_places_are_bounded(tier: FakeTier, tmp_path: Path) -> None:
    desk = _desk(tier, tmp_path, most=2)
    desk.take(job("a", text=SLOW))
    desk.take(job("b", text=SLOW))
    with pytest.raises(Full, match="2 jobs"):
        desk.take(job("c"))
    await tier.taken(2)
    await desk.aclose()
    assert len(tier.cancelled) == 2


async def test_every_operation_is_described() -> None:
    document = execd_openapi()
    operations = {
        operation["operationId"]: operation
        for methods in document["paths"].values()
        for operation in methods.values()
    }
    assert sorted(operations) == [
        "cancel_job", "get_job", "get_result", "healthz", "hello", "submit_job", "warm"
    ]  # fmt: skip
    assert all(operation["summary"] and operation["tags"] for operation in operations.values())
    page = (Path(__file__).resolve().parents[3] / "docs/execd.md").read_text("utf-8")
    for path, methods in document["paths"].items():
        for method in methods:
            assert f"{method.upper()} {path}" in page
