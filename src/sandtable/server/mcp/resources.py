"""Resources: datasets, runs and their rows, capsules, the plan language, and the answer card.

Invariant: a resource shows of a run what a tool would, without the budget of a call: a page has its own bound.
"""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit
from urllib.parse import quote as quoted

import mcp_types as types
from mcp.server.apps import APP_MIME_TYPE

from sandtable.conversations.json_text import encode
from sandtable.errors import InvalidInput, NotFound
from sandtable.plan.schema import plan_schema
from sandtable.quoting import quote
from sandtable.runs.described import described_run
from sandtable.runs.export import csv_of, require_result
from sandtable.runs.model import Run
from sandtable.server.mcp import calls, card
from sandtable.server.mcp.budget import Budget
from sandtable.server.mcp.place import Caller
from sandtable.server.mcp.shown import WITHHELD, AskResult, Shown, ShownRun, rows_uri, shown_run
from sandtable.server.mcp.tools import DescribeArguments

MOST_DATASETS = 200
MOST_ROWS = 1_000
"""Of one page of rows."""
PAGE_BYTES = 256 << 10
_ROWS = 200
_JSON, _CSV = "application/json", "text/csv"
_DATASETS, _PLAN_SCHEMA = "sandtable://datasets", "sandtable://plan-schema"
_ENDED_MS, _FIXED_MS = 86_400_000, 3_600_000
_WHOLE = re.compile(r"\d{1,9}")

TEMPLATES = [
    types.ResourceTemplate(
        name="dataset",
        title="A dataset",
        uri_template="sandtable://datasets/{dataset_id}",
        description="Tables, columns, relationships and metrics.",
        mime_type=_JSON,
    ),
    types.ResourceTemplate(
        name="run",
        title="A run",
        uri_template="sandtable://runs/{run_id}",
        description="What ran, and how it ended, without its rows.",
        mime_type=_JSON,
    ),
    types.ResourceTemplate(
        name="rows",
        title="The rows of a run",
        uri_template="sandtable://runs/{run_id}/rows{?offset,limit,format}",
        description=f"As pages of JSON (`limit` up to {MOST_ROWS}, `next` leads on), or with `format=csv` as one CSV.",
        mime_type=_JSON,
    ),
    types.ResourceTemplate(
        name="capsule",
        title="The capsule of a run",
        uri_template="sandtable://runs/{run_id}/capsule",
        description="The signed proof; `sandtable verify` takes it as it is.",
        mime_type=_JSON,
    ),
]


def listed(caller: Caller) -> list[types.Resource]:
    fixed = [
        types.Resource(name="datasets", title="Datasets", uri=_DATASETS, mime_type=_JSON),
        types.Resource(
            name="plan-schema",
            title="The plan language",
            uri=_PLAN_SCHEMA,
            description="JSON Schema of what `run_plan` takes.",
            mime_type=_JSON,
        ),
        types.Resource(
            name="answer-card",
            title="The answer card",
            uri=card.URI,
            mime_type=APP_MIME_TYPE,
            _meta=card.RESOURCE_META,
        ),
    ]
    datasets = [
        types.Resource(
            name=dataset.id,
            title=dataset.title or dataset.id,
            uri=f"{_DATASETS}/{quoted(dataset.id, safe='')}",
            description=dataset.description[:300],
            mime_type=_JSON,
        )
        for dataset in caller.datasets()[:MOST_DATASETS]
    ]
    return fixed + datasets


def links_of(given: Shown | None) -> list[types.ContentBlock]:
    """To what a result has no room for."""
    run = given.run if isinstance(given, AskResult) else given
    if not isinstance(run, ShownRun):
        return []
    links: list[types.ContentBlock] = []
    if run.rows_uri is not None:
        links.append(
            types.ResourceLink(
                name="rows",
                title="The rest of the rows",
                uri=run.rows_uri,
                description=f"Also as CSV: {rows_uri(run.run_id)}?format=csv",
                mime_type=_JSON,
            )
        )
    if run.capsule_uri is not None:
        links.append(
            types.ResourceLink(name="capsule", title="Capsule", uri=run.capsule_uri, mime_type=_JSON)
        )
    return links


