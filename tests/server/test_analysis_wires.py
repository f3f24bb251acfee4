"""One analysis over every wire of a server as it is started: a scripted model, the real gate, the real sandbox.

The second of its three steps fails at first; it is diagnosed and repaired, then a chart is drawn.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pandas
import pytest
import pytest_asyncio

from tests.agent.analysis.declared import settings_for
from tests.agent.analysis.trips import ADVICE, CHART, FIRST, LAST, QUESTION, RIGHT, STEPS, WRONG, Model
from tests.agent.models.scripted import start_scripted
from tests.server.talking import sse
from tests.server.v2.listening import ask, listen

pytestmark = [pytest.mark.needs("userns")]

CELLS = [FIRST, WRONG, RIGHT, LAST, f"{CHART}\nfig"]
GOALS = [STEPS[0], STEPS[1], STEPS[1], STEPS[2], "Draw a chart of the result"]
WORST = ["Zanzibar-Quetzal", "van", 918273, 400, -917873]
SENTENCE = "The van in Zanzibar-Quetzal had the lowest change, at -917,873."
PATIENCE_S = 90.0


@contextmanager
def serving(home: Path, **settings: str) -> Iterator[str]:
    environment = os.environ | {f"SANDTABLE_{name}": value for name, value in settings.items()}
    process = subprocess.Popen(
        [sys.executable, "-c", "from sandtable.cli import main; main()", "serve", "--port", "0", "--json"],
        env=environment | {"SANDTABLE_HOME": str(home)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout
    try:
        yield json.loads(process.stdout.readline())["url"].replace("localhost", "127.0.0.1")
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One server for all wires: to start it and its libraries takes seconds."""
    home = tmp_path_factory.mktemp("analysis")
    with (
        start_scripted(Model()) as model,
        serving(home / "home", **settings_for(model, home / "data")) as url,
    ):
        yield url


