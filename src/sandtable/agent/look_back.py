"""Questions about the exchange before, answered from its record: the SQL, the plan, the way, the refusal.

Nothing is run. What is shown comes from the stored run.
"""

from __future__ import annotations

import json
from typing import Any

from sandtable.agent.intent import LookBack
from sandtable.agent.markdown import fenced, sentence
from sandtable.agent.means import Desk
from sandtable.agent.proposer import Exchange
from sandtable.agent.state import ClosingMessage
from sandtable.catalog.model import Dataset
from sandtable.errors import InvalidInput, NotFound
from sandtable.quoting import in_markdown, quote
from sandtable.runs.model import Run
from sandtable.wording import reading_of


async def look_back(
    back: LookBack, history: tuple[Exchange, ...], runs: Desk, dataset: Dataset
) -> ClosingMessage:
    exchange = _meant(back, history)
    if exchange is None:
        return _nothing(back, history)
    run = await _run_of(exchange, runs)
    text = _TELL[back.what](exchange, run, dataset)
    return ClosingMessage(text=text, ending="conversed", run_ids=[run.id] if run else [])


def _meant(back: LookBack, history: tuple[Exchange, ...]) -> Exchange | None:
    """The newest exchange that has what is asked for."""
    for exchange in reversed(history):
        if back.what == "rejection" and exchange.problem is not None:
            return exchange
        if back.what == "plan" and exchange.plan is not None:
            return exchange
        if back.what in ("sql", "explanation") and (exchange.run_id or exchange.plan or exchange.sql):
            return exchange
    return None


def _nothing(back: LookBack, history: tuple[Exchange, ...]) -> ClosingMessage:
    if back.what == "rejection" and history:
        text = "Nothing was rejected in this conversation."
    elif back.what == "plan" and any(exchange.code for exchange in history):
        text = "There is no query plan: it was analysed in Python. Ask *show me the code*."
    elif back.what == "plan" and any(exchange.sql for exchange in history):
        text = "There is no plan: you gave the SQL yourself."
    else:
        text = "Nothing has been run in this conversation yet. Ask a question first."
    return ClosingMessage(text=text, ending="conversed")


async def _run_of(exchange: Exchange, runs: Desk) -> Run | None:
    if exchange.run_id is None:
        return None
    try:
        return await runs.get(exchange.run_id)
    except NotFound:
        return None


def _sql(exchange: Exchange, run: Run | None, dataset: Dataset) -> str:
    if exchange.code:
        return f"The code that ran for “{_quoted(exchange)}”:\n\n{_code(exchange)}"
    sql = (run.executed_sql or run.sql if run else None) or exchange.sql
    if sql is None:
        return f"No SQL was written for “{_quoted(exchange)}”."
    ran = (
        "that ran"
        if run is not None and run.status == "succeeded"
        else "that was handed in; it gave no result"
    )
    return f"The SQL {ran} for “{_quoted(exchange)}”:\n\n{fenced('sql', sql)}"


def _plan(exchange: Exchange, run: Run | None, dataset: Dataset) -> str:
    assert exchange.plan is not None
    shown = json.dumps(exchange.plan, indent=2, ensure_ascii=False)
    return f"The plan for “{_quoted(exchange)}”:\n\n{fenced('json', shown)}"


def _explanation(exchange: Exchange, run: Run | None, dataset: Dataset) -> str:
    parts = [f"For “{_quoted(exchange)}”:"]
    if exchange.plan is not None and (reading := reading_or_none(exchange.plan, dataset)):
        parts.append(f"I read it as: {reading}")
        if exchange.likely:
            labels = ", ".join(quote(label) for _, label in exchange.likely)
            parts.append(
                f"Likely, and to be checked: {labels}. No word of the question names it in the data."
            )
    elif exchange.code:
        parts.append("I analysed it in Python, in cells of one session, each run after it was checked:")
        parts.append(_code(exchange))
    elif exchange.plan is None and exchange.sql is not None:
        parts.append("You gave the SQL yourself; it ran as the checker approved it.")
    if exchange.problem is not None:
        parts.append(f"It gave no result: {in_markdown(exchange.problem.message)}")
    sql = (run.executed_sql or run.sql if run else None) or exchange.sql
    if sql is not None:
        parts.append(fenced("sql", sql))
    if run is not None:
        parts.append(f"Run {quote(run.id)} holds the plan, the SQL, the result and the signature over them.")
    return "\n\n".join(parts)


def _code(exchange: Exchange) -> str:
    return fenced("python", "\n\n".join(exchange.code))


def _rejection(exchange: Exchange, run: Run | None, dataset: Dataset) -> str:
    problem = exchange.problem
    assert problem is not None
    parts = [
        sentence(
            f"“{_quoted(exchange)}” was stopped with {quote(problem.code)}: {in_markdown(problem.message)}"
        )
    ]
    construct = problem.details.get("construct")
    if construct:
        parts.append(f"What it stumbled over: {quote(str(construct))}.")
    for finding in (problem.details.get("errors") or [])[:5]:
        parts.append(f"- {quote(str(finding.get('field')))}: {in_markdown(str(finding.get('message')))}")
    if problem.suggestion:
        parts.append(f"What to do: {sentence(in_markdown(problem.suggestion))}")
    if run is not None:
        parts.append(f"The refusal is on record as run {quote(run.id)}.")
    return "\n\n".join(parts)


_TELL = {"sql": _sql, "plan": _plan, "explanation": _explanation, "rejection": _rejection}


def reading_or_none(plan: dict[str, Any], dataset: Dataset) -> str | None:
    """A plan in words; none for a plan that does not fit the dataset."""
    try:
        return reading_of(plan, dataset)
    except InvalidInput:
        return None


def _quoted(exchange: Exchange) -> str:
    return in_markdown(exchange.question, 120)
