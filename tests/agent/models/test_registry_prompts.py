"""The model path from question to answer: every prompt of the registry, with a scripted model and a real sandbox.

The answers are computed again from the CSV files, without Sandtable.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig

from sandtable.agent.analyst import Analyst
from sandtable.agent.events import Event, Message, Planned, Table
from sandtable.agent.state import State
from sandtable.assemble import assemble
from sandtable.assemble.conversation import converse
from tests.agent.models.registry_plans import ECOMMERCE, PROMPTS, SENSORS, SUPPORT, Prompt
from tests.agent.models.scripted import KEY, Fail, Request, Say, Scripted, Step, start_scripted

ROOT = Path(__file__).resolve().parents[3]
PLANS = {prompt.text: {"dataset_id": prompt.dataset, **prompt.plan} for prompt in PROMPTS}


@pytest.fixture(scope="module")
def csv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("csv")
    command = [sys.executable, str(ROOT / "datasets/generate"), "--out", str(out)]
    subprocess.run(command, check=True, capture_output=True)
    return out


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@asynccontextmanager
async def _conversation(server: Scripted, wire: str, home: Path, **more: Any) -> AsyncIterator[Analyst]:
    settings = server.settings(wire, home, **more)
    async with assemble(settings) as parts, converse(parts) as analyst:
        yield analyst


async def _events(analyst: Analyst, prompt: Prompt, thread: str | None = None) -> list[Event]:
    asked = analyst.ask(prompt.text, dataset_id=prompt.dataset, thread_id=thread)
    return [event async for event in asked]


def _block(request: Request, name: str) -> Any:
    found = re.search(rf'<data name="{name}">\n(.*?)\n</data>', request.prompt, re.DOTALL)
    return json.loads(found[1]) if found else None


def _good(request: Request) -> Step:
    if (draft := _block(request, "draft")) is not None:
        return Say(draft)
    return Say({"intent": "plan", "plan": PLANS[_block(request, "question")]})


def _cell(value: Any) -> Any:
    """One spelling for what two engines write differently."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day).isoformat()
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        return f"{value}T00:00:00"
    if isinstance(value, str) and re.fullmatch(r"-?\d+(\.\d+)?", value):
        return float(f"{float(value):.9g}")
    if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
        return float(f"{float(value):.9g}")
    return value


def _rows(rows: Any) -> list[tuple[Any, ...]]:
    return sorted((tuple(_cell(cell) for cell in row) for row in rows), key=repr)


def _computed(csv: Path, prompt: Prompt) -> list[tuple[Any, ...]]:
    with duckdb.connect() as connection:
        for file in (csv / prompt.dataset).glob("*.csv"):
            connection.execute(f"CREATE VIEW {file.stem} AS FROM read_csv('{file}')")
        return _rows(connection.execute(prompt.sql).fetchall())


def _check(events: list[Event], expected: list[tuple[Any, ...]]) -> Message:
    message = events[-1]
    assert isinstance(message, Message), message
    assert message.ending == "answered", message
    [table] = [event for event in events if isinstance(event, Table)]
    assert _rows(table.rows) == expected and expected
    assert message.run_ids[0] == table.run_id
    return message


@pytest.mark.parametrize(
    ("wire", "prompts"),
    [("openai", ECOMMERCE), ("anthropic", SUPPORT), ("ollama", SENSORS)],
    ids=["openai-ecommerce", "anthropic-support", "ollama-sensors"],
)
async def test_every_prompt_is_answered_by_a_model(
    wire: str, prompts: tuple[Prompt, ...], csv: Path, home: Path
) -> None:
    with start_scripted(_good) as server:
        async with _conversation(server, wire, home) as analyst:
            answered = [(prompt, await _events(analyst, prompt)) for prompt in prompts]
    for prompt, events in answered:
        _check(events, _computed(csv, prompt))
        [planned] = [event for event in events if isinstance(event, Planned)]
        assert planned.plan == PLANS[prompt.text]


