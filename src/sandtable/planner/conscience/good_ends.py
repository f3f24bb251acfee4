"""Which end of a measure is the good one: high of a score, low of a rate of complaints, unknown of a temperature."""

from __future__ import annotations

from sandtable.planner.conscience.ledger import Ledger
from sandtable.planner.conscience.pieces import Piece
from sandtable.planner.conscience.terms import BAD_HIGH, BAD_LOW, DURATIONS
from sandtable.planner.conscience.units import unit_of
from sandtable.planner.language.words import split_name, stem
from sandtable.planner.schema.columns import is_year

_BAD = BAD_HIGH | frozenset(
    stem(w)
    for w in "abandon abandoned missed miss rejected rejection reject spam infection readmission readmitted "
    "dumped dump speeding alarm alert alarms alerts sick leak damage damaged injury dispute penalty foul ghost overrun "
    "shrinkage exceedance violation deviation overtime idle broken unpaid lost absent noshow stoppage "
    "reopened withdrawn dropout dropped quit fraud chargeback pollution defective faulty lateness mttr stockout "
    "fail failing error bounced bounce cancel hold callout callouts breakdown breakdowns".split()
)
_GOOD = BAD_LOW | frozenset(
    stem(w)
    for w in "pass passed success ontime punctual punctuality completed approved approval won roas roi paid grade open "
    "opens click clicks ctr convert promoter occupancy salary wage energy output production engagement active renew "
    "utilisation utilization reach turnover mrr arr fill filled earnings takings".split()
)
_SPEEDS = frozenset(stem(w) for w in "speed velocity pace kmh mph throughput".split())
_PROFITS = frozenset(stem(w) for w in "pnl profit margin net balance result gain return change pl".split())
_LOST = frozenset(stem(w) for w in "lose lost loses losing loss losses".split())
_SERVING = frozenset(
    "serving standing around been worked working running employed here tenure since lived living existing established "
    "aboard us had ago waiting waited open opened unanswered unresolved pending".split()
)


def is_bad(book: Ledger, piece: Piece) -> bool | None:
    """Whether a high value of a piece is bad; None where that is unknown."""
    said = {stem(w) for w in split_name(piece.label.removeprefix("by ").partition(",")[0])}
    if "no show" in piece.label.lower().replace("_", " ").replace("-", " "):
        return True
    columns = {s for c in piece.columns for s in c.stems}
    for stems in (said, columns, piece.names):
        bad, good = bool(stems & _BAD), bool(stems & _GOOD)
        if bad != good:
            return bad
    bad, good = _of_conditions(book, piece)
    if bad != good:
        return bad
    if (
        piece.does & {"count", "sum", "count_distinct"}
        and not piece.does & {"share", "ratio", "metric"}
        and not bad
    ):
        return False
    return None


def _of_conditions(book: Ledger, piece: Piece) -> tuple[bool, bool]:
    """What the rows are that are counted: their table, and the conditions on them."""
    bad = good = False
    if piece.does & {"count", "share", "some", "holds", "ratio"}:
        for i in book.of_kind("where"):
            condition = book.pieces[i]
            inside = condition.path[:1] in {("select",), ("derive",)}
            if inside != bool(piece.does & {"share", "some", "holds"}) or "exists" in condition.does:
                continue
            flag = _is_bad_condition(condition)
            bad, good = bad or flag is True, good or flag is False
    if not bad and not good and "count" in piece.does and not piece.does & {"share", "ratio"}:
        tables = [p.table for p in book.pieces if p.path == ("table",) and p.table is not None]
        bad = any(set(t.stems) & _BAD for t in tables)
    return bad, good


def _is_bad_condition(piece: Piece) -> bool | None:
    if piece.compares_rows and len(piece.columns) > 1 and all(c.temporal for c in piece.columns):
        # Done after the promised time, or before it.
        return piece.op in {">", ">="}
    stems = {s for c in piece.columns for s in c.stems}
    stems |= {stem(w) for v in piece.values if isinstance(v, str) for w in split_name(v)}
    bad, good = bool(stems & _BAD), bool(stems & _GOOD)
    return None if bad == good else bad != piece.negative


def is_duration(piece: Piece) -> bool:
    """Time that something takes: much of it is slow."""
    if "elapsed" in piece.does:
        return True
    if any(set(c.stems) & _SPEEDS for c in piece.columns):
        return False
    return any(
        not c.temporal
        and not is_year(c)
        and (set(c.stems) & DURATIONS or ((unit := unit_of(c)) is not None and unit.kind == 0))
        for c in piece.columns
    )


def lost_most(book: Ledger, piece: Piece) -> bool:
    """`who lost the most` by a column of gains: the least of it."""
    gains = any(set(c.stems) & _PROFITS for c in piece.columns)
    return gains and bool(book.stems & _LOST) and "asc" in piece.does


def is_serving(book: Ledger, at: int) -> bool:
    """`longest with us`, `the longest serving driver`: since the earliest date."""
    near = {book.lower(i) for i in (*range(max(0, at - 5), at), *range(at + 1, at + 4))}
    return bool(near & _SERVING)
