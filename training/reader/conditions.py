"""Conditions in English, each with what it is in a sketch."""

from __future__ import annotations

from itertools import pairwise

from sandtable.catalog.measures import name_words
from sandtable.catalog.model import ColumnType
from sandtable.planner.candidates.network.sketch import DAY_NAMES, Item
from training.reader.naming import Ref, spoken, with_article
from training.reader.phrases import Condition, NotSaid, Speaker, Tokens

_OVER = (
    "over",
    "above",
    "more than",
    "greater than",
    "higher than",
    "exceeding",
    ">",
    "bigger than",
    "larger than",
)
_LEAST = ("at least", "no less than", "not less than", "not below", "a minimum of", ">=", "not under")
_UNDER = ("under", "below", "less than", "lower than", "smaller than", "<")
_MOST = ("at most", "no more than", "not more than", "not above", "up to", "a maximum of", "<=", "not over")
_EXACT = ("exactly", "equal to", "=", "of exactly")
_PLACES = frozenset("city country region state district town location site area county province".split())


class Conditions(Speaker):
    """Says which rows are meant."""

    def nearby(self, kind: str) -> list[Ref]:
        """Columns of this table, and sometimes of those it refers to."""
        tables = self.reached if self.rng.random() < 0.35 else [self.table]
        by_kind = {"text": self.view.categories, "number": self.view.numbers, "flag": self.view.flags}
        return [ref for table in tables for ref in by_kind[kind](table)]

    def condition(self, *, simple: bool = False) -> Condition:
        made = [(self.value, 8), (self.number, 6), (self.flag, 5), (self.not_value, 3), (self.one_of_two, 2)]
        if not simple:
            made += [
                (self.not_two, 1), (self.null, 2), (self.containing, 1), (self.weekly, 2), (self.whole, 1),
                (self.columns, 2), (self.took, 2), (self.existing, 5), (self.either, 1),
            ]  # fmt: skip
        functions, weights = zip(*made, strict=True)
        for _ in range(4):
            try:
                return self.rng.choices(functions, weights)[0]()
            except NotSaid:
                continue
        raise NotSaid

    def value(self) -> Condition:
        ref = self.one_of(self.nearby("text"))
        cell = self.rng.choice(ref.texts())
        name, said = self.name(ref), self.text(cell)
        bare = self.view.value_places[cell.lower()] == 1 and len(cell) > 3
        behind = [
            f"with {name} {said}",
            f"whose {name} is {said}",
            f"where the {name} is {said}",
            f"of {name} {said}",
        ]
        anywhere = [f"where {name} is {said}", f"for {name} {said}", f"where the {name} is {said}"]
        if bare:
            anywhere += [f"for {said}", f"for {said} only"]
            anywhere += [f"in {said}"] * bool(_PLACES & set(name_words(ref.column.name)))
        short = (
            bare
            and len(said.split()) <= 2
            and ref.table.name == self.table
            and self.view.name_of(self.table) != ref
        )
        return Condition(
            [self.valued(ref, cell)], self.pick(*behind), self.pick(*anywhere), said if short else ""
        )

    def valued(self, ref: Ref, cell: str) -> Item:
        return Item("value", ref.table.name, ref.column.name, cell)

    def not_value(self) -> Condition:
        ref = self.one_of(self.nearby("text"))
        cell = self.rng.choice(ref.texts())
        name, said = self.name(ref), self.text(cell)
        behind = self.pick(
            f"with {with_article(name)} other than {said}", f"whose {name} is not {said}",
            f"whose {name} isn't {said}",
            f"where the {name} is not {said}", f"except those with {name} {said}", f"excluding {name} {said}",
        )  # fmt: skip
        anywhere = [
            f"where {name} is not {said}",
            f"excluding {name} {said}",
            f"where the {name} isn't {said}",
        ]
        if self.view.value_places[cell.lower()] == 1:
            anywhere += [f"except {said}", f"without {said}", f"excluding {said}", f"not counting {said}"]
            anywhere += [f"leaving out {said}", f"other than {said}", f"but not {said}"]
        return Condition(["not", self.valued(ref, cell)], behind, self.pick(*anywhere))

    def _two(self) -> tuple[Ref, str, str]:
        ref = self.one_of([r for r in self.nearby("text") if len(r.texts()) > 1])
        one, other = self.rng.sample(ref.texts(), 2)
        return ref, one, other

    def one_of_two(self) -> Condition:
        ref, one, other = self._two()
        name, a, b = self.name(ref), self.text(one), self.text(other)
        behind = self.pick(
            f"with {name} {a} or {b}", f"whose {name} is {a} or {b}", f"whose {name} is either {a} or {b}",
            f"where the {name} is {a} or {b}",
        )  # fmt: skip
        anywhere = self.pick(
            f"where {name} is {a} or {b}", f"for {name} {a} or {b}", f"where {name} is either {a} or {b}"
        )
        return Condition(["either", self.valued(ref, one), "or", self.valued(ref, other)], behind, anywhere)

    def not_two(self) -> Condition:
        ref, one, other = self._two()
        name, a, b = self.name(ref), self.text(one), self.text(other)
        behind = self.pick(
            f"whose {name} is neither {a} nor {b}", f"with {with_article(name)} other than {a} or {b}",
            f"except those with {name} {a} or {b}", f"whose {name} is not {a} or {b}",
        )  # fmt: skip
        anywhere = self.pick(
            f"excluding {name} {a} and {b}",
            f"where {name} is neither {a} nor {b}",
            f"except for {name} {a} and {b}",
        )
        return Condition(
            ["not", "either", self.valued(ref, one), "or", self.valued(ref, other)], behind, anywhere
        )

    def number(self) -> Condition:
        ref = self.one_of(self.nearby("number"))
        name, item = self.name(ref), self.item(ref)
        first = self.drawn(ref)
        if self.rng.random() < 0.2:
            second = self.drawn(ref)
            if first == second:
                raise NotSaid
            low, high = sorted((first, second))
            said = self.pick(
                f"between {self.said_number(low)} and {self.with_unit(ref, high)}",
                f"from {self.said_number(low)} to {self.with_unit(ref, high)}",
            )
            tokens: Tokens = ["between", item, Item("number", value=low), Item("number", value=high)]
        else:
            op, words = self.rng.choice(
                (
                    (">", _OVER),
                    (">", _OVER),
                    (">=", _LEAST),
                    ("<", _UNDER),
                    ("<", _UNDER),
                    ("<=", _MOST),
                    ("==", _EXACT),
                )
            )
            number = self.with_unit(ref, first)
            said = f"{self.pick(*words)} {number}"
            if op == ">=" and self.rng.random() < 0.4:
                said = self.pick(f"{number} or more", f"from {number} up", f"{number} or higher")
            elif op == "<=" and self.rng.random() < 0.4:
                said = self.pick(f"{number} or less", f"{number} or lower")
            tokens = [op, item, Item("number", value=first)]
        if said.startswith("from"):
            return Condition(tokens, f"with {name} {said}", f"with {name} {said}")
        if said[0] in "<>=":
            return Condition(tokens, f"with {name} {said}", f"where {name} {said}")
        behind = [f"with {with_article(name)} {said}"]
        behind += [f"with {name} {said}", f"whose {name} is {said}", f"where the {name} is {said}"]
        anywhere = self.pick(f"where {name} is {said}", f"where the {name} is {said}", f"with {name} {said}")
        return Condition(tokens, self.pick(*behind), anywhere)

    def flag(self) -> Condition:
        ref = self.one_of(self.nearby("flag"))
        said = spoken(ref.column, self.rng)
        yes = self.rng.random() < 0.6
        tokens: Tokens = ["yes", self.item(ref)] if yes else ["not", "yes", self.item(ref)]
        own = ref.table.name == self.table
        last = said.split()[-1]
        if own and (last.endswith("ed") or name_words(ref.column.name)[0] in {"is", "was"}):
            if yes:
                behind = self.pick(
                    f"that are {said}", f"that were {said}", f"where {said} is yes", f"which are {said}"
                )
                return Condition(
                    tokens, behind, f"where {said} is true", said if len(said.split()) == 1 else ""
                )
            behind = self.pick(
                f"that are not {said}",
                f"that aren't {said}",
                f"that were not {said}",
                f"which were never {said}",
            )
            return Condition(
                tokens, behind, f"where {said} is no", f"not {said}" if len(said.split()) == 1 else ""
            )
        if not own:
            said = f"{self.view.thing(ref.table.name, self.rng)} {said}"
            where = f"where {said} is {self.pick('yes', 'true') if yes else self.pick('no', 'false')}"
            return Condition(tokens, where, where)
        if yes:
            behind = self.pick(f"with {said}", f"where {said} is true", f"where {said} is yes")
            return Condition(tokens, behind, f"where {said} is yes")
        behind = self.pick(f"without {said}", f"where {said} is false", f"with no {said}")
        return Condition(tokens, behind, f"where {said} is no")

    def null(self) -> Condition:
        refs = [
            r
            for r in self.view.refs(self.table)
            if not self.view.is_key(r) and r.column.type is not ColumnType.BOOLEAN
        ]
        ref = self.one_of([r for r in refs[1:] if r.profile is None or r.profile.nulls or r.is_time])
        name = spoken(ref.column, self.rng)
        if self.rng.random() < 0.65:
            behind = self.pick(
                f"without {with_article(name)}", f"with no {name}", f"that have no {name}",
                f"whose {name} is missing",
                f"with a missing {name}", f"that don't have {with_article(name)}", f"without any {name}",
            )  # fmt: skip
            anywhere = self.pick(
                f"where {name} is empty", f"where the {name} is missing", f"where there is no {name}"
            )
            return Condition(["null", self.item(ref)], behind, anywhere)
        behind = self.pick(
            f"that have {with_article(name)}", f"whose {name} is known", f"with a known {name}"
        )
        anywhere = self.pick(
            f"where {name} is not empty", f"where the {name} is known", f"where there is {with_article(name)}"
        )
        return Condition(["not", "null", self.item(ref)], behind, anywhere)

    def containing(self) -> Condition:
        ref = self.one_of(self.view.categories(self.table))
        word, name = self.rng.choice(ref.texts()), self.name(ref)
        part = word.split()[0][:5]
        if len(part) < 3 or not part.isalpha():
            raise NotSaid
        op = self.pick("contains", "startswith", "endswith")
        part = word.split()[-1][-4:] if op == "endswith" else part
        if not part.isalpha():
            raise NotSaid
        said = {
            "contains": self.pick("contains", "includes", "has the word"),
            "startswith": self.pick("starts with", "begins with"),
            "endswith": self.pick("ends with", "ends in"),
        }[op]
        mark = self.pick('"', "'")
        quoted = f"{mark}{part}{mark}"
        tokens: Tokens = [op, self.item(ref), Item("text", value=part)]
        return Condition(tokens, f"whose {name} {said} {quoted}", f"where the {name} {said} {quoted}")

    def time(self) -> Ref:
        table = self.view.dataset.table(self.table)
        times = self.view.times(self.table)
        main = [r for r in times if table is not None and r.column.name == table.time_column]
        if not main:
            raise NotSaid
        return main[0]

    def weekly(self) -> Condition:
        column = self.item(self.time())
        if self.rng.random() < 0.5:
            day = self.rng.choice(DAY_NAMES)
            said = self.pick(f"on {day}s", f"on a {day}", f"on {day}")
            return Condition(["on_day", column, day], said, said)
        if self.rng.random() < 0.6:
            said = self.pick("on weekends", "at the weekend", "on the weekend", "on Saturdays and Sundays")
            return Condition(["weekend", column], said, said)
        said = self.pick("on weekdays", "on working days", "from Monday to Friday", "not on weekends")
        return Condition(["not", "weekend", column], said, said)

    def whole(self) -> Condition:
        ref = self.one_of(self.view.numbers(self.table))
        name = spoken(ref.column, self.rng)
        op, said = self.rng.choice((("whole>", "above"), ("whole<", "below"), ("whole>", "higher than")))
        of = self.rng.choice(("avg", "avg", "median"))
        mean = {"avg": "average", "median": "median"}[of]
        behind = [f"with {with_article(name)} {said} the {mean}", f"whose {name} is {said} the {mean}"]
        if of == "avg" and "than" not in said:
            behind += [f"with {said}-average {name}", f"with {said} average {name}"]
        return Condition(
            [op, self.item(ref), of], self.pick(*behind), f"where the {name} is {said} the {mean}"
        )

    def columns(self) -> Condition:
        times, numbers = self.view.times(self.table), self.view.numbers(self.table)
        pairs = list(pairwise(times)) or [
            p for p in pairwise(numbers) if p[0].column.unit == p[1].column.unit and p[0].kind is p[1].kind
        ]
        if not pairs:
            raise NotSaid
        one, other = self.rng.choice(pairs)
        if self.rng.random() < 0.5:
            one, other = other, one
        a, b = spoken(one.column, self.rng), spoken(other.column, self.rng)
        if a == b:
            raise NotSaid
        more, less = ("after", "before") if one.is_time else ("greater than", "less than")
        op, said = self.rng.choice((("col>", more), ("col<", less)))
        if one.is_time:
            said = self.pick(said, "later than" if op == "col>" else "earlier than")
        else:
            said = self.pick(
                said, "higher than" if op == "col>" else "lower than", "above" if op == "col>" else "below"
            )
        tokens: Tokens = [op, self.item(one), self.item(other)]
        return Condition(tokens, f"whose {a} is {said} the {b}", f"where the {a} is {said} the {b}")

    def elapsed(self) -> tuple[Tokens, str, str, str]:
        """Tokens, the unit, and the two moments."""
        times = self.view.times(self.table)
        if len(times) < 2:
            raise NotSaid
        one, other = sorted(self.rng.sample(times, 2), key=times.index)
        hours = one.column.type is other.column.type is ColumnType.TIMESTAMP
        unit = (
            self.pick("hours", "minutes", "days")
            if hours
            else self.pick("days", "days", "weeks", "months", "years")
        )
        a, b = spoken(one.column, self.rng), spoken(other.column, self.rng)
        if a == b:
            raise NotSaid
        return [unit, self.item(one), self.item(other)], unit, a, b

    def took(self) -> Condition:
        tokens, unit, a, b = self.elapsed()
        count = float(self.rng.choice((2, 3, 5, 7, 10, 14, 20, 30, 45, 60, 90)))
        op, words = self.rng.choice(
            (
                (">", ("more than", "over", "longer than")),
                ("<", ("less than", "under")),
                (">=", ("at least",)),
            )
        )
        said = f"{self.pick(*words)} {self.said_number(count)} {unit}"
        behind = self.pick(
            f"with {said} between {a} and {b}",
            f"that took {said} from {a} to {b}",
            f"where it took {said} from {a} to {b}",
        )
        where = f"where {said} passed between {a} and {b}"
        return Condition([op, *tokens, Item("number", value=count)], behind, where)

    def existing(self) -> Condition:
        children = self.view.children(self.table)
        if not children:
            raise NotSaid
        child = Conditions(self.view, self.rng.choice(children), self.rng)
        child.reached = [child.table]
        more: Tokens = []
        said = ""
        if self.rng.random() < 0.35:
            inner = child.condition(simple=True)
            more, said = ["&", *inner.tokens], f" {inner.noun}"
        table = Item("table", child.table)
        chance = self.rng.random()
        if chance < 0.45:
            behind = self.pick(
                f"without any {child.many}{said}", f"with no {child.many}{said}", f"that have no {child.many}{said}",
                f"that never had {with_article(child.one)}{said}", f"that don't have any {child.many}{said}",
                f"without a single {child.one}{said}",
            )  # fmt: skip
            return Condition(["not", "exists", table, *more], behind, "")
        if chance < 0.75:
            behind = self.pick(
                f"that have {child.many}{said}", f"with at least one {child.one}{said}",
                f"that have any {child.many}{said}",
                f"having {with_article(child.one)}{said}", f"with any {child.many}{said}",
            )  # fmt: skip
            return Condition(["exists", table, *more], behind, "")
        count = float(self.rng.randint(2, 10))
        number = self.said_number(count)
        behind = self.pick(
            f"with at least {number} {child.many}{said}", f"with {number} or more {child.many}{said}",
            f"that have {number} or more {child.many}{said}", f"having at least {number} {child.many}{said}",
        )  # fmt: skip
        return Condition(["at_least", Item("number", value=count), table, *more], behind, "")

    def either(self) -> Condition:
        one, other = self.value(), self.rng.choice((self.value, self.number))()
        a, b = (each.where.removeprefix("where ") for each in (one, other))
        if a == one.where or b == other.where:
            raise NotSaid
        said = self.pick(f"where {a} or {b}", f"where either {a} or {b}")
        return Condition(["either", *one.tokens, "or", *other.tokens], said, said)
