"""Whatever a chat model's endpoint sends, the outcome is a value, soon, and nothing leaks."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sandtable.agent.analysis.coder import MOST_STEPS
from sandtable.agent.analysis.reply import LONGEST_CODE, read_advice, read_code, read_steps
from sandtable.agent.model_proposer import ModelProposer
from sandtable.agent.model_reply import ModelReply
from sandtable.agent.models import ModelTrouble, choose_endpoint
from sandtable.agent.negotiate import Negotiated
from sandtable.agent.proposer import PlanProposal, Proposed
from sandtable.errors import Problem
from tests.agent.models.asking import PLAN, asking
from tests.agent.models.hostile import HOSTILE, PASSWORD, TEXTS, WAITS, Hostile, HostileServer, start_hostile
from tests.agent.models.scripted import KEY

MODELS = {"openai": "hostile", "responses": "gpt-5.5-pro", "anthropic": "hostile", "ollama": "hostile"}
MOST_SENT = 4 << 20
"""Bytes of one reply that the endpoint gets rid of: what is read, and what the kernel takes without that."""


@pytest.fixture(autouse=True)
def _nothing_is_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next case meets a model that was not asked before."""
    monkeypatch.setattr("sandtable.agent.model_limits.LONG_S", float("inf"), raising=False)


@pytest.fixture(scope="module")
def server() -> Iterator[HostileServer]:
    with start_hostile() as started:
        yield started


@pytest.fixture(scope="module")
def proposers(server: HostileServer, tmp_path_factory: pytest.TempPathFactory) -> dict[str, ModelProposer]:
    home = tmp_path_factory.mktemp("hostile")
    return {wire: _open(server, wire, home, 20.0) for wire in MODELS}


def _open(server: HostileServer, wire: str, home: Path, timeout_s: float) -> ModelProposer:
    provider = "openai" if wire == "responses" else wire
    endpoint = choose_endpoint(server.settings(provider, home, model=f"{provider}:{MODELS[wire]}"))
    assert endpoint is not None
    return ModelProposer(endpoint, Negotiated(home / f"{wire}.json"), timeout_s, _no_pause)


async def _no_pause(seconds: float) -> None:
    await asyncio.sleep(0)


@asynccontextmanager
async def heartbeat() -> AsyncIterator[list[float]]:
    """The longest time that the event loop's thread worked without a pause, in seconds of its processor time."""
    longest = [0.0]

    async def beat() -> None:
        while True:
            before = time.thread_time()
            await asyncio.sleep(0)
            longest[0] = max(longest[0], time.thread_time() - before)
            await asyncio.sleep(0.01)
            longest[0] = max(longest[0], time.thread_time() - before)

    beating = asyncio.create_task(beat())
    try:
        yield longest
    finally:
        beating.cancel()


async def _outcome(proposer: ModelProposer) -> Proposed | ModelTrouble:
    try:
        return await proposer.propose(asking())
    except ModelTrouble as trouble:
        return trouble


@pytest.mark.parametrize("case", HOSTILE, ids=lambda case: case.id)
async def test_a_hostile_reply_is_a_value(
    case: Hostile,
    server: HostileServer,
    proposers: dict[str, ModelProposer],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    caplog.set_level(logging.INFO)
    server.plays(case.play)
    chosen = proposers
    if case in WAITS:
        chosen = {wire: _open(server, wire, tmp_path, 0.8) for wire in MODELS}
    began = time.process_time()
    async with heartbeat() as longest:
        outcomes = dict(zip(chosen, await asyncio.gather(*map(_outcome, chosen.values())), strict=True))
    # Processor time, too, is many times longer where a machine is shared.
    assert longest[0] < 10, "the event loop was blocked"
    assert time.process_time() - began < 60, "something keeps a thread busy"
    assert server.sent <= MOST_SENT * len(server.requests)
    for wire, got in outcomes.items():
        assert (got.kind if isinstance(got, ModelTrouble) else None) in case.kinds, (wire, got)
        if isinstance(got, Proposed):
            assert got.what == PlanProposal(PLAN)
            assert type(got.usage.tokens_in) is int and 0 <= got.usage.tokens_in <= 30_000_000
        else:
            assert got.suggestion and len(got.message) < 1_000
    # Ollama is asked without a key.
    shown = {wire: repr(got) + _problem(got) for wire, got in outcomes.items()}
    shown["logs"] = "".join([caplog.text, *capfd.readouterr()])
    for wire, text in shown.items():
        assert PASSWORD not in text
        assert KEY not in text.lower() or wire == "ollama"


@pytest.mark.parametrize("name", TEXTS)
def test_no_text_breaks_the_readers_of_an_analysis(name: str) -> None:
    """What they make of it is a Problem, or as long as it may be."""
    said = ModelReply(TEXTS[name])
    steps, code, advice = read_steps(said), read_code(said), read_advice(said)
    if not isinstance(steps, Problem):
        assert len(steps) <= MOST_STEPS and all(len(step) <= 2_000 for step in steps)
    assert isinstance(code, Problem) or (len(code.code) <= LONGEST_CODE and len(code.thought) <= 1_000)
    assert isinstance(advice, Problem) or len(advice.diagnosis) <= 1_000


def _problem(got: Proposed | ModelTrouble) -> str:
    return got.problem.model_dump_json() if isinstance(got, ModelTrouble) else ""
