"""The state that a thread keeps between nodes, turns and restarts.

Invariant: plain JSON and chat messages only, so that a checkpoint is read back without pickle, in any
process, from any branch. Nothing a turn needs lives outside of it, except runs, which have ids.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any, TypedDict

from sandtable.agent.analysis.notes import Analysis
from sandtable.agent.messages import Message, WrittenMessage
from sandtable.agent.proposer import Attempt, Exchange, Look, Usage
from sandtable.agent.read_as.model import Offered, ReadAs
from sandtable.capsule.model import Origin, Prompt
from sandtable.capsule.query import PlanQuery, SqlQuery
from sandtable.errors import Problem

MOST_EXCHANGES = 12
LONGEST_KEPT = 4_000
"""Characters of a question or an answer that a later turn may look back at."""
LONGEST_KEPT_SQL = 64 << 10
LONGEST_KEPT_CODE = 16_000
"""Characters of an analysis' code that later turns see, the newest cells of it."""


class ClosingMessage(TypedDict, total=False):
    """What a turn ends with when nothing is to be run."""

    text: str
    markdown: str
    """The text with what its tags name in their places, where that is more than the text."""
    ending: str
    suggestions: list[str]
    choices: list[dict[str, Any]]
    """Readings that are offered (`read_as.Offered`)."""
    run_ids: list[str]
    problem: dict[str, Any] | None
    define: dict[str, Any]
    """A table to be known by name from now on."""
    title: str
    """What was computed; nothing where no plan says it."""
    reading: str


class TurnNotes(TypedDict, total=False):
    """The current turn's own notes; empty between turns."""

    asked: str
    """The person's message as it is kept in the record."""
    question: str
    """The same, as the proposer reads it."""
    alone: bool
    """It is asked as if nothing had been asked before."""
    wants_sql: bool
    wants_python: bool
    """The person asked for Python where there is none; a plan may do."""
    analyse: bool
    """It is to be analysed in Python."""
    analysis: Analysis
    origin: str
    """Who proposed what is to run: a proposer's name, `READER` for a plan with likely parts and for a reading that a
    person chose after a question back, or nothing when the person wrote SQL or handed in a plan."""
    note: str
    """Why the built-in planner proposed it and not the chat model, in Markdown; nothing otherwise."""
    plan: dict[str, Any] | None
    sql: str | None
    """What will run: proposed, compiled from the plan, or edited by a person."""
    exact: str
    """The gate's own text of it, when a person is to approve."""
    used: list[str]
    confidence: float | None
    alignment: dict[str, Any] | None
    """Which words each part of the plan came from (`read_as.Aligned`); nothing when a person chose the plan."""
    reading: str
    read_as: dict[str, Any] | None
    """How the question was read, in parts (`read_as.ReadAs`)."""
    attempts: list[dict[str, Any]]
    look: dict[str, Any] | None
    """The tool that a chat model calls next: `tool`, `arguments`, and `model_s`, the seconds it took to say so."""
    looks: list[dict[str, Any]]
    """Tools that it called for this question, with what they gave and the id of their run."""
    usage: dict[str, Any]
    problem: dict[str, Any] | None
    """Why the present proposal will not do."""
    call: dict[str, str] | None
    """Ids of the message that calls a tool, and of the call."""
    given_up: bool
    """The proposer has no better idea than its last attempt, or a person chose what runs."""
    run_ids: list[str]
    """Runs of the present proposal, the main one first."""
    suggestions: list[str]
    said: ClosingMessage | None


class Pending(TypedDict):
    """Questions of one message that are still to be answered, in order."""

    message_id: str
    questions: list[str]


def _with_messages(kept: Any, added: Any) -> Any:
    from langgraph.graph.message import add_messages  # takes most of a second; only kept threads need it

    return add_messages(kept, added)


def _with_ui(kept: Any, added: Any) -> Any:
    from langgraph.graph.ui import ui_message_reducer  # as above

    return ui_message_reducer(kept, added)


class State(TypedDict, total=False):
    messages: Annotated[list[Message], _with_messages]
    ui: Annotated[list[dict[str, Any]], _with_ui]
    dataset_id: str
    known_of: str
    """The dataset that the exchanges and the named tables are about."""
    exchanges: list[dict[str, Any]]
    """Oldest first, the last MOST_EXCHANGES of them."""
    defined: list[dict[str, Any]]
    """Tables named in this conversation: `{"name", "plan"}`, as in a plan's `define`."""
    pending: Pending | None
    title: str
    """What the first answer computed, as a title of the thread; empty when no plan says it."""
    turn: TurnNotes


def turn_of(state: State) -> TurnNotes:
    return state.get("turn") or TurnNotes()


def changed(turn: TurnNotes, changes: TurnNotes) -> TurnNotes:
    made = TurnNotes()
    made.update(turn)
    made.update(changes)
    return made


def text_of(message: Message) -> str:
    """A message's text; the stock chat sends a list of blocks."""
    content = message.content
    if isinstance(content, str):
        return content
    blocks = (b if isinstance(b, str) else str(b.get("text", "")) for b in content)
    return "\n".join(block for block in blocks if block)


