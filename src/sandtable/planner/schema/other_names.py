"""The other names that the catalog gives to tables, columns and metrics."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from sandtable.catalog.model import Dataset
from sandtable.planner.language.vocabulary import AGGREGATES, LEAST, LINKS, MOST
from sandtable.planner.language.words import split_name, split_words, stem
from sandtable.planner.schema.entries import MetricEntry, TableEntry

_KEPT = (
    LINKS
    | frozenset(AGGREGATES)
    | MOST
    | LEAST
    | frozenset(
        "by per each every minute hour day week month quarter year time date and or not no fiscal".split()
    )
)
"""Words that a question cannot do without: a synonym of nothing but these is not read."""

Stems = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RealName:
    name: str
    """As the catalog has it; with its table, where several have such a column."""
    is_table: bool = False

    @property
    def words(self) -> str:
        """As a question writes it."""
        return " ".join(word for part in self.name.split(".", 1) for word in split_name(part))


@dataclass(frozen=True, slots=True)
class OtherNames:
    by_stems: dict[Stems, tuple[RealName, ...]]
    """A synonym → the names that it stands for."""
    real: frozenset[Stems]
    words: frozenset[str]
    """Of the synonyms."""

    @staticmethod
    def of(
        dataset: Dataset, tables: tuple[TableEntry, ...], metrics: tuple[MetricEntry, ...]
    ) -> OtherNames | None:
        """None for a dataset without synonyms. A synonym that is the real name of something else is left out."""
        columns = [column for table in tables for column in table.columns]
        real = {t.stems for t in tables} | {c.stems for c in columns} | {m.stems for m in metrics}
        found: defaultdict[Stems, dict[RealName, None]] = defaultdict(dict)
        words: set[str] = set()
        names = [column.name.lower() for column in columns]
        for synonym, name in _declared(dataset):
            said = [word.lower for word in split_words(synonym) if not word.is_symbol]
            stems = tuple(stem(word) for word in said)
            if not stems or stems in real or all(word in _KEPT for word in said):
                continue
            own = name.name.partition(".")[2]
            found[stems][RealName(own) if own and names.count(own.lower()) == 1 else name] = None
            words.update(said)
        if not found:
            return None
        by_stems = {stems: tuple(names) for stems, names in found.items()}
        return OtherNames(by_stems, frozenset(real), frozenset(words))


def _declared(dataset: Dataset) -> Iterator[tuple[str, RealName]]:
    """Synonyms, with what each is a name of."""
    for table in dataset.tables:
        yield from ((synonym, RealName(table.name, is_table=True)) for synonym in table.synonyms)
        for column in table.columns:
            yield from ((synonym, RealName(f"{table.name}.{column.name}")) for synonym in column.synonyms)
    for metric in dataset.metrics:
        yield from ((synonym, RealName(metric.name)) for synonym in metric.synonyms)