async def read(caller: Caller, uri: str) -> types.ReadResourceResult:
    """Raises NotFound, InvalidInput."""
    if uri == card.URI:
        return _contents(uri, card.html(), APP_MIME_TYPE, _FIXED_MS, "public", card.RESOURCE_META)
    if uri == _PLAN_SCHEMA:
        return _contents(uri, json.dumps(plan_schema()), _JSON, _FIXED_MS, "public")
    try:
        parts = urlsplit(uri)
    except ValueError:
        raise _unknown(uri) from None
    path = [parts.netloc, *(unquote(each) for each in parts.path.split("/")[1:])]
    match (parts.scheme, *path):
        case ("sandtable", "datasets"):
            given = await calls.list_datasets(caller, calls.ListArguments(), _silent)
            return _contents(uri, encode(given.structured), _JSON)
        case ("sandtable", "datasets", str(dataset_id)) if dataset_id:
            given = await calls.describe_dataset(
                caller, DescribeArguments(dataset_id=dataset_id, detail="columns", table=None), _silent
            )
            return _contents(uri, encode(given.structured), _JSON)
        case ("sandtable", "runs", str(run_id)) if run_id:
            return await _run(caller, uri, run_id)
        case ("sandtable", "runs", str(run_id), "rows"):
            return await _rows(caller, uri, run_id, dict(parse_qsl(parts.query)))
        case ("sandtable", "runs", str(run_id), "capsule"):
            return await _capsule(caller, uri, run_id)
        case _:
            raise _unknown(uri)


def _unknown(uri: str) -> NotFound:
    return NotFound(
        f"no resource {quote(uri)}", suggestion="`resources/list` and `resources/templates/list` list them."
    )


async def _silent(message: str) -> None:
    return


async def _run(caller: Caller, uri: str, run_id: str) -> types.ReadResourceResult:
    run = await caller.run(run_id)
    shown = shown_run(run, caller.privacy_of(run), Budget.of(caller.place.settings))
    return _contents(uri, encode(shown), _JSON, _ENDED_MS if run.ended else 0)


async def _rows(caller: Caller, uri: str, run_id: str, wanted: dict[str, str]) -> types.ReadResourceResult:
    run = await caller.run(run_id)
    if caller.privacy_of(run) == "schema":
        raise NotFound(f"the rows of run {run_id} are withheld", suggestion=WITHHELD)
    require_result(run)
    if wanted.get("format", "json") == "csv":
        return _contents(uri, csv_of(run).decode("utf-8", "replace"), _CSV, _ENDED_MS)
    offset, limit = _number(wanted, "offset", 0), min(_number(wanted, "limit", _ROWS), MOST_ROWS)
    return _contents(uri, encode(_page(run, offset, limit)), _JSON, _ENDED_MS)


def _page(run: Run, offset: int, limit: int) -> dict[str, Any]:
    rows: list[Any] = []
    size = 0
    for row in (run.rows or ())[offset : offset + limit]:
        size += len(encode(row).encode())
        # One row is always given, so that the next page is another one.
        if size > PAGE_BYTES and rows:
            break
        rows.append(row)
    after = offset + len(rows)
    more = rows and after < len(run.rows or ())
    return {
        "run_id": run.id,
        "columns": [column.model_dump(mode="json") for column in described_run(run)],
        "offset": offset,
        "rows": rows,
        "row_count": run.row_count,
        "truncated": run.truncated,
        "next": rows_uri(run.id, after) if more else None,
    }


def _number(wanted: dict[str, str], name: str, otherwise: int) -> int:
    text = wanted.get(name, str(otherwise))
    if not _WHOLE.fullmatch(text):
        raise InvalidInput(f"`{name}` is {quote(text)}", suggestion="Give a whole number.", field=name)
    return int(text)


async def _capsule(caller: Caller, uri: str, run_id: str) -> types.ReadResourceResult:
    run = await caller.run(run_id)
    if caller.privacy_of(run) == "schema":
        # It holds the query and digests of rows; a figure in it holds cells.
        raise NotFound(f"the capsule of run {run_id} is withheld", suggestion=WITHHELD)
    return _contents(uri, json.dumps(await caller.capsule(run_id)), _JSON, _ENDED_MS)


def _contents(
    uri: str,
    text: str,
    kind: str,
    ttl_ms: int = 0,
    scope: Any = "private",
    meta: dict[str, Any] | None = None,
) -> types.ReadResourceResult:
    found = types.TextResourceContents(uri=uri, mime_type=kind, text=text, _meta=meta)
    return types.ReadResourceResult(contents=[found], ttl_ms=ttl_ms, cache_scope=scope)
