"""Parts of a question in English, each with what it is in a sketch: conditions, time windows, measures, groups.

Invariant: a phrase says all that its tokens say, in words by which the planner's readers of times, numbers and values
find the same things.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from sandtable.catalog.measures import name_words
from sandtable.planner.candidates.network.sketch import Item, Token
from sandtable.planner.language.reading import Reading
from sandtable.planner.language.times import Calendar, find_time_phrases
from training.reader.naming import Ref, View, plural, spoken

Tokens = list[Token]
_MONTHS = "January February March April June July August September October November December".split()
_SPOKEN_UNITS = frozenset("minutes hours days weeks months years kg km GB MB EUR USD % seconds".split())
_NUMBERS = (
    1,
    2,
    3,
    4,
    5,
    8,
    10,
    12,
    15,
    20,
    25,
    30,
    40,
    50,
    75,
    100,
    120,
    150,
    200,
    250,
    300,
    500,
    750,
    1000,
    2000,
)
_PARTS_OF_NAMES = frozenset("full first last middle family short long common original display".split())
_WORDED = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, slots=True)
class Condition:
    tokens: Tokens
    noun: str
    """Behind the noun for the rows: `with a fare over 20`."""
    where: str
    """Behind anything: `where the fare is over 20`."""
    before: str = ""
    """Before the noun, where that is said: `refunded`."""


@dataclass(frozen=True, slots=True)
class Measure:
    tokens: Tokens
    text: str
    """A noun phrase: `average fare`."""
    counted: bool = False
    adds: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    item: Item
    text: str


class NotSaid(Exception):
    """The dataset has nothing of the kind."""


class Speaker:
    """Says things of the rows of one table."""

    def __init__(self, view: View, table: str, rng: random.Random) -> None:
        self.view, self.table, self.rng = view, table, rng
        self.one = view.thing(table, rng)
        self.many = plural(self.one)
        self.reached = view.reached(table)
        self.used: set[tuple[str, str]] = set()

    def pick(self, *choices: str) -> str:
        return self.rng.choice(choices)

    def one_of(self, refs: list[Ref]) -> Ref:
        fresh = [ref for ref in refs if ref.key not in self.used]
        if not fresh:
            raise NotSaid
        found = self.rng.choice(fresh)
        self.used.add(found.key)
        return found

    def item(self, ref: Ref) -> Item:
        return Item("column", ref.table.name, ref.column.name)

    def name(self, ref: Ref) -> str:
        """What the column is called, with its table where others have that name too."""
        said = spoken(ref.column, self.rng)
        thing = self.view.thing(ref.table.name, self.rng)
        away = ref.table.name != self.table
        common = self.view.name_places[said] > 1 and len(self.view.dataset.tables) > 1
        words = name_words(ref.column.name)
        if words[-1] in {"name", "nm", "title"} and (len(words) > 1 or away) and self.rng.random() < 0.4:
            bare = " ".join(w for w in said.split()[:-1]) or thing
            if bare not in _PARTS_OF_NAMES and (self.view.name_places[bare] <= 1 or bare == thing):
                return bare
        if (away and (common or self.rng.random() < 0.3)) or (common and self.rng.random() < 0.85):
            return said if thing in said else f"{thing} {said}"
        return said

    def text(self, cell: str) -> str:
        return cell.lower() if self.rng.random() < 0.25 else cell

    def said_number(self, value: float) -> str:
        whole = int(value) if float(value).is_integer() else value
        if isinstance(whole, int) and 2 <= whole <= 10 and self.rng.random() < 0.2:
            return _WORDED[whole]
        return f"{whole:,}" if self.rng.random() < 0.4 else str(whole)

    def drawn(self, ref: Ref) -> float:
        """A number that the column may hold."""
        profile = ref.profile
        listed = [v.value for v in profile.values if isinstance(v.value, int | float)] if profile else []
        if listed and len(listed) < 12:
            return float(self.rng.choice(listed))
        low, high = (profile.minimum, profile.maximum) if profile else (None, None)
        if isinstance(low, int | float) and isinstance(high, int | float) and high > low:
            drawn = self.rng.uniform(low, high)
            return float(round(drawn)) if high - low > 5 else round(drawn, 1)
        if ref.column.unit == "%":
            return float(self.rng.choice((5, 10, 15, 20, 25, 30, 50, 60, 75, 80, 90)))
        return float(self.rng.choice(_NUMBERS))

    def with_unit(self, ref: Ref, value: float) -> str:
        said = self.said_number(value)
        if ref.column.unit in _SPOKEN_UNITS and self.rng.random() < 0.5:
            return f"{said}%" if ref.column.unit == "%" else f"{said} {ref.column.unit}"
        return said

    def two_windows(self) -> tuple[Window, Window]:
        """Two periods of one kind, the earlier one first."""
        as_of = self.view.dataset.as_of
        year = int(as_of[:4]) if as_of else self.rng.randint(2008, 2020)
        a, b = sorted(self.rng.sample(range(1, 5), 2))
        one, other = sorted(self.rng.sample(_MONTHS, 2), key=_MONTHS.index)
        pairs = [
            (f"in {year - 1}", f"in {year}"), (f"in {year - 2}", f"in {year - 1}"), (f"in Q{a} {year}",
            f"in Q{b} {year}"),
            (f"in Q{a} {year - 1}", f"in Q{a} {year}"), (f"in {one} {year}", f"in {other} {year}"),
            (f"in {one} {year - 1}", f"in {one} {year}"), (f"in H1 {year}", f"in H2 {year}"),
        ]  # fmt: skip
        if as_of:
            pairs += [(f"last {unit}", f"this {unit}") for unit in ("week", "month", "quarter", "year")]
        first, second = self.rng.choice(pairs)
        return self.read(first), self.read(second)

    def read(self, said: str) -> Window:
        """The one window that the words name."""
        phrases = find_time_phrases(Reading.of(f"rows {said}"), Calendar.at(self.view.dataset.as_of))
        if len(phrases) != 1:
            raise NotSaid
        return Window(Item("window", value=tuple(sorted(phrases[0].window.items()))), said)

    def window(self) -> Window:
        """As the planner reads it."""
        as_of = self.view.dataset.as_of
        year = int(as_of[:4]) if as_of else self.rng.randint(2008, 2020)
        year -= self.rng.choice((0, 0, 1, 1, 2))
        month, other = sorted(self.rng.sample(_MONTHS, 2), key=_MONTHS.index)
        day, quarter = self.rng.randint(1, 28), self.rng.randint(1, 4)
        whole = [
            f"in {year}", f"in {year}", f"in {month} {year}", f"in Q{quarter} {year}", f"during {year}",
            f"in the {self.pick('first', 'second', 'third', 'fourth')} quarter of {year}",
            f"in H{self.rng.randint(1, 2)} {year}",
            f"in the {self.pick('first', 'second')} half of {year}",
        ]  # fmt: skip
        relative = [
            "last month", "this month", "last year", "this year", "last quarter", "this quarter", "last week",
            "this week",
        ]  # fmt: skip
        if as_of and self.rng.random() < 0.5:
            count, unit = (
                self.rng.choice((2, 3, 5, 6, 7, 10, 12, 14, 30, 60, 90)),
                self.pick("day", "week", "month"),
            )
            chosen = self.pick(
                *relative, f"in the last {count} {unit}s", f"over the past {count} {unit}s",
                f"in the past {count} {unit}s",
                f"during the last {count} {unit}s", "today", "yesterday", "so far this year", "year to date",
                f"last {count} {unit}s", "in the last two years", "in the previous month", "in the current year",
                f"within the last {self.pick('three', 'six', 'twelve')} {unit}s", f"in {month}",
            )  # fmt: skip
        else:
            chosen = self.pick(
                *whole, f"since {year}", f"since {month} {year}", f"after {month} {year}", f"before {year}",
                f"until {month} {year}", f"between {month} and {other} {year}", f"from {month} to {other} {year}",
                f"between {year - 1} and {year}", f"on {day} {month} {year}", f"on {month} {day}, {year}",
                f"since {year}-{self.rng.randint(1, 12):02}-{day:02}", f"before {day} {month} {year}",
                f"prior to {year}",
                f"from {year}-01-01 to {year}-0{self.rng.randint(2, 9)}-{day:02}", f"up to {month} {year}",
                f"starting in {month} {year}", f"throughout {year}",
            )  # fmt: skip
        return self.read(chosen)
