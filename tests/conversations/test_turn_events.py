"""Events of a turn as entries of its journal, and back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from langchain_core.messages import AIMessageChunk

from sandtable.agent.events import Message, Table, Thought
from sandtable.agent.turn_events import (
    DecisionRequest,
    DecisionsAwaited,
    StateReached,
    StepDone,
    TextPiece,
    UiChanged,
)
from sandtable.conversations.model import JournalEntry
from sandtable.conversations.turn_events import (
    CANCELLED,
    SERVER_STOPPED,
    TurnBegun,
    TurnEvent,
    failed_with,
    present_data,
    read,
    written,
)
from sandtable.conversations.turn_start import TurnStart
from sandtable.errors import NotFound

REQUEST = DecisionRequest(
    "i1",
    {"action_requests": [{"name": "execute_sql", "args": {"sql": "SELECT 1"}, "description": "One."}]},
)


def entry_of(event: TurnEvent) -> JournalEntry:
    kind, data = written(event, TurnStart())
    return JournalEntry(1, kind, data)


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        (TurnBegun(attempt=2), "begun"),
        (Thought(text="\ud800 Hm."), "event"),
        (Message(text="Forty-two.", ending="answered", run_ids=("r1",)), "event"),
        (DecisionsAwaited((REQUEST,)), "decision"),
        (CANCELLED, "failed"),
        (SERVER_STOPPED, "failed"),
        (failed_with(NotFound("no dataset `x`", suggestion="Ask for another.")), "failed"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_an_event_is_read_back(event: Any, kind: str) -> None:
    entry = entry_of(event)
    assert entry.kind == kind
    if isinstance(event, Thought):
        event = Thought(text="\N{REPLACEMENT CHARACTER} Hm.")
    assert read(entry) == event


@pytest.mark.parametrize(
    ("event", "kind", "data"),
    [
        (UiChanged({"type": "remove-ui", "id": "u"}), "ui", {"type": "remove-ui", "id": "u"}),
        (StepDone({"answer": {"dataset_id": "shop"}}), "step", {"answer": {"dataset_id": "shop"}}),
        (
            StateReached({"dataset_id": "shop"}, (REQUEST,)),
            "state",
            {
                "since": None,
                "values": {"dataset_id": "shop"},
                "requests": [{"id": "i1", "value": REQUEST.value}],
            },
        ),
    ],
    ids=["ui", "step", "state"],
)
def test_what_only_a_client_of_the_graph_shows(event: TurnEvent, kind: str, data: Any) -> None:
    entry = entry_of(event)
    assert (entry.kind, json.loads(entry.data)) == (kind, data)
    assert read(entry) is None


def test_a_piece_of_text() -> None:
    entry = entry_of(TextPiece(AIMessageChunk(content="Hm", id="m"), {"langgraph_node": "answer"}))
    message, metadata = json.loads(entry.data)
    assert (entry.kind, message["content"], metadata) == ("text", "Hm", {"langgraph_node": "answer"})


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        ("metadata", {"run_id": "x", "attempt": 1}),
        ("custom", {"type": "thought", "text": "Hm."}),
        ("event", {"type": "hologram"}),
        ("failed", {"reason": 7}),
    ],
    ids=["LangGraph's metadata", "LangGraph's custom", "unknown event", "another form"],
)
def test_what_another_version_wrote_is_passed_over(kind: str, data: Any) -> None:
    assert read(JournalEntry(1, kind, json.dumps(data))) is None


def test_a_request_is_a_message_with_its_exact_sql() -> None:
    assert REQUEST.message == Message(text="May I run this?\n\nOne.", ending="waiting")
    assert REQUEST.sql == "SELECT 1"


_OLD_COLUMN = '{"name":"a \\"b\\"","type":"BIGINT"}'
_PRESENT_COLUMN = '{"name":"a \\"b\\"","type":"BIGINT","kind":"integer","unit":""}'
_TABLE = '{"type":"table","run_id":"r","columns":[%s],"rows":[[1]],"row_count":1,"truncated":false}'
_SHOWN = (
    '{"type":"artifact","run_id":"r","artifact":{"id":"table-1","title":"","kind":"table","columns":[%s],'
    '"rows":[[1]],"row_count":1,"truncated":false}}'
)
_UI = '{"type":"ui","name":"answer","props":{"columns":[%s],"rows":[[1]]}}'


@pytest.mark.parametrize(
    ("kind", "data"),
    [("event", _TABLE), ("event", _SHOWN), ("ui", _UI)],
    ids=["table", "artifact", "answer"],
)
def test_a_table_of_an_earlier_version_gets_the_kinds_of_its_columns(kind: Any, data: str) -> None:
    assert present_data(JournalEntry(1, kind, data % _OLD_COLUMN)) == data % _PRESENT_COLUMN
    present = JournalEntry(1, kind, data % _PRESENT_COLUMN)
    assert present_data(present) is present.data, "not read and written again"


def test_a_table_that_cannot_be_read_stays_as_it_is() -> None:
    broken = JournalEntry(1, "event", _TABLE.replace("[[1]]", "1") % _OLD_COLUMN)
    assert present_data(broken) == broken.data


def test_a_journal_of_an_earlier_version_is_read() -> None:
    table = read(JournalEntry(1, "event", _TABLE % _OLD_COLUMN))
    assert isinstance(table, Table)
    assert [(column.kind, column.unit) for column in table.columns] == [("integer", "")]
