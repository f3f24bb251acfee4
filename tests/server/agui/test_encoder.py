"""Every event of a turn as AG-UI events, without a server."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, get_args

import pytest
from ag_ui.core import Event as AguiEvent
from pydantic import TypeAdapter

from sandtable.agent import events as native
from sandtable.agent.read_as.model import Offer
from sandtable.agent.turn_events import (
    DecisionRequest,
    DecisionsAwaited,
    StateReached,
    StepDone,
    StreamEvent,
    TextPiece,
    ThreadState,
    UiChanged,
)
from sandtable.conversations.turn_events import CANCELLED, SERVER_STOPPED, TurnBegun, TurnEvent
from sandtable.errors import ErrorCode, Problem
from sandtable.runs.described import DescribedArtifact, DescribedColumn
from sandtable.server.agui.asking import Work
from sandtable.server.agui.bodies import RunInput
from sandtable.server.agui.encoder import _ENCODERS, RunEncoder
from sandtable.server.agui.record import Record, Said, record_of

HALF = "half \ud800 a character"
PROBLEM = Problem(code=ErrorCode.RUNNER_TIMEOUT, message="too slow", suggestion="Ask for less.")
OFFERS = (
    Offer(label="one", message="Read it as “one”", plan={"table": "t"}),
    Offer(label="two", message="m"),
)
COLUMN = DescribedColumn.model_validate({"name": "n", "type": "BIGINT"})
ACTION = {"name": "execute_sql", "args": {"sql": "SELECT 1"}, "description": "x"}
REQUEST = DecisionRequest("ask-1", {"action_requests": [ACTION]})
NOTE = {"kind": "markdown", "id": "markdown-1", "text": "*hi*"}
ARTIFACT = TypeAdapter(DescribedArtifact).validate_python(NOTE)
ANY = TypeAdapter(AguiEvent)
EVERY: dict[str, tuple[Any, list[str]]] = {
    "thought": (native.Thought(text=HALF), ["STEP_STARTED"]),
    "plan": (native.Planned(plan={"table": "t"}, reading="n"), ["ACTIVITY_SNAPSHOT", "STATE_DELTA"]),
    "sql": (native.Sql(sql=HALF), ["ACTIVITY_SNAPSHOT", "STATE_DELTA"]),
    "code": (native.Code(code="print(1)", step=1), ["ACTIVITY_SNAPSHOT"]),
    "run": (native.RunState(run_id="r", status="running"), ["STATE_DELTA"]),
    "log": (native.Log(text=HALF), ["CUSTOM"]),
    "table": (
        native.Table(run_id="r", columns=(COLUMN,), rows=((1,), (HALF,)), row_count=2, truncated=False),
        ["ACTIVITY_SNAPSHOT"],
    ),
    "chart": (native.Chart(run_id="r", figure={"data": []}), ["ACTIVITY_SNAPSHOT"]),
    "artifact": (native.ArtifactShown(run_id="r", artifact=ARTIFACT), ["ACTIVITY_SNAPSHOT"]),
    "delta": (native.Delta(text="He"), []),
    "message": (
        native.Message(text=HALF, ending="answered"),
        ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "STATE_DELTA"],
    ),
    "error": (native.Error(problem=PROBLEM), []),
    "decisions": (
        DecisionsAwaited((REQUEST,)),
        ["TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "STATE_DELTA"],
    ),
    "failed": (SERVER_STOPPED, []),
    "begun": (TurnBegun(), []),
    "ui": (UiChanged({}), []),
    "state": (StateReached({}), []),
    "step": (StepDone({}), []),
    "text": (TextPiece("", {}), []),
}


def encoder(**given: Any) -> RunEncoder:
    body = {"threadId": "t", "runId": "r", "messages": [], **given}
    return RunEncoder(RunInput.model_validate(body), "thread", "shop", Work("q1", text="hm"))


def read(frames: bytes) -> list[Any]:
    """Of a run, as any client of the protocol reads it: every frame is one event that the schema knows."""
    lines = [frame.removeprefix("data: ") for frame in frames.decode().split("\n\n") if frame]
    return [ANY.validate_json(line) for line in lines]


def kinds(events: Any) -> list[str]:
    return [str(event.type.value) for event in events]


def test_every_member_of_the_union_is_encoded() -> None:
    (union, *_) = get_args(native.Event)
    members = {*get_args(union), *get_args(StreamEvent)[1:], *get_args(TurnEvent)} - {native.Event}
    members = {one for one in members if isinstance(one, type)}
    assert set(_ENCODERS) == members
    assert {type(event) for event, _ in EVERY.values()} == members


@pytest.mark.parametrize("name", EVERY)
def test_one_event(name: str) -> None:
    event, expected = EVERY[name]
    made = encoder().encode(event)
    assert kinds(made) == expected
    assert kinds(read(RunEncoder.framed(made))) == expected


def test_a_whole_run_closes_what_it_opens() -> None:
    one = encoder(parentRunId="parent")
    events = [*one.begin()]
    for event in (
        native.Thought(text="a"),
        native.Thought(text="a"),
        native.Message(text="Yes.", ending="answered"),
    ):
        events += one.encode(event)
    events += [*one.encode(native.Thought(text="b")), *one.end()]
    heard = read(RunEncoder.framed(events))
    assert kinds(heard) == [
        "RUN_STARTED", "STATE_SNAPSHOT", "STEP_STARTED", "STEP_FINISHED", "STEP_STARTED", "STEP_FINISHED",
        "TEXT_MESSAGE_START", "TEXT_MESSAGE_CONTENT", "TEXT_MESSAGE_END", "STATE_DELTA", "STEP_STARTED",
        "STEP_FINISHED", "RUN_FINISHED",
    ]  # fmt: skip
    assert heard[0].parent_run_id == "parent" and heard[-1].outcome.type == "success"
    assert heard[6].message_id == "q1.1" and heard[-1].result["ending"] == "answered"


def test_several_questions_of_one_message_have_each_their_state() -> None:
    one = encoder()
    one.encode(native.Message(text="a", ending="answered", remaining=1))
    start, *_, note = one.encode(native.Message(text="b", ending="asked", choices=OFFERS))
    assert start.message_id == "q1.2"  # pyright: ignore[reportAttributeAccessIssue] - the start of a message
    assert json.loads(note.model_dump_json())["delta"][0]["path"].startswith("/sandtable/answers/1/")
    (interrupt,) = read(RunEncoder.framed(one.end()))[0].outcome.interrupts
    assert interrupt.id == "choice:q1.2" and interrupt.response_schema["enum"] == ["one", "two"]


@pytest.mark.parametrize(
    ("event", "kind", "code"),
    [
        pytest.param(native.Error(problem=PROBLEM), "RUN_ERROR", "RUNNER_TIMEOUT", id="error"),
        pytest.param(SERVER_STOPPED, "RUN_ERROR", "ServerStopped", id="stopped"),
        pytest.param(CANCELLED, "RUN_FINISHED", "cancelled", id="cancelled"),
        pytest.param(DecisionsAwaited((REQUEST,)), "RUN_FINISHED", "interrupt", id="waiting"),
    ],
)
def test_how_a_run_ends(event: Any, kind: str, code: str) -> None:
    one = encoder()
    one.encode(native.Thought(text="a"))
    one.encode(event)
    last = one.end()[-1]
    told = json.loads(last.model_dump_json(by_alias=True))
    assert told["type"] == kind
    assert code == (told["code"] if kind == "RUN_ERROR" else told["outcome"]["type"])


@pytest.mark.parametrize("state", [None, [], "text", 0], ids=str)
def test_a_state_without_members_is_replaced(state: Any) -> None:
    assert kinds(encoder(state=state).begin())[1] == "STATE_SNAPSHOT"
    assert kinds(encoder(state={"a": 1}).begin())[1] == "STATE_DELTA"


def message(kind: str, content: Any, name: str, **about: Any) -> Any:
    kwargs = {"sandtable": about} if about else {}
    return SimpleNamespace(type=kind, content=content, id=name, additional_kwargs=kwargs)


def plain(state: list[Any]) -> Record:
    return record_of(ThreadState("t", values={"messages": [vars(one) for one in state]}, requests=(REQUEST,)))


def test_a_record_names_answers_as_the_run_did() -> None:
    record = plain(
        [
            message("human", [{"type": "text", "text": "a"}], "h1"),
            message("ai", "", "call"),
            message("tool", "x", "tool"),
            message("ai", r"\$5", "one", text="$5", ending="answered"),
            message("ai", "**t**", "two", text="[[table-1]]", ending="answered"),
            message("human", "b", "h2"),
        ]
    )
    assert [(one.id, one.text) for one in record.said] == [
        ("h1", "a"), ("h1.1", "$5"), ("h1.2", "**t**"), ("h2", "b")
    ]  # fmt: skip
    assert record.answers_to_last == 0 and record.is_answered("h1") and record.is_answered("h2")
    assert not Record(record.said).is_answered("h2"), "nothing is awaited any more"


def test_a_restated_conversation_asks_again_what_is_open() -> None:
    asked = Said(
        "q1.1", False, "Which?", {"ending": "asked", "choices": [one.model_dump() for one in OFFERS]}
    )
    heard = read(
        RunEncoder.framed(
            encoder().restate(Record((Said("q1", True, HALF.encode(errors="replace").decode()), asked)))
        )
    )
    assert kinds(heard) == ["RUN_STARTED", "STATE_SNAPSHOT", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]
    assert heard[-1].outcome.interrupts[0].id == "choice:q1.1"
    waits = read(RunEncoder.framed(encoder().restate(Record((), (REQUEST,)))))
    assert waits[-1].outcome.interrupts[0].id == "ask-1"
