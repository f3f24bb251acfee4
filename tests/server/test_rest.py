"""REST: what goes in and comes out of each operation."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from httpx import AsyncClient

from sandtable.capsule.document import document
from sandtable.catalog.model import Dataset
from sandtable.catalog.profile import Profile
from sandtable.errors import ErrorCode, RunnerBroken, SandboxUnavailable
from sandtable.sandbox.fake import Script
from sandtable.sandbox.job import JobError
from tests.capsule.samples import SHOP
from tests.server.house import SHOP_PROFILE, House


def ask(sql: str = "SELECT 1", **more: Any) -> dict[str, Any]:
    return {"dataset_id": "shop", "sql": sql, **more}


async def test_datasets_are_listed_with_their_prompts(client: AsyncClient) -> None:
    found = (await client.get("/datasets")).json()
    assert [dataset["id"] for dataset in found] == ["shop"]
    assert found[0]["prompts"] == list(SHOP.prompts)
    assert found[0]["version"] == SHOP.version
    assert [table["name"] for table in found[0]["tables"]] == [table.name for table in SHOP.tables]


async def test_one_dataset_is_given_whole(client: AsyncClient) -> None:
    assert (await client.get("/datasets/shop")).json() == SHOP.model_dump(mode="json")


async def test_schema_has_sample_rows_from_a_run(client: AsyncClient, house: House) -> None:
    schema = (await client.get("/datasets/shop/schema")).json()
    table = schema["tables"][0]
    assert schema["version"] == SHOP.version
    assert [c["name"] for c in table["columns"]] == [c.name for c in SHOP.tables[0].columns]
    assert table["sample"]["rows"] == [[42]]
    run = await house.runs.get(table["sample"]["run_id"])
    assert run.sql is not None and run.sql.endswith(f'FROM "{table["name"]}" LIMIT 5')
    before = len(house.executor.jobs)
    assert (await client.get("/datasets/shop/schema")).json() == schema
    assert len(house.executor.jobs) == before, "a version's sample is taken once"


async def test_a_sample_goes_with_the_files_that_it_was_taken_from(client: AsyncClient, house: House) -> None:
    async def sample() -> dict[str, Any]:
        return (await client.get("/datasets/shop/schema")).json()["tables"][0]["sample"]

    house.datasets.copy_id = "first"
    first = await sample()
    assert (await sample())["run_id"] == first["run_id"]
    house.datasets.copy_id = "second"
    assert (await sample())["run_id"] != first["run_id"]
    house.datasets.damaged = True
    assert (await sample())["error"]["code"] == "DATA_DAMAGED"


async def test_a_failed_sample_is_said_and_not_kept(client: AsyncClient, house: House) -> None:
    error = JobError(code=ErrorCode.RUNNER_TIMEOUT, type="Timeout", message="too slow")
    house.executor._default = Script(error=error)
    schema = (await client.get("/datasets/shop/schema")).json()
    assert schema["tables"][0]["sample"]["error"]["message"] == "too slow"
    house.executor._default = Script()
    schema = (await client.get("/datasets/shop/schema")).json()
    assert schema["tables"][0]["sample"]["rows"] == [[42]]


async def test_a_profile_is_given_whole(client: AsyncClient) -> None:
    found = await client.get("/datasets/shop/profile")
    assert found.json() == SHOP_PROFILE.model_dump(mode="json")


async def test_a_profile_of_nothing_is_not_found(client: AsyncClient) -> None:
    answer = await client.get("/datasets/shoop/profile")
    assert answer.status_code == 404
    assert answer.json()["error"]["suggestion"]


async def test_a_profile_that_cannot_be_made_is_told_of(
    client: AsyncClient, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(dataset: Dataset) -> Profile:
        raise RunnerBroken(f"the columns of {dataset.id} could not be looked at")

    monkeypatch.setattr(house.datasets, "profile", broken)
    answer = await client.get("/datasets/shop/profile")
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == ErrorCode.RUNNER_INTERNAL_ERROR


async def test_a_run_is_waited_for(client: AsyncClient) -> None:
    answer = await client.post("/runs?wait=10", json=ask("SELECT  1", question="one?"))
    run = answer.json()
    assert answer.status_code == 200
    assert answer.headers["location"] == f"/runs/{run['run_id']}"
    assert run["status"] == "succeeded"
    assert run["question"] == "one?"
    assert (run["sql"], run["executed_sql"]) == ("SELECT  1", "SELECT 1;")
    assert run["columns"] == [{"name": "answer", "type": "INTEGER", "kind": "integer", "unit": ""}]
    assert run["rows"] == [[42]]
    assert (await client.get(answer.headers["location"])).json() == run


async def test_a_run_that_has_not_ended_is_accepted(client: AsyncClient, house: House) -> None:
    house.executor.on("SELECT 1;", Script(delay_s=0.3))
    answer = await client.post("/runs", json=ask())
    assert answer.status_code == 202
    assert answer.json()["status"] == "pending"
    waited = await client.get(answer.headers["location"], params={"wait": 10})
    assert waited.json()["status"] == "succeeded"


async def test_a_plan_is_compiled(client: AsyncClient) -> None:
    plan = {"table": "orders", "select": 7}
    run = (await client.post("/runs?wait=10", json={"dataset_id": "shop", "plan": plan})).json()
    assert run["plan"] == {"dataset_id": "shop", **plan}, "a plan need not repeat the dataset"
    assert run["sql"] == "SELECT 7 FROM orders LIMIT 200"
    assert "a limit was added" in run["warnings"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        pytest.param(ask("SELECT * FROM read_csv('x')"), "SQL_POLICY_VIOLATION", id="sql"),
        pytest.param({"dataset_id": "shop", "plan": {"table": "x"}}, "VALIDATION_ERROR", id="plan"),
    ],
)
async def test_a_refused_run_is_a_run(client: AsyncClient, body: dict[str, Any], code: str) -> None:
    answer = await client.post("/runs?wait=10", json=body)
    run = answer.json()
    assert (answer.status_code, run["status"]) == (200, "rejected")
    assert run["error"]["code"] == code
    assert run["error"]["suggestion"]
    assert (await client.get(f"/runs/{run['run_id']}/capsule")).status_code == 200


async def test_a_dry_run_and_lower_limits_reach_the_sandbox(client: AsyncClient, house: House) -> None:
    await client.post("/runs?wait=10", json=ask(mode="dry_run", max_rows=3, timeout_ms=500))
    job = house.executor.jobs[-1]
    assert (job.mode, job.limits.rows, job.limits.wall_ms) == ("dry_run", 3, 500)


async def test_an_identical_run_says_that_it_comes_from_the_cache(client: AsyncClient) -> None:
    first = (await client.post("/runs?wait=10", json=ask())).json()
    again = (await client.post("/runs?wait=10", json=ask())).json()
    fresh = (await client.post("/runs?wait=10", json=ask(cache=False))).json()
    assert again["cached_from"] == first["run_id"]
    assert fresh["cached_from"] is None


async def test_a_run_is_cancelled(client: AsyncClient, house: House) -> None:
    house.executor.on("SELECT 1;", Script(delay_s=30))
    run = (await client.post("/runs", json=ask(timeout_ms=2000))).json()
    cancelled = await client.post(f"/runs/{run['run_id']}/cancel")
    assert cancelled.json()["status"] == "cancelled"


async def test_runs_are_paged_newest_first(client: AsyncClient) -> None:
    for n in range(6):
        await client.post("/runs?wait=10", json=ask(f"SELECT {n}"))
    seen: list[str] = []
    before: dict[str, str] = {}
    for last in (False, False, True):
        page = (await client.get("/runs", params={"limit": 2, **before})).json()
        seen += [run["sql"] for run in page["runs"]]
        assert all(run["rows"] is None for run in page["runs"])
        assert (page["next"] is None) == last
        before = {"before": page["next"]}
    assert seen == [f"SELECT {n}" for n in (5, 4, 3, 2, 1, 0)]


async def test_runs_are_filtered(client: AsyncClient) -> None:
    await client.post("/runs?wait=10", json=ask("SELECT 1"))
    await client.post("/runs?wait=10", json=ask("SELECT read_csv"))

    async def texts(**wanted: str) -> list[str]:
        return [run["sql"] for run in (await client.get("/runs", params=wanted)).json()["runs"]]

    assert await texts(status="rejected") == ["SELECT read_csv"]
    assert len(await texts(user="@127.0.0.1")) == 2 and await texts(user="ada") == []
    assert await texts(text="read_csv") == ["SELECT read_csv"]
    assert await texts(dataset_id="other") == []


async def test_a_capsule_is_downloaded_and_verified(client: AsyncClient) -> None:
    run = (await client.post("/runs?wait=10", json=ask())).json()
    download = await client.get(f"/runs/{run['run_id']}/capsule")
    assert download.headers["content-disposition"] == f'attachment; filename="{run["run_id"]}.capsule.json"'
    for report in (
        await client.post(f"/runs/{run['run_id']}/verify"),
        await client.post("/verify", json=download.json()),
    ):
        assert report.status_code == 200
        assert report.json()["ok"] and report.json()["run_id"] == run["run_id"]


async def test_a_changed_capsule_is_named_broken(client: AsyncClient) -> None:
    run = (await client.post("/runs?wait=10", json=ask())).json()
    envelope = (await client.get(f"/runs/{run['run_id']}/capsule")).json()
    sig = envelope["signatures"][0]["sig"]
    envelope["signatures"][0]["sig"] = ("B" if sig[0] == "A" else "A") + sig[1:]
    report = (await client.post("/verify", json=envelope)).json()
    assert not report["ok"]
    assert [link["name"] for link in report["links"] if link["status"] == "broken"] == ["signature"]


async def test_a_readable_copy_must_say_what_the_payload_says(client: AsyncClient) -> None:
    run = (await client.post("/runs?wait=10", json=ask())).json()
    envelope = (await client.get(f"/runs/{run['run_id']}/capsule")).json()
    whole = document(envelope)
    assert (await client.post("/verify", json=whole)).json()["ok"]
    whole["capsule"]["question"] = "another"
    report = (await client.post("/verify", json=whole)).json()
    assert [link["name"] for link in report["links"] if link["status"] == "broken"] == ["envelope"]
    assert "readable copy" in report["links"][0]["detail"]


async def test_the_capsule_of_a_running_run_is_not_found(client: AsyncClient, house: House) -> None:
    house.executor.on("SELECT 1;", Script(delay_s=1))
    run = (await client.post("/runs", json=ask())).json()
    answer = await client.get(f"/runs/{run['run_id']}/capsule")
    assert answer.status_code == 404
    assert "no capsule yet" in answer.json()["error"]["message"]


async def test_check_answers_without_running(client: AsyncClient, house: House) -> None:
    good = (await client.post("/check", json=ask("SELECT  1"))).json()
    assert (good["verdict"], good["sql"]) == ("approved", "SELECT 1;")
    bad = (await client.post("/check", json=ask("SELECT read_csv"))).json()
    assert (bad["verdict"], bad["construct"], bad["position"], bad["length"]) == ("refused", "read_csv", 7, 8)
    assert not house.executor.jobs


async def test_the_key_that_signs_is_published(client: AsyncClient, house: House) -> None:
    [key] = (await client.get("/keys")).json()["keys"]
    assert key["keyid"] == house.key.keyid
    assert key["pem"].startswith("-----BEGIN PUBLIC KEY-----")


async def test_the_plan_language_is_published(client: AsyncClient) -> None:
    schema = (await client.get("/plan/schema")).json()
    assert {"table", "select", "filters"} <= schema["properties"].keys()


async def test_health_needs_nothing(client: AsyncClient) -> None:
    assert (await client.get("/healthz")).json() == {"status": "ok"}


async def test_what_prometheus_reads(client: AsyncClient) -> None:
    assert (await client.post("/runs", json={"dataset_id": "shop", "sql": "SELECT 1"})).is_success
    answer = await client.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    lines = answer.text.splitlines()
    assert "# TYPE sandtable_runs gauge" in lines
    counted = [float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith("sandtable_runs{")]
    assert sum(counted) == 1
    assert any(line.startswith('sandtable_build_info{version="') for line in lines)


async def test_ready_when_everything_is(client: AsyncClient) -> None:
    answer = await client.get("/readyz")
    assert answer.status_code == 200
    assert [check["name"] for check in answer.json()["checks"]] == [
        "sandbox",
        "python",
        "store",
        "data",
        "queue",
        "conversation",
    ]


async def test_not_ready_when_the_self_test_fails(client: AsyncClient, house: House) -> None:
    house.problem = SandboxUnavailable("something got out").problem
    answer = await client.get("/readyz")
    assert answer.status_code == 503
    assert {"name": "sandbox", "ok": False, "detail": "something got out"} in answer.json()["checks"]


async def test_not_ready_when_the_home_is_gone(client: AsyncClient, house: House) -> None:
    house.settings = house.settings.model_copy(update={"home": house.settings.home / "gone"})
    answer = await client.get("/readyz")
    assert answer.status_code == 503 and answer.headers["retry-after"]
    [data] = [check for check in answer.json()["checks"] if check["name"] == "data"]
    assert not data["ok"] and "not writable" in data["detail"]


async def test_not_ready_when_the_queue_is_full(client: AsyncClient, house: House) -> None:
    house.settings = house.settings.model_copy(update={"queue_limit": 0})
    answer = await client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"][4] == {
        "name": "queue",
        "ok": False,
        "detail": "0 of at most 0 runs are waiting",
    }


async def test_ten_runs_at_once_all_end(client: AsyncClient) -> None:
    answers = await asyncio.gather(
        *(client.post("/runs?wait=20", json=ask(f"SELECT {n}")) for n in range(10))
    )
    assert {json.loads(answer.content)["status"] for answer in answers} == {"succeeded"}


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/datasets", "/runs", "/", "/runs/nothing"])
async def test_head_answers_as_get_does_without_a_body(client: AsyncClient, path: str) -> None:
    head, get = await client.head(path), await client.get(path)
    assert (head.status_code, head.content) == (get.status_code, b"")
    assert head.headers["content-type"] == get.headers["content-type"]


_SHARE: dict[str, Any] = {
    "dataset_id": "shop",
    "table": "orders",
    "select": [{"agg": "count", "as": "n"}, {"agg": "max", "column": "amount", "as": "most"}],
    "derive": [{"share_of_total": "most", "as": "share"}],
}
_SHARE_RESULT = Script(
    columns=(("n", "BIGINT"), ("most", "DOUBLE"), ("share", "DOUBLE")), rows=((3, 9.5, 1.0),)
)


def _kinds(view: dict[str, Any]) -> list[tuple[str, str]]:
    return [(column["kind"], column["unit"]) for column in view["columns"]]


async def test_the_columns_of_a_run_have_kinds_and_units(client: AsyncClient, house: House) -> None:
    house.executor._default = _SHARE_RESULT
    body = {"dataset_id": "shop", "plan": _SHARE}
    submitted = (await client.post("/runs", json=body, params={"wait": 5})).json()
    assert _kinds(submitted) == [("integer", ""), ("float", ""), ("float", "fraction")]
    found = (await client.get(f"/runs/{submitted['run_id']}")).json()
    assert found["columns"] == submitted["columns"]
    cancelled = (await client.post(f"/runs/{submitted['run_id']}/cancel")).json()
    assert cancelled["columns"] == submitted["columns"]
    sealed = document((await client.get(f"/runs/{submitted['run_id']}/capsule")).json())["capsule"]
    assert "fraction" not in json.dumps(sealed["result"]), "what is derived is not signed"
    assert [set(column) for column in sealed["result"]["columns"]] == [{"name", "type"}] * 3


async def test_columns_of_sql_have_kinds_only(client: AsyncClient, house: House) -> None:
    house.executor._default = _SHARE_RESULT
    found = (await client.post("/runs", json=ask(), params={"wait": 5})).json()
    assert _kinds(found) == [("integer", ""), ("float", ""), ("float", "")]
    assert [column["type"] for column in found["columns"]] == ["BIGINT", "DOUBLE", "DOUBLE"]


async def test_tables_that_code_shows_have_kinds(client: AsyncClient, house: House) -> None:
    table = {
        "id": "table-1",
        "kind": "table",
        "columns": [{"name": "d", "type": "DATE"}],
        "rows": [["2025-01-01"]],
    }
    shown = {**table, "row_count": 1, "truncated": False}
    house.executor._default = Script(output={"artifacts": [shown], "displayed": "table-1"})
    body = {"dataset_id": "shop", "python": "show(frame)"}
    found = (await client.post("/runs", json=body, params={"wait": 5})).json()
    assert [column["kind"] for column in found["artifacts"][0]["columns"]] == ["date"]


async def test_units_need_no_dataset_that_is_still_there(client: AsyncClient, house: House) -> None:
    house.executor._default = _SHARE_RESULT
    body = {"dataset_id": "shop", "plan": _SHARE}
    run_id = (await client.post("/runs", json=body, params={"wait": 5})).json()["run_id"]
    house.datasets.gone = True
    assert _kinds((await client.get(f"/runs/{run_id}")).json())[-1] == ("float", "fraction")
