"""Spider's questions as examples, where the sketch gives what the gold SQL gives on every made instance.

`python -m training.reader.from_spider FOLDER` prints how many there are, and why the others are left out. Databases
that are tuned on are marked `tune`, as `evals/public/spider.py` splits them.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from evals.public import spider
from evals.public.conditions import usage_of
from evals.public.instances import make_instance
from evals.public.relations import Database, Relation, catalog_of
from evals.public.spider import INSTANCES, SpiderWork, is_plain, without_repetitions
from sandtable.catalog.model import Dataset
from sandtable.catalog.profile import Profile
from sandtable.planner.candidates.network.plans import plan_of
from sandtable.planner.candidates.network.sketch import Item, Token
from training.reader.example import Example, fault_of
from training.reader.spider_names import Names, NoSketch, Place
from training.reader.spider_sketch import sketch_of
from training.reader.spider_sql import Scope

SOURCE = "spider"
_AFTER_ITEMS = frozenset({"where", "time", "having", "desc", "asc", "limit", "end"})


def examples(
    folder: Path, skipped: Counter[str] | None = None, *, splits: tuple[str, ...] = ("train", "tune")
) -> Iterator[Example]:
    """`skipped` counts the reasons why questions are left out."""
    for split in splits:
        for work in spider.works(folder, split, None):
            yield from _of_database(work, split == "tune", Counter() if skipped is None else skipped)


def catalogs(folder: Path) -> Iterator[tuple[Dataset, Profile, bool]]:
    """The datasets with their profiles, and whether they are tuned on."""
    for split in ("train", "tune"):
        for work in spider.works(folder, split, None):
            yield *_Instances(work, 1).catalog, split == "tune"


class _Instances:
    """Made rows for a database, and what queries and plans give on them."""

    def __init__(self, work: SpiderWork, count: int = INSTANCES) -> None:
        schema = work.schema
        usage = usage_of(
            work.queries, {t: {c.original.lower() for c in cs} for t, cs in schema.tables.items()}
        )
        self._relations = [make_instance(schema, usage, seed) for seed in range(count)]
        self._work = work
        first = self._relations[0]
        self.catalog = catalog_of(schema.db, first, spider.relationships_of(schema, first))

    def open(self) -> None:
        self._golds = [spider.Gold(self._work.schema, each) for each in self._relations]
        self._databases = [Database(each) for each in self._relations]

    def close(self) -> None:
        for database in self._databases:
            database.close()

    def names(self) -> Names:
        columns: dict[tuple[str, str], str] = {}
        relation: Relation
        for relation in self._relations[0]:
            fields = self._work.schema.tables[relation.name]
            columns |= {
                (relation.name, f.original.lower()): name
                for f, name in zip(fields, relation.columns, strict=True)
            }
        return Names(*self.catalog, columns, frozenset(self._work.schema.links))

    def fault(self, sketch: tuple[Token, ...], sql: str) -> str | None:
        """Why the sketch may not stand for the query."""
        dataset, _ = self.catalog
        if (fault := fault_of(sketch, dataset)) is not None:
            return fault
        plan = plan_of(sketch, dataset.id)
        assert plan is not None
        told_apart = False
        for gold, database in zip(self._golds, self._databases, strict=True):
            wanted = gold.expected(sql)
            if wanted is None:
                continue
            told_apart = told_apart or wanted.answers != ([],)
            rows = database.run(plan, dataset)
            if rows is None:
                return "the plan cannot be executed"
            # The order is taken over word by word; rows that it leaves as they come may differ.
            unordered = replace(wanted, ordered=False)
            if not unordered.accepts(without_repetitions(rows) if _is_list(sql, sketch) else rows):
                return "another result"
        return None if told_apart else "no instance tells"


def _is_list(sql: str, sketch: tuple[Token, ...]) -> bool:
    """Whether a row that is repeated says nothing more."""
    made = sketch[1:]
    items = made[: next((n for n, token in enumerate(made) if token in _AFTER_ITEMS), len(made))]
    return is_plain(sql) or all(isinstance(token, Item) for token in items)


def _by_key(tree: exp.Expr, names: Names, keys: frozenset[Place]) -> exp.Expr:
    """Of two queries for names, set against each other, those for the keys of the same rows."""
    if not isinstance(tree, exp.SetOperation):
        return tree
    made = tree.copy()
    for side in (made.left, made.right):
        if not isinstance(side, exp.Select):
            return tree
        scope = Scope(side, names)
        place = scope.place(side.expressions[0])
        key = next((key for key in keys if key[0] == place[0]), None)
        if key is None or names.columns[place].lower().split()[-1] not in {"name", "title"}:
            return tree
        alias = next(alias for alias, table in scope.aliases.items() if table == place[0])
        side.set("expressions", [exp.column(key[1], table=alias)])
    return made


def _of_database(work: SpiderWork, tune: bool, skipped: Counter[str]) -> Iterator[Example]:
    instances = _Instances(work)
    instances.open()
    names = instances.names()
    dataset, profile = instances.catalog
    for asked in work.asked:
        try:
            tree = sqlglot.parse_one(asked.sql, read="sqlite")
            sketch = sketch_of(tree, names)
            fault = instances.fault(sketch, asked.sql)
            if fault == "another result":
                # Made names may be those of two rows: then their keys tell the rows apart.
                tree, named = _by_key(tree, names, work.schema.keys), sketch
                fault = instances.fault(sketch_of(tree, names, keyed=True), tree.sql("sqlite"))
                sketch = named
        except NoSketch as reason:
            fault, sketch = str(reason), ()
        except SqlglotError:
            fault, sketch = "not SQL", ()
        if fault is None:
            yield Example(SOURCE, dataset, profile, asked.question, sketch, tune)
        else:
            skipped[fault] += 1
    instances.close()


def main() -> None:
    skipped: Counter[str] = Counter()
    kept = Counter("tune" if one.tune else "train" for one in examples(Path(sys.argv[1]), skipped))
    sys.stdout.write(
        "".join(f"{count:6}  {name}\n" for name, count in (*kept.items(), *skipped.most_common()))
    )


if __name__ == "__main__":
    main()
