"""Kinds of questions in many wordings, each with its sketch: rankings, groups kept, periods."""

from __future__ import annotations

from sandtable.planner.candidates.network.sketch import Item, Token
from training.reader.measuring import Teller
from training.reader.naming import plural, with_article
from training.reader.phrases import Measure, NotSaid, Tokens
from training.reader.questions import Builder, Made, Said, tail


def _more(t: Teller, measure: Measure, *, most: bool) -> str:
    """`the most rides`, `the highest average fare`, behind "has" or "with"."""
    if measure.counted:
        words = ("most", "most", "largest number of") if most else ("fewest", "fewest", "smallest number of")
        return f"the {t.pick(*words)} {t.many}"
    if measure.tokens[0] == "sum" and not measure.text.startswith(
        ("total ", "sum ", "overall ", "combined ")
    ):
        name = measure.text.removesuffix(" in total")
        return t.pick(
            f"the {'most' if most else 'least'} {name}", f"the {'highest' if most else 'lowest'} total {name}"
        )
    if measure.adds and measure.text.startswith("total "):
        word = t.pick("highest", "largest", "biggest") if most else t.pick("lowest", "smallest")
        return t.pick(
            f"the {word} {measure.text}",
            f"the {'most' if most else 'least'} {measure.text.removeprefix('total ')}",
        )
    word = t.pick("highest", "largest", "greatest") if most else t.pick("lowest", "smallest")
    return f"the {word} {measure.text}"


def _named(measure: Measure) -> None:
    """A superlative of a superlative says nothing."""
    if measure.tokens[0] in {"min", "max"} or measure.text.startswith(("lowest", "highest", "min", "max")):
        raise NotSaid


def superlative(t: Teller) -> Said:
    key, name = t.group()
    measure = t.measure()
    _named(measure)
    conditions, time, said = t.restriction() if t.rng.random() < 0.45 else ([], [], "")
    most = t.rng.random() < 0.7
    best, rest = _more(t, measure, most=most), tail(t, conditions, said)
    text = t.pick(
        f"which {name} has {best} {rest}?", f"what {name} has {best} {rest}?", f"{name} with {best} {rest}",
        f"which {name} had {best} {rest}?", f"the {name} with {best} {rest}", f"find the {name} with {best} {rest}",
        f"so which {name} has {best} {rest}?", f"tell me which {name} has {best} {rest}",
        f"what is the {name} with {best} {rest}?", f"show the {name} having {best} {rest}",
    )  # fmt: skip
    return text, Made(
        [key, measure.tokens], conditions, time, order=["desc" if most else "asc", "#2"], limit=1
    )


def top_groups(t: Teller) -> Said:
    key, name = t.group()
    measure = t.measure()
    _named(measure)
    conditions, time, said = t.restriction() if t.rng.random() < 0.45 else ([], [], "")
    most = t.rng.random() < 0.7
    count = t.rng.choice((2, 3, 4, 5, 5, 6, 7, 8, 10, 10, 15, 20, 25))
    n, many, rest = t.said_number(count), plural(name), tail(t, conditions, said)
    best = _more(t, measure, most=most)
    front = t.pick("top", "best", "leading") if most else t.pick("bottom", "worst", "last")
    by = f"number of {t.many}" if measure.counted else measure.text
    text = t.pick(
        f"{'top' if most else 'bottom'} {n} {many} by {by} {rest}", f"the {n} {many} with {best} {rest}",
        f"which {n} {many} have {best} {rest}?", f"show the {front} {n} {many} by {by} {rest}",
        f"{n} {many} with {best} {rest}",
        f"what are the {'top' if most else 'bottom'} {n} {many} by {by} {rest}?",
        f"list the {n} {many} that have {best} {rest}",
        f"give me the {'top' if most else 'bottom'} {n} {many} in terms of {by} {rest}",
    )  # fmt: skip
    return text, Made(
        [key, measure.tokens], conditions, time, order=["desc" if most else "asc", "#2"], limit=count
    )


def ordered(t: Teller) -> Said:
    key, name = t.group()
    measure = t.measure()
    conditions, time, said = t.restriction() if t.rng.random() < 0.3 else ([], [], "")
    m, rest = measure.text, tail(t, conditions, said)
    if t.rng.random() < 0.25:
        text = t.pick(
            f"rank {plural(name)} by {m} {rest}",
            f"{m} per {name} with rank {rest}",
            f"ranking of {plural(name)} by {m} {rest}",
        )
        return text, Made([key, measure.tokens], conditions, time, derive=["rank", "#2"])
    most = t.rng.random() < 0.7
    how = t.pick("highest first", "from highest to lowest", "in descending order", "largest first",
    "sorted descending", "biggest on top") if most else t.pick(
        "lowest first", "from lowest to highest", "in ascending order", "smallest first", "sorted ascending"
    )  # fmt: skip
    text = t.pick(
        f"{m} by {name} {rest}, {how}", f"{m} per {name} {rest} {how}", f"show {m} for each {name} {rest}, {how}",
        f"list {m} by {name} {rest}, {how}", f"give me the {m} of each {name} {rest} {how}",
    )  # fmt: skip
    return text, Made([key, measure.tokens], conditions, time, order=["desc" if most else "asc", "#2"])


