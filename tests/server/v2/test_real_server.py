"""A question to a server as it is started, with the built-in planner and the real sandbox, over a WebSocket."""

from __future__ import annotations

import io
import json
import signal
from pathlib import Path

import httpx
import pandas
import pytest
from websockets.asyncio.client import connect

from tests.server.test_killed_server import serving
from tests.server.v2.listening import ask, closed, kinds, listen, next_one, until

LONG = "SELECT count(*) AS n FROM range(100000) AS a, range(1000000) AS b"


@pytest.mark.needs("userns")
async def test_ask_follow_up_cancel_stop_and_come_back(tmp_path: Path) -> None:
    with serving(tmp_path) as (process, url):
        async with httpx.AsyncClient(base_url=url, timeout=60) as client:
            asked = await ask(client, "Monthly revenue in 2025", dataset="orders.csv")
            session = asked["session_id"]
            async with connect(asked["websocket_url"]) as socket:
                first = await until(socket)
                assert [kind for kind in kinds(first) if kind != "thought"] == [
                    "reading", "code", "log", "log", "table", "chart", "final_response"
                ]  # fmt: skip
                told = {one["type"]: one["payload"] for one in first}
                assert kinds(first)[0] == "thought" and told["code"].startswith("SELECT")
                frame = pandas.read_json(io.StringIO(told["table"]))
                assert list(frame.columns) == ["month", "revenue"] and len(frame) == 12
                assert json.loads(told["chart"])["data"][0]["type"] == "scatter"
                await ask(client, "now only for Germany", dataset="ecommerce", session_id=session)
                second = await until(socket)
                code = next(one["payload"] for one in second if one["type"] == "code")
                assert "Germany" in code and "2025" in code
                less = pandas.read_json(
                    io.StringIO(next(o["payload"] for o in second if o["type"] == "table"))
                )
                assert bool((less["revenue"] < frame["revenue"]).all())
                await ask(client, LONG, dataset="ecommerce", session_id=session)
                await until(socket, "log")
                await socket.send('{"type": "cancel"}')
                third = await until(socket)
                assert "cancelled" in third[-1]["payload"]
                process.send_signal(signal.SIGTERM)
                assert (await closed(socket))[0] == 1001
        assert process.wait(20) == 0
    with serving(tmp_path) as (_, url):
        stream = f"ws{url.removeprefix('http')}/v2/stream/{session}"
        async with connect(f"{stream}?after={first[4]['seq']}") as socket:
            assert await until(socket) == first[5:]
            assert await until(socket) == second
            rest = await until(socket)
            assert rest[-1] == third[-1]
        assert await listen(stream) == rest


@pytest.mark.needs("userns")
async def test_a_killed_server_leaves_an_end(tmp_path: Path) -> None:
    with serving(tmp_path) as (process, url):
        async with httpx.AsyncClient(base_url=url, timeout=60) as client:
            asked = await ask(client, LONG, dataset="ecommerce")
            async with connect(asked["websocket_url"]) as socket:
                heard = (await until(socket, "log"))[-1]
                process.send_signal(signal.SIGKILL)
    with serving(tmp_path) as (_, url):
        stream = f"ws{url.removeprefix('http')}/v2/stream/{asked['session_id']}"
        async with connect(f"{stream}?after={heard['seq']}") as socket:
            said = [await next_one(socket), await next_one(socket)]
        assert kinds(said) == ["error", "final_response"] and "ServerStopped" in said[0]["payload"]
