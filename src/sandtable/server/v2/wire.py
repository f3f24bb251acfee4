"""Encodes the events of a turn as the messages of a `/v2` stream.

Invariant: pure and deterministic. The same events give the same messages, so that a client that reconnects gets
exactly what it missed; and a query ends with one `final_response`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from sandtable.agent.analysis.placing import with_artifacts
from sandtable.agent.events import (
    ArtifactShown,
    Chart,
    Code,
    Error,
    Event,
    Log,
    Message,
    Planned,
    RunState,
    Sql,
    Table,
    Thought,
)
from sandtable.agent.turn_events import DecisionsAwaited
from sandtable.conversations.json_text import encode
from sandtable.conversations.model import JournalEntry
from sandtable.conversations.turn_events import TurnBegun, TurnFailed, read
from sandtable.errors import ErrorCode, Problem
from sandtable.quoting import in_markdown
from sandtable.sandbox.artifact import Artifact, MarkdownArtifact, PlotlyArtifact, TableArtifact
from sandtable.sandbox.job import ResultColumn
from sandtable.store.run_store import TERMINAL

HEAD = 100
"""Rows of a table that are sent."""

Kind = Literal["thought", "reading", "code", "log", "error", "table", "chart", "choices", "final_response"]


@dataclass(frozen=True, slots=True)
class StreamMessage:
    """One message; `payload` is text, or JSON as text for `reading`, `table`, `chart` and `choices`."""

    type: Kind
    payload: str


@dataclass(frozen=True, slots=True)
class SoFar:
    """The state after the earlier messages of a query."""

    cells: tuple[str, ...] = ()
    """The runs, in the order they began: a cell's number is its place."""
    failed: frozenset[str] = frozenset()
    """Runs that ended without a result."""
    shown: dict[str, Artifact] = field(default_factory=dict)
    sent: frozenset[str] = frozenset()
    """Digests of tables and charts: the result of an analysis is shown by its cell, and again at the end."""
    answers: tuple[str, ...] = ()
    """Answers to the first questions of a message that asks several things: the final response has them all."""
    ended: bool = False


Encoded = tuple[list[StreamMessage], SoFar]

_CODE = re.compile(rf"(?:{'|'.join(ErrorCode)}): |Traceback \(")
"""How the log of a run that failed says why."""


def messages_of(event: Event, so_far: SoFar) -> Encoded:
    """The messages of one event, after those before it."""
    encode_one = _ENCODERS.get(event.type)
    return encode_one(event, so_far) if encode_one else ([], so_far)


def decoded(entry: JournalEntry, so_far: SoFar) -> Encoded:
    """`messages_of` for an entry of a turn's journal."""
    match read(entry):
        case DecisionsAwaited(requests=requests):
            text = requests[0].message.text
            return [_final((*so_far.answers, text))], replace(so_far, ended=True)
        case TurnFailed(error=code, message=why):
            return _broke(code, why, so_far)
        case TurnBegun() | None:
            return [], so_far
        case event:
            return messages_of(event, so_far)


def table_json(columns: Sequence[ResultColumn], rows: Sequence[Sequence[Any]]) -> str:
    """As pandas' `DataFrame.to_json()` has it: column, then row number, then value. Rows are the first HEAD."""
    head = rows[:HEAD]
    made = {
        name: {str(number): row[place] for number, row in enumerate(head)}
        for place, name in enumerate(_unique([column.name for column in columns]))
    }
    return encode(made)


def _unique(names: list[str]) -> list[str]:
    """Numbers the later ones of columns with the same name."""
    taken: set[str] = set()
    made: list[str] = []
    for name in names:
        chosen, number = name, 1
        while chosen in taken or (chosen != name and chosen in names):
            number += 1
            chosen = f"{name}_{number}"
        taken.add(chosen)
        made.append(chosen)
    return made


def _thought(event: Thought, so_far: SoFar) -> Encoded:
    return _text("thought", event.text), so_far


def _plan(event: Planned, so_far: SoFar) -> Encoded:
    parts = [StreamMessage("reading", encode(event.read_as))] if event.read_as is not None else []
    return [*_text("thought", event.reading), *parts], so_far


def _sql(event: Sql, so_far: SoFar) -> Encoded:
    return _text("code", event.sql), so_far


def _code(event: Code, so_far: SoFar) -> Encoded:
    return _text("code", event.code), so_far


