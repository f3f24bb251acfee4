"""Spider by database: the planner's SQL and the gold SQL, executed on several made instances.

`DATA` holds `questions.jsonl.gz` {db, question, sql} and `schemas.jsonl.gz`. A fifth of the databases, by hash, is
tuned on; the rest is for training. A question counts where its gold result is not empty and has no tie at its end,
on one instance at least; the planner must be right on all of these instances. A list without aggregates may leave
out repetitions or not.
"""

from __future__ import annotations

import gzip
import json
import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from evals.public.conditions import usage_of
from evals.public.instances import Field, Place, Schema, make_instance
from evals.public.measure import Measured, Planner, is_tune, measure_question, sample
from evals.public.relations import Database, Relation, catalog_of
from sandtable.catalog.model import Relationship
from sandtable.cli.evaluation.expected import MOST_BESIDE, Expected
from sandtable.planner.schema.index import SchemaIndex

INSTANCES = 4
Rows = list[list[Any]]


@dataclass(frozen=True, slots=True)
class Asked:
    id: str
    question: str
    sql: str
    single: bool
    """Whether the gold query reads one table."""


@dataclass(frozen=True, slots=True)
class SpiderWork:
    schema: Schema
    queries: tuple[str, ...]
    """All of the database, so that a sample is measured on the same instances as the whole."""
    asked: tuple[Asked, ...]

    def measure(self, planner: Planner) -> list[Measured]:
        usage = usage_of(
            self.queries, {t: {c.original.lower() for c in cs} for t, cs in self.schema.tables.items()}
        )
        instances = [make_instance(self.schema, usage, seed) for seed in range(INSTANCES)]
        dataset, profile = catalog_of(
            self.schema.db, instances[0], relationships_of(self.schema, instances[0])
        )
        index = SchemaIndex.build(dataset, profile)
        golds = [Gold(self.schema, relations) for relations in instances]
        databases = [Database(relations) for relations in instances]
        measured: list[Measured] = []
        for one in self.asked:
            expected = [gold.expected(one.sql) for gold in golds]
            if not any(found is not None and found.answers != ([],) for found in expected):
                continue

            def judge(
                plan: dict[str, Any],
                expected: list[Expected | None] = expected,
                plain: bool = is_plain(one.sql),
            ) -> bool | None:
                for database, wanted in zip(databases, expected, strict=True):
                    if wanted is None:
                        continue
                    rows = database.run(plan, dataset)
                    if rows is None:
                        return None
                    if not wanted.accepts(without_repetitions(rows) if plain else rows):
                        return False
                return True

            groups = ("all", "single table" if one.single else "several tables")
            measured.append(measure_question(one.id, groups, one.question, index, planner, judge))
        for database in databases:
            database.close()
        return measured


class Gold:
    """Gold queries in SQLite, for which they were written, on the rows of an instance in two orders."""

    def __init__(self, schema: Schema, relations: Sequence[Relation]) -> None:
        self._both = [_sqlite(schema, relations, step) for step in (1, -1)]

    def expected(self, sql: str) -> Expected | None:
        """None where the query cannot be executed, or its result depends on the order of rows."""
        try:
            forward, backward = ([list(row) for row in each.execute(sql).fetchall()] for each in self._both)
        except (sqlite3.Error, sqlite3.Warning):
            return None
        if is_plain(sql):
            forward, backward = without_repetitions(forward), without_repetitions(backward)
        if not Expected((forward,), beside=0).accepts(backward) or self._has_tie(sql):
            return None
        ordered = Expected((forward,), ordered=True, beside=MOST_BESIDE)
        return ordered if _is_ordered(sql) and ordered.accepts(backward) else Expected((forward,))

    def _has_tie(self, sql: str) -> bool:
        """Whether a LIMIT cuts between rows that the order does not tell apart."""
        tree = _parsed(sql)
        for select in tree.find_all(exp.Select) if tree else ():
            order, limit = select.args.get("order"), select.args.get("limit")
            if order is None or limit is None or not str(limit.expression).isdigit():
                continue
            named = {each.alias: each.this for each in select.expressions if isinstance(each, exp.Alias)}
            keys = [named.get(key.this.name, key.this).copy() for key in order.expressions]
            whole = select.copy()
            for part, value in (("expressions", keys), ("limit", None), ("distinct", None)):
                whole.set(part, value)
            try:
                rows = self._both[0].execute(whole.sql("sqlite")).fetchall()
            except sqlite3.Error:
                # It belongs to an outer query, which is not there.
                continue
            end = int(str(limit.expression))
            if end < len(rows) and rows[end - 1] == rows[end]:
                return True
        return False


