"""A plan in words: "average discount and return rate, by category, highest return rate first".

Invariant: total and deterministic. Whatever the mapping holds, the outcome is one sentence fragment
without a period at its end; for an invalid plan it says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from sandtable.catalog.model import ColumnType, Dataset
from sandtable.plan import items as i
from sandtable.plan.definitions import with_defined
from sandtable.plan.derivations import source_of
from sandtable.plan.model import OrderBy, PlanBody, QueryPlan, Why
from sandtable.plan.reading import read_plan
from sandtable.plan.resolve import resolve_plan
from sandtable.plan.resolved import ResolvedPlan
from sandtable.plan.result_columns import ColumnMeaning, describe_resolved
from sandtable.wording import conditions
from sandtable.wording.items import Items
from sandtable.wording.naming import Named, Naming
from sandtable.wording.phrases import joined, words
from sandtable.wording.windows import Anchored, window

_LONGEST = 1_500


def reading_of(plan: Mapping[str, Any], dataset: Dataset) -> str:
    """The plan as one sentence fragment."""
    parsed = read_plan(dict(plan))
    if not isinstance(parsed, QueryPlan):
        return "a plan that cannot be read"
    resolved = resolve_plan(parsed, dataset)
    if not isinstance(resolved, ResolvedPlan):
        return _shortened(PlanWords(parsed, dataset).all())
    known = with_defined(resolved, dataset)
    inner = {definition.name: definition.plan for definition in parsed.define}
    texts = [PlanWords(parsed, known, resolved).all()]
    for item in reversed(resolved.defined):
        told = PlanWords(inner[item.table.name], known, item.plan).all()
        texts.append(f'where "{words(item.table.name)}" means: {told}')
    return _shortened("; ".join(texts))


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1].rstrip() + "…"


class PlanWords:
    """The parts of one plan in words. With `resolved`, the names of its output columns are known (`columns`); `made`
    (see `Naming`) says what the columns of a table that it defines are."""

    def __init__(
        self,
        plan: PlanBody,
        dataset: Dataset,
        resolved: ResolvedPlan | None = None,
        made: Mapping[str, Named] | None = None,
    ) -> None:
        self.plan, self.dataset = plan, dataset
        self._resolved = resolved
        self.naming = Naming(dataset, dataset.table(plan.table), made or {})
        self.items = Items(self.naming)

    # Computed when they are first read: most parts of a plan need neither.
    @cached_property
    def columns(self) -> tuple[ColumnMeaning, ...]:
        return (
            describe_resolved(self.plan, self._resolved, self.dataset) if self._resolved is not None else ()
        )

    @cached_property
    def outputs(self) -> dict[str, Named]:
        return self._outputs()

    def all(self) -> str:
        if self.plan.why is not None:
            parts = [self._why(self.plan.why), self.where(), self._kept(), self._order(), self.limit()]
            return ", ".join(part for part in parts if part)
        parts = [self._what(), self._groups(), self.where(), self.time(), self._kept(), self.top()]
        parts += [self._order(), self.limit()]
        return ", ".join(part for part in parts if part)

    def cause(self) -> tuple[str, str, str] | None:
        """The decomposed measure and the two periods; None when the plan does not ask why."""
        why = self.plan.why
        if why is None:
            return None
        return self.items.item(why.of).text, self.items.window(why.before), self.items.window(why.after)

    def _why(self, why: Why) -> str:
        measure, before, after = self.cause() or ("", "", "")
        dimensions = joined([self.naming.column(name).text for name in why.by])
        periods = f"{before.removeprefix('in ')} against {after.removeprefix('in ')}"
        return f"why {measure} changed, {periods}, by {dimensions}"

    def _outputs(self) -> dict[str, Named]:
        """Output columns by the names that the rest of the plan may call them, in lower case."""
        named: dict[str, Named] = {}
        for item, name in zip(self.plan.select, self.names(), strict=True):
            said = self.items.item(item)
            for called in (*name, *_callable(item)):
                named.setdefault(called.lower(), said)
        for key in self.plan.group_by:
            if not isinstance(key, str):
                named.setdefault((key.as_ or key.bucket).lower(), self.items.bucket(key))
        derived = [column.name for column in self.columns if column.derived]
        over = Items(self.naming, lambda name: named.get(name.lower()) or self.naming.column(name))
        for index, item in enumerate(self.plan.derive):
            said = over.derivation(item, over.column(source_of(item)))
            name = derived[index] if derived else item.as_ or said.text
            named.setdefault(name.lower(), said)
        return named

    def names(self) -> list[tuple[str, ...]]:
        """For each select item the name that its output column has; none beside `*`, or for a plan not resolved."""
        starred = any(isinstance(item, i.ColumnItem) and item.column == "*" for item in self.plan.select)
        known = () if starred else self.columns
        return [tuple(column.name for column in known if column.item is item) for item in self.plan.select]

    def lookup(self, name: str) -> Named:
        """An output column, or else a column of the data."""
        found = self.outputs.get(name.lower()) or self.outputs.get(name.rpartition(".")[2].lower())
        return found or self.naming.column(name)

    @property
    def over_outputs(self) -> Items:
        """Expressions whose names are output columns."""
        return Items(self.naming, self.lookup)

    def keys(self) -> list[str]:
        """What the rows are grouped by, in words."""
        if not self.plan.grouped:
            return []
        said = [self.items.item(item).text for item in self.plan.select if not i.has_aggregate(item)]
        for key in self.plan.group_by:
            said.append(self.lookup(key).text if isinstance(key, str) else self.items.bucket(key).text)
        return list(dict.fromkeys(said))

    def measures(self) -> list[str]:
        return [self.items.item(item).text for item in self.plan.select if i.has_aggregate(item)]

    def _what(self) -> str:
        derived = [
            self.over_outputs.full_derivation(item, self.lookup(source_of(item)), self.outputs)
            for item in self.plan.derive
        ]
        if not self.plan.grouped:
            plain = [self.items.item(item).text for item in self.plan.select]
            return f"{joined([*plain, *derived])} of {self.naming.rows}"
        computed = [*self.measures(), *derived]
        return joined(computed) if computed else f"the different values of {joined(self.keys())}"

    def _groups(self) -> str:
        return f"by {joined(self.keys())}" if self.keys() and (self.measures() or self.plan.derive) else ""

    def where(self) -> str:
        return conditions.restriction(self.plan.filters, self.items.terms)

    def time(self) -> str:
        anchored = self.window()
        return window(anchored, self.naming.time_column()) if anchored else ""

    def window(self) -> Anchored | None:
        time = self.plan.time
        if time is None:
            return None
        name = time.column or self.naming.time_column()
        dated = name is not None and self.naming.column(name).type is ColumnType.DATE
        return Anchored.of(time, self.dataset, dated)

    def _kept(self) -> str:
        text = conditions.all_of(self.plan.having, self.over_outputs.terms)
        return f"only where {text}" if text else ""

    def top(self) -> str:
        top = self.plan.top_per_group
        if top is None:
            return ""
        groups = joined(list(dict.fromkeys(self.lookup(name).text for name in top.by)))
        word = "top" if top.dir == "desc" else "bottom"
        ties = ", with ties" if top.ties else ""
        return f"the {word} {top.n:,} by {self.lookup(top.order_by).text} for each {groups}{ties}"

    def _order(self) -> str:
        terms = [ordered(term, self.lookup(term.expr)) for term in self.plan.order_by]
        return ", then ".join(dict.fromkeys(terms))

    def limit(self) -> str:
        limit = self.plan.limit
        if limit is None:
            return ""
        if self.plan.ties:
            return "the first and its equals" if limit == 1 else f"the first {limit:,} and their equals"
        if limit == 1:
            return "the first only" if self.plan.order_by else "one row"
        return f"the first {limit:,}" if self.plan.order_by else f"at most {limit:,} rows"


def ordered(term: OrderBy, named: Named) -> str:
    down = term.dir == "desc"
    if named.bucket.endswith("_name"):
        return f"{named.text} {'from last to first' if down else 'from first to last'}"
    if named.type in (ColumnType.DATE, ColumnType.TIMESTAMP, ColumnType.TIME):
        return f"{'latest' if down else 'earliest'} {named.text} first"
    if named.type in (ColumnType.TEXT, ColumnType.OTHER):
        return f"{named.text} {'from Z to A' if down else 'from A to Z'}"
    if named.counts:
        return f"{'most' if down else 'fewest'} {named.text.removeprefix('number of ')} first"
    text = named.text.replace("highest ", "maximum ", 1).replace("lowest ", "minimum ", 1)
    return f"{'highest' if down else 'lowest'} {text} first"


def _callable(item: i.AnyItem) -> list[str]:
    """The names by which the plan may refer to an item, whatever its final name."""
    match item:
        case i.ValueOperand():
            return []
        case i.MetricItem(metric=name) if item.as_ is None:
            return [name]
        case i.ColumnItem(column=name):
            return [name, name.rpartition(".")[2]]
        case _:
            return [item.as_] if item.as_ else []
