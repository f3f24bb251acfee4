"""Question and table → draft → plan: the steps in their order."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sandtable.planner.candidates.grammar.asking import take_asked
from sandtable.planner.candidates.grammar.binding import bind_numbers
from sandtable.planner.candidates.grammar.choosing import settle_rank, spread_rank
from sandtable.planner.candidates.grammar.composing import compose
from sandtable.planner.candidates.grammar.counting import (
    find_aggregates,
    find_counts,
    find_share_of_total,
    find_shares,
)
from sandtable.planner.candidates.grammar.deciding import decide_early, quantify
from sandtable.planner.candidates.grammar.derived import derive, settle_order
from sandtable.planner.candidates.grammar.differences import (
    find_above_average,
    find_column_difference,
    find_difference,
)
from sandtable.planner.candidates.grammar.draft import Draft
from sandtable.planner.candidates.grammar.filtering import bind_values, join_conditions
from sandtable.planner.candidates.grammar.flags import bind_flags
from sandtable.planner.candidates.grammar.grouping import find_groups, find_order_keys
from sandtable.planner.candidates.grammar.implied import pass_places
from sandtable.planner.candidates.grammar.leftovers import rescue, unknown_words
from sandtable.planner.candidates.grammar.linking import link
from sandtable.planner.candidates.grammar.row_counts import bind_row_counts, find_movement, find_weekdays
from sandtable.planner.candidates.grammar.sense import said_otherwise, says_nothing
from sandtable.planner.candidates.grammar.special import (
    find_arithmetic,
    find_change,
    find_correlation,
    find_distribution,
    find_extremes,
    find_outliers,
    find_range,
    find_running,
)
from sandtable.planner.candidates.grammar.superlatives import find_order, find_rank
from sandtable.planner.candidates.grammar.timing import settle_times
from sandtable.planner.candidates.grammar.winning import bind_outcomes
from sandtable.planner.mentions.finding import Found
from sandtable.planner.schema.entries import Json, TableEntry
from sandtable.planner.schema.index import SchemaIndex

_YES_NO = re.compile(
    r"(?:true or false ?:? |true / false ?:? )?(?:is|are|was|were|does|do|did|has|have|had|can|could|will|would)(?= )"
)
_ROWS = re.compile(
    r"(?:please )?(?:can you |could you )?(?:show|display|give|print|view|see|get)(?= )|rows?(?= |$)|records?(?= |$)"
)
_DISTINCT = re.compile(r"(?:distinct|unique|different)(?= )")
_ASKED = re.compile(r"(?:can|could|would|will) you(?= )|(?:do|does) (?:you|we) (?:know|have)(?= )")


@dataclass(frozen=True, slots=True)
class Interpretation:
    draft: Draft
    plan: Json | None
    unknown: tuple[str, ...]


def read_draft(text: str, index: SchemaIndex, home: TableEntry, found: Found) -> Draft:
    """Everything the question says, seen from one table."""
    draft = link(text, index, home, found)
    _find_manner(draft)
    pass_places(draft)
    rescue(draft)
    draft.downward = find_order(draft)
    find_range(draft)
    find_extremes(draft)
    find_arithmetic(draft)
    draft.unusual, draft.most_unusual = find_outliers(draft)
    find_above_average(draft)
    find_rank(draft)
    quantify(draft)
    settle_times(draft)
    bind_row_counts(draft)
    find_column_difference(draft)
    bind_numbers(draft)
    bind_values(draft)
    bind_flags(draft)
    bind_outcomes(draft)
    join_conditions(draft)
    find_difference(draft)
    find_distribution(draft)
    draft.running, draft.change = find_running(draft), find_change(draft)
    find_correlation(draft)
    find_shares(draft)
    draft.of_total = find_share_of_total(draft)
    order_keys = find_order_keys(draft)
    find_counts(draft)
    find_aggregates(draft)
    find_weekdays(draft)
    find_movement(draft)
    by_keys = find_groups(draft)
    settle_rank(draft, by_keys)
    take_asked(draft)
    decide_early(draft)
    spread_rank(draft)
    settle_order(draft, order_keys)
    return draft


def _find_manner(draft: Draft) -> None:
    """How a question is put: a list of rows, different values, yes or no."""
    reading = draft.reading
    opening = reading.match_at(_YES_NO, 0)
    draft.yes_no = opening is not None and reading.match_at(_ASKED, 0) is None
    draft.rows = any(start == 0 or reading.free(start, end) for start, end, _ in reading.find(_ROWS))
    draft.distinct = any(reading.free(start, end) for start, end, _ in reading.find(_DISTINCT))


def interpret(text: str, index: SchemaIndex, home: TableEntry, found: Found) -> Interpretation:
    draft = read_draft(text, index, home, found)
    derive(draft)
    if draft.against is not None and (draft.measures or draft.groups or draft.conditions or draft.rank):
        draft.doubt(0.3, "comparing with the average works for lists of all rows only")
    if draft.keyless:
        draft.doubt(0.4, f"what {draft.rank.word if draft.rank else 'the ranking'} is about")
    plan = compose(draft)
    _doubt_partial_names(draft)
    if plan is not None and not draft.yes_no and says_nothing(plan, index):
        plan = said_otherwise(draft, plan)
    if plan is not None and not draft.yes_no and says_nothing(plan, index):
        draft.doubt(0.35, "the answer would only repeat the question")
    return Interpretation(draft, plan, tuple(unknown_words(draft)))


def _doubt_partial_names(draft: Draft) -> None:
    """A column of which less than half was said may be another one."""
    for spot in draft.spots:
        if spot.columns and spot.columns[0].coverage < 0.5 and spot.role not in {"", "mentioned", "hint"}:
            draft.doubt(
                0.95, f"{draft.reading.written(spot.start, spot.end)} is only a part of a column's name"
            )
