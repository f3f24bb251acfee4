"""Measures and groups in English, each with what it is in a sketch."""

from __future__ import annotations

from itertools import pairwise

from sandtable.catalog.measures import MeasureKind, name_words
from sandtable.planner.candidates.network.sketch import Item
from training.reader.conditions import Conditions
from training.reader.naming import Ref, plural, spoken, with_article
from training.reader.phrases import Condition, Measure, NotSaid, Tokens

_WORDS = {
    "sum": ("total {c}", "sum of {c}", "overall {c}", "combined {c}", "{c} in total", "total {c}"),
    "avg": ("average {c}", "mean {c}", "average {c}", "avg {c}", "{c} on average"),
    "min": ("lowest {c}", "minimum {c}", "smallest {c}", "min {c}"),
    "max": ("highest {c}", "maximum {c}", "largest {c}", "max {c}"),
    "median": ("median {c}", "median of {c}"),
    "stddev": ("standard deviation of {c}", "standard deviation of the {c}"),
    "p50": ("50th percentile of {c}", "p50 of {c}"),
    "p90": ("90th percentile of {c}", "p90 {c}", "p90 of {c}"),
    "p95": ("95th percentile of {c}", "p95 {c}", "95th percentile of the {c}"),
    "p99": ("99th percentile of {c}", "p99 {c}"),
}
_BUCKETS: dict[str, tuple[str, ...]] = {
    **{
        unit: (f"per {unit}", f"by {unit}", f"for each {unit}", f"each {unit}", f"for every {unit}", adverb)
        for unit, adverb in (
            ("day", "daily"), ("week", "weekly"), ("month", "monthly"), ("quarter", "quarterly"), ("year", "yearly")
        )
    },
    "hour": ("per hour", "by hour", "hourly"),
    "day_name": ("by day of the week", "by weekday", "per day of the week", "for each day of the week"),
    "month_name": ("by month of the year", "by calendar month", "per calendar month"),
    "hour_of_day": ("by hour of the day", "per hour of the day", "by time of day"),
}  # fmt: skip