def last_message(state: State) -> Message:
    """What the person said last."""
    said = (m for m in reversed(state.get("messages") or []) if m.type == "human")
    return next(said, WrittenMessage("human", ""))


def pending_of(state: State) -> list[str]:
    """What is still to be answered of the last message. Another message puts an end to what an earlier one asked."""
    kept = state.get("pending")
    if kept is None or kept["message_id"] != str(last_message(state).id):
        return []
    return kept["questions"]


def plan_in(message: Message) -> dict[str, Any] | None:
    """The plan that a person chose, as `turn_events.with_plan` wrote it."""
    about = message.additional_kwargs.get("sandtable")
    plan = about.get("plan") if isinstance(about, dict) else None
    return plan if isinstance(plan, dict) else None


def query_in(turn: TurnNotes) -> PlanQuery | SqlQuery:
    """What is proposed. Beside a plan, a turn holds the SQL that was compiled from it."""
    plan = turn.get("plan")
    return PlanQuery(plan) if plan is not None else SqlQuery(turn.get("sql") or "")


def read_as_of(turn: TurnNotes) -> ReadAs | None:
    kept = turn.get("read_as")
    return ReadAs.model_validate(kept) if kept else None


def exchanges_of(state: State) -> tuple[Exchange, ...]:
    return tuple(_exchange(kept) for kept in state.get("exchanges") or ())


def defined_of(state: State) -> tuple[dict[str, Any], ...]:
    return tuple(state.get("defined") or ())


def looks_of(turn: TurnNotes) -> tuple[Look, ...]:
    return tuple(Look(kept["tool"], kept["arguments"], kept["gave"]) for kept in turn.get("looks") or ())


def look_runs(turn: TurnNotes) -> list[str]:
    """Ids of the runs that tools made."""
    return [kept["run_id"] for kept in turn.get("looks") or () if kept["run_id"]]


def attempts_of(turn: TurnNotes) -> tuple[Attempt, ...]:
    return tuple(
        Attempt(plan=kept["plan"], sql=kept["sql"], problem=Problem.model_validate(kept["problem"]))
        for kept in turn.get("attempts") or ()
    )


def with_exchange(state: State, exchange: Exchange) -> list[dict[str, Any]]:
    kept = {
        "question": exchange.question[:LONGEST_KEPT],
        "answer": exchange.answer[:LONGEST_KEPT],
        "ending": exchange.ending,
        "plan": exchange.plan,
        "sql": exchange.sql if exchange.sql and len(exchange.sql) <= LONGEST_KEPT_SQL else None,
        "run_id": exchange.run_id,
        "problem": exchange.problem.model_dump(mode="json") if exchange.problem else None,
    }
    if exchange.code:
        kept["code"] = _newest(exchange.code)
    if exchange.likely:
        kept["likely"] = [list(part) for part in exchange.likely]
    if exchange.choices:
        kept["choices"] = [choice.model_dump(mode="json") for choice in exchange.choices]
    return [*(state.get("exchanges") or ()), kept][-MOST_EXCHANGES:]


def added(usage: dict[str, Any] | None, more: Usage) -> dict[str, Any]:
    """What the turn has cost so far."""
    before = usage or asdict(Usage())
    prompts = [list(prompt) for prompt in before["prompts"]]
    return {
        "prompts": prompts + [list(p) for p in more.prompts if list(p) not in prompts],
        "tokens_in": before["tokens_in"] + more.tokens_in,
        "tokens_out": before["tokens_out"] + more.tokens_out,
        "latency_ms": before["latency_ms"] + more.latency_ms,
    }


def origin_of(turn: TurnNotes, repairs: int | None = None) -> Origin | None:
    """Nothing when the person wrote what runs. `repairs` where the turn's attempts do not count them."""
    proposer = turn.get("origin")
    if not proposer:
        return None
    usage = turn.get("usage") or asdict(Usage())
    return Origin(
        proposer=proposer,
        prompts=tuple(Prompt(name=name, sha256=sha256) for name, sha256 in usage["prompts"]),
        tokens_in=usage["tokens_in"],
        tokens_out=usage["tokens_out"],
        latency_ms=usage["latency_ms"],
        repairs=len(turn.get("attempts") or ()) if repairs is None else repairs,
    )


def _newest(code: tuple[str, ...]) -> list[str]:
    kept: list[str] = []
    for cell in reversed(code):
        if sum(map(len, kept)) + len(cell) > LONGEST_KEPT_CODE:
            break
        kept.insert(0, cell)
    return kept


def _exchange(kept: dict[str, Any]) -> Exchange:
    problem = kept.get("problem")
    rebuilt = {
        "problem": Problem.model_validate(problem) if problem else None,
        "code": tuple(kept.get("code") or ()),
        "likely": tuple(tuple(part) for part in kept.get("likely") or ()),
        "choices": tuple(Offered.model_validate(choice) for choice in kept.get("choices") or ()),
    }
    return Exchange(**{**kept, **rebuilt})
