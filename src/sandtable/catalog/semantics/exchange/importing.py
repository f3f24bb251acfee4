"""A file of any of the formats → the document that describes a dataset after it was imported.

A catalog file of ours is the whole document. A semantic layer says some things: they replace what was there, metrics
and joins of other names stay, and what cannot be used is kept with its reason.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, cast

from sandtable.catalog.model import Dataset
from sandtable.catalog.semantics.applying import Described, described, semantics_of
from sandtable.catalog.semantics.changes import Change, changes
from sandtable.catalog.semantics.editions import CatalogEditions
from sandtable.catalog.semantics.exchange.dbt_reading import read_dbt
from sandtable.catalog.semantics.exchange.ossie_reading import read_ossie
from sandtable.catalog.semantics.model import (
    ColumnSemantics,
    MetricSemantics,
    Semantics,
    TableSemantics,
    UnusedSemantics,
)
from sandtable.catalog.semantics.yaml_text import read_document
from sandtable.catalog.semantics.yaml_tree import DEEPEST, read_tree, refused
from sandtable.errors import InvalidInput
from sandtable.quoting import quote

Format = Literal["sandtable", "ossie", "dbt"]
NAMES: dict[Format, str] = {
    "sandtable": "catalog of Sandtable",
    "ossie": "semantic model of Apache Ossie",
    "dbt": "semantic manifest of dbt",
}
_LONGEST_JSON = 8 << 20
_KINDS = {"ossie": "Ossie ", "dbt": "dbt "}


@dataclass(frozen=True, slots=True)
class Arrived:
    """A file that was read, before it is known which dataset it is about."""

    format: Format
    content: Any
    """A `Semantics`, or the values of a foreign document."""

    @property
    def dataset_id(self) -> str:
        """The one that the file names; empty where it names none."""
        if isinstance(self.content, Semantics):
            return self.content.dataset
        models: Any = self.content.get("semantic_model")
        first: Any = cast(list[Any], models)[0] if isinstance(models, list) and models else None
        name: Any = cast(dict[str, Any], first).get("name") if isinstance(first, dict) else None
        return name if isinstance(name, str) else ""


@dataclass(frozen=True, slots=True)
class Import:
    format: Format
    semantics: Semantics
    """The whole document to be written."""
    changes: tuple[Change, ...]
    unused: tuple[UnusedSemantics, ...]
    catalog_version: str


def read_file(text: str) -> Arrived:
    """Raises InvalidInput for what is none of the formats."""
    text = text.removeprefix("\ufeff")
    if text.lstrip()[:1] == "{":
        values = _json(text)
        if (found := _foreign(values)) is not None:
            return Arrived(found, values)
    tree = read_tree(text)
    values = cast(dict[str, Any], tree.values()) if isinstance(tree.root, dict) else {}
    found = _foreign(values)
    return Arrived("sandtable", read_document(tree)) if found is None else Arrived(found, values)


def _json(text: str) -> dict[str, Any]:
    if len(text) > _LONGEST_JSON:
        raise refused(f"it has more than {_LONGEST_JSON >> 20} MiB", None)
    try:
        found: dict[str, Any] = json.loads(
            text, object_pairs_hook=_object, parse_float=_number, parse_constant=_number
        )
    except json.JSONDecodeError as error:
        raise refused(error.msg, error.lineno) from error
    except RecursionError as error:
        raise refused("it is nested too deeply", None) from error
    level: list[Any] = [found]
    for _ in range(DEEPEST):
        level = [each for node in level for each in _inside(node)]
    if level:
        raise refused(f"it is more than {DEEPEST} levels deep", None)
    return found


def _inside(node: Any) -> Iterable[Any]:
    if isinstance(node, dict):
        return cast(dict[str, Any], node).values()
    return cast(list[Any], node) if isinstance(node, list) else ()


def _number(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise refused(f"{quote(text)} is not a number", None)
    return number


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise refused("an object has a key twice", None)
    return made


def _foreign(values: dict[str, Any]) -> Format | None:
    if "semantic_model" in values:
        return "ossie"
    if "ontology" in values:
        raise InvalidInput(
            "an ontology of Apache Ossie says nothing about tables",
            suggestion="Import a file with `semantic_model`.",
        )
    models = values.get("semantic_models")
    if models is None:
        return None
    first: Any = cast(list[Any], models)[0] if isinstance(models, list) and models else {}
    if isinstance(first, dict) and "model" in first and "node_relation" not in first:
        raise InvalidInput(
            "this is a source file of a dbt project, in which names are not resolved",
            suggestion="Run `dbt parse` and import target/semantic_manifest.json.",
        )
    return "dbt"


def prepare(editions: CatalogEditions, dataset: Dataset, arrived: Arrived) -> Import:
    """What the file makes of the catalog. `dataset`: as the data describe it. Nothing is written. Raises InvalidInput
    where the document does not fit the data."""
    before, present = editions.whole(dataset), editions.describe(dataset).dataset
    if isinstance(arrived.content, Semantics):
        document = arrived.content.model_copy(update={"dataset": dataset.id})
    else:
        read = read_ossie if arrived.format == "ossie" else read_dbt
        layer = read(arrived.content, present, lambda said: editions.problems(described(dataset, said)))
        if not layer.tables and not layer.metrics:
            raise InvalidInput(
                f"none of the tables of the {NAMES[arrived.format]} is in {quote(dataset.id)}",
                suggestion="Name the dataset that it describes.",
                dataset=dataset.id,
                unused=[f"{each.kind} {each.name}: {each.reason}" for each in layer.unused[:100]],
            )
        document = _over(editions.current(dataset.id), layer, present, _KINDS[arrived.format])
    made = editions.fitted(dataset, document)
    after = semantics_of(made.dataset).model_copy(update={"questions": document.questions})
    return Import(
        arrived.format, document, changes(before, after), document.unused, made.dataset.catalog_version
    )


def write(
    editions: CatalogEditions,
    dataset: Dataset,
    found: Import,
    *,
    before: str | None = None,
    by: str = "",
    note: str = "",
) -> Described:
    """`before`: the catalog version that the file was made for, or None. Raises InvalidInput where the document does
    not fit the data, or another version is current."""
    said = note or f"Imported from a {NAMES[found.format]}"
    return editions.write(dataset, found.semantics, before=before, by=by, note=said)


def _over(current: Semantics, layer: Semantics, dataset: Dataset, kind: str) -> Semantics:
    """The current document with what the layer says in the place of what it said. `dataset`: by that document."""
    said = {
        name: each
        for name in ("title", "description", "week_start", "fiscal_year_start", "questions")
        if (each := getattr(layer, name)) is not None
    }
    kept = [each for each in current.unused if not each.kind.startswith(kind)]
    return current.model_copy(
        update={
            **said,
            "dataset": dataset.id,
            "tables": _tables(current, layer),
            "joins": current.joins if layer.joins is None else layer.joins,
            "metrics": _metrics(layer, dataset) if layer.metrics else current.metrics,
            "unused": (*kept, *layer.unused),
        }
    )


def _metrics(layer: Semantics, dataset: Dataset) -> dict[str, MetricSemantics]:
    new = layer.metrics or {}
    replaced = {name.lower() for name in new}
    kept = {
        each.name: MetricSemantics.of(each) for each in dataset.metrics if each.name.lower() not in replaced
    }
    return kept | new


def _tables(current: Semantics, layer: Semantics) -> dict[str, TableSemantics]:
    made = dict(current.tables)
    spelled = {name.lower(): name for name in made}
    for name, said in layer.tables.items():
        there = spelled.get(name.lower(), name)
        made[there] = _table(made.get(there, TableSemantics()), said)
    return made


def _table(before: TableSemantics, said: TableSemantics) -> TableSemantics:
    columns = dict(before.columns)
    spelled = {name.lower(): name for name in columns}
    for name, each in said.columns.items():
        there = spelled.get(name.lower(), name)
        columns[there] = columns.get(there, ColumnSemantics()).model_copy(
            update=each.model_dump(exclude_none=True)
        )
    update = said.model_dump(exclude_none=True, exclude={"columns"})
    return before.model_copy(update={**update, "columns": columns})
