"""Kinds of questions in many wordings, each with its sketch: totals, counts, groups, series and shares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from sandtable.planner.candidates.network.sketch import Item, Token
from training.reader.measuring import Teller
from training.reader.naming import plural
from training.reader.phrases import Condition, Measure, NotSaid, Tokens


@dataclass(slots=True)
class Made:
    """A sketch in its parts."""

    items: list[Tokens]
    conditions: list[Condition] = field(default_factory=list[Condition])
    time: Tokens = field(default_factory=list[Token])
    having: Tokens = field(default_factory=list[Token])
    derive: Tokens = field(default_factory=list[Token])
    top: Tokens = field(default_factory=list[Token])
    order: Tokens = field(default_factory=list[Token])
    limit: float = 0

    def sketch(self, table: str) -> tuple[Token, ...]:
        made: Tokens = [Item("table", table)]
        for item in self.items:
            made += item
        for condition in self.conditions:
            made += ["where", *condition.tokens]
        made += [*self.time, *self.having, *self.derive, *self.top, *self.order]
        if self.limit:
            made += ["limit", Item("number", value=float(self.limit))]
        return (*made, "end")


Said = tuple[str, Made]
Builder = Callable[[Teller], Said]


def subject(t: Teller, conditions: list[Condition], time: str = "") -> str:
    """The rows: `refunded rides with a fare over 20 last month`."""
    before, behind = "", [c.noun for c in conditions]
    short = [c for c in conditions if c.before]
    if short and t.rng.random() < 0.6:
        before = short[0].before
        behind = [c.noun for c in conditions if c is not short[0]]
    return f"{before} {t.many} {' and '.join(behind)} {time}"


def tail(t: Teller, conditions: list[Condition], time: str) -> str:
    """Behind a measure: `where the city is Rome in 2024`."""
    wheres = [c.where for c in conditions]
    if not all(wheres) or (wheres and t.rng.random() < 0.3):
        return f"{t.pick('for', 'of')} {subject(t, conditions, time)}"
    if len(wheres) == 2 and all(each.startswith("where ") for each in wheres):
        wheres = [f"{wheres[0]} and {wheres[1].removeprefix('where ')}"]
    return f"{' '.join(wheres)} {time}"


def framed(t: Teller, phrase: str, measure: Measure | None = None) -> str:
    """A noun phrase as a question, a command or a telegram."""
    bare = measure is not None and measure.text == t.many
    chosen = t.pick(
        "{p}", "{p}", "{p} please", "show {p}", "show me {p}", "give me {p}", "I want to see {p}",
        "can you show me {p}?",
    ) if bare else t.pick(
        "what is the {p}?", "what's the {p}?", "what was the {p}?", "{p}", "{p}", "show the {p}", "show me the {p}",
        "give me the {p}", "tell me the {p}.", "I need the {p}", "can you calculate the {p}?", "so what is the {p}?",
        "could you give me the {p}?", "please show the {p}", "{p} please", "calculate the {p}",
        "I'd like to know the {p}", "do you know the {p}?",
    )  # fmt: skip
    return chosen.format(p=phrase)


def total(t: Teller) -> Said:
    measure = t.rich() if t.rng.random() < 0.45 else t.measure()
    conditions, time, said = t.restriction()
    if measure.counted:
        return counted(t)
    if said and t.rng.random() < 0.15:
        return f"{said}, what was the {measure.text} {tail(t, conditions, '')}?", Made(
            [measure.tokens], conditions, time
        )
    text = framed(t, f"{measure.text} {tail(t, conditions, said)}", measure)
    return text, Made([measure.tokens], conditions, time)


def counted(t: Teller) -> Said:
    conditions, time, said = t.restriction()
    if not conditions and not time and t.rng.random() < 0.8:
        conditions = [t.condition()]
    rows = subject(t, conditions, said)
    text = t.pick(
        f"how many {rows} are there?", f"how many {rows} do we have?", f"number of {rows}", f"count {rows}",
        f"count the {rows}", f"count of {rows}", f"what is the number of {rows}?", f"how many {rows}?",
        f"tell me how many {rows} there are", f"total number of {rows}", f"how many {rows} did we have?",
        f"so how many {rows} are there?", f"I need the count of {rows}", f"how many {rows} exist?",
    )  # fmt: skip
    return text, Made([["count"]], conditions, time)


def shares(t: Teller) -> Said:
    """What part of the rows meets a condition."""
    condition = t.condition()
    time, said = t.timed() if t.rng.random() < 0.25 else ([], "")
    text = t.pick(
        f"what share of {t.many} {said} are those {condition.noun}?",
        f"what percentage of {t.many} {said} are {t.many} {condition.noun}?",
        f"what proportion of {t.many} {said} are ones {condition.noun}?",
        f"share of {t.many} {condition.noun} {said}",
        f"percentage of {t.many} {condition.noun} {said}",
        f"how many percent of the {t.many} {said} are {t.many} {condition.noun}?",
        f"what fraction of all {t.many} {said} is made up of {t.many} {condition.noun}?",
        f"percent of {t.many} {condition.noun} {said}",
    )  # fmt: skip
    return text, Made([["share", *condition.tokens]], [], time)


def grouped(t: Teller) -> Said:
    key, name = t.group()
    measure = t.rich() if t.rng.random() < 0.3 else t.measure()
    conditions, time, said = t.restriction() if t.rng.random() < 0.5 else ([], [], "")
    m, rest = measure.text, tail(t, conditions, said)
    choices = [
        f"{m} by {name} {rest}", f"{m} per {name} {rest}", f"{m} for each {name} {rest}",
        f"show {m} by {name} {rest}",
        f"{m} broken down by {name} {rest}", f"break down {m} by {name} {rest}", f"{m} grouped by {name} {rest}",
        f"split {m} by {name} {rest}", f"compare {m} across {plural(name)} {rest}", f"give me {m} per {name} {rest}",
        f"breakdown of {m} by {name} {rest}", f"{m} for every {name} {rest}",
        f"how does {m} differ by {name} {rest}?",
        f"show me {m} for each {name} {rest}", f"{name} wise {m} {rest}", f"{m} split by {name} {rest}",
    ]  # fmt: skip
    if m != t.many:
        choices += [
            f"what is the {m} for each {name} {rest}?", f"for each {name}, what is the {m} {rest}?",
            f"what is the {m} per {name} {rest}?", f"what's the {m} of each {name} {rest}?",
            f"per {name}, the {m} {rest}",
        ]  # fmt: skip
    if measure.counted:
        choices += [
            f"how many {t.many} does each {name} have {rest}?", f"how many {t.many} are there per {name} {rest}?",
            f"count {t.many} by {name} {rest}", f"how many {t.many} by {name} {rest}?",
            f"for every {name}, how many {t.many} are there {rest}?",
        ]  # fmt: skip
    return t.pick(*choices), Made([key, measure.tokens], conditions, time)


def grouped_twice(t: Teller) -> Said:
    (one, a), (other, b) = t.group(), t.group()
    measure = t.measure()
    conditions, time, said = t.restriction() if t.rng.random() < 0.3 else ([], [], "")
    m, rest = measure.text, tail(t, conditions, said)
    text = t.pick(
        f"{m} by {a} and {b} {rest}", f"{m} per {a} and {b} {rest}", f"{m} for each {a} and {b} {rest}",
        f"show {m} by {a} and by {b} {rest}", f"{m} broken down by {a} and {b} {rest}",
        f"{m} for every {a} and {b} {rest}",
        f"break {m} down by {a} and then {b} {rest}", f"for each {a} and {b}, show the {m} {rest}",
        f"{m} split by {a} and {b} {rest}", f"cross {a} with {b}: {m} {rest}",
    )  # fmt: skip
    return text, Made([one, other, measure.tokens], conditions, time)


def over_time(t: Teller) -> Said:
    key, spoken_bucket, _ = t.bucket()
    measure = t.measure()
    conditions, time, said = t.restriction() if t.rng.random() < 0.5 else ([], [], "")
    m, rest = measure.text, tail(t, conditions, said)
    items = [key, measure.tokens]
    by = ""
    if t.rng.random() < 0.25:
        group, name = t.group()
        items, by = [key, group, measure.tokens], t.pick(f"and {name}", f"and by {name}", f"for each {name}")
    if spoken_bucket.endswith("ly"):
        text = t.pick(
            f"{spoken_bucket} {m} {by} {rest}",
            f"show {spoken_bucket} {m} {by} {rest}",
            f"{m} {spoken_bucket} {by} {rest}",
        )
        if by.startswith("and"):
            raise NotSaid
    else:
        text = t.pick(
            f"{m} {spoken_bucket} {by} {rest}", f"show {m} {spoken_bucket} {by} {rest}",
            f"give me {m} {spoken_bucket} {by} {rest}",
            f"how did {m} develop {spoken_bucket} {by} {rest}?", f"plot {m} {spoken_bucket} {by} {rest}",
            f"I want to see {m} {spoken_bucket} {by} {rest}", f"{m} {rest} {spoken_bucket} {by}",
        )  # fmt: skip
    return text, Made(items, conditions, time)


def series(t: Teller) -> Said:
    """Growth, change and running totals."""
    key, _, unit = t.bucket(series=True)
    measure = t.measure(adds=True)
    conditions, time, said = t.restriction() if t.rng.random() < 0.4 else ([], [], "")
    m, rest = measure.text, tail(t, conditions, said)
    word = t.pick("growth", "growth", "change", "running", "running")
    adverb = {"day": "daily", "week": "weekly", "month": "monthly", "quarter": "quarterly", "year": "yearly"}[
        unit
    ]
    text = {
        "growth": t.pick(
            f"{unit} over {unit} growth of {m} {rest}", f"{adverb} growth of {m} {rest}",
            f"{adverb} growth in {m} in percent {rest}",
            f"by how many percent did {m} grow each {unit} {rest}?", f"growth rate of {m} per {unit} {rest}",
            f"{m} by {unit} with growth against the {unit} before {rest}",
            f"how fast is {m} growing {unit} over {unit} {rest}?",
        ),
        "change": t.pick(
            f"absolute change in {m} per {unit} {rest}",
            f"{m} by {unit} with the change from the {unit} before {rest}",
            f"{adverb} {m} and the absolute change against the prior {unit} {rest}",
            f"how much did {m} change each {unit} in absolute terms {rest}?",
        ),
        "running": t.pick(
            f"running total of {m} by {unit} {rest}", f"cumulative {m} per {unit} {rest}",
            f"cumulative {m} by {unit} {rest}",
            f"{m} by {unit} with running total {rest}", f"{m} accumulated {unit} by {unit} {rest}",
            f"how does {m} add up {unit} by {unit} {rest}?", f"show the running sum of {m} for each {unit} {rest}",
        ),
    }[word]  # fmt: skip
    return text, Made([key, measure.tokens], conditions, time, derive=[word, "#2"])


def parts_of_total(t: Teller) -> Said:
    key, name = t.group()
    measure = t.measure(adds=True)
    conditions, time, said = t.restriction() if t.rng.random() < 0.3 else ([], [], "")
    m, rest = measure.text, tail(t, conditions, said)
    if t.rng.random() < 0.3:
        other, b = t.group()
        text = t.pick(
            f"{m} by {name} and {b} with the share within each {name} {rest}",
            f"within each {name}, what share of {m} does each {b} have {rest}?",
            f"per {name}, how does {m} split over {plural(b)} in percent {rest}?",
            f"{b} mix inside every {name}, {m} and share {rest}",
        )  # fmt: skip
        return text, Made([key, other, measure.tokens], conditions, time, derive=["share_in", "#3", "#1"])
    text = t.pick(
        f"share of {m} by {name} {rest}", f"what percentage of {m} comes from each {name} {rest}?",
        f"each {name}'s share of total {m} {rest}" if "total" not in m else f"each {name}'s share of the {m} {rest}",
        f"{m} by {name} as a percentage of the total {rest}",
        f"how is {m} distributed over {plural(name)} in percent {rest}?",
        f"{m} per {name} with share of total {rest}", f"what share of {m} does each {name} have {rest}?",
        f"percentage contribution of each {name} to {m} {rest}",
    )  # fmt: skip
    return text, Made([key, measure.tokens], conditions, time, derive=["share_of", "#2"])
