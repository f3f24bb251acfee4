"""One question read over each table: the reading that makes most sense."""

from __future__ import annotations

from sandtable.observing import timed_part
from sandtable.planner.candidates.grammar.draft import Draft
from sandtable.planner.candidates.grammar.interpret import Interpretation, interpret
from sandtable.planner.mentions.finding import Found
from sandtable.planner.schema.defined import valid_plan
from sandtable.planner.schema.index import SchemaIndex

MOST_TABLES = 12


@timed_part("candidates")
def best_table(question: str, index: SchemaIndex, found: Found) -> Interpretation | None:
    """The table from which the question makes most sense."""
    read = [interpret(question, index, home, found) for home in index.tables[:MOST_TABLES]]
    named = {span for r in read for span in _named(r)}
    read.sort(key=lambda r: _merit(r, index, named), reverse=True)
    valid = (r for r in read if r.plan is not None and valid_plan(r.plan, index))
    return next(valid, read[0] if read else None)


def _named(read: Interpretation) -> set[tuple[int, int]]:
    """The words that name a column wholly."""
    spots = [spot for spot in read.draft.spots if spot.columns and spot.table is None]
    return {(spot.start, spot.end) for spot in spots if spot.columns[0].coverage == 1.0}


def _merit(read: Interpretation, index: SchemaIndex, named: set[tuple[int, int]]) -> tuple[float, float]:
    """`named`: words that name a column of any table. A reading without that column leaves them out."""
    draft = read.draft
    left = [span for span in named if not any(s.start < span[1] and span[0] < s.end for s in draft.spots)]
    own = -float(len(left))
    for spot in draft.spots:
        column = spot.column
        if spot.table is not None:
            own += 0.6 if spot.table.name == draft.home.name else -0.1
        elif column is not None:
            said = spot.columns[0].coverage if spot.columns else 1.0
            near = column.table == draft.home.name
            own += 0.2 * said if near else -0.1 * draft.reach.get(column.table, 1)
        elif spot.metric is not None:
            own += 0.3
    if draft.bucket is not None or draft.time is not None:
        own += _time_merit(draft)
    place = next(i for i, t in enumerate(index.tables) if t.name == draft.home.name)
    return (round(draft.certainty + 0.3 * own, 6) - 1.5 * len(read.unknown), -place)


def _time_merit(draft: Draft) -> float:
    """A table with its own time column is preferred for questions about time."""
    if draft.bucket_column is not None:
        return 0.5 if draft.bucket_column.name == draft.home.time_column else -0.5
    column = str((draft.time or {}).get("column", ""))
    if column in {"", draft.home.time_column}:
        return 0.5 if draft.home.time_column else -0.5
    said = any(s.column is not None and s.column.name == column for s in draft.spots)
    return 0.2 if draft.home.column(column) and (said or draft.home.time_column) else -0.3
