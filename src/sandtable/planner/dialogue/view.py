"""The previous plan in the terms of a follow-up: its conditions, keys, measures and time."""

from __future__ import annotations

from dataclasses import dataclass

from sandtable.planner.candidates.grammar.composing import is_aggregate
from sandtable.planner.conscience.naming import names_column, names_table
from sandtable.planner.conscience.parts import pieces_of
from sandtable.planner.conscience.pieces import Piece
from sandtable.planner.language import periods
from sandtable.planner.language.lexicon import MONTHS
from sandtable.planner.language.periods import Period
from sandtable.planner.language.words import Word
from sandtable.planner.mentions.finding import now_of
from sandtable.planner.schema.entries import ColumnEntry, Json, TableEntry
from sandtable.planner.schema.index import SchemaIndex, reach_of

NAMED = 0.7
"""From this closeness on a word names a column or a table."""


@dataclass(frozen=True, slots=True)
class View:
    plan: Json
    index: SchemaIndex
    home: TableEntry
    pieces: tuple[Piece, ...]

    @staticmethod
    def of(plan: Json, index: SchemaIndex) -> View | None:
        home = index.table(str(plan.get("table", "")))
        if home is None or plan.get("dataset_id") != index.dataset.id or "why" in plan:
            return None
        return View(plan, index, home, pieces_of(plan, index))

    @property
    def conditions(self) -> list[Piece]:
        """The conditions on rows: filters and the window."""
        return [
            p for p in self.pieces if p.kind in {"where", "when"} and p.path[:1] in {("filters",), ("time",)}
        ]

    @property
    def keys(self) -> list[tuple[str, Piece]]:
        """What the answer is grouped by, by the name in the answer."""
        if not self.plan.get("group_by") and not self.measures:
            return []
        items = self.plan["select"]
        return [
            (name_of(items[int(p.path[1])]), p)
            for p in self.pieces
            if p.path[:1] == ("select",) and len(p.path) == 2 and not is_aggregate(items[int(p.path[1])])
        ]

    @property
    def measures(self) -> list[Json]:
        return [i for i in self.plan["select"] if is_aggregate(i)]

    @property
    def measured(self) -> list[Piece]:
        return [p for p in self.pieces if p.kind == "measure" and p.path[:1] == ("select",)]

    @property
    def cut(self) -> bool:
        """Whether only some of the groups or rows are shown."""
        return any(self.plan.get(part) for part in ("limit", "having", "top_per_group"))

    def conditions_named(self, words: list[Word]) -> list[Piece]:
        """Conditions that the words name: by their column, or by one of their values."""
        found = [p for p in self.conditions if any(self._names(w, p) for w in words)]
        exact = [p for p in found if any(_is_value(w, p) for w in words)]
        return exact or found

    def windows_named(self, words: list[Word]) -> list[Piece]:
        """Times that the words name."""
        return [p for p in self.conditions if p.kind == "when" and _is_window(words, p)]

    def keys_named(self, words: list[Word]) -> list[str]:
        return [name for name, p in self.keys if any(self._names(w, p) for w in words)]

    def names_rows(self, word: Word) -> bool:
        return names_table(word.stem, self.home) >= NAMED

    def _names(self, word: Word, piece: Piece) -> bool:
        if word.is_symbol:
            return False
        if any(names_column(word.stem, c) >= NAMED for c in piece.columns) or _is_value(word, piece):
            return True
        dated = piece.kind == "when" or "bucket" in piece.does
        return dated and (word.stem in _SPANS or word.stem in piece.does)

    @property
    def time_column(self) -> str | None:
        """The column that time means here: that of the window, of the bucket, else the table's own."""
        window: Json = self.plan.get("time") or {}
        if window.get("column"):
            return str(window["column"])
        bucket = next((i for i in self.plan["select"] if "bucket" in i and "column" in i), None)
        if bucket is not None:
            return str(bucket["column"])
        for name, far in reach_of(self.index, self.home).items():
            table = self.index.table(name)
            dated = [c.name for c in table.columns if c.temporal] if table is not None else []
            usual = (table.time_column if table is not None else None) or next(iter(dated), None)
            if usual is not None:
                return usual if not far else f"{name}.{usual}"
        return None

    @property
    def period(self) -> Period | None:
        """The whole period that the window keeps."""
        return periods.of_window(self.plan.get("time") or {}, now_of(self.index), self.index.rules)

    def column(self, ref: str) -> ColumnEntry | None:
        table, _, name = ref.rpartition(".")
        return self.index.column(table or self.home.name, name)


_SPANS = frozenset({"year", "month", "quarter", "week", "day", "time", "period", "date"})


def _is_value(word: Word, piece: Piece) -> bool:
    for value in piece.values:
        parts = str(value).lower().split()
        if word.lower in parts or word.lower in {f"{part}s" for part in parts} or word.stem in parts:
            return True
    return False


def name_of(item: Json) -> str:
    """The name of a select item in the answer."""
    if "as" in item:
        return str(item["as"])
    return str(item.get("metric") or item.get("column", "")).rpartition(".")[2]


def time_key(view: View) -> str | None:
    """The key along which time goes."""
    dated = [n for n, p in view.keys if "bucket" in p.does or any(c.temporal for c in p.columns)]
    years = [n for n, p in view.keys if any("year" in c.stems for c in p.columns)]
    return next(iter([*dated, *years]), None)


def order_key(view: View) -> str | None:
    """The measure that the groups are compared by: the one they are sorted by, else the first."""
    if not view.keys or not view.measures:
        return None
    names = [name_of(m) for m in view.measures]
    sorted_by = [o["expr"] for o in view.plan.get("order_by", []) if o["expr"] in names]
    return sorted_by[0] if sorted_by else names[0]


def _is_window(words: list[Word], piece: Piece) -> bool:
    """`March`, `2025`: the whole month or year that a window is, and nothing else."""
    begins, ends = (str(piece.window.get(end, "")) for end in ("from", "to"))
    said = [w.lower for w in words]
    month = next((MONTHS[w] for w in said if w in MONTHS), None)
    if not said or any(w not in MONTHS and w != begins[:4] for w in said):
        return False
    if month is None:
        return (begins[4:], ends[4:]) == ("-01-01", "-12-31") and begins[:4] == ends[:4]
    return begins[:7] == ends[:7] and begins[5:7] == f"{month:02d}"
