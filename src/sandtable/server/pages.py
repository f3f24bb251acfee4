"""The page at `/` where the web interface is not built: what may be asked about, what was asked last.

Invariant: every value passes `html.escape`; the page holds no script, and its policy allows none.
"""

from __future__ import annotations

import base64
import hashlib
from html import escape
from importlib.resources import files

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from sandtable.assemble import Parts
from sandtable.catalog.model import Dataset
from sandtable.errors import SandtableError
from sandtable.runs.model import Run

STYLE = files("sandtable.server").joinpath("page.css").read_text("utf-8")
_STYLE_HASH = base64.b64encode(hashlib.sha256(STYLE.encode("utf-8")).digest()).decode("ascii")
PAGE_POLICY = (
    f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'none'"
)
LAST_RUNS = 12
_SHOWN = 160

_TRY = """curl -s 'http://{host}/runs?wait=10' -H 'Content-Type: application/json' -d '{{
  "dataset_id": "ecommerce",
  "sql": "SELECT category, count(*) AS n FROM order_items GROUP BY category ORDER BY n DESC"
}}'"""

router = APIRouter(include_in_schema=False)


@router.get("/")
async def landing(request: Request) -> HTMLResponse:
    parts: Parts = request.app.state.parts
    try:
        runs = _runs(await parts.runs.list(limit=LAST_RUNS))
    except SandtableError as error:
        runs = f'<p class="failed">{escape(error.message)}</p>'
    cards = "".join(_card(dataset) for dataset in parts.datasets.datasets())
    host = request.headers.get("host", "localhost")
    return html_page(
        "Sandtable",
        f"""<header><h1>Sandtable</h1>
<p class="soft">Questions about tabular data: a plan or SQL goes in, a gate judges it, a sealed sandbox
runs it, a signed capsule comes out.</p>
<nav><a href="/docs">How to ask</a><a href="/openapi.json">OpenAPI</a><a href="/plan/schema">Plan language</a>
<a href="/keys">Signing key</a><a href="/readyz">Readiness</a></nav></header>
<p>The web interface is not built. In a checkout, <code>make web</code> builds it; this page then gives way to it.
Everything else works, <a href="/chat/">the chat</a> too where <code>make chat-ui</code> built it.</p>
<h2>Datasets</h2><div class="cards">{cards}</div>
<h2>Try it</h2><pre>{escape(_TRY.format(host=host))}</pre>
<h2>Last runs</h2>{runs}""",
    )


def html_page(title: str, body: str) -> HTMLResponse:
    """`body` is HTML whose values are already escaped."""
    head = (
        f'<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style>"
    )
    page = f'<!doctype html><html lang="en"><head>{head}</head><body>{body}</body></html>'
    # Untrusted text may hold lone surrogates, which UTF-8 cannot encode.
    content = page.encode("utf-8", "replace")
    return HTMLResponse(content, headers={"Content-Security-Policy": PAGE_POLICY})


def _card(dataset: Dataset) -> str:
    sizes = [f" ({table.rows:,} rows)" if table.rows else "" for table in dataset.tables]
    tables = ", ".join(escape(table.name) + size for table, size in zip(dataset.tables, sizes, strict=True))
    prompts = "".join(f"<li>{escape(prompt)}</li>" for prompt in dataset.prompts)
    return (
        f'<section class="card"><h3>{escape(dataset.title or dataset.id)}</h3>'
        f'<p>{escape(dataset.description)}</p><p class="soft">{tables}</p>'
        f'<p><a href="/datasets/{escape(dataset.id)}/schema">Schema and sample rows</a></p>'
        f"<ul>{prompts}</ul></section>"
    )


def _runs(runs: list[Run]) -> str:
    if not runs:
        return '<p class="soft">None yet.</p>'
    head = "<tr><th>status</th><th>what</th><th>dataset</th><th>rows</th><th>ms</th><th>capsule</th></tr>"
    return f'<div class="wide"><table>{head}{"".join(map(_row, runs))}</table></div>'


def _row(run: Run) -> str:
    what = run.request.question or run.sql or "a plan"
    shown = what if len(what) <= _SHOWN else what[: _SHOWN - 1] + "…"
    took = "cached" if run.cached_from else "" if run.exec_time_ms is None else f"{run.exec_time_ms:.1f}"
    capsule = f'<a href="/runs/{escape(run.id)}/capsule">download</a>' if run.ended else ""
    return (
        f'<tr><td class="{escape(run.status)}">{escape(run.status)}</td>'
        f'<td class="what"><a href="/runs/{escape(run.id)}">{escape(shown)}</a></td>'
        f"<td>{escape(run.request.dataset_id)}</td>"
        f'<td class="number">{"" if run.row_count is None else f"{run.row_count:,}"}</td>'
        f'<td class="number">{took}</td><td>{capsule}</td></tr>'
    )
