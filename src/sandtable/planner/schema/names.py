"""The words of a dataset's names, indexed for lookup with inflections, synonyms and typos."""

from __future__ import annotations

from collections import defaultdict

from sandtable.catalog.model import Dataset
from sandtable.planner.language.spelling import within
from sandtable.planner.language.synonyms import related
from sandtable.planner.language.vocabulary import AGGREGATES, FILLER, GENERIC
from sandtable.planner.language.words import Word, split_words, stem
from sandtable.planner.schema.entries import ColumnEntry, MetricEntry, TableEntry

Target = ColumnEntry | MetricEntry | TableEntry
_LIGHT = 0.35
_TIME_UNITS = frozenset(stem(w) for w in "minutes hours seconds days ms".split())
_LASTING = frozenset(stem(w) for w in "time duration long takes".split())


SHORTENED = {
    stem(full): short
    for short, full in (
        ("perf", "performance"), ("nat", "nationality"), ("opp", "opponent"), ("dest", "destination"),
        ("mgr", "manager"), ("loc", "location"), ("occ", "occupation"), ("div", "division"), ("conf", "conference"),
        ("pred", "predecessor"), ("gov", "governor"), ("pres", "president"), ("attend", "attendance"),
        ("elev", "elevation"), ("dist", "distance"), ("vol", "volume"), ("freq", "frequency"), ("tot", "total"),
    )
}  # fmt: skip
"""Words that column names often shorten."""


class NameBook:
    """The words of all names of a dataset, indexed for lookup."""

    def __init__(
        self, dataset: Dataset, tables: tuple[TableEntry, ...], metrics: tuple[MetricEntry, ...]
    ) -> None:
        self.targets: list[Target] = []
        self.stems: list[tuple[str, ...]] = []
        self.weights: list[tuple[float, ...]] = []
        self.by_stem: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        self.by_joined: defaultdict[str, list[int]] = defaultdict(list)
        self.by_letter: defaultdict[str, set[str]] = defaultdict(set)
        for table in tables:
            for name in _table_names(dataset, table):
                self._add(table, name, frozenset())
            own = frozenset(table.stems)
            for column in table.columns:
                self._add(column, column.stems, own)
        for metric in metrics:
            self._add(metric, metric.stems, frozenset())

    def _add(self, target: Target, stems: tuple[str, ...], own: frozenset[str]) -> None:
        if not stems:
            return
        number = len(self.targets)
        self.targets.append(target)
        self.stems.append(stems)
        light = [s in GENERIC or s in own for s in stems]
        if all(light):
            light = (
                [s in GENERIC for s in stems]
                if not all(s in GENERIC for s in stems)
                else [False] * len(stems)
            )
        self.weights.append(tuple(_LIGHT if generic else 1.0 for generic in light))
        self.by_joined["".join(stems)].append(number)
        for place, word in enumerate(stems):
            self.by_stem[word].append((number, place))
            if word:
                self.by_letter[word[0]].add(word)

    def places(self, word: Word) -> dict[int, dict[int, float]]:
        """Target → places in its name where this word fits, with how well."""
        found: defaultdict[int, dict[int, float]] = defaultdict(dict)
        for fitting, quality in self._fitting(word).items():
            for number, place in self.by_stem.get(fitting, ()):
                if quality > found[number].get(place, 0.0):
                    found[number][place] = quality
        return found

    def _fitting(self, word: Word) -> dict[str, float]:
        own = word.stem
        fitting = {own: 1.0}
        if word.lower in AGGREGATES:
            return fitting
        for other in related(own):
            fitting[other] = 0.6
        if own in SHORTENED and own not in self.by_stem:
            fitting[SHORTENED[own]] = 0.9
        if own in _LASTING:
            fitting.update(dict.fromkeys(_TIME_UNITS, 0.6))
        if own in self.by_stem or len(own) < 4 or not own.isalpha():
            return fitting
        slips = 0 if word.lower in FILLER or len(own) < 5 else 1 if len(own) < 9 else 2
        if len(own) > 4 and word.lower not in FILLER:
            ending = (s for s in self.by_stem if s.endswith(own) and len(s) - len(own) <= 3)
            fitting.update(dict.fromkeys(ending, 0.7))
        for known in self.by_letter.get(own[0], ()):
            if _same_root(own, known) or known in {f"{own}er", f"{own}or"}:
                fitting[known] = max(fitting.get(known, 0.0), 0.75)
            elif slips and len(known) > 3 and within(own, known, slips) is not None:
                fitting[known] = max(fitting.get(known, 0.0), 0.8)
        return fitting


def _same_root(a: str, b: str) -> bool:
    """`direct` and `director`, `nation` and `national`: one begins with the other, or nearly."""
    common = 0
    while common < min(len(a), len(b)) and a[common] == b[common]:
        common += 1
    return common >= 5 and max(len(a), len(b)) - common <= 5 and common >= min(len(a), len(b)) - 1


def _table_names(dataset: Dataset, table: TableEntry) -> list[tuple[str, ...]]:
    """What a table's rows are called: its name, and X where it is described as `One row per X`."""
    names = [table.stems]
    entry = dataset.table(table.name)
    words = split_words(entry.description) if entry else ()
    for at, word in enumerate(words[:-1]):
        composite = at + 2 < len(words) and words[at + 2].lower in {"and", "per", ","}
        if word.lower == "per" and at > 0 and words[at - 1].lower == "row" and not composite:
            names.append((words[at + 1].stem,))
            break
    if len(table.stems) > 1 and table.stems[-1] not in GENERIC:
        names.append((table.stems[-1],))
    return list(dict.fromkeys(names))
