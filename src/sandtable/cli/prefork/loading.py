"""What a fork finds loaded: the modules of brief commands, the shipped reader, and the models built."""

from __future__ import annotations

from collections.abc import Iterator

import sqlglot.dialects.duckdb
from pydantic import BaseModel

from sandtable.assemble import one_turn
from sandtable.cli import ask, check, datasets, early, key, one_question, run, runs, schema, verify
from sandtable.planner import planner
from sandtable.planner.candidates.network.reader import the_reader
from sandtable.planner.ranking.weigher import the_weigher

COMMANDS = {
    "ask": ask,
    "check": check,
    "datasets": datasets,
    "key": key,
    "run": run,
    "runs": runs,
    "schema": schema,
    "verify": verify,
}
LATE = (early, one_question, one_turn, planner, sqlglot.dialects.duckdb)
"""Modules that commands import while they work."""


def load() -> None:
    """What importing these modules does not do by itself."""
    the_reader()
    the_weigher()
    for model in _kinds_of(BaseModel):
        if model.__module__.startswith("sandtable."):
            model.model_rebuild()


def _kinds_of(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for kind in model.__subclasses__():
        yield kind
        yield from _kinds_of(kind)
