"""The sentence that answers: one or two plain sentences that state what the rows say.

Invariant: every number in it is a cell of the rows (rounded), of `overall`, a count of rows, or was
written in the plan or the question. Cells and names are inert Markdown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sandtable.catalog.model import Dataset
from sandtable.wording import changes, groups, lists, questions, single, verdicts
from sandtable.wording.field import NUMBERS, Field
from sandtable.wording.meanings import result_of
from sandtable.wording.result import Result
from sandtable.wording.series import is_series, series


def answer_of(
    question: str,
    plan: Mapping[str, Any] | None,
    columns: Sequence[tuple[str, str]],
    rows: Sequence[Sequence[Any]],
    dataset: Dataset,
    *,
    truncated: bool = False,
    row_count: int | None = None,
    overall: Mapping[str, Any] | None = None,
) -> str:
    """The answer in words. Without a plan (SQL) it is made from columns and rows alone."""
    total = max(len(rows), row_count or 0)
    result = result_of(question, plan, columns, rows, dataset, total, truncated, overall)
    measure = primary(result)
    text = _sentence(result)
    verdict = verdicts.verdict(result, measure) if changes.truth_of(result) is None else None
    if verdict is not None:
        text = verdicts.led_by(verdict, text, measure)
    return f"{text}{_cut(result)}"


def _cut(result: Result) -> str:
    if not result.rows:
        return ""
    if result.truncated or result.total > len(result.rows):
        return f" Only the first {len(result.rows):,} rows were returned; there are more."
    if result.cut and result.limit is None:
        return f" The table ends after {len(result.rows):,} rows; there may be more."
    return ""


def _sentence(result: Result) -> str:
    if not result.rows:
        return lists.nothing(result, questions.asks_any(result.question))
    score = next((field for field in result.fields if field.derived == "zscore"), None)
    if score is not None:
        return lists.unusual(result, score)
    if result.cause is not None:
        return changes.caused(result, *result.cause)
    truth, change = changes.truth_of(result), changes.change_of(result)
    if truth is not None:
        return changes.held(result, truth)
    if change is not None and not groups.is_ranking(result):
        return changes.changed(result, change)
    if len(result.rows) == 1:
        return single.one_value(result) if not result.keys else single.one_group(result)
    measure = primary(result)
    if measure is None:
        return lists.names(result)
    return _compared(result, measure)


def _compared(result: Result, measure: Field) -> str:
    ranked = groups.is_ranking(result)
    if result.top_by:
        return lists.first_of_each(result, measure)
    if is_series(result) and not result.having and not ranked:
        told = series(result, measure)
        if told:
            return told
    if result.having and result.grouped:
        return lists.matches(result)
    if len(result.keys) > 3 or not result.keys:
        return lists.some_rows(result)
    if ranked:
        return groups.ranking(result)
    if not result.grouped and result.planned:
        return lists.plain_rows(result, measure)
    text = groups.comparison(result, measure) if len(result.rows) == 2 else groups.extremes(result, measure)
    others = [field for field in result.measures if field is not measure and field.type in NUMBERS]
    more = f" {groups.second_measure(result, others[0])}" if len(others) == 1 else ""
    return f"{text}{groups.nameless(result, measure)}{more}".rstrip()


def primary(result: Result) -> Field | None:
    """The measure that the answer is about: what rows are ordered by, else what the question names first."""
    numbers = [field for field in result.measures if field.type in NUMBERS]
    if result.order is not None and result.order.field.measure and result.order.field.type in NUMBERS:
        return result.order.field
    asked = result.question.lower()
    named = [
        (asked.find(field.text.lower()), n) for n, field in enumerate(numbers) if field.text.lower() in asked
    ]
    return numbers[min(named)[1]] if named else numbers[0] if numbers else None
