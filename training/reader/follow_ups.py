"""Follow-ups made of phrases, over any dataset: the answer before is a templated one, and one thing of it is changed.

`continued` draws an answer as `templates` does, changes one of its parts, and says that in one of many ways. What is
kept are examples whose plan fits the dataset. The same seed gives the same examples.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace

from sandtable.catalog.model import Dataset
from sandtable.catalog.profile import Profile
from sandtable.planner.candidates.network.plans import plan_of
from sandtable.planner.candidates.network.sketch import LONGEST, Item, is_sketch
from training.reader.example import Example, fault_of
from training.reader.measuring import Teller
from training.reader.naming import View, plural, spoken
from training.reader.phrases import Condition, NotSaid, Tokens
from training.reader.questions import Made
from training.reader.templates import BUILDERS, finished, is_timely

SOURCE = "template"
_TRIES = 40
_GROUPED_BY = ("hour", "day", "week", "month", "quarter", "year", "day_name", "month_name", "hour_of_day")
Changed = tuple[str, Made]
Change = Callable[[Teller, Made], Changed]


def continued(datasets: list[tuple[Dataset, Profile]], count: int, seed: int) -> Iterator[Example]:
    rng = random.Random(seed)
    views = [View(dataset, profile) for dataset, profile in datasets]
    made, left = 0, count * _TRIES
    while made < count and left and views:
        left -= 1
        found = _example(rng.choice(views), rng)
        if found is not None:
            made += 1
            yield found


def _example(view: View, rng: random.Random) -> Example | None:
    teller = Teller(view, rng.choice([t.name for t in view.dataset.tables]), rng)
    build = rng.choices(tuple(BUILDERS), tuple(BUILDERS.values()))[0]
    change = rng.choices(tuple(CHANGES), tuple(CHANGES.values()))[0]
    try:
        _, before = build(teller)
        text, after = change(teller, before)
    except NotSaid:
        return None
    earlier, sketch = before.sketch(teller.table), after.sketch(teller.table)
    message = finished(_opened(text, rng), rng)
    if earlier == sketch or max(len(earlier), len(sketch)) > LONGEST:
        return None
    if not is_sketch(earlier) or not is_sketch(sketch) or fault_of(earlier, view.dataset):
        return None
    if fault_of(sketch, view.dataset) or not is_timely(message, tuple(after.time), view.dataset, before.time):
        return None
    plan = plan_of(earlier, view.dataset.id)
    return Example(SOURCE, view.dataset, view.profile, message, sketch, False, plan)


def _opened(text: str, rng: random.Random) -> str:
    """With an opening as people go on with one, now and then."""
    if rng.random() < 0.7:
        return text
    return rng.choice(("ok,", "ok", "now", "hm,", "please", "thanks,", "and", "so")) + " " + text


def _is_key(item: Tokens) -> bool:
    return isinstance(item[0], Item) or item[0] in _GROUPED_BY


def _keys(made: Made) -> list[Tokens]:
    return [item for item in made.items if _is_key(item)]


def _measures(made: Made) -> list[Tokens]:
    return [item for item in made.items if not _is_key(item) and item[0] != "rows"]


def _is_plain(made: Made) -> bool:
    """Nothing refers to an output by its place."""
    return not (made.having or made.derive or made.top or made.order or made.limit)


def another_time(t: Teller, made: Made) -> Changed:
    if made.time and len(made.time) > 2:
        raise NotSaid
    time, said = t.timed()
    if len(time) > 2:
        raise NotSaid
    text = t.pick(
        f"and {said}?", f"what about {said}?", f"how about {said}", f"{said} instead", f"same {said}", f"{said}?",
        f"only {said}", f"the same {said}", f"show that {said}", f"and how was it {said}?", f"do it {said}",
        f"I meant {said}", f"make it {said}", f"what did it look like {said}?",
    )  # fmt: skip
    return text, replace(made, time=time)


def whole_time(t: Teller, made: Made) -> Changed:
    if not made.time:
        raise NotSaid
    text = t.pick(
        "for the whole time", "over all time", "without the time range", "for all dates", "all time instead",
        "drop the date filter", "regardless of the date", "remove the time window", "and overall, over all time?",
    )  # fmt: skip
    return text, replace(made, time=[])


def narrower(t: Teller, made: Made) -> Changed:
    condition = t.condition(simple=t.rng.random() < 0.5)
    options = [
        f"only {t.many} {condition.noun}", f"only those {condition.noun}", f"just the ones {condition.noun}",
        f"and only {condition.where}" if condition.where else f"only the ones {condition.noun}",
        f"limit it to {t.many} {condition.noun}", f"restrict that to {t.many} {condition.noun}",
        f"but only for {t.many} {condition.noun}", f"what about the ones {condition.noun}?",
        f"keep only {t.many} {condition.noun}", f"and for {t.many} {condition.noun}?",
        f"filter it to those {condition.noun}",
    ]  # fmt: skip
    if condition.before:
        options += [f"only {condition.before} ones", f"just the {condition.before} ones"] * 3
    return t.pick(*options), replace(made, conditions=[*made.conditions, condition])


def another_value(t: Teller, made: Made) -> Changed:
    places = [
        at for at, c in enumerate(made.conditions) if len(c.tokens) == 1 and isinstance(c.tokens[0], Item)
    ]
    if not places:
        raise NotSaid
    at = t.rng.choice(places)
    held = made.conditions[at].tokens[0]
    assert isinstance(held, Item)
    others = _others(t, held)
    other = t.rng.choice(others)
    said = t.text(str(other.value))
    if t.rng.random() < 0.25:
        text = t.pick(
            f"{said} too", f"include {said} as well", f"also {said}", f"add {said}", f"and {said} as well",
            f"plus {said}",
        )  # fmt: skip
        tokens: Tokens = ["either", held, "or", other]
    else:
        text = t.pick(
            f"and for {said}?", f"what about {said}?", f"{said}?", f"how about {said}", f"same for {said}",
            f"{said} instead", f"and {said}?", f"now for {said}", f"and in the case of {said}?", f"I meant {said}",
            f"no, {said}", f"the same for {said} please", f"switch to {said}",
        )  # fmt: skip
        tokens = [other]
    conditions = [*made.conditions]
    conditions[at] = Condition(tokens, "", "")
    return text, replace(made, conditions=conditions)


def _others(t: Teller, held: Item) -> list[Item]:
    """Other values of the same column."""
    refs = [r for r in t.view.refs(held.table) if r.column.name == held.name]
    profile = refs[0].profile if refs else None
    values = [v.value for v in profile.values if isinstance(v.value, str)] if profile else []
    found = [Item("value", held.table, held.name, v) for v in values if v != held.value]
    if not found:
        raise NotSaid
    return found


def fewer_conditions(t: Teller, made: Made) -> Changed:
    places = [
        (at, token)
        for at, c in enumerate(made.conditions)
        for token in c.tokens[:2]
        if isinstance(token, Item) and token.kind in {"value", "column"}
    ]
    if not places:
        raise NotSaid
    at, token = t.rng.choice(places)
    refs = [r for r in t.view.refs(token.table) if r.column.name == token.name]
    if not refs:
        raise NotSaid
    name = spoken(refs[0].column, t.rng)
    options = [
        f"drop the {name} filter", f"without the filter on {name}", f"forget the {name}", f"regardless of {name}",
        f"remove the condition on {name}", f"ignore the {name}", f"for every {name}, not just that",
        f"take out the {name} restriction", f"whatever the {name}", f"for all {plural(name)}",
    ]  # fmt: skip
    if token.kind == "value" and len(made.conditions[at].tokens) == 1:
        options += [
            f"not only {token.value}",
            f"drop {token.value}",
            f"all {plural(name)}, not just {token.value}",
        ]
    conditions = [c for place, c in enumerate(made.conditions) if place != at]
    return t.pick(*options), replace(made, conditions=conditions)


def another_group(t: Teller, made: Made) -> Changed:
    measures, keys = _measures(made), _keys(made)
    if not measures or not _is_plain(made):
        raise NotSaid
    if t.rng.random() < 0.25:
        key, by, _ = t.bucket()
        said = f"by {by.removeprefix('by ')}" if by.startswith("by ") else by
    else:
        key, name = t.group()
        said = t.pick(f"by {name}", f"per {name}", f"for each {name}", f"by {name}")
    if keys and t.rng.random() < 0.45:
        text = t.pick(
            f"split that {said}",
            f"break it down {said}",
            f"break that down {said}",
            f"split that {said} too", f"also {said}", f"break it down further {said}", f"and also {said}",
            f"{said} as well", f"split it {said} in addition", f"additionally {said}",
        )  # fmt: skip
        return text, replace(made, items=[*keys, key, *measures])
    text = t.pick(
        f"{said} instead", f"{said} rather", f"and {said}?", f"what about {said}?", f"do it {said} instead",
        f"now {said}", f"the same {said}", f"no, {said}",
    ) if keys else t.pick(
        said, f"break it down {said}", f"split that {said}", f"show it {said}", f"and {said}?", f"now {said}",
        f"break that down {said}", f"can you split it {said}?", f"how does that look {said}?", f"{said} please",
    )  # fmt: skip
    return text, replace(made, items=[key, *measures])


def no_groups(t: Teller, made: Made) -> Changed:
    measures, keys = _measures(made), _keys(made)
    if not measures or not keys or not _is_plain(made):
        raise NotSaid
    text = t.pick(
        "in total", "and in total?", "altogether", "what is that overall?", "without the breakdown", "just the total",
        "all together please", "not split up", "as one number", "what's the overall figure?",
    )  # fmt: skip
    return text, replace(made, items=measures)


def another_measure(t: Teller, made: Made) -> Changed:
    measures, keys = _measures(made), _keys(made)
    if len(measures) != 1 or made.derive or made.having:
        raise NotSaid
    new = t.rich() if t.rng.random() < 0.2 else t.measure()
    if new.tokens == measures[0]:
        raise NotSaid
    if t.rng.random() < 0.35 and not made.order and not made.limit:
        text = t.pick(
            f"also show the {new.text}", f"add the {new.text}", f"and the {new.text} as well",
            f"with the {new.text} too",
            f"include the {new.text}", f"next to it the {new.text}", f"plus {new.text}",
        )  # fmt: skip
        return text, replace(made, items=[*keys, *measures, new.tokens])
    text = t.pick(
        f"and the {new.text}?", f"{new.text} instead", f"what about the {new.text}?", f"how about {new.text}",
        f"the {new.text} rather", f"now the {new.text}", f"and what's the {new.text}?", f"no, the {new.text}",
        f"I meant the {new.text}", f"same for the {new.text}",
    )  # fmt: skip
    return text, replace(made, items=[*keys, new.tokens])


def shares_of(t: Teller, made: Made) -> Changed:
    measures, keys = _measures(made), _keys(made)
    if len(measures) != 1 or not keys or not _is_plain(made) or measures[0][0] not in {"sum", "count"}:
        raise NotSaid
    text = t.pick(
        "as percentages", "in percent", "as a share of the total", "what share is that each?",
        "in percent of the total",
        "show it as percentages", "and as shares?", "what percentage of the total is that?", "relative to the total",
    )  # fmt: skip
    return text, replace(made, derive=["share_of", f"#{len(keys) + 1}"])


def first_ones(t: Teller, made: Made) -> Changed:
    measures, keys = _measures(made), _keys(made)
    if len(measures) != 1 or len(keys) != 1 or made.derive or made.top:
        raise NotSaid
    count = t.rng.choice((1, 2, 3, 3, 5, 5, 7, 10, 10, 20))
    said = t.said_number(count) if count > 1 else ""
    place = f"#{len(keys) + 1}"
    if t.rng.random() < 0.3:
        text = t.pick(
            f"only the bottom {said}", f"the {said} lowest", f"just the {said} smallest ones", f"bottom {said}",
            f"which {said} are the lowest?",
        )  # fmt: skip
        order: Tokens = ["asc", place]
    else:
        text = t.pick(
            f"only the top {said}", f"just the top {said}", f"the {said} highest", f"top {said} only",
            f"show the {said} largest", f"which {said} are the highest?", f"limit it to the top {said}",
        )  # fmt: skip
        order = ["desc", place]
    if not said:
        order, text = (
            ["desc", place],
            t.pick("which one is the highest?", "only the largest", "which has the most?"),
        )
        if t.rng.random() < 0.4:
            order, text = (
                ["asc", place],
                t.pick("which one is the lowest?", "only the smallest", "and the lowest?"),
            )
    return text, replace(made, order=order, limit=float(count))


def sorted_rows(t: Teller, made: Made) -> Changed:
    measures, keys = _measures(made), _keys(made)
    if len(measures) != 1 or not keys or made.derive or made.top or made.limit:
        raise NotSaid
    place = f"#{len(keys) + 1}"
    if made.order:
        turned: Tokens = ["asc" if made.order[0] == "desc" else "desc", *made.order[1:]]
        text = t.pick("the other way round", "reverse the order", "turn the order around", "in reverse")
        return text, replace(made, order=turned)
    down = t.rng.random() < 0.65
    text = t.pick(
        "highest first", "sort it descending", "largest first", "order by that, biggest first",
        "sorted from high to low",
    ) if down else t.pick("lowest first", "sort ascending", "smallest first", "sorted from low to high")  # fmt: skip
    return text, replace(made, order=["desc" if down else "asc", place])


def only_above(t: Teller, made: Made) -> Changed:
    measures, keys = _measures(made), _keys(made)
    if len(measures) != 1 or not keys or not _is_plain(made):
        raise NotSaid
    place, number = f"#{len(keys) + 1}", float(t.rng.choice((3, 5, 10, 20, 25, 50, 100, 200, 500, 1000)))
    said = t.said_number(number)
    word, text = t.rng.choice(
        (
            (">", f"only those above {said}"), (">", f"just the ones with more than {said}"), ("<",
            f"only those below {said}"),
            (">=", f"only those with at least {said}"), ("<", f"the ones under {said}"), (">",
            f"which of them are over {said}?"),
        )
    )  # fmt: skip
    return text, replace(made, having=["having", word, place, Item("number", value=number)])


def rows_behind(t: Teller, made: Made) -> Changed:
    if not _measures(made) or not _is_plain(made):
        raise NotSaid
    if t.rng.random() < 0.35:
        if made.items == [["count"]]:
            raise NotSaid
        text = t.pick(
            "how many is that?",
            f"how many {t.many} is that?",
            f"how many {t.many} are those?",
            "how many are there?",
        )
        return text, replace(made, items=[["count"]])
    text = t.pick(
        f"show me those {t.many}", "show the rows", f"list those {t.many}", "list them", "which ones?",
        "show me the rows behind it",
        f"which {t.many} are those?", "give me the details", f"let me see the {t.many}",
    )  # fmt: skip
    return text, replace(made, items=[["rows"]])


CHANGES: dict[Change, float] = {
    another_time: 14,
    whole_time: 3,
    narrower: 14,
    another_value: 14,
    fewer_conditions: 5,
    another_group: 16,
    no_groups: 4,
    another_measure: 12,
    shares_of: 5,
    first_ones: 8,
    sorted_rows: 5,
    only_above: 4,
    rows_behind: 5,
}
"""Each kind of change, and how often it is drawn."""
