"""Kinds of questions in many wordings, each with its sketch: lists of rows, look-ups, rows at an end."""

from __future__ import annotations

from training.reader.measuring import Teller
from training.reader.naming import Ref, plural, spoken
from training.reader.phrases import Condition, NotSaid, Tokens
from training.reader.questions import Builder, Made, Said, subject


def _shown(t: Teller) -> Ref | None:
    return t.view.name_of(t.table)


def listed(t: Teller) -> Said:
    """Names where rows have one, whole rows where not."""
    name = _shown(t)
    t.used.update([name.key] if name else [])
    conditions, time, said = t.restriction()
    if not conditions and not time:
        raise NotSaid
    rows = subject(t, conditions, said)
    if name is None:
        text = t.pick(
            f"list the {rows}", f"show all {rows}", f"show me the {rows}", f"give me all {rows}", f"all {rows}",
            f"list all {rows}",
            f"{rows}", f"show details of {rows}", f"pull up the {rows}", f"display {rows}",
        )  # fmt: skip
        return text, Made([["rows"]], conditions, time)
    called = spoken(name.column, t.rng)
    text = t.pick(
        f"which {rows}?" if not said else f"which {rows} are there?", f"list the {rows}",
        f"{plural(called)} of {rows}",
        f"what are the {plural(called)} of {rows}?", f"show the {plural(called)} of all {rows}", f"find {rows}",
        f"give me the {called} of every {t.one} {' and '.join(c.noun for c in conditions)} {said}",
        f"name the {rows}",
    )  # fmt: skip
    return text, Made([[t.item(name)]], conditions, time)


def columns(t: Teller) -> Said:
    refs = t.view.refs(t.table)
    if len(refs) < 3:
        raise NotSaid
    chosen = t.rng.sample(refs, t.rng.choice((1, 2, 2, 3)))
    names = [spoken(r.column, t.rng) for r in chosen]
    if len(set(names)) < len(names):
        raise NotSaid
    t.used.update(r.key for r in chosen)
    conditions, time, said = t.restriction()
    rows = subject(t, conditions, said)
    one = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    order: Tokens = []
    limit = 0
    how = ""
    if t.rng.random() < 0.25:
        by = t.one_of(t.view.numbers(t.table))
        most = t.rng.random() < 0.6
        order = ["desc" if most else "asc", t.item(by)]
        called = spoken(by.column, t.rng)
        how = t.pick(
            f"sorted by {called} {'descending' if most else 'ascending'}",
            f"in {'descending' if most else 'ascending'} order of {called}",
        )
    text = t.pick(
        f"show the {one} of {rows} {how}", f"list {one} of {rows} {how}", f"what are the {one} of {rows} {how}?",
        f"{one} of all {rows} {how}", f"give me {one} for {rows} {how}", f"{one} for {rows} {how}",
        f"what is the {one} of the {rows} {how}?",
        f"show me {one} for each {t.one} {' and '.join(c.noun for c in conditions)} {said} {how}",
    )  # fmt: skip
    return text, Made([[t.item(r)] for r in chosen], conditions, time, order=order, limit=limit)


def looked_up(t: Teller) -> Said:
    name = _shown(t)
    if name is None or not name.texts():
        raise NotSaid
    cell = t.rng.choice(name.texts())
    who = t.text(cell)
    condition = Condition([t.valued(name, cell)], "", "")
    t.used.add(name.key)
    if t.rng.random() < 0.12:
        tokens, unit, a, b = t.elapsed()
        text = t.pick(
            f"how many {unit} passed between {a} and {b} for {who}?", f"{unit} from {a} to {b} for {who}"
        )
        return text, Made([tokens], [condition])
    refs = [
        r
        for r in t.view.refs(t.table)
        if r.key != name.key and not (t.view.is_key(r) and t.rng.random() < 0.7)
    ]
    ref = t.one_of(refs)
    called = spoken(ref.column, t.rng)
    items: list[Tokens] = [[t.item(ref)]]
    if t.rng.random() < 0.25:
        other = t.one_of(refs)
        items.append([t.item(other)])
        called = f"{called} and {spoken(other.column, t.rng)}"
    choices = [
        f"what is the {called} of {who}?", f"{called} of {who}", f"{who}'s {called}", f"what's {who}'s {called}?",
        f"show the {called} of {who}", f"tell me the {called} for {who}",
        f"give me the {called} of the {t.one} {who}",
        f"which {called} does {who} have?", f"look up the {called} of {who}", f"what {called} does {who} have?",
        f"what is the {called} of the {t.one} called {who}?", f"{who}: {called}?",
    ]  # fmt: skip
    if ref.is_time:
        choices += [f"when is the {called} of {who}?", f"when was the {called} of {who}?"]
    return t.pick(*choices), Made(items, [condition])


def extreme_row(t: Teller) -> Said:
    """The rows with the largest or smallest value of a column."""
    shown = _shown(t) or t.view.id_of(t.table)
    if shown is None:
        raise NotSaid
    t.used.add(shown.key)
    ref = t.one_of([*t.view.numbers(t.table), *t.view.times(t.table)])
    name, most = spoken(ref.column, t.rng), t.rng.random() < 0.65
    conditions, time, said = t.restriction() if t.rng.random() < 0.4 else ([], [], "")
    behind = f"{' and '.join(c.noun for c in conditions)} {said}"
    if ref.is_time:
        word = t.pick("latest", "most recent") if most else t.pick("earliest", "oldest")
    else:
        word = t.pick("highest", "largest", "biggest", "greatest") if most else t.pick("lowest", "smallest")
    count = 1 if t.rng.random() < 0.55 else t.rng.choice((2, 3, 5, 5, 10, 10, 20))
    if count == 1:
        text = t.pick(
            f"which {t.one} {behind} has the {word} {name}?", f"the {t.one} {behind} with the {word} {name}",
            f"{t.one} with the {word} {name} {behind}", f"find the {t.one} with the {word} {name} {behind}",
            f"what is the {t.one} with the {word} {name} {behind}?", f"what {t.one} has the {word} {name} {behind}?",
        )  # fmt: skip
    else:
        n = t.said_number(count)
        text = t.pick(
            f"the {n} {t.many} {behind} with the {word} {name}",
            f"show the {n} {t.many} with the {word} {name} {behind}",
            f"which {n} {t.many} have the {word} {name} {behind}?",
            f"list {n} {t.many} with the {word} {name} {behind}",
            *((f"top {n} {t.many} by {name} {behind}",
            f"give me the top {n} {t.many} by {name} {behind}") if most and not ref.is_time else ()),
        )  # fmt: skip
    order: Tokens = ["desc" if most else "asc", "#2"]
    return text, Made([[t.item(shown)], [t.item(ref)]], conditions, time, order=order, limit=count)


BUILDERS: dict[Builder, float] = {listed: 8, columns: 4, looked_up: 5, extreme_row: 6}
