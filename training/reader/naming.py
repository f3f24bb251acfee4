"""How people call tables and columns: `order_date` is "order date", `customer_id` the customer, `is_active` active.

`View` sorts the columns of a dataset by what may be asked of them, for templates.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property

from sandtable.catalog.measures import NUMBER_TYPES, MeasureKind, measure_kind, name_words
from sandtable.catalog.model import Column, ColumnType, Dataset, Table
from sandtable.catalog.profile import Cell, ColumnProfile, Profile

_UNITS = frozenset(
    "eur usd gbp chf pct percent km kg gb mb min mins minutes hours hrs days sec secs seconds ms m2 sqm ml l "
    "years weeks months".split()
)
_LONG = {
    "qty": "quantity", "amt": "amount", "nm": "name", "cust": "customer", "dt": "date", "no": "number",
    "num": "number", "nr": "number", "dept": "department", "emp": "employee", "prod": "product", "cd": "code",
    "avg": "average", "addr": "address", "acct": "account", "rgn": "region", "mgr": "manager", "yr": "year",
    "cat": "category", "fname": "first name", "lname": "last name", "desc": "description",
}  # fmt: skip
_EVENTS = {
    "started": "start", "ended": "end", "created": "creation", "shipped": "shipping", "delivered": "delivery",
    "paid": "payment", "ordered": "order", "closed": "closing", "opened": "opening", "resolved": "resolution",
    "cancelled": "cancellation", "hired": "hiring", "joined": "joining", "booked": "booking", "issued": "issue",
    "submitted": "submission", "approved": "approval", "returned": "return", "published": "publication",
    "activated": "activation", "completed": "completion", "received": "receipt", "registered": "registration",
    "borrowed": "loan", "assigned": "assignment", "finished": "finish", "scheduled": "schedule",
}  # fmt: skip
_MOMENTS = frozenset("date time day month year start end deadline since timestamp".split())
_FLAGS = frozenset({"is", "was", "has", "had", "did", "flag"})
_UNCOUNTED = frozenset(
    "usage performance data staff equipment inventory stock spend traffic feedback ledger history pipeline info "
    "information availability status log daily monthly weekly".split()
)
_IRREGULAR = {"person": "people", "child": "children", "man": "men", "woman": "women", "staff": "staff"}
_JOINING = frozenset("and or per in of on for with at a an to by the".split())
_NAMELIKE = frozenset({"name", "title", "nm", "fullname", "label"})
_FREE = frozenset(
    "details detail description comment comments text note notes address phone email url homepage website date time "
    "year latitude longitude percent percentage lat lng password login remark remarks iban vin barcode".split()
)
_FREE_LAST = frozenset("number no id amount quantity price code day month lap score points".split())
_LETTERS = re.compile(r"[A-Za-z]")


def plural(phrase: str) -> str:
    head, _, last = phrase.rpartition(" ")
    if last in {"by", "of", "in", "at", "on", "for", "up", "to"}:
        return phrase
    if last in _IRREGULAR:
        last = _IRREGULAR[last]
    elif last.endswith("s") and not last.endswith(("ss", "us", "is")):
        pass
    elif last.endswith(("s", "x", "ch", "sh")):
        last += "es"
    elif last.endswith("y") and last[-2:-1] not in "aeiou":
        last = f"{last[:-1]}ies"
    else:
        last += "s"
    return f"{head} {last}".strip()


def singular(phrase: str) -> str:
    head, _, last = phrase.rpartition(" ")
    back = {many: one for one, many in _IRREGULAR.items()}
    if last in back:
        last = back[last]
    elif last.endswith("ies") and len(last) > 4:
        last = f"{last[:-3]}y"
    elif last.endswith(("sses", "xes", "ches", "shes")):
        last = last[:-2]
    elif last.endswith("s") and not last.endswith(("ss", "us", "is", "series")):
        last = last[:-1]
    return f"{head} {last}".strip()


def with_article(phrase: str) -> str:
    if phrase.endswith("s") and not phrase.endswith(("ss", "us", "is")):
        return phrase
    return f"an {phrase}" if phrase[:1].lower() in "aeio" else f"a {phrase}"


def spoken(column: Column, rng: random.Random) -> str:
    """The column's name in words; units and marks are mostly left out."""
    words = [_LONG.get(word, word) for word in name_words(re.sub(r"\([^)]*\)|%", " ", column.name))]
    words = [*words] or [column.name.lower()]
    if len(words) > 1 and words[-1] in _UNITS and (column.unit or words[-1] != "min") and rng.random() < 0.8:
        words.pop()
    if column.type is ColumnType.BOOLEAN:
        kept = [word for word in words if word not in _FLAGS]
        return " ".join(kept or words)
    if words[-1] in {"at", "on", "ts", "timestamp"} and len(words) > 1:
        words.pop()
        words[-1] = _EVENTS.get(words[-1], words[-1])
        words.append("date" if column.type is ColumnType.DATE or rng.random() < 0.5 else "time")
    elif column.type in {ColumnType.DATE, ColumnType.TIMESTAMP} and words[-1] not in _MOMENTS:
        words.append("date")
    return " ".join(words)


@dataclass(frozen=True, slots=True)
class Ref:
    """A column of a table."""

    table: Table
    column: Column
    profile: ColumnProfile | None

    @property
    def key(self) -> tuple[str, str]:
        return self.table.name, self.column.name

    @property
    def is_number(self) -> bool:
        return self.column.type in NUMBER_TYPES

    @property
    def is_time(self) -> bool:
        return self.column.type in {ColumnType.DATE, ColumnType.TIMESTAMP}

    @property
    def kind(self) -> MeasureKind:
        return measure_kind(self.column, self.profile)

    def texts(self) -> list[str]:
        """Values that can be said in a sentence."""
        cells: list[Cell] = [each.value for each in self.profile.values[:60]] if self.profile else []
        return [
            cell
            for cell in cells
            if isinstance(cell, str)
            and 2 < len(cell) <= 32
            and _LETTERS.search(cell)
            and not set(cell) & set("\"'`,;?")
        ]


