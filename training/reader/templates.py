"""Questions made of phrases, over any dataset, with the sketch that they mean.

`templated` draws a dataset, a table and a kind of question, says it in one of many ways, and keeps what gives a plan
that fits the dataset and whose times are read as they are meant. The same seed gives the same examples.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from sandtable.catalog.model import Dataset
from sandtable.catalog.profile import Profile
from sandtable.planner.candidates.network.sketch import LONGEST, Item, Token, is_sketch
from sandtable.planner.language import periods
from sandtable.planner.language.reading import Reading
from sandtable.planner.language.times import Calendar, find_time_phrases
from training.reader import questions, questions_ranked, questions_rows
from training.reader.example import Example, fault_of
from training.reader.measuring import Teller
from training.reader.naming import View
from training.reader.phrases import NotSaid, Tokens
from training.reader.questions import Builder

SOURCE = "template"
_TRIES = 40
BUILDERS: dict[Builder, float] = {
    questions.total: 8,
    questions.counted: 7,
    questions.shares: 3,
    questions.grouped: 9,
    questions.grouped_twice: 3,
    questions.over_time: 6,
    questions.series: 5,
    questions.parts_of_total: 4,
    **questions_ranked.BUILDERS,
    **questions_rows.BUILDERS,
}
"""Each kind of question, and how often it is drawn."""


def templated(datasets: list[tuple[Dataset, Profile]], count: int, seed: int) -> Iterator[Example]:
    rng = random.Random(seed)
    views = [View(dataset, profile) for dataset, profile in datasets]
    seen: set[tuple[str, str]] = set()
    left = count * _TRIES
    while len(seen) < count and left and views:
        left -= 1
        view = rng.choice(views)
        found = _example(view, rng)
        if found is not None and (view.dataset.id, found.question) not in seen:
            seen.add((view.dataset.id, found.question))
            yield found


def _example(view: View, rng: random.Random) -> Example | None:
    tables = [t.name for t in view.dataset.tables]
    teller = Teller(view, rng.choice(tables), rng)
    build = rng.choices(tuple(BUILDERS), tuple(BUILDERS.values()))[0]
    try:
        text, made = build(teller)
    except NotSaid:
        return None
    question, sketch = finished(text, rng), made.sketch(teller.table)
    if len(sketch) > LONGEST or not is_sketch(sketch) or not is_timely(question, sketch, view.dataset):
        return None
    if fault_of(sketch, view.dataset) is not None:
        return None
    return Example(SOURCE, view.dataset, view.profile, question, sketch, False)


def is_timely(
    question: str, sketch: tuple[Token, ...], dataset: Dataset, before: Tokens | None = None
) -> bool:
    """Whether the question's times are read as those of the sketch, no more and no less.

    `before` are the tokens of the time of the answer before, which a sketch may keep.
    """
    held = next((dict(t.value) for t in before or () if isinstance(t, Item) and t.kind == "window"), None)
    mine = periods.of_window(held, dataset.as_of) if held else None
    read: list[str] = []
    for phrase in find_time_phrases(Reading.of(question), Calendar.at(dataset.as_of)):
        if (
            mine is not None
            and phrase.period is not None
            and periods.nearest(phrase.period, mine) != phrase.period
        ):
            return False
        read.append(str(tuple(sorted(phrase.window.items()))))
    meant = [str(t.value) for t in sketch if isinstance(t, Item) and t.kind == "window"]
    kept = str(tuple(sorted(held.items()))) if held else ""
    return sorted(read) == sorted(meant) or (bool(kept) and not read and meant == [kept])


def finished(text: str, rng: random.Random) -> str:
    """With one blank between words, and a beginning and an end as people write them."""
    text = re.sub(r" (?=[?,.:]( |$))", "", re.sub(r"\s+", " ", text)).strip()
    text = text.replace("total total", "total").replace("average average", "average")
    chance = rng.random()
    if chance < 0.2:
        return text.rstrip("?. ").lower()
    if chance < 0.35:
        return text.rstrip("?. ")
    return text[:1].upper() + text[1:]