def top_in_groups(t: Teller) -> Said:
    (one, a), (other, b) = t.group(), t.group()
    measure = t.measure()
    _named(measure)
    conditions, time, said = t.restriction() if t.rng.random() < 0.25 else ([], [], "")
    rest, best = tail(t, conditions, said), _more(t, measure, most=True)
    by = f"number of {t.many}" if measure.counted else measure.text
    count = t.rng.choice((1, 1, 2, 3, 3, 5))
    if count == 1:
        text = t.pick(
            f"for each {a}, the {b} with {best} {rest}", f"which {b} has {best} in each {a} {rest}?",
            f"top {b} by {by} in every {a} {rest}", f"the {b} with {best} per {a} {rest}",
            f"best {b} per {a} by {by} {rest}",
        )  # fmt: skip
    else:
        n = t.said_number(count)
        text = t.pick(
            f"top {n} {plural(b)} by {by} in each {a} {rest}",
            f"for each {a}, the top {n} {plural(b)} by {by} {rest}",
            f"the {n} {plural(b)} with {best} per {a} {rest}",
            f"within every {a}, show the {n} {plural(b)} with {best} {rest}",
            f"per {a}: top {n} {plural(b)} by {by} {rest}",
        )  # fmt: skip
    top: Tokens = ["top", Item("number", value=float(count)), "#1", "desc", "#3"]
    return text, Made([one, other, measure.tokens], conditions, time, top=top)


def having(t: Teller) -> Said:
    key, name = t.group()
    measure = t.measure()
    conditions, time, said = t.restriction() if t.rng.random() < 0.25 else ([], [], "")
    rest, many = tail(t, conditions, said), plural(name)
    if t.rng.random() < 0.3:
        above = t.rng.random() < 0.7
        word = t.pick("above", "higher than") if above else t.pick("below", "lower than")
        m = f"number of {t.many}" if measure.counted else measure.text
        text = t.pick(
            f"which {many} have {with_article(m)} {word} the average of all {many} {rest}?",
            f"{many} with {'above' if above else 'below'}-average {m} {rest}",
            f"{many} whose {m} is {word} average {rest}",
            f"show {many} with {with_article(m)} {word} the mean over all {many} {rest}",
        )  # fmt: skip
        return text, Made(
            [key, measure.tokens],
            conditions,
            time,
            having=["having", "above_mean" if above else "below_mean", "#2"],
        )
    count = float(t.rng.choice((2, 3, 5, 10, 15, 20, 25, 50, 100, 150, 200, 500, 1000, 5000, 10000, 50000)))
    op, words = t.rng.choice(
        (
            (">", ("more than", "over")), (">", ("more than", "above")), (">=", ("at least", "no fewer than")),
            ("<", ("fewer than", "less than", "under")), ("<=", ("at most", "no more than")), *((("==",
            ("exactly",)),) if measure.counted else ()),
        )
    )  # fmt: skip
    number, word = t.said_number(count), t.pick(*words)
    if measure.counted:
        text = t.pick(
            f"which {many} have {word} {number} {t.many} {rest}?", f"{many} with {word} {number} {t.many} {rest}",
            f"show {many} that have {word} {number} {t.many} {rest}",
            f"list the {many} having {word} {number} {t.many} {rest}",
            f"any {many} with {word} {number} {t.many} {rest}?",
        )  # fmt: skip
    else:
        word = (
            word.replace("fewer", "less").replace("over", "above")
            if measure.text.startswith("number")
            else word
        )
        text = t.pick(
            f"which {many} have {with_article(measure.text)} of {word} {number} {rest}?",
            f"{many} where the {measure.text} is {word} {number} {rest}",
            f"{many} with {measure.text} {word} {number} {rest}",
            f"show {many} whose {measure.text} is {word} {number} {rest}",
        )  # fmt: skip
    return text, Made(
        [key, measure.tokens], conditions, time, having=["having", op, "#2", Item("number", value=count)]
    )


def when_most(t: Teller) -> Said:
    key, _, unit = t.bucket()
    measure = t.measure()
    _named(measure)
    conditions, time, said = t.restriction() if t.rng.random() < 0.4 else ([], [], "")
    most = t.rng.random() < 0.75
    named = {
        "day_name": "day of the week",
        "month_name": "month of the year",
        "hour_of_day": "hour of the day",
    }.get(unit, unit)
    best, rest = _more(t, measure, most=most), tail(t, conditions, said)
    text = t.pick(
        f"which {named} had {best} {rest}?", f"what {named} has {best} {rest}?",
        f"in which {named} did we have {best} {rest}?",
        f"{named} with {best} {rest}", f"which {named} saw {best} {rest}?",
    )  # fmt: skip
    return text, Made(
        [key, measure.tokens], conditions, time, order=["desc" if most else "asc", "#2"], limit=1
    )