async def test_a_bad_enum_is_repaired(csv: Path, home: Path) -> None:
    prompt = ECOMMERCE[0]
    bad = {**prompt.plan, "select": [{"column": "category"}, {"agg": "typical", "column": "discount_rate"}]}

    def script(request: Request) -> Step:
        if _block(request, "draft") is None and _block(request, "refused") is None:
            return Say({"intent": "plan", "plan": bad})
        return _good(request)

    with start_scripted(script) as server:
        async with _conversation(server, "openai", home) as analyst:
            events = await _events(analyst, prompt)
    _check(events, _computed(csv, prompt))
    [refused] = _block(server.requests[1], "refused")
    assert refused["proposed"]["select"][:2] == bad["select"]
    assert "typical" in json.dumps(refused["wrong"])


async def test_a_proposal_is_not_streamed_to_people(home: Path) -> None:
    with start_scripted(_good) as server:
        async with _conversation(server, "ollama", home) as analyst:
            given = State(messages=[HumanMessage(SENSORS[0].text)], dataset_id="sensors")
            config = RunnableConfig(configurable={"thread_id": "t-stream"})
            streamed = [chunk async for chunk in analyst.stream(given, config, ["messages"])]
    assert streamed
    assert "intent" not in repr(streamed)


async def test_an_invented_number_is_not_said(csv: Path, home: Path) -> None:
    prompt = SUPPORT[1]

    def script(request: Request) -> Step:
        return _good(request) if _block(request, "draft") is None else Say("On average it is 987654.")

    with start_scripted(script) as server:
        async with _conversation(server, "openai", home) as analyst:
            message = _check(await _events(analyst, prompt), _computed(csv, prompt))
    assert "987654" not in message.text


@pytest.mark.parametrize("privacy", ["schema", "off"])
async def test_with_privacy_the_answer_is_worded_here(privacy: str, csv: Path, home: Path) -> None:
    prompt = SENSORS[0]
    with start_scripted(_good) as server:
        async with _conversation(server, "openai", home, privacy=privacy) as analyst:
            _check(await _events(analyst, prompt, "t"), _computed(csv, prompt))
            await _events(analyst, prompt, "t")
        asked = [request for request in server.requests if _block(request, "draft") is None]
        worded = [request for request in server.requests if _block(request, "draft") is not None]
    assert len(asked) == 2 and len(worded) == (0 if privacy == "schema" else 2)
    column = next(c for c in _block(asked[0], "schema")["tables"][1]["columns"] if c["name"] == "zone")
    assert ("values" in column or "examples" in column) is (privacy == "off")
    assert ("answer" in _block(asked[1], "history")[0]) is (privacy == "off")


async def test_with_a_refused_key_the_planner_answers_and_says_so(csv: Path, home: Path) -> None:
    prompt = ECOMMERCE[0]
    with start_scripted([Fail(401, f"Incorrect API key: {KEY}")]) as server:
        async with _conversation(server, "openai", home) as analyst:
            events = await _events(analyst, prompt)
    message = _check(events, _computed(csv, prompt))
    assert "because openai:scripted refused the key. Check OPENAI_API_KEY" in message.text
    assert KEY not in "".join(event.model_dump_json() for event in events)


@pytest.mark.parametrize("prompts", [ECOMMERCE, SUPPORT, SENSORS], ids=["ecommerce", "support", "sensors"])
async def test_the_prompt_stays_small(prompts: tuple[Prompt, ...], home: Path) -> None:
    """At most 6,000 tokens, reckoned at three characters each, which is on the safe side for JSON and English."""
    with start_scripted(_good) as server:
        async with _conversation(server, "openai", home, privacy="off") as analyst:
            await _events(analyst, prompts[0])
    request = server.requests[0]
    tools = json.dumps(request.body["tools"], ensure_ascii=False)
    assert (len(request.prompt) + len(tools)) / 3 <= 6_000


def test_every_prompt_of_the_registry_is_here() -> None:
    registry = json.loads((ROOT / "datasets/registry.json").read_text("utf-8"))
    listed = {(entry["id"], prompt) for entry in registry["datasets"] for prompt in entry["prompts"]}
    assert listed == {(prompt.dataset, prompt.text) for prompt in PROMPTS}
