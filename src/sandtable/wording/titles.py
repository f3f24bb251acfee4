"""What a plan computes, as a title: "Revenue by region, 2025, where channel is Online, the 3 highest".

A title describes what ran: measures, groups, times, conditions and which rows were kept, never the names that the
plan's author gives them. Invariant: total and deterministic. A plan that does not fit the dataset has no title.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sandtable.catalog.model import ColumnType, Dataset
from sandtable.plan import derivations as d
from sandtable.plan import items as i
from sandtable.plan.definitions import with_defined
from sandtable.plan.derivations import source_of
from sandtable.plan.filters import Comparison, InWindow
from sandtable.plan.model import QueryPlan
from sandtable.plan.reading import read_plan
from sandtable.plan.resolve import resolve_plan
from sandtable.plan.resolved import ResolvedPlan
from sandtable.wording import conditions
from sandtable.wording.naming import Named
from sandtable.wording.phrases import joined, sentence_start, shared, words
from sandtable.wording.reading import PlanWords

LONGEST = 120
_MOMENTS = (ColumnType.DATE, ColumnType.TIMESTAMP, ColumnType.TIME)
_LEADING = ("in the ", "in ", "on ")
"""What stands before a time in a sentence, and not in a title."""


@dataclass(frozen=True, slots=True)
class _Room:
    """How much of a title its measures may take."""

    measures: int
    longest: int


_ROOMS = (_Room(3, 1_000), _Room(1, 1_000), _Room(1, 60))
"""Tried in this order, so that what groups and restricts the measures is not the first to be cut."""


def title_of(plan: Mapping[str, Any], dataset: Dataset, rows: int) -> str:
    """What the plan computed, given how many rows it gave; empty for a plan that does not fit the dataset."""
    known = _known(plan, dataset)
    if known is None:
        return ""
    said, defined = _spoken(*known, with_defined(known[1], dataset))
    scope = ", ".join((*_scope(said, rows), *defined))
    made = ""
    for room in _ROOMS:
        made = ", ".join(part for part in (_head(said, room), scope) if part)
        if len(made) <= LONGEST:
            break
    return sentence_start(_shortened(made))


@dataclass(frozen=True, slots=True)
class ChartWords:
    """What the title of a chart is made of; the chart says which columns it shows."""

    columns: tuple[str, ...] = ()
    """What each column of the result is; none where that is not known."""
    head: str = ""
    """What is shown, where the columns do not say it."""
    scope: str = ""
    """For which time and under which conditions."""


def chart_words(plan: Mapping[str, Any], dataset: Dataset, columns: Sequence[str], rows: int) -> ChartWords:
    """The words for a chart of the plan's result.

    A chart is verified by redrawing it, so its words depend on the plan and on those parts of the dataset that also
    decide the SQL. Units and descriptions, which can be corrected at any time, do not.
    """
    known = _known(plan, dataset)
    if known is None:
        return ChartWords()
    parsed, resolved = known
    said, defined = _spoken(parsed, resolved, _bare(with_defined(resolved, dataset)))
    scope = _shortened(", ".join((*_scope(said, rows), *defined)))
    if parsed.why is not None:
        return ChartWords(head=_head(said), scope=scope)
    names = [column.name.lower() for column in said.columns]
    if [name.lower() for name in columns] != names:
        return ChartWords(scope=scope)
    return ChartWords(tuple(said.outputs.get(name, Named(words(name))).text for name in names), "", scope)


def _known(plan: Mapping[str, Any], dataset: Dataset) -> tuple[QueryPlan, ResolvedPlan] | None:
    parsed = read_plan(dict(plan))
    resolved = resolve_plan(parsed, dataset) if isinstance(parsed, QueryPlan) else None
    if not isinstance(parsed, QueryPlan) or not isinstance(resolved, ResolvedPlan):
        return None
    return parsed, resolved


def _spoken(plan: QueryPlan, resolved: ResolvedPlan, known: Dataset) -> tuple[PlanWords, list[str]]:
    """The words of the plan and of the tables that it defines: their conditions are conditions of the answer, and
    their columns are named by what they compute."""
    inner = {definition.name: definition.plan for definition in plan.define}
    made: dict[str, dict[str, Named]] = {}
    texts: list[str] = []
    for item in resolved.defined:
        body = inner[item.table.name]
        said = PlanWords(body, known, item.plan, made.get(body.table.lower()))
        made[item.table.name.lower()] = said.outputs
        text = ", ".join((_head(said), *_scope(said, body.limit or 0)))
        texts.insert(0, f'"{words(item.table.name)}": {text}')
    return PlanWords(plan, known, resolved, made.get(plan.table.lower())), texts


def _head(said: PlanWords, room: _Room = _ROOMS[0]) -> str:
    """What is computed, and by what: "revenue by region"."""
    cause = said.cause()
    if cause is not None and said.plan.why is not None:
        measure, before, after = cause
        by = joined([said.naming.column(name).text for name in said.plan.why.by])
        return f"change in {measure} from {_bare_time(before)} to {_bare_time(after)} by {by}"
    computed, keys = _listed(_computed(said), room), said.keys()
    if not said.plan.grouped:
        return f"{computed} of {said.naming.rows}"
    if not computed:
        return f"the different values of {joined(keys)}"
    return f"{computed} by {joined(keys)}" if keys else computed


def _listed(parts: Sequence[str], room: _Room) -> str:
    """The common beginning of two measures is written once; of a long list only the number is given."""
    if len(parts) > room.measures:
        first = parts[: max(1, room.measures - 1)]
        text, more = ", ".join(first), f" and {len(parts) - len(first)} more"
    elif len(parts) == 2 and (alike := shared(*parts))[0]:
        text, more = f"{alike[0]} {alike[1]} and {alike[2]}", ""
    else:
        text, more = joined(parts), ""
    return _shortened(text, room.longest) + more


def _computed(said: PlanWords) -> list[str]:
    """Measures and derived columns. A change and a test name what they are made of; a rank adds nothing."""
    changes = [item for item in said.plan.derive if isinstance(item, d.Change) and item.from_ is not None]
    spent = {name.lower() for item in said.plan.derive for name in _compared(item)}
    made: list[str] = []
    for item, names in zip(said.plan.select, said.names(), strict=True):
        aggregated = i.has_aggregate(item) or not said.plan.grouped
        if aggregated and not any(name.lower() in spent for name in names):
            made.append(said.items.item(item).text)
    for item in said.plan.derive:
        if not isinstance(item, d.Rank | d.Position) and not _is_repeated(item, changes):
            made.append(_derived(said, item))
    return list(dict.fromkeys(made))


def _derived(said: PlanWords, item: d.Derivation) -> str:
    text = said.over_outputs.full_derivation(item, said.lookup(source_of(item)), said.outputs)
    along = getattr(item, "along", None)
    # The groups are named once, after everything that is computed.
    return text.replace(f" by {said.lookup(along).text}", "", 1) if along and said.plan.grouped else text


def _compared(item: d.Derivation) -> Iterator[str]:
    """The output columns that are in the words of a derived one."""
    if isinstance(item, d.Change) and item.from_ is not None:
        yield from (item.change, item.from_)
    if isinstance(item, i.HoldsItem):
        for part in item.holds:
            if isinstance(part, Comparison):
                yield from (part.column, part.other_column or part.column)


def _is_repeated(item: d.Derivation, changes: list[d.Change]) -> bool:
    """A relative change beside the change itself."""
    if not isinstance(item, d.Change) or item.kind != "percent" or item.from_ is None:
        return False
    return any((c.change, c.from_, c.kind) == (item.change, item.from_, "absolute") for c in changes)


def _scope(said: PlanWords, rows: int) -> Iterator[str]:
    """Times first: they are short and distinguish answers."""
    plan = said.plan
    times = [
        said.time(),
        *(said.items.window(part.time) for part in plan.filters if isinstance(part, InWindow)),
    ]
    yield from (_bare_time(time) for time in times if time)
    rest = [part for part in plan.filters if not isinstance(part, InWindow)]
    if where := conditions.restriction(rest, said.items.terms):
        yield where
    if kept := conditions.all_of(plan.having, said.over_outputs.terms):
        yield f"only where {kept}"
    if top := said.top():
        yield top
    if limit := _limit(said, rows):
        yield limit


def _limit(said: PlanWords, rows: int) -> str:
    """Which rows were left, where some may have been cut."""
    limit, order = said.plan.limit, said.plan.order_by
    if limit is None or rows < limit:
        return ""
    if not order:
        return said.limit()
    named, down = said.lookup(order[0].expr), order[0].dir == "desc"
    if named.type in (ColumnType.TEXT, ColumnType.OTHER):
        return f"{said.limit()} by {named.text}"
    ends = ("earliest", "latest") if named.type in _MOMENTS else ("lowest", "highest")
    which = ends[down]
    text = f"the {which}" if limit == 1 else f"the {limit:,} {which}"
    return text if _computed(said) == [named.text] else f"{text} by {named.text}"


def _bare_time(text: str) -> str:
    for start in _LEADING:
        if text.startswith(start):
            return text.removeprefix(start)
    return text


def _bare(dataset: Dataset) -> Dataset:
    """The dataset without the parts that can change while its version and the SQL of its plans stay the same."""
    tables = tuple(
        table.model_copy(
            update={
                # So that a table without a plural has rows of its name: "number of inventory rows".
                "description": f"One row per {words(table.name)} row",
                "columns": tuple(column.model_copy(update={"unit": ""}) for column in table.columns),
            }
        )
        for table in dataset.tables
    )
    metrics = tuple(metric.model_copy(update={"format": "number"}) for metric in dataset.metrics)
    return dataset.model_copy(update={"tables": tables, "metrics": metrics})


def _shortened(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else text[: longest - 1].rstrip(" ,") + "…"
