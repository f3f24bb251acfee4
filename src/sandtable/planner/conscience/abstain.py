"""The reply when there is no plan: what was not understood, what is near, and what could be asked."""

from __future__ import annotations

from sandtable.planner.language.spelling import within
from sandtable.planner.language.synonyms import related
from sandtable.planner.language.vocabulary import FILLER
from sandtable.planner.language.words import split_words, stem, value_key
from sandtable.planner.schema.columns import is_identifier, is_measure, is_year
from sandtable.planner.schema.entries import ColumnEntry, TableEntry
from sandtable.planner.schema.index import SchemaIndex
from sandtable.quoting import quote

MOST_OFFERS = 5


def unknown_reason(unknown: tuple[str, ...], index: SchemaIndex) -> str:
    """Names the first word that the data does not have; a word that it has is never reported as missing."""
    missing = tuple(word for word in unknown if not _is_known(word, index))
    phrase = " ".join((missing or unknown)[:6])
    if not missing:
        known = f"I did not find what {quote(phrase)} means in this question, although the data has it."
        return f"{known} Could you say it in other words?"
    near = [name for name in nearest_names(missing, index) if value_key(name) not in map(value_key, missing)]
    hint = (
        f" Did you mean {_or(near)}?" if near else f" It has, for example, {_or(_some_names(index), 'and')}."
    )
    return f"I did not understand {quote(phrase)}: no column, metric or value of this dataset is called that.{hint}"


def _is_known(word: str, index: SchemaIndex) -> bool:
    """Whether a table, a column or a metric is called this, or a cell holds it."""
    names = [t.name for t in index.tables] + [c.name for t in index.tables for c in t.columns]
    names += [m.metric.name for m in index.metrics]
    singular = stem(word)
    called = any(value_key(name) == value_key(word) or stem(name) == singular for name in names)
    return called or bool(index.find_value(word))


def nearest_names(unknown: tuple[str, ...], index: SchemaIndex) -> list[str]:
    """Columns and metrics that sound alike or mean something near."""
    scored: list[tuple[float, int, str]] = []
    names = [(c.name, c.stems, c.description_stems) for t in index.tables for c in t.columns]
    names += [(m.metric.name, m.stems, m.description_stems) for m in index.metrics]
    stems = [stem(w) for w in unknown[:8]]
    for place, (name, parts, described) in enumerate(names[:400]):
        score = max((_alike(word, parts, described) for word in stems), default=0.0)
        if score > 0:
            scored.append((-score, place, name))
    return list(dict.fromkeys(name for _, _, name in sorted(scored)))[:3]


def _alike(word: str, parts: tuple[str, ...], described: frozenset[str]) -> float:
    if word in parts:
        return 1.0
    if any(part in related(word) for part in parts):
        return 0.8
    if len(word) > 3 and any(
        len(p) > 3 and (p.startswith(word[:4]) or within(word, p, 1 + (len(word) > 7)) is not None)
        for p in parts
    ):
        return 0.6
    return 0.4 if word in described and len(word) > 3 else 0.0


def _some_names(index: SchemaIndex) -> list[str]:
    return [c.name for c in index.tables[0].columns[:4]]


def _or(named: list[str], word: str = "or") -> str:
    names = [quote(name) for name in named]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def suggest(question: str, index: SchemaIndex) -> tuple[str, ...]:
    """Questions over this dataset, the nearest to this one first."""
    asked = {w.stem for w in split_words(question[:2000]) if w.lower not in FILLER and not w.is_symbol}
    offers = [*index.dataset.prompts, *_made_up(index)]

    def distance(offer: str) -> int:
        return -len(asked & {w.stem for w in split_words(offer)})

    return tuple(sorted(dict.fromkeys(offers), key=distance)[:MOST_OFFERS])


def _made_up(index: SchemaIndex) -> list[str]:
    offers: list[str] = []
    for table in index.tables[:4]:
        offers.extend(_about(table))
    return offers


def _about(table: TableEntry) -> list[str]:
    groups = [c for c in table.columns if _groups_well(c, table)][:3]
    numbers = [c for c in table.columns if is_measure(c)][:3]
    offers = [f"Average {_said(n)} by {_said(g)}" for n in numbers for g in groups if n is not g]
    offers += [f"How many rows per {_said(g)}?" for g in groups]
    offers += [f"What is the highest {_said(n)}?" for n in numbers]
    return offers or ["How many rows are there?"]


def _groups_well(column: ColumnEntry, table: TableEntry) -> bool:
    if column.numeric and not is_year(column):
        return False
    if column.profile is None:
        return column.text and not is_identifier(column)
    few = 1 < column.profile.distinct <= 50 and column.profile.distinct < (table.rows or 10**9)
    return few and not column.temporal


def _said(column: ColumnEntry) -> str:
    return column.name.replace("_", " ")
