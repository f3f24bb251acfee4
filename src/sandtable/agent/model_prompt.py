"""What a chat model is told: the prompt files, filled in from the question and its surroundings.

Invariant: all that did not come from this program stands as JSON inside `<data>` tags, and what `privacy`
keeps back is in none of it.
"""

from __future__ import annotations

from typing import Any

from sandtable.agent.analysis.secrecy import shown_code
from sandtable.agent.endpoint import Privacy
from sandtable.agent.privacy import (
    column_samples,
    column_statistics,
    shown_as_of,
    shown_plan,
    shown_problem,
    shown_sql,
)
from sandtable.agent.prompt_files import as_data, prompt_file
from sandtable.agent.proposer import Asked, Attempt, Exchange
from sandtable.catalog.model import Column, Dataset, Table
from sandtable.catalog.profile import ColumnProfile
from sandtable.runs.model import Run

SYSTEM, PROPOSE, WORD = "system", "propose", "word"
LARGEST_SCHEMA = 14_000
"""Characters that a dataset's description may take before details are left out."""
MOST_ROWS = 30
_MOST_EXCHANGES = 6
_LONGEST_ANSWER = 400
_LONGEST_BEFORE = 1_000
_LONGEST_QUESTION = 8_000
_LONGEST_CODE = 3_000

_SQL_ASKED = "the person asked for SQL, so this is the form to use; DuckDB's dialect"
_SQL_NOT_ASKED = "only when the person asks for SQL in so many words; DuckDB's dialect"


_ANALYSIS = (
    "What neither a plan nor one SELECT can do (forecasts, regressions, correlations, clustering, simulations, "
    "tests of significance, custom work on texts, several steps that build on each other), and what the person "
    "wants done in Python, is an `analysis`: it is then planned in steps and written in Python. Whatever a plan can "
    "do stays a plan."
)
_NO_ANALYSIS = (
    "Forecasts, regressions, clustering and other work in Python are switched off here: ask back, say so, and suggest "
    "what a plan can answer."
)
_ANALYSIS_FORM = '\n- `{"intent":"analysis","text":"why it needs Python, in one sentence"}`'


def propose_prompt(asked: Asked, privacy: Privacy) -> str:
    typed = "\n".join([asked.question, *(exchange.question for exchange in asked.history)])
    return prompt_file(PROPOSE).filled(
        schema=schema_data(asked, privacy),
        as_of=now_in(asked, privacy),
        history=history_data(asked, privacy),
        defined=as_data([shown_plan(table, typed, privacy) for table in asked.defined]),
        attempts=_attempts(asked.attempts, privacy),
        sql_rule=_SQL_ASKED if asked.wants_sql else _SQL_NOT_ASKED,
        analysis_rule=_ANALYSIS if asked.python else _NO_ANALYSIS,
        analysis_form=_ANALYSIS_FORM if asked.python else "",
        question=question_data(asked),
    )


def word_prompt(asked: Asked, run: Run, plain: str) -> str:
    rows = list(run.rows or ())[:MOST_ROWS]
    shown: dict[str, Any] = {"columns": [column.name for column in run.columns], "rows": rows}
    if run.row_count is not None and run.row_count > len(rows):
        shown["not_shown"] = run.row_count - len(rows)
    return prompt_file(WORD).filled(
        question=question_data(asked),
        plan=as_data(run.request.plan or run.request.sql),
        rows=as_data(shown),
        draft=as_data(plain),
    )


def now_in(asked: Asked, privacy: Privacy) -> str:
    as_of = shown_as_of(asked.dataset.as_of, privacy)
    return f"Now, in this data, is {as_data(as_of)}." if as_of else "This data has no now of its own."


def history_data(asked: Asked, privacy: Privacy) -> str:
    typed = "\n".join([asked.question, *(exchange.question for exchange in asked.history)])
    return as_data([_exchange(e, asked, typed, privacy) for e in asked.history[-_MOST_EXCHANGES:]])


def question_data(asked: Asked) -> str:
    return as_data(asked.question[:_LONGEST_QUESTION])


def _attempts(attempts: tuple[Attempt, ...], privacy: Privacy) -> str:
    if not attempts:
        return ""
    shown = [
        {"proposed": attempt.plan or attempt.sql, "refused": shown_problem(attempt.problem, privacy)}
        for attempt in attempts
    ]
    return (
        "\n# Refused proposals for this question\n"
        f'<data name="refused">\n{as_data(shown)}\n</data>\n'
        "Correct what the last refusal names and propose again, or ask back when it cannot be corrected.\n"
    )


def _exchange(exchange: Exchange, asked: Asked, typed: str, privacy: Privacy) -> dict[str, Any]:
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


def schema_data(asked: Asked, privacy: Privacy) -> str:
    """As much of the schema as fits: first samples are left out, then descriptions."""
    text = ""
    for samples, words in ((privacy == "off", True), (False, True), (False, False)):
        text = as_data(_dataset(asked, samples, words))
        if len(text) <= LARGEST_SCHEMA:
            break
    return text


def _dataset(asked: Asked, samples: bool, words: bool) -> dict[str, Any]:
    dataset = asked.dataset
    return {
        "dataset_id": dataset.id,
        **_described(dataset.description, words),
        "tables": [_table(asked, table, samples, words) for table in dataset.tables],
        "relationships": [
            {"many": f"{r.many_table}.{r.many_column}", "one": f"{r.one_table}.{r.one_column}"}
            for r in dataset.relationships
        ],
        "metrics": _metrics(dataset, words),
    }


def _metrics(dataset: Dataset, words: bool) -> list[dict[str, Any]]:
    return [
        {"name": m.name, "table": m.table, "format": m.format, **_described(m.description, words)}
        for m in dataset.metrics
    ]


def _table(asked: Asked, table: Table, samples: bool, words: bool) -> dict[str, Any]:
    profile = asked.profile.table(table.name)
    columns = [
        _column(asked.question, column, profile.column(column.name) if profile else None, samples, words)
        for column in table.columns
    ]
    made: dict[str, Any] = {"name": table.name, **_described(table.description, words)}
    rows = profile.rows if profile else table.rows
    if rows is not None:
        made["rows"] = rows
    if table.time_column:
        made["time_column"] = table.time_column
    return {**made, "columns": columns}


def _column(
    question: str, column: Column, profile: ColumnProfile | None, samples: bool, words: bool
) -> dict[str, Any]:
    made: dict[str, Any] = {"name": column.name, "type": column.type.value}
    if not words:
        return made
    made |= _described(column.description, words) | ({"unit": column.unit} if column.unit else {})
    made |= column_statistics(profile)
    return made | (column_samples(column, profile, question) if samples else {})


def _described(description: str, words: bool) -> dict[str, str]:
    return {"description": description} if description and words else {}
