"""Classifies the message: small talk and refusals are answered at once, SQL is used as it is, the rest is proposed."""

from __future__ import annotations

import re
from typing import Any

from sandtable.agent.events import Thought
from sandtable.agent.intent import (
    Declined,
    Define,
    LookBack,
    PastedSql,
    Question,
    SmallTalk,
    intent_of,
    without_language,
)
from sandtable.agent.look_back import look_back, reading_or_none
from sandtable.agent.markdown import sentence
from sandtable.agent.means import Means
from sandtable.agent.nodes.place import Config, dataset_of
from sandtable.agent.offers import taken_offer
from sandtable.agent.read_as.model import Offered
from sandtable.agent.replies import declined, needs_python, small_talk
from sandtable.agent.splitting import MOST_QUESTIONS, leans, questions_in
from sandtable.agent.state import (
    ClosingMessage,
    Pending,
    State,
    TurnNotes,
    defined_of,
    exchanges_of,
    last_message,
    pending_of,
    plan_in,
    text_of,
)
from sandtable.agent.streaming import emit
from sandtable.capsule.trust import READER
from sandtable.catalog.model import Dataset
from sandtable.errors import SandtableError
from sandtable.plan.shapes import MAX_DEFINITIONS
from sandtable.quoting import in_markdown, quote
from sandtable.runs.model import LONGEST_QUESTION


async def classify(means: Means, state: State, config: Config) -> State:
    text, later = _next_question(state)
    chosen = plan_in(last_message(state)) if later is None else None
    emit(Thought(text="Reading the question…"))
    turn = TurnNotes(asked=_kept(text), question="", attempts=[], run_ids=[], said=None)
    try:
        dataset = await dataset_of(means, state, config)
    except SandtableError as error:
        turn["said"] = failed(error)
        return State(turn=turn, pending=None)
    update = State(dataset_id=dataset.id, known_of=dataset.id, turn=turn, pending=None)
    if state.get("known_of") != dataset.id:
        # Names and plans of one dataset mean nothing in another.
        update["exchanges"], update["defined"] = [], []
    known = State()
    known.update(state)
    known.update(update)
    taken = taken_offer(text, chosen, exchanges_of(known)) if later is None else None
    if taken is not None:
        turn.update(_as_offered(*taken))
        return update
    if chosen is not None:
        # It says what is meant: there is nothing to propose, and it is checked like any plan of a client.
        turn["question"], turn["plan"] = text, chosen
        return update
    if later is None:
        text, *later = _questions(text, dataset, defined_of(known))
        turn["asked"] = _kept(text)
    elif exchanges_of(known)[-1].ending == "asked" and not leans(text):
        # The question before it in the same message was not understood: this one does not wait for that.
        turn["alone"] = True
    if len(later) >= MOST_QUESTIONS:
        turn["said"] = _asked(
            f"There are {len(later) + 1} questions in this message. Please send at most {MOST_QUESTIONS} at once."
        )
        return update
    update["pending"] = Pending(message_id=str(last_message(state).id), questions=later) if later else None
    await _decide(means, known, dataset, text, turn)
    return update


def _next_question(state: State) -> tuple[str, list[str] | None]:
    """The question to answer now, and those after it; None while the message was not taken apart."""
    pending = pending_of(state)
    return (pending[0], pending[1:]) if pending else (text_of(last_message(state)), None)


def _as_offered(asked: str, offer: Offered) -> TurnNotes:
    """The question that was asked back about, with what a person chose to run for it: as it is, without repairs."""
    return TurnNotes(
        asked=asked,
        question=offer.alignment.question if offer.alignment else asked,
        alone=True,
        origin=READER if offer.proposer is None else offer.proposer,
        plan=offer.plan,
        sql=offer.sql,
        used=list(offer.used),
        confidence=offer.confidence,
        alignment=offer.alignment.model_dump(mode="json") if offer.alignment else None,
        given_up=True,
    )