def periods(t: Teller) -> Said:
    """One measure in two periods."""
    t.time()
    measure = t.measure(adds=t.rng.random() < 0.7)
    one, other = t.two_windows()
    condition = [t.condition(simple=True)] if t.rng.random() < 0.25 else []
    m, a, b, rest = measure.text, one.text, other.text, tail(t, condition, "")
    then, now = a.removeprefix("in "), b.removeprefix("in ")
    items: list[Tokens] = [[*measure.tokens, "if", "when", each.item] for each in (one, other)]
    first, second = "#1", "#2"
    by = ""
    if t.rng.random() < 0.25:
        key, name = t.group()
        items, by, first, second = [key, *items], f"per {name}", "#2", "#3"
    kind = t.pick("diff", "pct", "")
    derive: Tokens = [kind, second, first] if kind else []
    text = {
        "diff": t.pick(
            f"{m} {by} {a} and {b} {rest} and the difference", f"how much more {m} {by} {b} than {then} {rest}?",
            f"difference in {m} {by} {a} versus {now} {rest}", f"absolute difference of {m} {by} {a} and {b} {rest}",
        ),
        "pct": t.pick(
            f"percent change in {m} {by} {a} versus {now} {rest}",
            f"by how many percent did {m} {by} change {b} compared to {then} {rest}?",
            f"{m} {by} {a} and {b} {rest} with the change in percent",
            f"percentage change of {m} {by} {b} against {then} {rest}",
        ),
        "": t.pick(f"{m} {by} {a} versus {now} {rest}", f"{m} {by} {a} compared with {now} {rest}",
        f"show {m} {by} {a} and {b} side by side {rest}"),
    }[kind]  # fmt: skip
    return text, Made(items, condition, derive=derive)


def several(t: Teller) -> Said:
    """Two or three measures at once, perhaps by a group."""
    measures = [t.measure(), t.rng.choice((t.measure, t.conditional, t.distinct))()]
    if t.rng.random() < 0.25:
        measures.append(t.measure())
    tokens = [each.tokens for each in measures]
    if any(one in tokens[:n] for n, one in enumerate(tokens)):
        raise NotSaid
    texts = [f"number of {t.many}" if each.text == t.many else each.text for each in measures]
    m = f"{', '.join(texts[:-1])} and {texts[-1]}"
    conditions, time, said = t.restriction() if t.rng.random() < 0.4 else ([], [], "")
    rest = tail(t, conditions, said)
    if t.rng.random() < 0.6:
        key, name = t.group()
        text = t.pick(
            f"{m} by {name} {rest}", f"show {m} per {name} {rest}", f"for each {name}, the {m} {rest}",
            f"{m} for every {name} {rest}",
            f"what are the {m} of each {name} {rest}?", f"give me {m} by {name} {rest}",
        )  # fmt: skip
        return text, Made([key, *tokens], conditions, time)
    text = t.pick(
        f"what are the {m} {rest}?",
        f"{m} {rest}",
        f"show the {m} {rest}",
        f"give me both the {m} {rest}" if len(texts) == 2 else f"give me the {m} {rest}",
    )
    return text, Made(tokens, conditions, time)


def versus(t: Teller) -> Said:
    """The rows with one value beside those with another."""
    ref = t.one_of([r for r in t.view.categories(t.table) if len(r.texts()) > 1])
    one, other = t.rng.sample(ref.texts(), 2)
    a, b, name = t.text(one), t.text(other), t.name(ref)
    measure = t.measure(adds=True)
    items: list[Tokens] = [[*measure.tokens, "if", t.valued(ref, cell)] for cell in (one, other)]
    m = f"number of {t.many}" if measure.counted else measure.text
    kind = t.pick("", "diff")
    derive: list[Token] = ["diff", "#2", "#1"] if kind else []
    text = t.pick(
        f"{m} with {name} {a} and {m} with {name} {b}, and the difference",
        f"{m} of {name} {a} and of {name} {b} with the difference"
    ) if kind else t.pick(
        f"{m} with {name} {a} and {m} with {name} {b}", f"{m} for {name} {a} next to {m} for {name} {b}",
        f"show {m} for {name} {a} and, separately, for {name} {b}",
    )  # fmt: skip
    return text, Made(items, derive=derive)


BUILDERS: dict[Builder, float] = {
    superlative: 5, top_groups: 6, ordered: 3, top_in_groups: 3, having: 6, when_most: 2, periods: 4,
    several: 4, versus: 1,
}  # fmt: skip
