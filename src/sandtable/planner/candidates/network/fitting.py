"""Sketches as plans over a dataset, and what can be said of a plan without running it."""

from __future__ import annotations

from sandtable.planner.candidates.network.plans import Json, plan_of
from sandtable.planner.candidates.network.sketch import Item, Token
from sandtable.planner.language.words import stem
from sandtable.planner.schema.columns import is_unique
from sandtable.planner.schema.entries import ColumnEntry
from sandtable.planner.schema.index import SchemaIndex

_RATES = frozenset(stem(word) for word in "rate share ratio percent pct percentage margin discount".split())
_NOT_DERIVED = frozenset({"zscore", "position", "previous", "next", "run", "holds"})


def plan_for(sketch: tuple[Token, ...], index: SchemaIndex) -> Json | None:
    """The plan over this dataset: percents as its columns hold them, and texts that are only listed once each."""
    fractions = frozenset((c.table, c.name) for t in index.tables for c in t.columns if _is_fraction(c))
    plan = plan_of(sketch, index.dataset.id, fractions)
    if plan is None or len(plan["select"]) != 1 or "order_by" in plan:
        return plan
    column, home = sketch[1], index.table(str(plan["table"]))
    if isinstance(column, Item) and home is not None:
        entry = index.column(column.table, column.name)
        if entry is not None and entry.text and not (entry.table == home.name and is_unique(entry, home)):
            return {**plan, "group_by": [plan["select"][0].get("as", plan["select"][0]["column"])]}
    return plan


def beyond_sketches(plan: Json) -> bool:
    """Whether the plan says what no sketch can say: that the network does not write it is no sign against it."""
    derived = {field for item in plan.get("derive", ()) for field in item}
    return (
        bool(derived & _NOT_DERIVED) or len(plan.get("having", ())) > 1 or "define" in plan or "why" in plan
    )


def is_defined(plan: Json) -> bool:
    """Whether all that the plan computes are metrics that the dataset declares."""
    computed = [item for item in plan.get("select", ()) if "column" not in item and "bucket" not in item]
    return bool(computed) and all(set(item) <= {"metric", "as"} for item in computed) and "derive" not in plan


def _is_fraction(column: ColumnEntry) -> bool:
    if not column.numeric:
        return False
    if column.unit.lower() in {"fraction", "ratio", "share"}:
        return True
    most = column.profile.maximum if column.profile else None
    small = isinstance(most, int | float) and not isinstance(most, bool) and 0 < most <= 1
    return small and bool(_RATES & set(column.stems))
