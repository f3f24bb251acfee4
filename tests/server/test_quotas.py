"""One user has a quota of disk and of conversations; the others are not touched by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sandtable.assemble.sizes import SERVED_DISK_MB, SERVED_THREADS, quotas_of
from sandtable.conversations.model import Thread, now
from sandtable.runs import quotas as quotas_module
from sandtable.runs.quotas import QuotaFull, Quotas
from sandtable.settings import Settings
from tests.server.house import THIS_MACHINE
from tests.server.talking import WIRE, Served, human, served

ADA, BOB = {"x-sandtable-user": "ada"}, {"x-sandtable-user": "bob"}
SQL = {"dataset_id": "shop", "sql": "SELECT 1"}


@pytest.fixture(autouse=True)
def _measured_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quotas_module, "_MEASURED_S", 0.0)


def by_proxy(home: Path) -> Settings:
    return Settings(home=home, trusted_proxies=THIS_MACHINE)


class Full(Quotas):
    """As if one user had stored more than the quota."""

    def __init__(self, user: str) -> None:
        super().__init__(disk_mb=1)

        async def meter(who: str) -> int:
            return 2 << 20 if who == user else 0

        self.meters.append(meter)


def requests_of(thread: str) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("/runs", SQL),
        ("/chat", {"dataset_id": "shop", "message": "hm"}),
        ("/chat", {"thread_id": thread, "dataset_id": "shop", "message": "hm"}),
        ("/v2/query", {"dataset_name": "shop", "query": "hm"}),
        (f"{WIRE}/threads", {}),
        (f"{WIRE}/threads/{thread}/runs/wait", {"assistant_id": "shop", "input": human("hm")}),
    ]


async def test_more_than_the_quota_of_disk_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path, by_proxy(tmp_path), quotas=Full("ada")) as server:
        thread = (await server.client.post(f"{WIRE}/threads", json={}, headers=BOB)).json()["thread_id"]
        store, at = (await server.conversation()).store, now()
        await store.create(Thread("of-ada", "ada", at, at))
        for path, body in requests_of("of-ada"):
            refused = await server.client.post(path, json=body, headers=ADA)
            assert refused.status_code == 507, (path, refused.text)
            error = refused.json()["error"]
            assert error["code"] == "RUNNER_RESOURCE_EXCEEDED"
            assert "2.0 MiB" in error["message"] and "sandtable prune" in error["suggestion"]
            assert error["details"] == {"taken": 2 << 20, "quota": 1 << 20}
        for headers in (ADA, BOB):
            counted = await server.client.post(f"{WIRE}/threads/count", json={}, headers=headers)
            assert counted.json() == 1
        for path, body in requests_of(thread):
            assert (await server.client.post(path, json=body, headers=BOB)).status_code in (200, 202), path


async def test_what_is_stored_is_counted(tmp_path: Path) -> None:
    quotas = Quotas(disk_mb=1)
    async with served(tmp_path, by_proxy(tmp_path), quotas=quotas) as server:

        async def taken(user: str) -> int:
            return sum([await meter(user) for meter in quotas.meters])

        assert await taken("ada") == 0
        await server.client.post("/runs?wait=10", json=SQL, headers=ADA)
        of_run = await taken("ada")
        answer = await server.client.post(
            "/chat", json={"dataset_id": "shop", "message": "hm " * 400}, headers=ADA
        )
        of_both = await taken("ada")
        assert 0 < of_run < of_both and await taken("bob") == 0
        thread = answer.json()["thread_id"]
        await server.client.post("/chat", json={"thread_id": thread, "message": "hm"}, headers=ADA)
        assert await taken("ada") > of_both and await taken("bob") == 0
        await server.client.delete(f"{WIRE}/threads/{thread}", headers=ADA)
        assert await taken("ada") == of_run


async def test_more_than_the_quota_of_conversations_is_refused(tmp_path: Path) -> None:
    async with served(tmp_path, by_proxy(tmp_path), quotas=Quotas(threads=2)) as server:
        for _ in range(2):
            assert (await _new(server, ADA)).status_code == 200
        refused = await _new(server, ADA)
        assert refused.status_code == 507 and "2 conversations" in refused.json()["error"]["message"]
        chat = {"dataset_id": "shop", "message": "hm"}
        assert (await server.client.post("/chat", json=chat, headers=ADA)).status_code == 507
        assert (await _new(server, BOB)).status_code == 200
        listed = await server.client.post(f"{WIRE}/threads/search", json={"limit": 1}, headers=ADA)
        thread = listed.json()[0]["thread_id"]
        # In those that are there the conversation goes on.
        goes_on = {"thread_id": thread, "dataset_id": "shop", "message": "hm"}
        assert (await server.client.post("/chat", json=goes_on, headers=ADA)).status_code == 200
        search = await server.client.post(f"{WIRE}/threads/search", json={"limit": 9}, headers=ADA)
        await server.client.delete(f"{WIRE}/threads/{search.json()[-1]['thread_id']}", headers=ADA)
        assert (await _new(server, ADA)).status_code == 200


async def _new(server: Served, headers: dict[str, str]) -> Any:
    return await server.client.post(f"{WIRE}/threads", json={}, headers=headers)


async def test_a_user_within_the_quota_is_not_measured_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quotas_module, "_MEASURED_S", 60.0)
    measured: list[str] = []
    stored = 0

    async def meter(user: str) -> int:
        measured.append(user)
        return stored

    quotas = Quotas(disk_mb=1)
    with quotas.counting(meter):
        for user in ("ada", "ada", "bob", "ada"):
            await quotas.require_disk(user)
        assert measured == ["ada", "bob"]
        stored = 1 << 20
        # A refusal is never remembered: what was deleted counts at once.
        for _ in range(2):
            with pytest.raises(QuotaFull):
                await quotas.require_disk("cy")
        stored = 0
        await quotas.require_disk("cy")


@pytest.mark.parametrize(
    ("given", "serving", "disk", "threads"),
    [
        ({}, True, SERVED_DISK_MB, SERVED_THREADS),
        ({}, False, None, None),
        ({"user_disk_mb": 5, "user_threads": 6}, True, 5, 6),
        ({"user_disk_mb": 5, "user_threads": 6}, False, 5, 6),
        ({"user_disk_mb": 0, "user_threads": 0}, True, None, None),
    ],
    ids=["a server", "a person", "chosen", "chosen by a person", "no limit"],
)
def test_the_settings(given: dict[str, int], serving: bool, disk: int | None, threads: int | None) -> None:
    made = quotas_of(Settings.model_validate(given), serving=serving)
    assert (made._disk_mb, made._threads) == (disk, threads)
