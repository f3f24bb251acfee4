"""The conversation with a warm pod, held with the runner's own program."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from sandtable.sandbox.job import Job
from sandtable.sandbox.kubernetes import warm
from sandtable.sandbox.kubernetes.pods import PodLost
from sandtable.sandbox.kubernetes.warm import Unreached, talk
from sandtable.sandbox.report import result_of
from tests.runner.once import SLOW, Once, digest, free_port, started
from tests.sandbox.stores import Store, make_store, sql_job

pytestmark = pytest.mark.needs("landlock")

_TOKEN = "only-its-maker-knows"
_COUNT = "SELECT count(*) AS n FROM orders"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    return make_store(tmp_path_factory.mktemp("store"))


@contextmanager
def _waiting(store: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Once]:
    port = free_port()
    monkeypatch.setattr(warm, "PORT", port)
    ready = {"presealed": False, "warm": True, "cell": {"tmp_mb": 64, "memory_mb": 512}}
    with started(store, input=f"tcp:{port}", token_sha256=digest(_TOKEN), ready=ready) as once:
        once.ready()
        yield once


def _job(store: Store, text: str, **given: Any) -> Job:
    return sql_job(store, "j", text, **given)


async def test_a_question_and_its_answer(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    job = _job(store, _COUNT)
    with _waiting(store.root, monkeypatch) as once:
        report = await talk("127.0.0.1", _TOKEN, once.nonce, job)
        assert result_of(job, report).rows == ((2000,),)
        with pytest.raises(Unreached):
            await talk("127.0.0.1", _TOKEN, once.nonce, job)


async def test_the_clock_is_the_pods(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    job = _job(store, SLOW, wall_ms=200)
    with _waiting(store.root, monkeypatch) as once:
        result = result_of(job, await talk("127.0.0.1", _TOKEN, once.nonce, job))
    assert result.error is not None
    assert result.error.type == "Timeout"


async def test_who_gives_up_ends_the_run(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with _waiting(store.root, monkeypatch) as once:
        asking = asyncio.create_task(talk("127.0.0.1", _TOKEN, once.nonce, _job(store, SLOW)))
        await asyncio.sleep(0.3)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert await asyncio.to_thread(once.end) == 0


async def test_a_pod_that_dies_is_lost(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with _waiting(store.root, monkeypatch) as once:
        asking = asyncio.create_task(talk("127.0.0.1", _TOKEN, once.nonce, _job(store, SLOW)))
        await asyncio.sleep(0.3)
        once.process.kill()
        with pytest.raises(PodLost, match="broke off"):
            await asking


async def test_an_answer_to_another_question_is_none(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with _waiting(store.root, monkeypatch), pytest.raises(PodLost, match="not for this job"):
        await talk("127.0.0.1", _TOKEN, "another nonce", _job(store, _COUNT))


async def test_a_wrong_token_gets_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with _waiting(store.root, monkeypatch) as once, pytest.raises(PodLost):
        await talk("127.0.0.1", "guessed", once.nonce, _job(store, _COUNT))