def _questions(text: str, dataset: Dataset, defined: tuple[dict[str, Any], ...]) -> tuple[str, ...]:
    """Only questions are taken apart: SQL, orders, small talk and work for Python stay as they are."""
    names = [table.name for table in dataset.tables] + [d["name"] for d in defined]
    return questions_in(text) if isinstance(intent_of(text, names), Question) else (text,)


async def _decide(means: Means, state: State, dataset: Dataset, text: str, turn: TurnNotes) -> None:
    defined = defined_of(state)
    names = [table.name for table in dataset.tables] + [d["name"] for d in defined]
    intent = intent_of(text, names)
    match intent:
        case Question(question, wants_sql):
            turn["question"], turn["wants_sql"] = question, wants_sql
        case PastedSql(sql):
            turn["sql"], turn["plan"], turn["question"] = sql, None, text
        case SmallTalk():
            turn["said"] = small_talk(intent, dataset, defined)
        case Declined("python") if means.analyses:
            turn["question"], turn["analyse"] = text.strip(), True
        case Declined("python") if bare := without_language(text):
            # The person cares for the answer more than for the means, where a plan will do.
            turn["question"], turn["wants_python"] = bare, True
        case Declined("python"):
            turn["said"] = needs_python(dataset, model=means.coder is not None, python=means.python)
        case Declined():
            turn["said"] = declined(intent, dataset, len(text))
        case LookBack():
            turn["said"] = await look_back(intent, exchanges_of(state), means.runs, dataset)
        case Define(name):
            turn["said"] = define(name, state, dataset)


def define(name: str, state: State, dataset: Dataset) -> ClosingMessage:
    """The newest answered plan gets a name."""
    made = re.sub(r"\W+", "_", name.strip().lower()).strip("_")[:63]
    before = next((e for e in reversed(exchanges_of(state)) if e.ending == "answered"), None)
    known = defined_of(state)
    if before is None:
        return _asked("There is no result to name yet. Ask a question first, then say *call that …*.")
    if before.plan is None and before.code:
        return _asked("What the code made already has its name: ask about it by that.")
    if before.plan is None:
        return _asked("Only the result of a question can be named; the last one came from SQL that you gave.")
    if not re.match(r"[a-z_]", made):
        return _asked(f"{quote(name)} cannot be a table's name: it must begin with a letter.")
    if dataset.table(made):
        return _asked(f"{quote(made)} is already a table of this dataset. Choose another name.")
    if any(d["name"] == made for d in known):
        # Plans and later names may already read it: a name means one thing for as long as the thread lives.
        return _asked(f"{quote(made)} already stands for an earlier result. Choose another name.")
    if len(known) >= MAX_DEFINITIONS:
        return _asked("This conversation has as many named tables as it can hold. Start a new one for more.")
    plan = {key: value for key, value in before.plan.items() if key not in ("dataset_id", "define", "chart")}
    reading = reading_or_none(before.plan, dataset)
    meaning = f": {reading}" if reading else "."
    return ClosingMessage(
        text=f"From now on {quote(made)} stands for that result{meaning}\n\nAsk about it by its name.",
        ending="conversed",
        define={"name": made, "plan": plan},
        suggestions=[f"How many rows are in {made}?"],
    )


def failed(error: SandtableError) -> ClosingMessage:
    problem = error.problem
    text = f"{sentence(in_markdown(problem.message))} {sentence(in_markdown(problem.suggestion))}".strip()
    return ClosingMessage(text=text, ending="failed", problem=problem.model_dump(mode="json"))


def _asked(text: str) -> ClosingMessage:
    return ClosingMessage(text=text, ending="asked")


def _kept(text: str) -> str:
    return text.strip()[:LONGEST_QUESTION]


def after_classify(state: State) -> str:
    turn: Any = state.get("turn") or {}
    if turn.get("said"):
        return "converse"
    if turn.get("sql") or turn.get("plan") is not None:
        return "validate"
    return "plan_steps" if turn.get("analyse") else "propose"