def is_plain(sql: str) -> bool:
    """Whether it lists rows, without aggregates: then a repetition says nothing more."""
    tree = _parsed(sql)
    return isinstance(tree, exp.Select) and not any(
        each.find_ancestor(exp.Select) is tree for each in tree.find_all(exp.AggFunc, exp.Group)
    )


def without_repetitions(rows: Rows) -> Rows:
    return [list(row) for row in dict.fromkeys(map(tuple, rows))]


def _is_ordered(sql: str) -> bool:
    tree = _parsed(sql)
    return isinstance(tree, exp.Select) and tree.args.get("order") is not None


@cache
def _parsed(sql: str) -> exp.Expr | None:
    """None for the few that are not SQL."""
    try:
        return sqlglot.parse_one(sql, read="sqlite")
    except SqlglotError:
        return None


def _sqlite(schema: Schema, relations: Sequence[Relation], step: int) -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    kinds = {"VARCHAR": "TEXT", "BIGINT": "INTEGER", "DOUBLE": "REAL", "DATE": "TEXT"}
    for relation in relations:
        fields = schema.tables[relation.name]
        columns = ", ".join(f'"{f.original}" {kinds[t]}' for f, t in zip(fields, relation.types, strict=True))
        connection.execute(f'CREATE TABLE "{relation.name}" ({columns})')
        marks = ", ".join("?" for _ in fields)
        connection.executemany(f'INSERT INTO "{relation.name}" VALUES ({marks})', relation.rows[::step])
    return connection


def relationships_of(schema: Schema, relations: Sequence[Relation]) -> list[Relationship]:
    names = {
        (relation.name, f.original.lower()): name
        for relation in relations
        for f, name in zip(schema.tables[relation.name], relation.columns, strict=True)
    }
    return [
        Relationship(many_table=src[0], many_column=names[src], one_table=to[0], one_column=names[to])
        for src, to in dict.fromkeys(schema.links)
        if src[0] != to[0]
    ]


def works(folder: Path, split: str, limit: int | None) -> list[SpiderWork]:
    schemas = {raw["db"]: _schema(raw) for raw in _lines(folder / "schemas.jsonl.gz")}
    by_db: dict[str, list[Asked]] = {}
    for number, raw in enumerate(_lines(folder / "questions.jsonl.gz")):
        if is_tune(raw["db"]) == (split == "tune"):
            asked = Asked(f"{raw['db']}.{number}", raw["question"], raw["sql"], _is_single(raw["sql"]))
            by_db.setdefault(raw["db"], []).append(asked)
    every = [(db, one) for db, found in by_db.items() for one in found]
    chosen = {one.id for _, one in sample(every, lambda pair: pair[1].id, limit)}
    return [
        SpiderWork(
            schemas[db], tuple(one.sql for one in found), tuple(one for one in found if one.id in chosen)
        )
        for db, found in by_db.items()
        if any(one.id in chosen for one in found)
    ]


def _is_single(sql: str) -> bool:
    tree = _parsed(sql)
    return tree is not None and len(list(tree.find_all(exp.Table))) == 1


def _schema(raw: dict[str, Any]) -> Schema:
    tables = {
        table["original"].lower(): tuple(Field(c["name"], c["original"], c["type"]) for c in table["columns"])
        for table in raw["tables"]
        if not table["original"].lower().startswith("sqlite_")
    }
    known = {(table, c.original.lower()) for table, columns in tables.items() for c in columns}
    links = [(_place(src), _place(to)) for src, to in raw["foreign_keys"]]
    return Schema(
        raw["db"],
        tables,
        frozenset(_place(key) for key in raw["primary_keys"]) & known,
        tuple((src, to) for src, to in links if src in known and to in known and src != to),
    )


def _place(text: str) -> Place:
    table, _, column = text.lower().partition(".")
    return table, column


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
