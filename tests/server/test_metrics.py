"""`/metrics`: what it counts, under which labels, and that nothing of a request becomes one."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest_asyncio
from httpx import ASGITransport, AsyncClient

from sandtable.server.app import create_app
from sandtable.telemetry.measures import EVERY
from tests.server.house import open_house
from tests.server.talking import Served, served

_SAMPLE = re.compile(r"^(\w+)(?:\{(.*)\})? ([-+.\deInf]+)$")


class Read:
    """The samples of one answer of `/metrics`."""

    def __init__(self, text: str) -> None:
        self.text = text
        found = [match for line in text.splitlines() if (match := _SAMPLE.match(line))]
        self._samples = [(m[1], dict(re.findall(r'(\w+)="([^"]*)"', m[2] or "")), float(m[3])) for m in found]

    def __call__(self, name: str, **labels: str) -> float:
        """The sum of the series with these labels."""
        return sum(
            value for each, has, value in self._samples if each == name and labels.items() <= has.items()
        )

    def values(self, name: str, label: str) -> set[str]:
        return {has[label] for each, has, _ in self._samples if each == name}


async def read(client: AsyncClient) -> Read:
    answer = await client.get("/metrics")
    assert answer.status_code == 200
    return Read(answer.text)


@pytest_asyncio.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as server:
        yield server


async def sql(client: AsyncClient, text: str, **more: object) -> httpx.Response:
    return await client.post("/runs?wait=10", json={"dataset_id": "shop", "sql": text, **more})


async def test_every_measure_is_exported_and_no_other(client: AsyncClient) -> None:
    text = (await client.get("/metrics")).text
    exported = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))
    own = {name: kind for name, kind in exported.items() if name.startswith("sandtable_")}
    assert own == {each.name: each.kind for each in EVERY}
    assert "process_resident_memory_bytes" in exported
    helps = dict(re.findall(r"^# HELP (\S+) (.*)$", text, re.MULTILINE))
    assert {name: helps[name] for name in own} == {each.name: each.about for each in EVERY}


def test_names_follow_the_conventions() -> None:
    for each in EVERY:
        assert re.fullmatch(r"sandtable_[a-z][a-z_]*", each.name), each.name
        assert (each.kind == "counter") == each.name.endswith("_total"), each.name
        assert each.kind != "histogram" or each.name.endswith("_seconds"), each.name
        assert list(each.buckets) == sorted(set(each.buckets)) and bool(each.buckets) == (
            each.kind == "histogram"
        )
    assert len({each.name for each in EVERY}) == len(EVERY)


async def test_a_run_is_timed_by_stage_and_its_end_counted(client: AsyncClient) -> None:
    for _ in range(2):
        assert (await sql(client, "SELECT 1")).json()["status"] == "succeeded"
    assert (await sql(client, "SELECT * FROM read_csv('x')")).json()["status"] == "rejected"
    found = await read(client)
    stages = found.values("sandtable_run_stage_seconds_count", "stage")
    assert {"queue", "resolve", "compile", "judge", "recall", "sandbox", "capsule", "store"} <= stages
    assert found("sandtable_run_stage_seconds_count", stage="queue") == 3
    assert found("sandtable_run_stage_seconds_count", stage="sandbox") == 1, "the second came from the cache"
    assert found("sandtable_cache_lookups_total", outcome="miss") == 1
    assert found("sandtable_cache_lookups_total", outcome="hit") == 1
    assert found("sandtable_runs_ended_total", status="succeeded", code="") == 2
    assert found("sandtable_runs_ended_total", status="rejected", code="SQL_POLICY_VIOLATION") == 1
    assert found("sandtable_refusals_total", code="SQL_POLICY_VIOLATION", rule="construct") == 1
    assert found("sandtable_run_seconds_count", status="succeeded") == 2
    assert 0 < found("sandtable_run_seconds_sum") < 60
    assert found("sandtable_runs", status="succeeded") == 2
    assert found("sandtable_store_seconds_count", operation="accept") == 3
    assert found("sandtable_store_seconds_count", operation="finish") == 3
    assert found("sandtable_runs_executing") == 0


async def test_requests_are_counted_by_the_template_of_their_route(client: AsyncClient) -> None:
    await client.get("/runs/run_of_somebody")
    await client.get("/runs/another")
    await client.head("/healthz")
    await client.get("/no/such/secret-path")
    await client.request("BREW", "/healthz")
    await client.get("/runs/x", headers={"host": "evil.test"})
    found = await read(client)
    assert found("sandtable_http_requests_total", route="/runs/{run_id}", status="404") == 2
    assert found("sandtable_http_requests_total", method="HEAD", route="/healthz", status="200") == 1
    assert found("sandtable_http_requests_total", route="other", status="404") == 1
    assert found("sandtable_http_requests_total", method="other") == 1
    assert found("sandtable_http_requests_total", route="other", status="421") == 1, "refused by the guard"
    assert found("sandtable_http_request_seconds_count", route="/runs/{run_id}") == 2
    assert found("sandtable_http_requests_open") == 1, "the one that asks"
    for text in ("run_of_somebody", "another", "secret-path", "BREW"):
        assert text not in found.text


async def test_two_servers_in_one_process_count_apart(client: AsyncClient, tmp_path: Path) -> None:
    async with open_house(tmp_path / "other") as house:
        transport = ASGITransport(create_app(house))  # pyright: ignore[reportArgumentType] - a double of Parts
        async with AsyncClient(transport=transport, base_url="http://localhost") as other:
            await sql(other, "SELECT 1")
            assert (await read(other))("sandtable_runs_ended_total") == 1
    assert (await read(client))("sandtable_runs_ended_total") == 0


async def test_turns_and_how_questions_end(server: Served) -> None:
    for message in ("plan it", "What is what?"):
        answer = await server.client.post("/chat", json={"message": message, "dataset_id": "shop"})
        assert answer.status_code == 200
    found = await read(server.client)
    assert found("sandtable_turns_ended_total", end="success") == 2
    assert found("sandtable_turn_seconds_count") == 2
    assert found("sandtable_turn_first_event_seconds_count") == 2
    assert found("sandtable_turn_first_event_seconds_sum") <= found("sandtable_turn_seconds_sum")
    assert found("sandtable_turn_wait_seconds_count") == 2
    assert found("sandtable_answers_total", ending="answered", proposer="builtin") == 1
    assert found("sandtable_answers_total", ending="conversed") == 1
    assert {"classify", "propose", "validate", "run", "wording"} <= found.values(
        "sandtable_turn_step_seconds_count", "step"
    )
    assert found("sandtable_turns_under_way") == found("sandtable_turns_waiting") == 0
    assert found("sandtable_http_requests_total", route="/chat", status="200") == 2
