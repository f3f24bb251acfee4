"""Replies without a run: greetings, descriptions of the data, and refusals.

Invariant: pure, and without a single number of the data. Names come from the catalog.
"""

from __future__ import annotations

from typing import Any

from sandtable.agent.intent import LONGEST_QUESTION, Declined, SmallTalk
from sandtable.agent.phrases import Order, Talk
from sandtable.agent.state import ClosingMessage
from sandtable.catalog.model import Dataset, Table
from sandtable.errors import ErrorCode, Problem
from sandtable.quoting import in_markdown, inert, quote

MOST_PROMPTS = 4
MOST_COLUMNS = 40
MOST_TABLES = 30

_LEADS: dict[Talk, str] = {
    "empty": "Your message is empty. Ask a question about {title}.",
    "greeting": "Hello. Ask me about {title}: {about}",
    "thanks": "You are welcome. Ask on whenever you like.",
    "bye": "Goodbye. The conversation is kept; you can come back to it.",
    "self": "I am Sandtable. I turn questions into queries, run them in a sealed sandbox and keep a signed "
    "record of each run. I only say what a run returned.",
    "help": "Ask about {title} in plain English: totals, averages, counts and rates, by any column, over time, the "
    "top or bottom few, with filters. Then go on: *now only for …*, *same by month*, *show me the SQL*, "
    "*call that my_table*. You can also paste SQL (one `SELECT`).",
    "data": "",
}

_REFUSALS: dict[Order, tuple[str, str]] = {
    "change": (
        "I only read: nothing in the data can be changed, added or removed from here, so I ran nothing.",
        "To leave rows out of an answer, say which, for example *without cancelled ones*.",
    ),
    "files": (
        "I have no access to files, keys or commands: I can only query the tables of this dataset. I ran nothing.",
        "Ask about the data instead.",
    ),
    "network": (
        "I cannot reach the network: queries run in a sandbox without one. I ran nothing.",
        "Ask about the data that is here, or have a file added as a dataset.",
    ),
    "instructions": (
        "How I work is not changed by a message: every query is checked against the same rules, for every user. "
        "I ran nothing.",
        "Ask a question about the data, or paste a `SELECT`; the checker will say plainly what it allows.",
    ),
    "dump": (
        "I do not hand out whole datasets: an answer is a bounded number of rows. I ran nothing.",
        "Ask for a summary, or for some rows with a filter or a number, such as *show 10 {rows}*.",
    ),
}


def small_talk(talk: SmallTalk, dataset: Dataset, defined: tuple[dict[str, Any], ...]) -> ClosingMessage:
    lead = _LEADS[talk.what].format(
        title=_title(dataset), about=in_markdown(dataset.description) or _tables(dataset)
    )
    if talk.what == "data":
        lead = describe(dataset, defined)
    suggestions = [] if talk.what in ("thanks", "bye") else prompts_of(dataset)
    return ClosingMessage(text=_with_prompts(lead, suggestions), ending="conversed", suggestions=suggestions)


def declined(order: Declined, dataset: Dataset, length: int) -> ClosingMessage:
    suggestions = prompts_of(dataset)
    if order.what == "too_long":
        text = f"Your message has {length:,} characters; I read questions of up to {LONGEST_QUESTION:,}. " \
            "Ask it in a sentence or two."  # fmt: skip
        return ClosingMessage(text=text, ending="asked", suggestions=suggestions)
    if order.what == "python":
        return needs_python(dataset, model=False, python=False)
    message, suggestion = _REFUSALS[order.what]
    suggestion = suggestion.format(rows=dataset.tables[0].name)
    problem = Problem(code=ErrorCode.SQL_POLICY_VIOLATION, message=message, suggestion=suggestion)
    return ClosingMessage(
        text=f"{message}\n\n{suggestion}",
        ending="refused",
        suggestions=suggestions,
        problem=problem.model_dump(mode="json"),
    )


def needs_python(dataset: Dataset, *, model: bool, python: bool) -> ClosingMessage:
    """What a plan cannot do, and what would have to be set up for it."""
    missing = [] if model else ["a chat model that writes the code (`SANDTABLE_MODEL`, see docs/models.md)"]
    missing += [] if python else ["Python switched on (`SANDTABLE_PYTHON=on`)"]
    lead = "That cannot be answered with a plan" if not missing else "That needs an analysis in Python"
    needs = f", which needs {' and '.join(missing)} where Sandtable is started" if missing else ""
    text = (
        f"{lead}{needs}. What I can do without it: totals, averages, medians, rates, shares, changes from period "
        "to period, rankings and outliers (z-scores), with a chart."
    )
    suggestions = prompts_of(dataset)
    return ClosingMessage(text=_with_prompts(text, suggestions), ending="asked", suggestions=suggestions)


def not_understood(dataset: Dataset) -> str:
    """In place of a text that a model should not have written."""
    return f"I could not turn that into a query over {_title(dataset)}."


def words_of(dataset: Dataset) -> str:
    """Everything the catalog says in words: a reply without a run may repeat it."""
    parts = [dataset.id, dataset.title, dataset.description, dataset.as_of or "", *dataset.prompts]
    for table in dataset.tables:
        parts += [table.name, table.description]
        parts += [text for column in table.columns for text in (column.name, column.description)]
    parts += [text for metric in dataset.metrics for text in (metric.name, metric.description)]
    return "\n".join(parts)


def describe(dataset: Dataset, defined: tuple[dict[str, Any], ...]) -> str:
    lines = [f"**{_title(dataset)}**. {in_markdown(dataset.description)}".strip()]
    lines += [_described(table) for table in dataset.tables[:MOST_TABLES]]
    if len(dataset.tables) > MOST_TABLES:
        lines.append("- … and more tables")
    if dataset.metrics:
        lines.append("\nMetrics: " + ", ".join(quote(metric.name) for metric in dataset.metrics) + ".")
    if defined:
        lines.append("\nNamed in this conversation: " + ", ".join(quote(d["name"]) for d in defined) + ".")
    return "\n".join(lines)


def prompts_of(dataset: Dataset) -> list[str]:
    if dataset.prompts:
        return list(dataset.prompts[:MOST_PROMPTS])
    return [f"How many {table.name} are there?" for table in dataset.tables[:2]]


def _described(table: Table) -> str:
    names = ", ".join(quote(column.name) for column in table.columns[:MOST_COLUMNS])
    more = ", …" if len(table.columns) > MOST_COLUMNS else ""
    about = f" {in_markdown(table.description)}" if table.description else ""
    return f"- {quote(table.name)}:{about} {names}{more}"


def _with_prompts(text: str, prompts: list[str]) -> str:
    if not prompts:
        return text
    return f"{text}\n\nFor example:\n" + "\n".join(f"- {in_markdown(prompt)}" for prompt in prompts)


def _title(dataset: Dataset) -> str:
    return inert(dataset.title or dataset.id)


def _tables(dataset: Dataset) -> str:
    return ", ".join(table.name for table in dataset.tables[:MOST_TABLES]) + "."
