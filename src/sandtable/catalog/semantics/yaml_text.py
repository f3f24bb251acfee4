"""A catalog as one YAML file that people review, keep in Git and edit.

Invariant: what `read_yaml` reads of what `write_yaml` wrote has the same version, whatever the names are. Texts are
read as they are written, so that a column may be called `no` or `1e3`; only plan expressions hold numbers and words.
"""

from __future__ import annotations

import re
from typing import Any, cast

from pydantic import BaseModel, ValidationError

from sandtable.catalog.names import nearest
from sandtable.catalog.semantics.model import (
    ColumnSemantics,
    JoinSemantics,
    MetricSemantics,
    Semantics,
    TableSemantics,
    UnusedSemantics,
)
from sandtable.catalog.semantics.yaml_tree import (
    Path,
    Scalar,
    Tree,
    plain_values,
    read_tree,
    refused,
    write_values,
)
from sandtable.quoting import quote

_HEADER = """\
# What the dataset {name} means: the catalog of Sandtable. See docs/catalog.md for every field.
# Edit it and import it: sandtable data import FILE. A field that is absent says nothing; what the data show holds.
# Joins and metrics are listed as a whole: one that is removed here is removed.
"""
_MODELS: dict[str, type[BaseModel]] = {
    "document": Semantics,
    "tables": TableSemantics,
    "columns": ColumnSemantics,
    "joins": JoinSemantics,
    "metrics": MetricSemantics,
    "unused": UnusedSemantics,
}
"""By the field that holds them."""
_NAMED = frozenset({("document", "tables"), ("tables", "columns"), ("document", "metrics")})
"""Fields whose keys are names, by what they are a field of."""
_TYPED = frozenset(
    {("metrics", "numerator"), ("metrics", "denominator"), ("unused", "content"), ("document", "format")}
)
"""Fields whose scalars have types."""
_NOTHING: tuple[Any, ...] = (None, "", [], {}, False)


def write_yaml(whole: Semantics, found: Semantics) -> str:
    """`found`: what the data say by themselves. What is empty in both is omitted; every column is there."""
    said = whole.model_dump(mode="json", exclude_none=True)
    known = found.model_dump(mode="json", exclude_none=True)
    document = {
        name: each
        for name, each in _said(said, known).items()
        if name != "unused" or each  # It is no statement about the data.
    }
    text = write_values(document)
    spaced = re.sub(r"^(?=(?:tables|joins|metrics|questions|unused):)", "\n", text, flags=re.MULTILINE)
    return _HEADER.format(name=_comment(whole.dataset)) + spaced


def _comment(name: str) -> str:
    return re.sub(r"[^\w.-]", "", name) or "below"


def _said(said: dict[str, Any], known: dict[str, Any], holder: str = "document") -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, each in said.items():
        before = known.get(name)
        if (holder, name) in _NAMED:
            kept = cast(dict[str, dict[str, Any]], before or {})
            each = {key: _said(parts, kept.get(key, {}), name) for key, parts in each.items()}
        if each not in _NOTHING or before not in _NOTHING or (holder, name) in _TYPED:
            made[name] = each
    return made


def read_yaml(text: str) -> Semantics:
    """Raises InvalidInput with line and field of what cannot be used."""
    return read_document(read_tree(text))


def read_document(tree: Tree) -> Semantics:
    root: Any = tree.root
    if not isinstance(root, dict):
        raise refused("a catalog has fields, such as `tables:`", 1)
    try:
        return Semantics.model_validate(_fields(cast(dict[str, Any], root), "document"))
    except ValidationError as error:
        first = error.errors()[0]
        path = tuple(first["loc"])
        more = f", and {error.error_count() - 1} more" if error.error_count() > 1 else ""
        raise refused(f"{_problem(path, first)}{more}", tree.line(path)) from error


def _fields(node: dict[str, Any], holder: str) -> dict[str, Any]:
    return {name: _field(name, each, holder) for name, each in node.items()}


def _field(name: str, node: Any, holder: str) -> Any:
    if (holder, name) in _TYPED:
        return plain_values(node)
    named = (holder, name) in _NAMED
    match node:
        case Scalar():
            return node.text if node.value is not None else {} if named else None
        case dict() if named:
            return {key: _entry(each, name) for key, each in cast(dict[str, Any], node).items()}
        case list():
            return [_entry(each, name) for each in cast(list[Any], node)]
        case _:
            return plain_values(node)


def _entry(node: Any, holder: str) -> Any:
    """What is below a name or in a list: fields, or a text."""
    match node:
        case Scalar():
            return node.text if node.value is not None else {}
        case dict():
            return _fields(cast(dict[str, Any], node), holder)
        case _:
            return plain_values(node)


def _problem(path: Path, error: Any) -> str:
    place = ".".join(str(part) for part in path)
    if error["type"] == "extra_forbidden":
        fields = list(_model_at(path[:-1]).model_fields)
        near = nearest(str(path[-1]), fields)
        hint = f"did you mean {quote(near)}?" if near else f"known are {', '.join(fields)}"
        return f"{quote(place, 200)} is not known; {hint}"
    return f"{quote(place, 200)}: {str(error['msg'])[:300]}"


def _model_at(path: Path) -> type[BaseModel]:
    """What has its fields at that place: a name or a number follows every word of `_MODELS`."""
    return _MODELS.get(str(path[-2]), Semantics) if len(path) > 1 else Semantics
