"""Answers as one Markdown document: question, sentence, table, what ran, and the ids to verify it by.

Invariant: cells, questions and names are text that no Markdown renderer acts on.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sandtable.agent.markdown import cell, fenced, table
from sandtable.answer_files.shown import Shown
from sandtable.quoting import in_markdown
from sandtable.runs.model import Run

MOST_ROWS = 1_000
"""Rows of one table; a CSV file has all of them."""


def markdown_of(shown: Sequence[Shown], title: str) -> str:
    parts = [f"# {heading(title)}"]
    for one in shown:
        parts += [words(one), *(_run(one, one.run) if one.run is not None else ())]
    return "\n\n".join(parts) + "\n"


def words(shown: Shown) -> str:
    """The question, the sentence and the reading."""
    answer = shown.answer
    reading = f"*Read as: {answer.reading}*" if answer.reading else ""
    note = f"*{answer.note}*" if answer.note else ""
    parts = (f"## {heading(answer.question) or 'A query'}", answer.sentence, reading, note)
    return "\n\n".join(filter(None, parts))


def _run(shown: Shown, run: Run) -> Iterator[str]:
    if run.status != "succeeded":
        why = f": {in_markdown(run.error.message)}" if run.error else ""
        yield f"The run is {run.status}{why}."
    if shown.has_table:
        yield _table(run)
    if run.stdout:
        yield fenced("text", run.stdout)
    if shown.statement is not None:
        text, language = shown.statement
        yield fenced(language, text)
    yield _proof(run)


def _table(run: Run) -> str:
    rows = (run.rows or ())[:MOST_ROWS]
    made = table(run.columns, ([cell(value) for value in row] for row in rows))
    total = len(run.rows or ())
    left = f"\n\nShown: the first {len(rows):,} of {total:,} rows." if total > len(rows) else ""
    return made + left + ("\n\nThe query had more rows." if run.truncated else "")


def _proof(run: Run) -> str:
    ended = (run.finished_at or "").partition(".")[0].replace("T", " ")
    about = (
        f"Run `{run.id}` on dataset {in_markdown(run.request.dataset_id)}, version `{run.dataset_version}`"
    )
    return f"*{about}, {ended} UTC. `sandtable verify {run.id}` derives it again.*"


def heading(text: str) -> str:
    return in_markdown(" ".join(text.split()))