def _run(event: RunState, so_far: SoFar) -> Encoded:
    said: list[StreamMessage] = []
    known = event.run_id in so_far.cells
    now = so_far if known else replace(so_far, cells=(*so_far.cells, event.run_id))
    number = now.cells.index(event.run_id) + 1
    if event.status not in TERMINAL:
        said = [] if known else [StreamMessage("log", f"Executing code cell {number}...")]
    elif event.status == "succeeded":
        took = "" if event.exec_time_ms is None else f" in {event.exec_time_ms:,.0f} ms"
        done = f"Code cell {number} is done{took}." if known else _seen_before(number)
        said = [StreamMessage("log", done)]
    elif event.status == "cancelled":
        said = [StreamMessage("log", f"Code cell {number} was cancelled.")]
    else:
        now = replace(now, failed=now.failed | {event.run_id})
    return said, now


def _seen_before(number: int) -> str:
    return f"Code cell {number} ran before on the same data: this is its result."


def _log(event: Log, so_far: SoFar) -> Encoded:
    if event.run_id in so_far.failed and _CODE.match(event.text):
        number = so_far.cells.index(event.run_id) + 1
        text = f"Error occurred while executing code cell {number}: {event.text}"
        return [StreamMessage("error", text)], so_far
    return _text("log", event.text), so_far


def _table(event: Table | TableArtifact, so_far: SoFar) -> Encoded:
    said, now = _once("table", table_json(event.columns, event.rows), so_far)
    shown = min(len(event.rows), HEAD)
    if said and event.row_count > shown:
        more = "or more " if event.truncated else ""
        said.append(
            StreamMessage("log", f"The table shows the first {shown:,} of {event.row_count:,} {more}rows.")
        )
    return said, now


def _chart(event: Chart | PlotlyArtifact, so_far: SoFar) -> Encoded:
    return _once("chart", encode(event.figure), so_far)


def _artifact(event: ArtifactShown, so_far: SoFar) -> Encoded:
    artifact = event.artifact
    now = replace(so_far, shown={**so_far.shown, artifact.id: artifact})
    if isinstance(artifact, TableArtifact):
        return _table(artifact, now)
    if isinstance(artifact, PlotlyArtifact):
        return _chart(artifact, now)
    if isinstance(artifact, MarkdownArtifact):
        return _text("log", artifact.text), now
    title = f" “{artifact.title}”" if artifact.title else ""
    return [StreamMessage("log", f"Shown: {artifact.id}{title}, kept with run {event.run_id}.")], now


def _message(event: Message, so_far: SoFar) -> Encoded:
    before = [_error_of(event.problem)] if event.problem else []
    if event.choices:
        before.append(StreamMessage("choices", encode(event.choices)))
    answers = (*so_far.answers, with_artifacts(event.text, so_far.shown))
    if event.remaining:
        return before, replace(so_far, answers=answers)
    return [*before, _final(answers)], replace(so_far, ended=True)


def _error(event: Error, so_far: SoFar) -> Encoded:
    return _broke(event.problem.code, event.problem.in_words, so_far)


def _broke(code: str, why: str, so_far: SoFar) -> Encoded:
    error = StreamMessage("error", f"{code}: {why}")
    if so_far.ended:
        return [error], so_far
    final = _final((*so_far.answers, f"There is no answer: {in_markdown(why)}"))
    return [error, final], replace(so_far, ended=True)


def _final(answers: tuple[str, ...]) -> StreamMessage:
    return StreamMessage("final_response", "\n\n---\n\n".join(answers))


def _error_of(problem: Problem) -> StreamMessage:
    return StreamMessage("error", f"{problem.code}: {problem.in_words}")


def _text(kind: Kind, text: str) -> list[StreamMessage]:
    return [StreamMessage(kind, text)] if text.strip() else []


def _once(kind: Kind, payload: str, so_far: SoFar) -> Encoded:
    digest = hashlib.sha256(f"{kind} {payload}".encode()).hexdigest()
    if digest in so_far.sent:
        return [], so_far
    return [StreamMessage(kind, payload)], replace(so_far, sent=so_far.sent | {digest})


_ENCODERS: dict[str, Callable[[Any, SoFar], Encoded]] = {
    "thought": _thought,
    "plan": _plan,
    "sql": _sql,
    "code": _code,
    "run": _run,
    "log": _log,
    "table": _table,
    "chart": _chart,
    "artifact": _artifact,
    "message": _message,
    "error": _error,
}