@pytest.fixture(scope="module")
def careful(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that asks before it runs anything."""
    home = tmp_path_factory.mktemp("careful")
    model = Model({"plan_steps": {"steps": STEPS[:1]}, "conclude": "There are 8 trips."})
    with (
        start_scripted(model) as scripted,
        serving(home / "home", **settings_for(scripted, home / "data"), APPROVAL="sql") as url,
    ):
        yield url


@pytest_asyncio.fixture
async def client(address: str) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=address, timeout=PATIENCE_S) as opened:
        yield opened


async def proved(client: httpx.AsyncClient, run_ids: Sequence[str]) -> list[dict[str, Any]]:
    """The runs, each of whose capsules was derived again."""
    runs = [(await client.get(f"/runs/{run_id}")).json() for run_id in run_ids]
    for run_id in run_ids:
        report = (await client.post(f"/runs/{run_id}/verify")).json()
        assert report["ok"], report
    return runs


def as_told(kept: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(step["goal"], step["code"]) for step in kept]


async def test_one_answer_in_json(client: httpx.AsyncClient) -> None:
    answer = await client.post("/chat", json={"dataset_id": "trips", "message": QUESTION})
    assert answer.status_code == 200, answer.text
    said = answer.json()
    assert said["message"] == f"{SENTENCE}\n\n[[table-2]]\n\n[[plot-1]]"
    assert (said["ending"], said["status"], said["error"]) == ("answered", "succeeded", None)
    assert said["plan"] == {"steps": STEPS}
    assert as_told(said["steps"]) == list(zip(GOALS, CELLS, strict=True))
    assert [step["step"] for step in said["steps"]] == [1, 2, 2, 3, 4]
    assert [artifact["id"] for artifact in said["artifacts"]] == ["table-1", "table-2", "plot-1"]
    assert said["result"]["rows"][0] == WORST
    assert said["chart"]["data"][0]["type"] == "bar"
    runs = await proved(client, said["run_ids"])
    assert [run["python"] for run in runs] == [LAST, FIRST, RIGHT, CELLS[-1]], "the main one first"
    listed = (await client.get("/runs?status=failed&limit=5")).json()["runs"]
    failed = await proved(client, [listed[0]["run_id"]])
    assert failed[0]["python"] == WRONG and "KeyError" in failed[0]["stderr"], "failures are on record, too"


async def test_the_same_as_events(client: httpx.AsyncClient) -> None:
    body = {"dataset_id": "trips", "message": QUESTION}
    headers = {"Accept": "text/event-stream"}
    async with client.stream("POST", "/chat", json=body, headers=headers) as answer:
        heard = [event async for event in sse(answer)]
    assert (heard[0].name, heard[-1].name) == ("thread", "message")
    codes = [event.data for event in heard if event.name == "code"]
    assert as_told(codes) == list(zip(GOALS, CELLS, strict=True))
    ended = [
        event.data["status"]
        for event in heard
        if event.name == "run" and event.data["status"] not in ("pending", "running")
    ]
    assert ended == ["succeeded", "failed", "succeeded", "succeeded", "succeeded"]
    thoughts = [event.data["text"] for event in heard if event.name == "thought"]
    assert f"{ADVICE['diagnosis']} {ADVICE['suggestion']}" in thoughts
    names = [event.name for event in heard]
    assert names.index("code") < names.index("run") < names.index("log"), "told before and after a cell"
    logs = [event.data["text"] for event in heard if event.name == "log"]
    assert logs[0] == "months: ['2025-01', '2025-02']\n" and "KeyError" in logs[1]
    last = heard[-1].data
    assert last["text"].startswith(SENTENCE) and last["ending"] == "answered"
    assert len(await proved(client, last["run_ids"])) == 4


async def test_the_same_over_a_websocket(client: httpx.AsyncClient) -> None:
    asked = await ask(client, QUESTION, dataset="trips.csv")
    said = await listen(asked["websocket_url"])
    assert await listen(asked["websocket_url"], after=said[6]["seq"]) == said[7:], (
        "what was missed comes again"
    )
    told = [one for one in said if not (one["type"] == "thought" and one["payload"].endswith("…"))]
    of = {kind: [one["payload"] for one in told if one["type"] == kind] for kind in {o["type"] for o in told}}
    assert set(of) == {"thought", "code", "log", "error", "table", "chart", "final_response"}
    assert of["code"] == CELLS
    for number, code in enumerate(CELLS, 1):
        place = next(at for at, one in enumerate(told) if one["payload"] == code)
        assert told[place - 1]["type"] == "thought", "why, before each cell"
        assert told[place + 1]["payload"] == f"Executing code cell {number}..."
        assert f"cell {number}" in told[place + 2]["payload"], "and how it went, after it"
    (error,) = of["error"]
    assert error.startswith("Error occurred while executing code cell 2: Traceback") and "Revenue" in error
    assert f"{ADVICE['diagnosis']} {ADVICE['suggestion']}" in of["thought"]
    frames = [pandas.read_json(io.StringIO(payload)) for payload in of["table"]]
    assert [len(frame) for frame in frames] == [8, 4] and next(iter(frames[-1]["change"])) == -917873
    (chart,) = [json.loads(payload) for payload in of["chart"]]
    assert chart["data"][0]["type"] == "bar"
    (final,) = of["final_response"]
    assert final.startswith(SENTENCE) and "| city | vehicle |" in final and "[[" not in final
    listed = (await client.get("/runs?limit=5")).json()["runs"]
    runs = await proved(client, [run["run_id"] for run in listed])
    assert [run["python"] for run in reversed(runs)] == CELLS


async def test_a_person_decides_about_the_code(careful: str) -> None:
    async with httpx.AsyncClient(base_url=careful, timeout=PATIENCE_S) as client:
        waits = (await client.post("/chat", json={"dataset_id": "trips", "message": QUESTION})).json()
        assert (waits["ending"], waits["run_ids"], waits["sql"]) == ("waiting", [], None)
        assert waits["steps"][-1]["code"] == FIRST and f"```python\n{FIRST}\n```" in waits["message"]
        edited = {"name": "execute_python", "args": {"code": "print(len(trips), 'trips')"}}
        resume = {"decisions": [{"type": "edit", "edited_action": edited}]}
        said = (await client.post("/chat", json={"thread_id": waits["thread_id"], "resume": resume})).json()
        assert (said["ending"], said["message"]) == ("answered", "There are 8 trips.")
        (run,) = await proved(client, said["run_ids"])
        assert (run["python"], run["stdout"], run["origin"]) == (
            edited["args"]["code"],
            "8 trips\n",
            None,
        )