class Teller(Conditions):
    """Says measures too."""

    def measure(self, *, adds: bool = False) -> Measure:
        """A simple one; with `adds`, one that can be added up."""
        chance = self.rng.random()
        metrics = [m for m in self.view.dataset.metrics if m.table == self.table]
        if metrics and chance < 0.3 and not adds:
            metric = self.rng.choice(metrics)
            words = " ".join(name_words(metric.name))
            return Measure(["metric", Item("metric", metric.table, metric.name)], words)
        if chance < 0.45 or not self.view.numbers(self.table):
            return self.count()
        ref = self.one_of(self.view.numbers(self.table))
        name, additive = self.name(ref), ref.kind is MeasureKind.ADDITIVE
        if adds:
            if not additive:
                return self.count()
            return Measure(
                ["sum", self.item(ref)], self.pick(f"total {name}", name, f"sum of {name}"), adds=True
            )
        default = "sum" if additive else "avg"
        if self.rng.random() < 0.3:
            return Measure([default, self.item(ref)], name, adds=additive)
        word = self.rng.choices(
            (default, "avg", "min", "max", "median", "stddev", "p50", "p90", "p95", "p99"),
            (12, 6, 3, 3, 2, 1, 0.4, 1, 1, 0.4),
        )[0]
        return Measure([word, self.item(ref)], self.pick(*_WORDS[word]).format(c=name), adds=word == "sum")

    def count(self) -> Measure:
        said = self.pick(
            f"number of {self.many}", f"number of {self.many}", f"count of {self.many}", self.many
        )
        return Measure(["count"], said, counted=True, adds=True)

    def rich(self) -> Measure:
        """One of the rarer kinds."""
        made = (
            self.distinct,
            self.share,
            self.share,
            self.correlation,
            self.arithmetic,
            self.elapsing,
            self.ratio,
        )
        return self.rng.choice(made)()

    def distinct(self) -> Measure:
        ref = self.one_of(
            [
                *self.view.categories(self.table),
                *[r for r in self.view.refs(self.table)[1:] if self.view.is_key(r)],
            ]
        )
        name = spoken(ref.column, self.rng)
        named = plural(name.removesuffix(" id").removesuffix(" name")) if name not in {"id", "name"} else ""
        if not named:
            raise NotSaid
        said = self.pick("different", "distinct", "unique")
        return Measure(
            ["distinct", self.item(ref)], self.pick(f"number of {said} {named}", f"count of {said} {named}")
        )

    def share(self) -> Measure:
        condition = self.condition()
        word = self.pick("share", "percentage", "proportion", "share")
        return Measure(["share", *condition.tokens], f"{word} of {self.many} {condition.noun}")

    def correlation(self) -> Measure:
        one, other = self.one_of(self.view.numbers(self.table)), self.one_of(self.view.numbers(self.table))
        a, b = self.name(one), self.name(other)
        if a == b:
            raise NotSaid
        return Measure(["corr", self.item(one), self.item(other)], f"correlation between {a} and {b}")

    def conditional(self) -> Measure:
        condition = self.condition(simple=True)
        if self.rng.random() < 0.6 or not self.view.numbers(self.table):
            return Measure(
                ["count", "if", *condition.tokens], f"number of {self.many} {condition.noun}", counted=True
            )
        ref = self.one_of(self.view.numbers(self.table))
        word = "sum" if ref.kind is MeasureKind.ADDITIVE else "avg"
        said = self.pick("total", "combined") if word == "sum" else self.pick("average", "mean")
        return Measure(
            [word, self.item(ref), "if", *condition.tokens],
            f"{said} {self.name(ref)} of {self.many} {condition.noun}",
        )

    def arithmetic(self) -> Measure:
        pairs = [
            p
            for p in pairwise(self.view.numbers(self.table))
            if p[0].kind is p[1].kind is MeasureKind.ADDITIVE
        ]
        if not pairs:
            raise NotSaid
        one, other = self.rng.choice(pairs)
        a, b = spoken(one.column, self.rng), spoken(other.column, self.rng)
        if a == b:
            raise NotSaid
        word, op, said = self.rng.choice(
            (
                ("sum", "times", f"total of {a} times {b}"), ("sum", "times", f"sum of {a} multiplied by {b}"),
                ("sum", "less", f"total of {a} minus {b}"), ("avg", "less",
                f"average difference between {a} and {b}"),
                ("sum", "added", f"total of {a} plus {b}"), ("avg", "over", f"average of {a} divided by {b}"),
                ("sum", "less", f"total {a} less {b}"), ("avg", "added", f"average of {a} plus {b}"),
            )
        )  # fmt: skip
        return Measure([word, op, self.item(one), self.item(other)], said)

    def elapsing(self) -> Measure:
        tokens, unit, a, b = self.elapsed()
        word, said = self.rng.choice(
            (("avg", "average"), ("avg", "mean"), ("median", "median"), ("max", "maximum"))
        )
        text = self.pick(
            f"{said} number of {unit} between {a} and {b}", f"{said} {unit} from {a} to {b}",
            f"{said} time from {a} to {b} in {unit}",
        )  # fmt: skip
        if self.rng.random() < 0.2:
            start = tokens[1]
            return Measure(
                [word, unit, start, "now"],
                self.pick(f"{said} number of {unit} since the {a}", f"{said} age in {unit} since {a}"),
            )
        return Measure([word, *tokens], text)

    def ratio(self) -> Measure:
        one, other = self.measure(adds=True), self.measure(adds=True)
        if one.tokens == other.tokens or one.text == self.many or other.text == self.many:
            raise NotSaid
        word, said = self.rng.choice(
            (
                ("per", f"{one.text} divided by the {other.text}"), ("per", f"ratio of {one.text} to {other.text}"),
                ("minus", f"difference between {one.text} and {other.text}"), ("minus",
                f"{one.text} minus {other.text}"),
                ("plus", f"{one.text} plus {other.text}"),
            )
        )  # fmt: skip
        return Measure([word, *one.tokens, *other.tokens], said)

    # Groups

    def group(self) -> tuple[Tokens, str]:
        """A column to group by, and what it is called in the singular."""
        refs = self.nearby("text")
        if self.rng.random() < 0.15:
            refs += [n for t in self.reached[1:] if (n := self.view.name_of(t))]
        ref: Ref = self.one_of(
            [r for r in refs if r.table.name != self.table or r != self.view.name_of(self.table)]
        )
        return [self.item(ref)], self.name(ref)

    def bucket(self, *, series: bool = False) -> tuple[Tokens, str, str]:
        """A bucket of the main time, how it is said behind a measure, and its unit."""
        ref = self.time()
        units = ["day", "week", "month", "month", "month", "quarter", "year"]
        if not series:
            units += ["day_name", "month_name"]
            units += ["hour_of_day", "hour"] if ref.column.type.value == "timestamp" else []
        unit = self.pick(*units)
        return [unit, self.item(ref)], self.pick(*_BUCKETS[unit]), unit

    def restriction(self) -> tuple[list[Condition], Tokens, str]:
        """Up to two conditions, perhaps a window: conditions to say, the tokens of the time, its words."""
        conditions: list[Condition] = []
        time: Tokens = []
        said = ""
        chance = self.rng.random()
        if chance < 0.6:
            conditions.append(self.condition())
        if chance < 0.12:
            conditions.append(self.condition(simple=True))
        if self.rng.random() < 0.35 and any(r.is_time for r in self.view.refs(self.table)):
            time, said = self.timed()
        return conditions, time, said

    def timed(self) -> tuple[Tokens, str]:
        window = self.window()
        times = self.view.times(self.table)
        table = self.view.dataset.table(self.table)
        main = table.time_column if table else None
        other = [r for r in times if r.column.name != main]
        if other and (self.rng.random() < 0.25 or main is None):
            ref = self.one_of(other)
            name = spoken(ref.column, self.rng)
            if name.endswith("since"):
                raise NotSaid
            said = f"with {with_article(name)} {window.text}"
            return ["time", window.item, "on", self.item(ref)], said
        if main is None:
            raise NotSaid
        return ["time", window.item], window.text
