"""Plans that only repeat the question: they look up a known value, or count one row."""

from __future__ import annotations

from sandtable.planner.candidates.grammar.draft import Draft
from sandtable.planner.candidates.grammar.measuring import agg_measure
from sandtable.planner.language.words import stem
from sandtable.planner.schema.columns import is_unique, label_of
from sandtable.planner.schema.entries import Json
from sandtable.planner.schema.index import SchemaIndex


def said_otherwise(draft: Draft, plan: Json) -> Json:
    """The plan with the repetition replaced by what was meant, if the table has it; the same plan otherwise.

    `medals of Japan in total` where a column is called Total; `which episode aired on …` by its title.
    """
    item = plan["select"][0]
    if item.get("agg") == "count":
        total = next((c for c in draft.home.columns if c.numeric and c.stems == (stem("total"),)), None)
        if total is None or "total" not in draft.reading.line.split():
            return plan
        draft.measures = [agg_measure(draft, "sum", total, 0)]
        return {**plan, "select": [draft.measures[0].item]}
    label = label_of(draft.home)
    rows = any(
        s.table is draft.home and draft.reading.lower(s.start - 1) in {"what", "which"} for s in draft.spots
    )
    if label is None or not rows:
        return plan
    ref = draft.ref(label)
    return {**plan, "select": [{"column": ref}], "group_by": [ref]}


def says_nothing(plan: Json, index: SchemaIndex) -> bool:
    """Whether the plan only repeats the question: `the currency of Japan` read as the country of Japan;
    `how many airbags has the Golf` as one Golf."""
    table = index.table(str(plan["table"]))
    fixed = {str(f["column"]) for f in plan.get("filters", ()) if f.get("op") == "=" and "column" in f}
    if table is None or not fixed or len(plan["select"]) != 1 or plan.get("order_by"):
        return False
    item = plan["select"][0]
    if item.get("agg") == "count" and not plan.get("group_by"):
        columns = [table.column(name) for name in fixed]
        return any(c is not None and c.text and is_unique(c, table) for c in columns)
    return "agg" not in item and item.get("column") in fixed
