"""What comes of a question: every expectation has its outcome, dialogues and parts too, on a busy machine too."""

from __future__ import annotations

import json

import pytest

from sandtable.agent.events import Event, Message
from sandtable.errors import ErrorCode, Problem
from tests.cli.analysts import FakeAnalyst, answered, broke, ended, judged, line
from tests.cli.conftest import Invoke, Write


def several(*answers: list[Event]) -> list[Event]:
    """The events of a message that asked several things: each answer has its end, and says how many are left."""
    ends = sum(isinstance(event, Message) for events in answers for event in events)
    made: list[Event] = []
    for event in (event for events in answers for event in events):
        ends -= isinstance(event, Message)
        made.append(event.model_copy(update={"remaining": ends}) if isinstance(event, Message) else event)
    return made


def test_every_expectation_has_its_outcome(invoke: Invoke, analyst: FakeAnalyst, write: Write) -> None:
    analyst.script |= {
        "what?": ended("asked", "Which?"),
        "drop": ended("refused", "No."),
        "silent": answered([42], reading=""),
    }
    source = write(
        line("right", expect="answer", answers=[41, 42]),
        line("asked", "what?", expect="answer", answers=[42]),
        line("refused", "drop", expect="answer", answers=[42]),
        line("rightly asked", "what?", expect="ask", answers=[42]),
        line("one reading", expect="ask", answers=[41, 42]),
        line("one reading, not shown", "silent", expect="ask", answers=[42]),
        line("another reading", expect="ask", answers=[41]),
        line("rightly declined", "drop", expect="decline"),
        line("asked at the word", "what?", expect="decline"),
        line("made up", expect="decline"),
        line("none of them", expect="decline", answers=[42]),
    )
    lines, summary = judged(invoke("eval", source, "--json").stdout)
    assert {each["id"]: each["outcome"] for each in lines} == {
        "right": "right", "asked": "asked", "refused": "asked", "rightly asked": "rightly asked",
        "one reading": "right", "one reading, not shown": "wrong", "another reading": "wrong",
        "rightly declined": "rightly declined", "asked at the word": "rightly declined", "made up": "wrong",
        "none of them": "right",
    }  # fmt: skip
    assert summary["reliability"] == {"0": 0.5455, "5": -0.8182, "10": -2.1818}
    assert {name: found["questions"] for name, found in summary["by"]["expect"].items()} == {
        "answer": 3, "ask": 4, "decline": 4,
    }  # fmt: skip


def test_the_turns_of_a_dialogue_are_asked_in_one_thread(
    invoke: Invoke, analyst: FakeAnalyst, write: Write
) -> None:
    analyst.script |= {"broken": broke(), "and of those?": answered([7])}
    turns = [{"question": q, "answer": 42} for q in ("How many?", "broken", "and of those?")]
    source = write(json.dumps({"id": "d", "dataset": "shop", "turns": turns}), line("q", answer=42))
    lines, summary = judged(invoke("eval", source, "--json", "--jobs", "1").stdout)
    assert [(each["id"], each["kind"], each["outcome"]) for each in lines] == [
        ("d.1", "first turn", "right"),
        ("d.2", "follow-up", "failed"),
        ("d.3", "follow-up", "wrong"),
        ("q", "question", "right"),
    ]
    assert [thread for _, _, thread in analyst.asked] == ["thread-1", "thread-1", "thread-1", None]
    assert summary["by"]["kind"]["follow-up"]["correct"] == 0


@pytest.mark.parametrize(
    ("events", "outcomes"),
    [
        pytest.param(several(answered([1]), answered([2], run_id="run_2")), ["right", "right"], id="both"),
        pytest.param(
            several(answered([2]), answered([1], run_id="run_2")), ["right", "right"], id="in another order"
        ),
        pytest.param(
            several(answered([1]), answered([3], run_id="run_2")), ["right", "wrong"], id="one wrong"
        ),
        pytest.param(answered([2]), ["asked", "right"], id="one missing"),
        pytest.param(answered([3]), ["wrong", "asked"], id="another one"),
        pytest.param(
            several(ended("asked", "Which?"), answered([2])),
            ["asked", "right"],
            id="the first is asked about",
        ),
        pytest.param(ended("asked", "Which?"), ["asked", "asked"], id="none"),
    ],
)
def test_every_part_is_to_be_answered(
    invoke: Invoke, analyst: FakeAnalyst, write: Write, events: list[Event], outcomes: list[str]
) -> None:
    analyst.script["a and b?"] = events
    parts = [{"question": "a?", "answers": [1]}, {"question": "b?", "answers": [2]}]
    lines, _ = judged(
        invoke("eval", write(line("x", "a and b?", parts=parts, expect="answer")), "--json").stdout
    )
    assert [(each["id"], each["outcome"]) for each in lines] == list(
        zip(["x.1", "x.2"], outcomes, strict=True)
    )


def test_a_companion_run_is_no_further_answer(invoke: Invoke, analyst: FakeAnalyst, write: Write) -> None:
    """It has no plan of its own: it belongs to the run before."""
    companion = [event for event in answered([2], run_id="run_2") if event.type in ("run", "table")]
    *steps, end = answered([1])
    analyst.script["a and b?"] = [*steps, *companion, end]
    parts = [{"answers": [1]}, {"answers": [2]}]
    lines, _ = judged(invoke("eval", write(line("x", "a and b?", parts=parts)), "--json").stdout)
    assert [each["outcome"] for each in lines] == ["right", "asked"]


def refused_plan() -> list[Event]:
    problem = Problem(code=ErrorCode.SQL_POLICY_VIOLATION, message="the text takes too long to parse")
    steps = [event for event in answered([42]) if event.type in ("plan", "sql")]
    return [*steps, Message(text="No.", ending="refused", problem=problem)]


@pytest.mark.parametrize(
    ("first", "asked", "outcome"),
    [
        pytest.param(refused_plan(), 2, "right", id="a refused plan"),
        pytest.param(
            ended("failed", "Slow.", Problem(code=ErrorCode.RUNNER_TIMEOUT, message="slow")),
            2,
            "right",
            id="slow",
        ),
        pytest.param(broke(), 1, "failed", id="broken"),
        pytest.param(ended("asked", "Which?"), 1, "asked", id="asked"),
    ],
)
def test_what_ran_out_of_time_is_asked_once_more(
    invoke: Invoke, analyst: FakeAnalyst, write: Write, first: list[Event], asked: int, outcome: str
) -> None:
    analyst.once["How many?"] = first
    lines, _ = judged(invoke("eval", write(line("a", answer=42)), "--json").stdout)
    assert [each["outcome"] for each in lines] == [outcome]
    assert len(analyst.asked) == asked


def test_a_plan_that_is_refused_again_has_failed(invoke: Invoke, analyst: FakeAnalyst, write: Write) -> None:
    analyst.default = refused_plan()
    lines, _ = judged(invoke("eval", write(line("a", answer=None), line("b", answer=42)), "--json").stdout)
    assert [each["outcome"] for each in lines] == ["failed", "failed"]
    assert len(analyst.asked) == 4
