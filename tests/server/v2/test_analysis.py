"""An analysis in Python over a WebSocket: a scripted model, the real gate and the real sandbox."""

from __future__ import annotations

import io
import json
from pathlib import Path

import httpx
import pandas
import pytest

from sandtable.server.app import create_app
from tests.agent.analysis.trips import ADVICE, CHART, FIRST, LAST, QUESTION, RIGHT, WRONG, Model, office
from tests.agent.models.scripted import start_scripted
from tests.server.talking import listening
from tests.server.v2.listening import ask, kinds, listen

pytestmark = [pytest.mark.needs("userns")]

CELLS = [FIRST, WRONG, RIGHT, LAST, f"{CHART}\nfig"]


async def test_three_steps_an_error_a_chart_and_an_answer(tmp_path: Path) -> None:
    with start_scripted(Model()) as model:
        async with (
            office(model.settings("openai", tmp_path / "home"), tmp_path) as made,
            listening(create_app(made.parts)) as url,
            httpx.AsyncClient(base_url=url, timeout=60) as client,
        ):
            asked = await ask(client, QUESTION, dataset="trips.csv")
            said = await listen(asked["websocket_url"])
            assert await listen(asked["websocket_url"], after=5) == said[5:]
    told = [one for one in said if not (one["type"] == "thought" and one["payload"].endswith("…"))]
    assert [one["payload"] for one in told if one["type"] == "code"] == CELLS
    begun = [one["payload"] for one in told if "Executing" in one["payload"]]
    assert begun == [f"Executing code cell {number}..." for number in range(1, 6)]
    assert any("months: ['2025-01', '2025-02']" in o["payload"] for o in told if o["type"] == "log")
    (error,) = [one["payload"] for one in told if one["type"] == "error"]
    assert error.startswith("Error occurred while executing code cell 2: Traceback") and "Revenue" in error
    assert any(ADVICE["diagnosis"] in one["payload"] for one in told if one["type"] == "thought")
    tables = [pandas.read_json(io.StringIO(o["payload"])) for o in told if o["type"] == "table"]
    assert [len(table) for table in tables] == [8, 4] and next(iter(tables[-1]["change"])) == -917873
    (chart,) = [json.loads(one["payload"]) for one in told if one["type"] == "chart"]
    assert chart["data"][0]["type"] == "bar"
    final = told[-1]["payload"]
    assert kinds(told)[-1] == "final_response" and "917,873" in final
    assert "| city | vehicle |" in final and "[[" not in final
