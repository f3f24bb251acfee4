"""Python over REST: over a scripted house, and through the real gate and sandbox."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from httpx import ASGITransport, AsyncClient

from sandtable.assemble import assemble
from sandtable.server import views
from sandtable.server.app import create_app
from sandtable.settings import Settings
from tests.runs.test_code import FIGURE, NOTHING, PLOTTED, SHOWN
from tests.server.house import House

CODE = "orders"


@pytest.fixture(autouse=True)
def _scripts(request: pytest.FixtureRequest) -> None:
    if "house" in request.fixturenames:
        house: House = request.getfixturevalue("house")
        for text, script in ((CODE, SHOWN), ("plot", PLOTTED), ("print(7)", NOTHING)):
            house.executor.on(text, script)


def code(text: str = CODE, **more: Any) -> dict[str, Any]:
    return {"dataset_id": "shop", "python": text, **more}


async def ran(client: AsyncClient, body: dict[str, Any], status: int = 200) -> dict[str, Any]:
    answer = await client.post("/runs?wait=10", json=body)
    assert answer.status_code == status, answer.text
    return answer.json()


async def test_a_run_of_python(client: AsyncClient) -> None:
    run = await ran(client, code("plot"))
    assert (run["status"], run["mode"], run["python"], run["sql"]) == ("succeeded", "python", "plot", None)
    assert run["stdout"] == "hello\n[[table-1]]\n"
    assert [artifact["id"] for artifact in run["artifacts"]] == ["table-1", "plot-1"]
    assert run["artifacts"][1]["figure"] == run["chart"] == FIGURE
    assert run["rows"] == [["North", 2.0], ["South", 1.5]]
    assert (await client.get(f"/runs/{run['run_id']}")).json() == run
    [listed] = (await client.get("/runs")).json()["runs"]
    assert (listed["python"], listed["artifacts"], listed["rows"]) == ("plot", [], None)
    csv = await client.get(f"/runs/{run['run_id']}/result.csv")
    assert csv.text.startswith("region,total")
    report = (await client.post(f"/runs/{run['run_id']}/verify")).json()
    assert (report["ok"], report["complete"]) == (True, True), report


async def test_code_without_a_table_has_no_download(client: AsyncClient) -> None:
    run = await ran(client, code("print(7)"))
    answer = await client.get(f"/runs/{run['run_id']}/result.csv")
    assert answer.status_code == 404
    assert "showed no table" in answer.json()["error"]["message"]


async def test_refused_code_is_rejected(client: AsyncClient) -> None:
    run = await ran(client, code("import os"))
    assert (run["status"], run["error"]["code"], run["fixes"]) == ("rejected", "PYTHON_POLICY_VIOLATION", [])


async def test_names_reach_the_sandbox(client: AsyncClient, house: House) -> None:
    run = await ran(client, code(names={"award_data": "orders"}))
    assert run["names"] == {"award_data": "orders"}
    assert house.executor.jobs[-1].options["names"] == {"award_data": "orders"}
    problem = (await ran(client, code(names={"a": "order"}), 404))["error"]
    assert (problem["code"], problem["suggestion"]) == ("NOT_FOUND", "Did you mean `orders`?")


@pytest.mark.parametrize("value", [True, False])
@pytest.mark.parametrize("path", ["/runs", "/check"])
async def test_nobody_can_switch_the_check_off(client: AsyncClient, path: str, value: bool) -> None:
    answer = await client.post(path, json=code(check=value))
    assert answer.status_code == 422
    assert "`check`" in answer.json()["error"]["message"]


def test_no_model_of_the_wire_has_the_switch() -> None:
    assert "check" not in views.RunBody.model_fields
    assert "check" not in views.CheckBody.model_fields


@pytest.mark.parametrize(
    ("body", "says"),
    [
        pytest.param(code(sql="SELECT 1"), "both `sql` and `python`", id="both"),
        pytest.param(code(mode="dry_run"), "not for Python", id="dry run"),
        pytest.param({"dataset_id": "shop", "python": 7}, "python", id="no text"),
        pytest.param(code(names={"a b": "orders"}), "cannot be a name", id="no name"),
    ],
)
async def test_a_request_that_cannot_be_used(client: AsyncClient, body: dict[str, Any], says: str) -> None:
    problem = (await ran(client, body, 422))["error"]
    assert problem["code"] == "VALIDATION_ERROR"
    assert says in problem["message"]


async def test_check(client: AsyncClient) -> None:
    approved = (await client.post("/check", json=code())).json()
    assert (approved["verdict"], approved["python"], approved["sql"]) == ("approved", CODE, None)
    refused = (await client.post("/check", json=code("import os"))).json()
    assert (refused["verdict"], refused["code"], refused["position"]) == (
        "refused",
        "PYTHON_POLICY_VIOLATION",
        0,
    )
    assert (await client.post("/check", json=code(sql="SELECT 1"))).status_code == 422


async def test_readiness_tells_whether_python_is_on(client: AsyncClient, house: House) -> None:
    async def told() -> dict[str, Any]:
        found = (await client.get("/readyz")).json()["checks"]
        return next(check for check in found if check["name"] == "python")

    off = await told()
    assert off["ok"] and off["detail"].startswith("off")
    house.settings = house.settings.model_copy(update={"python": "on"})
    assert await told() == {"name": "python", "ok": True, "detail": "on"}


@asynccontextmanager
async def served(home: Path, **settings: Any) -> AsyncIterator[AsyncClient]:
    chosen = Settings(home=home, web=home / "not-built", **settings)
    async with assemble(chosen, serving=True) as parts:
        transport = ASGITransport(create_app(parts))
        async with AsyncClient(transport=transport, base_url="http://localhost", timeout=120) as client:
            yield client


async def until_ended(client: AsyncClient, body: dict[str, Any]) -> dict[str, Any]:
    answer = await client.post("/runs?wait=60", json={"dataset_id": "ecommerce", **body})
    assert answer.status_code == 200, answer.text
    return answer.json()


BAD = [
    pytest.param("x =", "rejected", "VALIDATION_ERROR", "not valid Python", id="syntax"),
    pytest.param("import os", "rejected", "PYTHON_POLICY_VIOLATION", "`os` cannot be imported", id="import"),
    pytest.param("x = 1;" * 30_000, "rejected", "VALIDATION_ERROR", "180,000 bytes", id="long"),
    pytest.param("while True: pass", "failed", "RUNNER_TIMEOUT", "stopped after 1 s", id="endless"),
    pytest.param("raise SystemExit(3)", "failed", "VALIDATION_ERROR", "exit(3)", id="exit"),
    pytest.param("order_items['categry']", "failed", "VALIDATION_ERROR", "categry", id="no such column"),
]


@pytest.mark.needs("userns")
async def test_through_the_real_gate_and_sandbox(tmp_path: Path) -> None:
    async with served(tmp_path, python="on") as client:
        text = 'n = order_items.groupby("category", as_index=False).size()\nprint(len(n))\nn'
        run = await until_ended(client, {"python": text, "chart": True})
        assert run["status"] == "succeeded", run["error"]
        counted = await until_ended(
            client, {"sql": "SELECT category, count(*) FROM order_items GROUP BY category"}
        )
        assert sorted(run["rows"]) == sorted(counted["rows"])
        assert run["stdout"] == f"{len(run['rows'])}\n"
        assert run["chart"] is not None
        plotted = await until_ended(
            client, {"python": f'{text[: -len("n")]}px.bar(n, x="category", y="size")'}
        )
        assert plotted["chart"]["data"][0]["type"] == "bar"
        again = await until_ended(client, {"python": text})
        assert (again["cached_from"], again["artifacts"]) == (run["run_id"], run["artifacts"])
        for found in (run, plotted, again):
            report = (await client.post(f"/runs/{found['run_id']}/verify")).json()
            assert (report["ok"], report["complete"]) == (True, True), report
        for case in BAD:
            code_, status, error, says = case.values
            run = await until_ended(client, {"python": code_, "timeout_ms": 1000})
            assert (run["status"], run["error"]["code"]) == (status, error), case.id
            assert str(says) in run["error"]["message"], case.id
            assert run["error"]["suggestion"], case.id


@pytest.mark.needs("userns")
async def test_a_server_has_it_off_unless_told(tmp_path: Path) -> None:
    async with served(tmp_path) as client:
        for path in ("/runs", "/check"):
            answer = await client.post(path, json={"dataset_id": "ecommerce", "python": "1"})
            assert answer.status_code == 422
            problem = answer.json()["error"]
            assert problem["message"] == "Python is switched off on this server"
            assert "SANDTABLE_PYTHON=on" in problem["suggestion"]
