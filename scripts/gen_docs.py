"""Write the pages that are generated from code: `make docs`. With `--check`, only say which are stale.

Invariant: a page is a pure function of the code; `tests/house` fails when one lags behind.
"""

from __future__ import annotations

import ast
import inspect
import json
import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from pydantic import AliasChoices
from pydantic.fields import FieldInfo

from sandtable.agent.events import EVENT
from sandtable.cli.reference import reference_page as cli_page
from sandtable.engines.duckdb import reference as policy_functions
from sandtable.plan.schema import plan_schema_text
from sandtable.server.app import openapi_document
from sandtable.settings import Settings
from sandtable.telemetry import measures

ROOT = Path(__file__).resolve().parent.parent
BOUNDS = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
READABLE_TYPES = {
    "str": "text",
    "SecretStr": "text, kept out of logs",
    "Path": "path",
    "int": "whole number",
    "float": "number",
}


def settings_page() -> str:
    prefix = str(Settings.model_config.get("env_prefix", ""))
    meanings = _meanings()
    rows = [
        _settings_row(prefix, name, field, meanings.get(name, ""))
        for name, field in Settings.model_fields.items()
    ]
    return "\n".join(
        [
            "# Settings",
            "",
            "Sandtable is configured by environment variables. Every one has a default that works.",
            "This page is generated from `src/sandtable/settings.py` by `make docs`.",
            "",
            "| variable | default | accepts | meaning |",
            "|---|---|---|---|",
            *rows,
            "",
        ]
    )


def _meanings() -> dict[str, str]:
    """By field, the text below it. Pydantic can read it too, but would parse the source whenever a command starts."""
    found: dict[str, str] = {}
    for each in Settings.__mro__:
        if each.__module__.startswith("sandtable."):
            for field, below in pairwise(_class_body(each)):
                match field, below:
                    case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(
                        value=ast.Constant(value=str(text))
                    ):
                        found.setdefault(name, inspect.cleandoc(text))
                    case _:
                        pass
    return found


def _class_body(each: type) -> list[ast.stmt]:
    (definition,) = ast.parse(inspect.getsource(each)).body
    assert isinstance(definition, ast.ClassDef)
    return definition.body


def _settings_row(prefix: str, name: str, field: FieldInfo, meaning: str) -> str:
    if not meaning:
        raise SystemExit(f"Settings.{name} has no docstring: write one sentence under the field.")
    first, *aliases = _variables(prefix, name, field)
    also = f" Also read from {', '.join(f'`{alias}`' for alias in aliases)}." if aliases else ""
    cells = (f"`{first}`", _default(field), _accepts(field), meaning + also)
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _variables(prefix: str, name: str, field: FieldInfo) -> list[str]:
    alias = field.validation_alias
    if isinstance(alias, AliasChoices):
        return [str(choice) for choice in alias.choices]
    return [alias] if isinstance(alias, str) else [prefix + name.upper()]


def _default(field: FieldInfo) -> str:
    value = field.get_default(call_default_factory=True, validated_data={})
    if value is None:
        return "unset"
    if value == ():
        return "empty"
    text = str(value)
    home = str(Path.home())
    if isinstance(value, Path) and text.startswith(home):
        text = "~" + text[len(home) :]
    return f"`{text}`" if text else "empty"


def _accepts(field: FieldInfo) -> str:
    kind: Any = field.annotation
    if get_origin(kind) is tuple:
        return "texts with commas between them"
    for part in (kind, *get_args(kind)):
        if get_origin(part) is Literal:
            return ", ".join(f"`{choice}`" for choice in get_args(part))
    parts: list[str] = [part.__name__ for part in (get_args(kind) or (kind,)) if part is not type(None)]
    names = [READABLE_TYPES.get(part, part) for part in parts]
    bounds = [
        f"{sign} {getattr(item, key)}"
        for item in field.metadata
        for key, sign in BOUNDS.items()
        if hasattr(item, key)
    ]
    return ", ".join([" or ".join(names), *bounds])


def policy_page() -> str:
    """The page is written by hand, but for the table of functions between its two marks."""
    return _with_table(
        POLICY, policy_functions.BEGIN, policy_functions.END, policy_functions.function_table()
    )


def operations_page() -> str:
    """The page is written by hand, but for the table of metrics between its two marks."""
    return _with_table(OPERATIONS, measures.BEGIN, measures.END, measures.table())


def _with_table(page: str, begin_mark: str, end_mark: str, table: str) -> str:
    """`table` has the marks in it."""
    text = (ROOT / page).read_text(encoding="utf-8")
    before, begin, rest = text.partition(begin_mark)
    _, end, after = rest.partition(end_mark)
    if not begin or not end:
        raise SystemExit(f"{page} has lost its marks: {begin_mark} and {end_mark}")
    return before + table + after


def openapi_text() -> str:
    """What the web interface's types are made from.

    Which fields of an object exclude each other is left out: as TypeScript, it would be an intersection of unions that
    a body put together field by field does not fit.
    """
    document = openapi_document()
    for schema in document["components"]["schemas"].values():
        if "properties" in schema:
            schema.pop("oneOf", None)
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def events_text() -> str:
    """The events of an answer, as a document that the web interface's types are made from.

    It is an OpenAPI document without paths, for the generator of types reads no other kind.
    """
    event = EVENT.json_schema(ref_template="#/components/schemas/{model}", mode="serialization")
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Events of an answer", "version": "1"},
        "paths": {},
        "components": {"schemas": event.pop("$defs") | {"Event": event}},
    }
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


POLICY = "docs/policy.md"
OPERATIONS = "docs/operations.md"
PAGES: dict[str, Callable[[], str]] = {
    "docs/settings.md": settings_page,
    "docs/cli.md": cli_page,
    "docs/plan.schema.json": plan_schema_text,
    POLICY: policy_page,
    OPERATIONS: operations_page,
    "web/app/src/api/openapi.json": openapi_text,
    "web/app/src/api/events.json": events_text,
}


def main(arguments: list[str]) -> int:
    pages = {page: write() for page, write in PAGES.items()}
    stale = [
        page
        for page, text in pages.items()
        if not (ROOT / page).exists() or (ROOT / page).read_text(encoding="utf-8") != text
    ]
    if "--check" in arguments:
        for page in stale:
            print(f"{page} lags behind the code: run `make docs`")
        return 1 if stale else 0
    for page in stale:
        (ROOT / page).write_text(pages[page], encoding="utf-8")
        print(f"wrote {page}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
