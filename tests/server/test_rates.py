"""A user who sends too many requests gets 429, says when to come back, and disturbs no other user."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request

from sandtable.errors import RateLimited
from sandtable.server.app import create_app
from sandtable.server.rates import MOST_KNOWN, Rates
from sandtable.settings import Settings
from tests.server.house import open_house

PROXY = ("10.0.0.7", 1)
RUN = {"dataset_id": "shop", "sql": "SELECT 1"}


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


def rates(**limits: int) -> tuple[Rates, Clock]:
    clock = Clock()
    return Rates(
        Settings.model_validate({f"rate_{name}": limit for name, limit in limits.items()}), clock
    ), clock


def test_a_minutes_worth_at_once_and_then_evenly() -> None:
    limited, clock = rates(reads=60)
    for _ in range(60):
        limited.require("read", "ann")
    with pytest.raises(RateLimited) as refused:
        limited.require("read", "ann")
    assert refused.value.details == {"retry_after_s": 1}
    limited.require("read", "bob")
    limited.require("write", "ann")
    clock.now += 1
    limited.require("read", "ann")
    with pytest.raises(RateLimited):
        limited.require("read", "ann")
    clock.now += 3600
    for _ in range(60):
        limited.require("read", "ann")
    with pytest.raises(RateLimited):
        limited.require("read", "ann")


def test_a_clock_that_goes_back_gives_nothing_and_takes_nothing() -> None:
    limited, clock = rates(reads=2)
    limited.require("read", "ann")
    clock.now -= 500
    limited.require("read", "ann")
    with pytest.raises(RateLimited):
        limited.require("read", "ann")


def test_slow_limits_say_how_long() -> None:
    limited, clock = rates(sign_ins=2)
    limited.require("sign_in", "x")
    limited.require("sign_in", "x")
    clock.now += 10
    with pytest.raises(RateLimited) as refused:
        limited.require("sign_in", "x")
    assert refused.value.details == {"retry_after_s": 20}


def test_zero_is_no_limit_and_memory_is_bounded() -> None:
    limited, _ = rates(reads=0, writes=1)
    for number in range(MOST_KNOWN + 50):
        limited.require("read", "ann")
        limited.require("write", f"user {number}")
    assert len(limited._buckets) == MOST_KNOWN


@asynccontextmanager
async def served(tmp_path: Path, **limits: Any) -> AsyncIterator[FastAPI]:
    settings = Settings.model_validate({"home": tmp_path, "trusted_proxies": "10.0.0.7", **limits})
    async with open_house(tmp_path, settings) as house:
        app = create_app(house)  # pyright: ignore[reportArgumentType] - a house is like Parts
        yield app
        await app.state.conversation.aclose()


def client(app: FastAPI, address: tuple[str, int] = PROXY, user: str | None = "ann") -> httpx.AsyncClient:
    headers = {"X-Sandtable-User": user} if user else {}
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app, client=address), base_url="http://localhost", headers=headers
    )


async def test_over_http(tmp_path: Path) -> None:
    async with (
        served(tmp_path, rate_writes=2, rate_reads=3) as app,
        client(app) as ann,
        client(app, user="bob") as bob,
    ):
        assert [(await ann.post("/runs", json=RUN)).status_code for _ in range(3)] == [202, 202, 429]
        refused = await ann.post("/runs", json=RUN)
        error = refused.json()["error"]
        assert (error["code"], error["details"]) == ("RATE_LIMITED", {"retry_after_s": 30})
        assert (
            refused.headers["retry-after"] == "30" and refused.headers["x-content-type-options"] == "nosniff"
        )
        assert error["suggestion"].startswith("Wait") and "SANDTABLE_RATE_WRITES" in error["suggestion"]
        assert (await bob.post("/runs", json=RUN)).status_code == 202
        assert [(await ann.get("/datasets")).status_code for _ in range(4)] == [200, 200, 200, 429]
        # Probes are not counted, and clients of LangGraph find their field.
        assert [(await ann.get("/healthz")).status_code for _ in range(5)] == [200] * 5
        detail = (await ann.post("/langgraph/threads", json={})).json()
        assert detail["detail"].startswith("ann has sent 2 requests that begin or change something")


async def test_this_machine_has_no_limit_without_accounts(tmp_path: Path) -> None:
    async with served(tmp_path, rate_reads=2) as app:
        async with client(app, ("127.0.0.1", 5), user=None) as here:
            assert [(await here.get("/datasets")).status_code for _ in range(6)] == [200] * 6
        async with client(app, user=None) as elsewhere:
            assert [(await elsewhere.get("/datasets")).status_code for _ in range(3)] == [200, 200, 429]


async def test_signing_in_is_limited_by_address_and_by_account(tmp_path: Path) -> None:
    async with served(tmp_path, rate_sign_ins=2) as app:

        @app.post("/tried/{name}")
        async def tried(request: Request, name: str) -> str:
            app.state.rates.require_sign_in(request, name)
            return "ok"

        async with client(app, ("127.0.0.1", 5), user=None) as here, client(app, user=None) as other:
            assert [(await here.post(f"/tried/{name}")).status_code for name in "abc"] == [200, 200, 429]
            assert (await other.post("/tried/a")).status_code == 200
            assert (await other.post("/tried/a")).status_code == 429
