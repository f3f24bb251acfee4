"""From runs and their capsules to a page.

Invariant: the words of a page are those of a conversation, or are made here from the run's plan and rows; a page says
nothing of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sandtable import __version__
from sandtable.capsule.canonical import plain
from sandtable.capsule.keys import SigningKey, TrustedKeys
from sandtable.capsule.query import plan_of
from sandtable.capsule.seal import Envelope
from sandtable.catalog.model import Dataset
from sandtable.proof_page.page import Content, keys_for, page_of, program
from sandtable.proof_page.said import AnswerSaid, ColumnSaid, PageSaid, payload_digest, sealed
from sandtable.runs.described import described_run
from sandtable.runs.model import Run
from sandtable.wording import answer_of, reading_of


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer with what it rests on. One without a capsule, such as a question back, is words alone."""

    question: str
    sentence: str
    """Markdown."""
    reading: str = ""
    note: str = ""
    """Why a capsule of the answer is not here."""
    columns: tuple[ColumnSaid, ...] = ()
    capsules: tuple[Envelope, ...] = ()
    """The main one first."""


def answer_of_run(run: Run, capsule: Envelope, dataset: Dataset | None) -> Answer:
    """`dataset`: the version that the run asked, by the catalog of the run; None where it is not here."""
    plan = plan_of(run.request.query)
    return Answer(
        question=run.request.question,
        sentence=_sentence(run, dataset),
        reading=reading_of(plan, dataset) if plan is not None and dataset is not None else "",
        columns=columns_of(run, dataset),
        capsules=(capsule,),
    )


def columns_of(run: Run, dataset: Dataset | None) -> tuple[ColumnSaid, ...]:
    return tuple(ColumnSaid(kind=one.kind.value, unit=one.unit) for one in described_run(run, dataset))


def _sentence(run: Run, dataset: Dataset | None) -> str:
    """Empty where the page says it from the capsule alone: a run that did not succeed, and code."""
    if run.status != "succeeded" or run.rows is None or run.request.mode != "sql" or dataset is None:
        return ""
    return answer_of(
        run.request.question,
        plan_of(run.request.query),
        [(column.name, column.type) for column in run.columns],
        run.rows,
        dataset,
        truncated=run.truncated,
        row_count=run.row_count,
    )


def make_page(answers: Sequence[Answer], title: str, key: SigningKey, keys: TrustedKeys) -> str:
    """`keys`: those that may have signed the capsules; their public halves go into the page. Raises InvalidInput."""
    said = PageSaid(
        title=plain(title),
        made_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        made_by=f"Sandtable {__version__}",
        program=program(),
        answers=tuple(_said(answer) for answer in answers),
    )
    statement = sealed(said, key)
    capsules = tuple(envelope for answer in answers for envelope in answer.capsules)
    signed = keys_for((statement, *capsules), {key.keyid: key.private.public_key(), **keys})
    return page_of(Content(statement, capsules, signed))


def _said(answer: Answer) -> AnswerSaid:
    return AnswerSaid(
        question=plain(answer.question),
        sentence=plain(answer.sentence),
        reading=plain(answer.reading),
        note=plain(answer.note),
        columns=answer.columns,
        capsules=tuple(payload_digest(envelope) for envelope in answer.capsules),
    )
