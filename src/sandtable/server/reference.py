"""The page at `/docs`: the OpenAPI description as plain HTML, without scripts or resources of other hosts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html import escape
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from sandtable.server.openapi import response_of
from sandtable.server.pages import html_page

router = APIRouter(include_in_schema=False)


@router.get("/docs")
async def reference(request: Request) -> HTMLResponse:
    spec: dict[str, Any] = request.app.openapi()
    tags = "".join(_section(tag, spec) for tag in spec["tags"])
    return html_page(
        "Sandtable: how to ask",
        f"""<header><h1>How to ask</h1><p>{escape(spec["info"]["description"])}</p>
<nav><a href="/">Datasets and runs</a><a href="/openapi.json">OpenAPI</a></nav></header>{tags}""",
    )


def _section(tag: dict[str, str], spec: dict[str, Any]) -> str:
    entries = "".join(
        _operation(method, path, operation, spec)
        for path, operations in spec["paths"].items()
        for method, operation in operations.items()
        if tag["name"] in operation["tags"]
    )
    title, about = escape(tag["name"].capitalize()), escape(tag["description"])
    return f'<h2>{title}</h2><p class="soft">{about}</p>{entries}'


def _operation(method: str, path: str, operation: dict[str, Any], spec: dict[str, Any]) -> str:
    parts = [
        f'<summary><span class="method">{escape(method.upper())}</span> <code>{escape(path)}</code> '
        f'<span class="soft">{escape(operation["summary"])}</span></summary>',
        f"<p>{escape(operation.get('description', ''))}</p>",
        _fields("Parameters", list(_parameters(operation))),
        _fields("Body", list(_body_fields(operation, spec))),
        *_examples(operation),
        _fields("Answers", list(_answers(operation, spec))),
    ]
    return f"<details>{''.join(parts)}</details>"


def _answers(operation: dict[str, Any], spec: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for status, response in operation["responses"].items():
        yield status, "", response_of(spec, response)["description"]


def _fields(title: str, rows: list[tuple[str, str, str]]) -> str:
    if not rows:
        return ""
    cells = "".join(
        f"<tr><td><code>{escape(name)}</code></td><td>{escape(kind)}</td><td>{escape(text)}</td></tr>"
        for name, kind, text in rows
    )
    return f'<p class="soft">{title}</p><div class="wide"><table>{cells}</table></div>'


def _parameters(operation: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for parameter in operation.get("parameters", ()):
        schema = parameter["schema"]
        yield parameter["name"], f"{parameter['in']}, {_kind(schema)}", parameter.get("description", "")


def _body_fields(operation: dict[str, Any], spec: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    schema = _body(operation).get("schema", {})
    model = spec["components"]["schemas"].get(schema.get("$ref", "").rpartition("/")[2], {})
    for name, field in model.get("properties", {}).items():
        must = ", required" if name in model.get("required", ()) else ""
        yield name, _kind(field) + must, field.get("description", "")


def _examples(operation: dict[str, Any]) -> Iterator[str]:
    for example in _body(operation).get("examples", {}).values():
        value = json.dumps(example["value"], indent=2, ensure_ascii=False)
        yield f'<p class="soft">{escape(example["summary"])}</p><pre>{escape(value)}</pre>'


def _body(operation: dict[str, Any]) -> dict[str, Any]:
    return operation.get("requestBody", {}).get("content", {}).get("application/json", {})


def _kind(schema: dict[str, Any]) -> str:
    if "enum" in schema:
        return " | ".join(map(str, schema["enum"]))
    if "anyOf" in schema:
        return " or ".join(_kind(choice) for choice in schema["anyOf"] if choice.get("type") != "null")
    return str(schema.get("type", "object"))
