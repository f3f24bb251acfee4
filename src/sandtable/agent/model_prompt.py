"""The prompts for a chat model: the prompt files, filled in from the question and its context.

Invariant: all external text is JSON inside `<data>` tags, and nothing that `privacy` withholds is included.
"""

from __future__ import annotations

from typing import Any

from sandtable.agent.analysis.secrecy import shown_code
from sandtable.agent.endpoint import Privacy
from sandtable.agent.privacy import (
    privacy_about,
    privacy_of,
    shown_as_of,
    shown_plan,
    shown_problem,
    shown_sql,
)
from sandtable.agent.prompt_files import as_data, prompt_file
from sandtable.agent.prompting.examples import examples
from sandtable.agent.prompting.hints import shown_hints, shown_values
from sandtable.agent.prompting.schema import schema_data
from sandtable.agent.proposer import Asked, Attempt, Exchange
from sandtable.capsule.query import CodeQuery, PlanQuery, Query, SqlQuery
from sandtable.runs.model import Run

SYSTEM, PROPOSE, WORD = "system", "propose", "word"
MOST_ROWS = 30
_MOST_EXCHANGES = 6
_LONGEST_ANSWER = 400
_LONGEST_BEFORE = 1_000
_LONGEST_QUESTION = 8_000
_LONGEST_CODE = 3_000


def propose_prompt(asked: Asked, privacy: Privacy) -> str:
    """Up to the history it is the same for all questions about a dataset, so that servers can cache the prefix."""
    typed = typed_in(asked)
    schema = schema_of(asked, privacy)
    history = history_data(asked, privacy)
    privacy = privacy_about(asked.dataset, privacy)
    hints = shown_hints(asked.hints, asked.dataset, asked.profile, typed, privacy)
    return prompt_file(PROPOSE).filled(
        schema=schema,
        as_of=now_in(asked, privacy),
        examples=as_data(examples(asked.dataset, asked.profile, privacy)),
        python=asked.python,
        history=history,
        defined=as_data([shown_plan(table, typed, privacy) for table in asked.defined]),
        question=question_data(asked),
        hints=as_data(hints | ({"wants": "sql"} if asked.wants_sql else {})),
        attempts=_attempts(asked.attempts, privacy),
        tools=bool(asked.tools),
        looks=_looks(asked),
    )


def word_prompt(asked: Asked, run: Run, plain: str) -> str:
    rows = list(run.rows or ())[:MOST_ROWS]
    shown: dict[str, Any] = {"columns": [column.name for column in run.columns], "rows": rows}
    if run.row_count is not None and run.row_count > len(rows):
        shown["not_shown"] = run.row_count - len(rows)
    return prompt_file(WORD).filled(
        question=question_data(asked),
        plan=as_data(_asked_for(run.request.query)),
        rows=as_data(shown),
        draft=as_data(plain),
    )


def _asked_for(query: Query) -> dict[str, Any] | str:
    match query:
        case PlanQuery(plan):
            return plan
        case SqlQuery(text) | CodeQuery(text):
            return text


def now_in(asked: Asked, privacy: Privacy) -> str:
    """Empty for data without an anchor date."""
    as_of = shown_as_of(asked.dataset.as_of, privacy)
    return as_data(as_of) if as_of else ""


def schema_of(asked: Asked, privacy: Privacy) -> str:
    return schema_data(asked.dataset, asked.profile, privacy)


def typed_in(asked: Asked) -> str:
    """What the person wrote in this conversation."""
    return "\n".join([asked.question, *(exchange.question for exchange in asked.history)])


def values_data(asked: Asked, privacy: Privacy) -> str:
    """Values of columns that the question names."""
    return as_data(shown_values(asked.hints, asked.dataset, asked.profile, privacy))


def history_data(asked: Asked, privacy: Privacy) -> str:
    typed = typed_in(asked)
    return as_data([_exchange(e, asked, typed, privacy) for e in asked.history[-_MOST_EXCHANGES:]])


def question_data(asked: Asked) -> str:
    return as_data(asked.question[:_LONGEST_QUESTION])


def _attempts(attempts: tuple[Attempt, ...], privacy: Privacy) -> str:
    if not attempts:
        return ""
    return as_data(
        [_proposed(attempt) | {"wrong": shown_problem(attempt.problem, privacy)} for attempt in attempts]
    )


def _looks(asked: Asked) -> str:
    shown = [{"tool": each.tool, "arguments": each.arguments, "gave": each.gave} for each in asked.looks]
    return as_data(shown) if shown else ""


def _proposed(attempt: Attempt) -> dict[str, Any]:
    """Empty for an unreadable reply."""
    what = attempt.plan or attempt.sql
    return {"proposed": what} if what else {}


def _exchange(exchange: Exchange, asked: Asked, typed: str, privacy: Privacy) -> dict[str, Any]:
    query = PlanQuery(exchange.plan) if exchange.plan is not None else None
    privacy = privacy_of(query, asked.dataset, privacy)
    shown: dict[str, Any] = {"question": exchange.question[:_LONGEST_BEFORE], "ending": exchange.ending}
    if exchange.plan is not None:
        shown["plan"] = shown_plan(exchange.plan, typed, privacy)
    elif exchange.sql is not None:
        shown["sql"] = shown_sql(exchange.sql, typed, privacy)
    elif exchange.code:
        shown["python"] = shown_code("\n\n".join(exchange.code)[-_LONGEST_CODE:], asked, privacy)
    if exchange.problem is not None:
        shown["problem"] = shown_problem(exchange.problem, privacy)
    if privacy == "off":
        shown["answer"] = exchange.answer[:_LONGEST_ANSWER]
    return shown
