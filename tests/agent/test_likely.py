"""Parts that a reader likely read from words which name nothing in the data: answered, shown as likely, and said to be
proposed by a model in the run and its capsule."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from sandtable.agent.events import Event, Planned
from sandtable.agent.model_trouble import ModelTrouble
from sandtable.agent.proposer import AskBack, PlanProposal
from sandtable.agent.read_as.model import Aligned, ReadAs, Words
from sandtable.capsule.trust import BUILTIN, READER
from tests.agent.house import BAD, UNKNOWN, House, Scripted, last, open_house
from tests.agent.reader import Reader, reads

QUESTION = "takings by region"


@pytest.fixture(autouse=True)
def reader(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sandtable.agent.builtin.plan_question", reads("takings", "amount"))


def _read(events: list[Event]) -> ReadAs:
    read = next(event.read_as for event in events if isinstance(event, Planned))
    assert read is not None
    return read


def _sources(read: ReadAs) -> list[tuple[str, str, list[str]]]:
    return [(part.kind, part.source, [words.text for words in part.words]) for part in read.parts]


async def _recorded(house: House, events: list[Event]) -> list[str]:
    """The proposer in the run, and in its capsule."""
    run = await house.runs.get(last(events).run_ids[0])
    assert run.request.origin is not None
    envelope: dict[str, Any] = await house.runs.capsule(run.id)
    return [run.request.origin.proposer, _payload(envelope)["origin"]["proposer"]]


def _payload(envelope: dict[str, Any]) -> dict[str, Any]:
    return json.loads(base64.b64decode(envelope["payload"]))["predicate"]


async def test_a_likely_part_is_answered_and_shown(tmp_path: Path) -> None:
    async with open_house(tmp_path, Reader([])) as house:
        events = await house.ask(QUESTION)
        read = _read(events)
        assert last(events).ending == "answered"
        assert _sources(read)[:2] == [("measure", "likely", ["takings"]), ("by", "words", ["by region"])]
        assert read.parts[0].choices and not read.aside and not read.unread
        assert read.trust == ("proposed_by_model",)
        assert "*Read as: total amount (likely: “takings”) · by region" in last(events).text
        assert await _recorded(house, events) == [READER, READER]


async def test_a_question_bound_by_its_words_is_the_planners(tmp_path: Path) -> None:
    async with open_house(tmp_path, Reader([])) as house:
        events = await house.ask("total amount by region")
        assert _read(events).trust == ("read_literally",) and not _read(events).likely
        assert await _recorded(house, events) == [BUILTIN, BUILTIN]


async def test_what_a_follow_up_keeps_is_as_likely_as_before(tmp_path: Path) -> None:
    async with open_house(tmp_path, Reader([])) as house:
        await house.ask(QUESTION)
        events = await house.ask("only for North")
        assert [(s[0], s[1]) for s in _sources(_read(events))][:3] == [
            ("measure", "likely"),
            ("by", "kept"),
            ("where", "words"),
        ]
        assert "total amount (likely) · by region" in last(events).text
        assert await _recorded(house, events) == [READER, READER]
        # A person who names the column instead has read it literally.
        events = await house.ask("total amount by region")
        assert not _read(events).likely and await _recorded(house, events) == [BUILTIN, BUILTIN]


async def test_an_explanation_names_what_is_likely(tmp_path: Path) -> None:
    async with open_house(tmp_path, Reader([])) as house:
        await house.ask(QUESTION)
        assert "Likely, and to be checked: `total amount`." in (await house.say("explain")).text
        await house.ask("total amount by region")
        assert "Likely" not in (await house.say("explain")).text


async def test_a_choice_is_a_persons_own(tmp_path: Path) -> None:
    async with open_house(tmp_path, Reader([])) as house:
        measure = _read(await house.ask(QUESTION)).parts[0]
        events = await house.ask(measure.choices[0].message, plan=measure.choices[0].plan)
        read = _read(events)
        assert read.parts[0].source == "chosen" and not read.likely and read.trust == ()
        assert (await house.runs.get(last(events).run_ids[0])).request.origin is None


async def test_a_choice_of_another_part_leaves_the_likely_one_likely(tmp_path: Path) -> None:
    async with open_house(tmp_path, Reader([])) as house:
        read = _read(await house.ask(QUESTION))
        other = next(part for part in read.parts if part.source != "likely" and part.choices)
        again = _read(await house.ask(other.choices[0].message, plan=other.choices[0].plan))
        assert [part.source for part in again.parts if part.kind == "measure"] == ["likely"]


@pytest.mark.parametrize(
    "script",
    [
        [ModelTrouble("unreachable", "no answer", suggestion="Mend it.", model="openai:gpt-5")],
        [PlanProposal(BAD)],
    ],
    ids=["down", "no plan that fits"],
)
async def test_in_the_place_of_a_chat_model(tmp_path: Path, script: list[Any]) -> None:
    async with open_house(tmp_path, Scripted(script, name="openai:gpt-5"), planner=True) as house:
        events = await house.ask(QUESTION)
        assert "The built-in planner answered this" in last(events).text
        planned = [event.read_as for event in events if isinstance(event, Planned)][-1]
        assert planned is not None and planned.trust == ("proposed_by_model",) and planned.likely
        assert await _recorded(house, events) == [READER, READER]


async def test_a_refused_plan_keeps_its_proposer(tmp_path: Path) -> None:
    """The planner has nothing better to propose: its last attempt is put on record with who made it."""
    words = (Words(text="takings", start=0, end=7),)
    alignment = Aligned(question=QUESTION, likely=((("select", 0), words),))
    script = Scripted([PlanProposal(UNKNOWN, alignment=alignment), AskBack("No.")], name="builtin")
    async with open_house(tmp_path, script) as house:
        events = await house.ask(QUESTION)
        assert last(events).ending == "refused" and len(script.asked) == 2
        assert await _recorded(house, events) == [READER, READER]
