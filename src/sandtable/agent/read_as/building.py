"""Plan and question → the parts as they were read, with their words and their choices. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sandtable.agent.read_as.choices import plans_for
from sandtable.agent.read_as.model import Aligned, Choice, ReadAs, ReadPart, Source, Words
from sandtable.planner.conscience import Account
from sandtable.planner.language.reading import Reading
from sandtable.planner.language.vocabulary import LINKS
from sandtable.planner.language.words import split_words
from sandtable.planner.schema.index import SchemaIndex
from sandtable.wording.parts import PlanPart, PlanPath, joins_of, parts_of, text_at

MOST_CHOICES = 5
_JOINING = LINKS | set("by per with from to at each every which has have had do does did".split())
"""Words that mean nothing alone and belong to those after them: `by region`, `of the orders`."""
_LEFT_OUT = {
    "measure": "leave this out",
    "by": "not by this",
    "where": "without this condition",
    "when": "all time",
    "order": "in no order",
    "limit": "all rows",
}


def aligned(question: str, account: Account) -> Aligned:
    reading = Reading.of(question)
    unread = [at for unbound in account.unbound for at in range(unbound.start, unbound.end)]
    return Aligned(
        question=question,
        parts=tuple((part.path, _said(reading, part.words)) for part in account.parts if part.words),
        likely=tuple((path, _said(reading, places)) for path, places in account.likely),
        aside=_said(reading, account.aside),
        unread=_said(reading, unread),
    )


def read_as(
    plan: Mapping[str, Any],
    index: SchemaIndex,
    alignment: Aligned | None = None,
    before: Mapping[str, Any] | None = None,
    doubted: frozenset[tuple[str, str]] = frozenset(),
) -> ReadAs | None:
    """`alignment` is None for a plan that a person chose; `before` is the plan that this one changes.

    `doubted` are kind and label of the parts of `before` that were likely: what is kept of them is as likely as before.
    None for a plan that does not fit the dataset.
    """
    found = parts_of(plan, index.dataset)
    if not found:
        return None
    known = {(part.kind, part.text) for part in parts_of(before, index.dataset)} if before else set[Any]()
    spoken, aside = _words_by_part(found, alignment) if alignment is not None else ({}, ())
    likely = _likely(found, spoken, alignment) if alignment is not None else set[PlanPath]()
    parts: list[ReadPart] = []
    for part in found:
        words = spoken.get(part.path, ())
        source: Source = "chosen" if alignment is None else "default"
        if part.path in likely:
            source = "likely"
        elif words:
            source = "words"
        elif (part.kind, part.text) in known:
            source = "likely" if (part.kind, part.text) in doubted else "kept"
        choices = _choices(plan, part, words, index)
        parts.append(ReadPart(kind=part.kind, label=part.text, source=source, words=words, choices=choices))
    joins = joins_of(plan, index.dataset)
    if alignment is None:
        return ReadAs(parts=tuple(parts), joins=joins)
    return ReadAs(
        question=alignment.question, parts=tuple(parts), aside=aside, unread=alignment.unread, joins=joins
    )


def _said(reading: Reading, places: Iterable[int]) -> tuple[Words, ...]:
    """Neighbouring words as one."""
    made: list[Words] = []
    last = -2
    for at in sorted(set(places)):
        word = reading.words[at]
        if word.is_symbol:
            continue
        start = made.pop().start if at == last + 1 and made else word.start
        made.append(Words(text=reading.text[start : word.end], start=start, end=word.end))
        last = at
    return tuple(made)


def _words_by_part(
    found: tuple[PlanPart, ...], alignment: Aligned
) -> tuple[dict[PlanPath, tuple[Words, ...]], tuple[Words, ...]]:
    """The words of each part, and those that are left aside.

    Words of a piece deep inside belong to the part that it is in, those of the table to what is shown of it.
    """
    made: dict[PlanPath, set[Words]] = {}
    for path, words in (*alignment.parts, *alignment.likely):
        made.setdefault(_home(path, found), set()).update(words)
    spoken = {path: _merged(words, alignment.question) for path, words in made.items()}
    for path in _orders_not_asked_for(found, spoken):
        del spoken[path]
    return spoken, tuple(_left_aside(spoken, alignment))


def _home(path: PlanPath, found: tuple[PlanPart, ...]) -> PlanPath:
    inside = [part.path for part in found if path[: len(part.path)] == part.path]
    return max(inside, key=len) if inside else next(part.path for part in found if part.kind == "measure")


def _likely(
    found: tuple[PlanPart, ...], spoken: Mapping[PlanPath, tuple[Words, ...]], alignment: Aligned
) -> set[PlanPath]:
    """A part is no surer than any word that it was read from."""
    return {_home(path, found) for path, _ in alignment.likely} & spoken.keys()


def _orders_not_asked_for(
    found: tuple[PlanPart, ...], spoken: Mapping[PlanPath, tuple[Words, ...]]
) -> list[PlanPath]:
    """Only a word of its own (`top`, `first`) asks for an order; `sales` in `sales by region` asks for a measure."""
    shown = {
        at for part in found if part.kind in ("measure", "by") for at in _places(spoken.get(part.path, ()))
    }
    orders = [part.path for part in found if part.kind == "order" and part.path in spoken]
    return [path for path in orders if _places(spoken[path]) <= shown]


def _places(words: Iterable[Words]) -> set[int]:
    return {at for each in words for at in range(each.start, each.end)}


def _left_aside(spoken: dict[PlanPath, tuple[Words, ...]], alignment: Aligned) -> Iterator[Words]:
    """What is left of the words aside, once those that only join are with the words after them."""
    question = alignment.question
    for said in alignment.aside:
        cut = said.end
        for word in reversed(split_words(said.text)):
            if word.lower not in _JOINING:
                break
            cut = said.start + word.start
        homes = [
            path
            for path, words in spoken.items()
            if any(each.start >= said.end and not question[said.end : each.start].strip() for each in words)
        ]
        if cut == said.end or not homes:
            yield said
            continue
        for path in homes:
            joining = Words(text=question[cut : said.end], start=cut, end=said.end)
            spoken[path] = _merged((joining, *spoken[path]), question)
        if text := question[said.start : cut].rstrip():
            yield Words(text=text, start=said.start, end=said.start + len(text))


def _merged(words: Iterable[Words], question: str) -> tuple[Words, ...]:
    """Those that overlap or have only blanks between them as one."""
    kept: list[Words] = []
    for said in sorted(words, key=lambda each: each.start):
        if kept and not question[kept[-1].end : said.start].strip():
            before = kept.pop()
            end = max(before.end, said.end)
            said = Words(text=question[before.start : end], start=before.start, end=end)
        kept.append(said)
    return tuple(kept)


def _choices(
    plan: Mapping[str, Any], part: PlanPart, words: tuple[Words, ...], index: SchemaIndex
) -> tuple[Choice, ...]:
    stems = tuple(word.stem for said in words for word in split_words(said.text) if not word.is_symbol)
    made: dict[str, Choice] = {}
    for other in plans_for(plan, part, stems, index):
        text = text_at(other.plan, index.dataset, part.path)
        if text is None:
            continue
        label = _LEFT_OUT[part.kind] if other.without else text
        if not label or label == part.text or label in made:
            continue
        message = f"Leave out “{part.text}”" if other.without else f"Read “{part.text}” as “{label}”"
        made[label] = Choice(label=label, message=message, plan=other.plan)
        if len(made) == MOST_CHOICES:
            break
    return tuple(made.values())
