"""Derived columns: what is computed over the output rows, layer by layer.

Invariant: a derived column reads columns of lower layers only; helpers of a run are hidden columns.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from sandtable.catalog.model import ColumnType
from sandtable.plan import derivations as d
from sandtable.plan.conditions import NUMBERS, describe
from sandtable.plan.expressions import Expressions
from sandtable.plan.findings import Findings
from sandtable.plan.names import derived_name, settle
from sandtable.plan.outputs import names_of
from sandtable.plan.problems import did_you_mean, listed
from sandtable.plan.resolved import ColumnRef, Condition, Derived, DerivedKind, Output, OutputRef, Test
from sandtable.plan.scope import TIME_TYPES
from sandtable.plan.walking import outputs_read, wholes
from sandtable.quoting import quote

_ANY_TYPE = d.Rank | d.Position | d.Previous | d.Next


@dataclass(slots=True)
class Deriving:
    """Output and derived columns by name, as they are added; a plain column is also found by its own name."""

    outputs: tuple[Output, ...]
    expressions: Expressions
    found: Findings
    taken: set[str]
    derived: list[Derived] = field(default_factory=list[Derived])

    @classmethod
    def over(
        cls, outputs: tuple[Output, ...], derive: tuple[d.Derivation, ...], expressions: Expressions
    ) -> Deriving:
        return cls(outputs, expressions, expressions.found, names_of(outputs, derive))

    def find(self, name: str) -> OutputRef | None:
        by_name = {o.name.lower(): OutputRef(o.name, o.expr.type) for o in self.outputs}
        by_name |= {x.name.lower(): OutputRef(x.name, x.type) for x in self.derived if not x.hidden}
        ref = by_name.get(name.lower())
        if ref is not None:
            return ref
        joins = dict(self.expressions.scope.joins)
        column = self.expressions.scope.column(name)
        same = [o for o in self.outputs if isinstance(column, ColumnRef) and o.expr == column]
        if not same:
            self.expressions.scope.joins = joins
        return OutputRef(same[0].name, same[0].expr.type) if same else None

    def lookup(self, name: str, place: str) -> OutputRef | None:
        ref = self.find(name)
        if ref is None:
            self.report(name, place)
        return ref

    def report(self, name: str, place: str) -> None:
        if name.lower() in self.found.lost:
            return
        names = [o.name for o in self.outputs] + [x.name for x in self.derived if not x.hidden]
        message = f"no output column {quote(name)}{did_you_mean(name, names)}"
        self.found.add(place, message, f"Output columns: {listed(names)}.")

    @property
    def over_outputs(self) -> Expressions:
        """Expressions whose names are output columns."""
        return Expressions(self.expressions.scope, self.found, self.lookup)

    def add(self, item: d.Derivation, place: str) -> None:
        if isinstance(item, d.Expression):
            self._add_expression(item, place)
        elif isinstance(item, d.Run):
            self._add_run(item, place)
        else:
            self._add_windowed(item, place)

    def hide_wholes(self, condition: Condition | None) -> None:
        """Aggregates over all output rows become hidden columns, so that a condition can read them."""
        for whole in wholes(condition):
            self._put("whole", "expression", whole.type, outputs_read(whole), expr=whole, hidden=True)

    def _add_expression(self, item: d.Expression, place: str) -> None:
        expr = self.over_outputs.item(item, place)
        if expr is None:
            return
        name = item.as_ or settle(derived_name(item, expr), self.taken)
        self.derived.append(
            Derived(name, "expression", "", (), expr.type, self._layer(outputs_read(expr)), expr=expr)
        )

    def _add_windowed(self, item: d.Windowed, place: str) -> None:
        kind: DerivedKind = item.shape.strip("<>")  # pyright: ignore[reportAssignmentType] — the tag of its shape
        source = self.lookup(d.source_of(item), f"{place}.{kind}")
        along = self._other(item, "along", place)
        earlier = self._other(item, "from_", place)
        groups = self._within(item.within, place, along)
        if (
            source is None
            or groups is None
            or any(getattr(item, n, None) and not r for n, r in (("along", along), ("from_", earlier)))
        ):
            return
        for ref in (source, earlier):
            if ref is not None and not isinstance(item, _ANY_TYPE) and ref.type not in NUMBERS:
                message = f"{kind} needs a number, but {quote(ref.name)} is {describe(ref.type)}"
                self.found.add(f"{place}.{kind if ref is source else 'from'}", message)
                return
        read = (source.name, *groups, *(ref.name for ref in (along, earlier) if ref is not None))
        self.derived.append(
            Derived(
                name=item.as_ or settle(derived_name(item), self.taken),
                kind=kind,
                source=source.name,
                within=groups,
                type=_derived_type(item, source.type),
                layer=self._layer(read),
                along=along.name if along else None,
                descending=isinstance(item, d.Rank | d.Position) and item.dir == "desc",
                percent=isinstance(item, d.Change) and item.kind == "percent",
                earlier=earlier.name if earlier else None,
            )
        )

    def _other(self, item: d.Windowed, field_name: str, place: str) -> OutputRef | None:
        name = getattr(item, field_name, None)
        return self.lookup(name, f"{place}.{field_name.rstrip('_')}") if isinstance(name, str) else None

    def _within(
        self, within: tuple[str, ...] | None, place: str, along: OutputRef | None
    ) -> tuple[str, ...] | None:
        """The partition columns; for a series, every group column unless the author names some."""
        if within is None and along is not None:
            return tuple(o.name for o in self.outputs if o.key and o.name != along.name)
        refs = [self.lookup(name, f"{place}.within[{n}]") for n, name in enumerate(within or ())]
        return None if any(ref is None for ref in refs) else once(refs)

    def _add_run(self, item: d.Run, place: str) -> None:
        condition = self.over_outputs.conditions().all_of(item.run, f"{place}.run")
        along = self.lookup(item.along, f"{place}.along")
        groups = self._within(item.within, place, along)
        if condition is None or along is None or groups is None:
            return
        if item.step is not None and along.type not in TIME_TYPES:
            message = f"{quote(along.name)} is {describe(along.type)}, not a date or timestamp"
            self.found.add(f"{place}.step", message, "Leave `step` out to follow the rows.")
            return
        name = item.as_ or settle(derived_name(item), self.taken)
        held = self._put(
            f"{name}_holds", "expression", ColumnType.BOOLEAN, outputs_read(condition),
            expr=Test(condition), hidden=True,
        )  # fmt: skip
        series = (along.name, *groups)
        broken = self._put(
            f"{name}_broken", "broken", ColumnType.INTEGER, (held, *series),
            source=held, within=groups, along=along.name, step=item.step, hidden=True,
        )  # fmt: skip
        block = self._put(
            f"{name}_block", "block", ColumnType.INTEGER, (broken, *series),
            source=broken, within=groups, along=along.name, hidden=True,
        )  # fmt: skip
        run = Derived(
            name, "run", held, (*groups, block), ColumnType.INTEGER, self._layer((held, block, *series))
        )
        self.derived.append(replace(run, along=along.name, step=item.step))

    def _put(
        self,
        name: str,
        kind: DerivedKind,
        type_: ColumnType,
        read: tuple[str, ...],
        *,
        source: str = "",
        within: tuple[str, ...] = (),
        **more: object,
    ) -> str:
        """Add a helper column under an unused name."""
        made = Derived(settle(name, self.taken), kind, source, within, type_, self._layer(read), **more)  # pyright: ignore[reportArgumentType] — fields of Derived
        self.derived.append(made)
        return made.name

    def _layer(self, read: tuple[str, ...]) -> int:
        layers = {x.name: x.layer for x in self.derived}
        return 1 + max((layers.get(name, 0) for name in read), default=0)


def once(refs: list[OutputRef | None]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(ref.name for ref in refs if ref is not None))


def _derived_type(item: d.Windowed, source: ColumnType) -> ColumnType:
    match item:
        case d.Rank() | d.Position():
            return ColumnType.INTEGER
        case d.Change(kind="absolute") | d.RunningTotal() | d.Previous() | d.Next():
            return source
        case _:
            return ColumnType.FLOAT