def _is_years(ref: Ref) -> bool:
    ends = (ref.profile.minimum, ref.profile.maximum) if ref.profile else (None, None)
    return all(isinstance(end, int) and 1800 <= end <= 2100 for end in ends)


def _is_free(ref: Ref) -> bool:
    """A text of its own in each row, or one that is no word: nothing to group by."""
    words = name_words(ref.column.name)
    return bool(set(words) & _FREE) or (bool(words) and words[-1] in _FREE_LAST)


class View:
    """A dataset as templates see it."""

    def __init__(self, dataset: Dataset, profile: Profile) -> None:
        self.dataset, self.profile = dataset, profile
        self.links: dict[str, list[str]] = defaultdict(list)
        for link in dataset.relationships:
            self.links[link.many_table].append(link.one_table)
        self.keys = {(r.many_table, r.many_column.lower()) for r in dataset.relationships}
        self.keys |= {(r.one_table, r.one_column.lower()) for r in dataset.relationships}

    def refs(self, table: str) -> list[Ref]:
        found, profile = self.dataset.table(table), self.profile.table(table)
        assert found is not None
        named = [c for c in found.columns if _LETTERS.search(" ".join(name_words(c.name)))]
        return [Ref(found, c, profile.column(c.name) if profile else None) for c in named]

    def reached(self, table: str) -> list[str]:
        """The tables that a row refers to, each in one way only, nearest first; the table itself is the first."""
        ways: Counter[str] = Counter({table: 1})
        order, new = [table], [table]
        while new and len(order) < 12:
            one = new.pop(0)
            for parent in self.links.get(one, []):
                ways[parent] += 1
                if ways[parent] == 1:
                    order.append(parent)
                    new.append(parent)
        return [each for each in order if ways[each] == 1]

    def children(self, table: str) -> list[str]:
        return [
            child for child, parents in self.links.items() if parents.count(table) == 1 and child != table
        ]

    @cached_property
    def value_places(self) -> Counter[str]:
        """In how many columns a text is a value."""
        found: Counter[str] = Counter()
        for table in self.profile.tables:
            for column in table.columns:
                found.update({str(v.value).lower() for v in column.values if isinstance(v.value, str)})
        return found

    @cached_property
    def name_places(self) -> Counter[str]:
        """How many columns and tables have a name."""
        rng = random.Random(0)
        found: Counter[str] = Counter()
        for table in self.dataset.tables:
            found.update({spoken(c, rng) for c in table.columns})
            found[singular(" ".join(name_words(table.name)))] += 1
        return found

    def is_key(self, ref: Ref) -> bool:
        """An identifier: never measured, rarely grouped by."""
        words = name_words(ref.column.name)
        return (ref.table.name, ref.column.name.lower()) in self.keys or bool(
            words and words[-1] in {"id", "uuid", "key"}
        )

    def categories(self, table: str) -> list[Ref]:
        """Texts to group by or to filter on."""
        own = [r for r in self.refs(table) if r.column.type is ColumnType.TEXT and not self.is_key(r)]
        return [r for r in own if r.texts() and not _is_free(r)]

    def numbers(self, table: str) -> list[Ref]:
        found = [r for r in self.refs(table) if r.is_number and not self.is_key(r)]
        return [r for r in found if r.kind is not MeasureKind.IDENTIFIER and not _is_years(r)]

    def times(self, table: str) -> list[Ref]:
        return [r for r in self.refs(table) if r.is_time]

    def flags(self, table: str) -> list[Ref]:
        return [r for r in self.refs(table) if r.column.type is ColumnType.BOOLEAN]

    def name_of(self, table: str) -> Ref | None:
        """The column by which people know the rows."""
        own = [r for r in self.refs(table) if r.column.type is ColumnType.TEXT and not r.is_time]
        named = [r for r in own if set(name_words(r.column.name)[-1:]) & _NAMELIKE]
        thing = singular(" ".join(name_words(table)))
        same = [r for r in own if " ".join(name_words(r.column.name)) == thing and r.texts()]
        exact = same + [
            r
            for r in named
            if thing in " ".join(name_words(r.column.name)) or r.column.name.lower() in _NAMELIKE
        ]
        return (exact or named or [None])[0]

    def id_of(self, table: str) -> Ref | None:
        """The column that tells the rows apart: the first one, when it is named for that."""
        first = self.refs(table)[0]
        words = name_words(first.column.name)
        others = [r for r in self.dataset.relationships if (r.many_table, r.many_column) == first.key]
        return first if words and words[-1] in {"id", "code", "number", "no", "key"} and not others else None

    def thing(self, table: str, rng: random.Random) -> str:
        """What one row is, in the singular."""
        found = self.dataset.table(table)
        words = list(name_words(table))
        described = re.search(r"one row per ([a-z ]+?)\s*$", found.description.lower()) if found else None
        if described and _JOINING & set(described.group(1).split()):
            described = None
        if table == "data" or not words:
            return rng.choice(("row", "entry", "record"))
        if words[-1] in _UNCOUNTED:
            if described:
                return described.group(1)
            return f"{' '.join(words)} record"
        if described and (words[-1][-1] != "s" or rng.random() < 0.2):
            return described.group(1)
        if words[-1][-1] != "s" and len(self.dataset.tables) == 1:
            return rng.choice(("row", "entry", "record"))
        return singular(" ".join(words))
