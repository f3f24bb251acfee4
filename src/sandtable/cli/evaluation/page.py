"""An evaluation as one HTML page: totals, the curve of precision over coverage, and every answer with its capsule.

Invariant: the page is self-contained. It has no script, and its policy allows none; every text passes `_text`,
because questions, cells and sentences are untrusted.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from sandtable.capsule.document import document
from sandtable.cli.evaluation.outcome import Judged
from sandtable.cli.evaluation.report import headlines, percent
from sandtable.cli.evaluation.score import COSTS, Point, Score, Totals
from sandtable.cli.show import clean

MOST_ROWS = 50
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"
_OUTCOMES = ("right", "wrong", "asked", "rightly asked", "rightly declined", "failed")
_WIDTH, _HEIGHT, _MARGIN = 420, 240, 44

_STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 66rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2 { line-height: 1.2; } pre { overflow-x: auto; background: var(--soft); padding: .6rem; border-radius: 6px; }
table { border-collapse: collapse; }
th, td { padding: .15rem .6rem; border-bottom: 1px solid var(--line); text-align: left; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; } .wide { overflow-x: auto; }
details { border-bottom: 1px solid var(--line); padding: .3rem 0; } summary { cursor: pointer; }
summary b { display: inline-block; min-width: 8.5rem; } dt { opacity: .7; }
dd { margin: 0 0 .4rem; white-space: pre-wrap; }
.wrong > summary b, .failed > summary b { color: #c5221f; } .right > summary b { color: #188038; }
.asked > summary b { color: #b06000; } svg text { font-size: 11px; fill: currentColor; }
""" + "".join(
    f"#only-{name}:checked ~ main details:not(.{name}) {{ display: none; }}\n"
    for name in (outcome.replace(" ", "-") for outcome in _OUTCOMES)
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shown:
    judged: Judged
    envelope: Mapping[str, Any] | None
    """The signed capsule of its run; None if there was no run."""


@dataclass(frozen=True, slots=True)
class Scored:
    """One of several proposers that were asked the same questions."""

    name: str
    score: Score
    outcomes: Mapping[str, str]
    """The outcome of each question, by its id."""


def page(
    title: str,
    score: Score,
    shown: Sequence[Shown],
    public_key: str,
    compared: Sequence[Scored] = (),
) -> str:
    """The whole document. `public_key` is the one that the capsules are signed with, in PEM.

    `compared` are the proposers side by side, where there is more than one; the answers are those of the first.
    """
    head = (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{_text(title)}</title><style>{_STYLE}</style></head>\n<body>\n<h1>{_text(title)}</h1>\n"
    )
    key = _link("key.pem", "application/x-pem-file", public_key.encode(), "key.pem")
    how = (
        f"<p>Every answer has its capsule. Save one and run <code>sandtable verify FILE</code>; "
        f"elsewhere, with the public key ({key}), <code>sandtable verify FILE --key key.pem</code>.</p>\n"
    )
    return "".join(
        [
            head,
            *_side_by_side(compared, shown),
            *_totals(score),
            how,
            *_filter(),
            "<main>\n",
            *map(_answer, shown),
            "</main>\n</body></html>\n",
        ]
    )


def _side_by_side(compared: Sequence[Scored], shown: Sequence[Shown]) -> Iterator[str]:
    if not compared:
        return
    yield "<h2>Side by side</h2>\n" + _table_of({each.name: each.score.totals for each in compared})
    head = "".join(f"<th>{_text(each.name)}</th>" for each in compared)
    rows = ""
    for one in shown:
        name = str(one.judged.item.id)
        found = [each.outcomes.get(name, "") for each in compared]
        if len(set(found)) > 1:
            cells = "".join(f"<td>{_text(outcome)}</td>" for outcome in found)
            rows += f"<tr><td><code>{_text(name)}</code> {_text(one.judged.item.question)}</td>{cells}</tr>\n"
    if rows:
        yield (
            f'<details open><summary>where they differ</summary><div class="wide"><table><tr><th></th>{head}</tr>\n'
            f"{rows}</table></div></details>\n"
        )
    yield f"<h2>{_text(compared[0].name)}</h2>\n"


def _totals(score: Score) -> Iterator[str]:
    yield (
        "<ul>"
        + "".join(f"<li>of {_text(n)}: {_text(t)}</li>" for n, t in headlines(score).items())
        + "</ul>\n"
    )
    yield _table_of({"all": score.totals})
    for group, found in score.groups.items():
        yield f"<details><summary>by {group}</summary>{_table_of(dict(sorted(found.items())))}</details>\n"
    if score.curve:
        yield "<h2>Precision over coverage</h2>\n" + _curve(score.curve)


def _table_of(totals: Mapping[str, Totals]) -> str:
    names = ("", "all", *_OUTCOMES, "precision", *(f"RS({cost})" for cost in COSTS))
    head = "".join(f'<th class="n">{name}</th>' for name in names)
    rows = "".join(_row(name, each) for name, each in totals.items())
    return f'<div class="wide"><table><tr>{head}</tr>\n{rows}</table></div>\n'


def _row(name: str, totals: Totals) -> str:
    counts = [str(totals.questions), *(str(totals.outcomes[outcome]) for outcome in _OUTCOMES)]
    shares = [percent(share) for share in (totals.precision, *map(totals.reliability, COSTS))]
    cells = "".join(f'<td class="n">{cell}</td>' for cell in (*counts, *shares))
    return f"<tr><td>{_text(name)}</td>{cells}</tr>\n"


def _curve(points: Sequence[Point]) -> str:
    """The curve of precision over coverage, from the most to the least confident answers."""

    def at(coverage: float, precision: float) -> str:
        x = _MARGIN + coverage * (_WIDTH - 2 * _MARGIN)
        y = _HEIGHT - _MARGIN - precision * (_HEIGHT - 2 * _MARGIN)
        return f"{x:.1f},{y:.1f}"

    line = " ".join(at(point.coverage, point.precision) for point in points)
    marks = "".join(
        '<circle cx="{}" cy="{}" r="3"><title>{} right of the surest {:.0%}</title></circle>'.format(
            *at(point.coverage, point.precision).split(","), percent(point.precision), point.share
        )
        for point in points
    )
    axes = f"M{at(0, 1)} L{at(0, 0)} L{at(1, 0)}".replace(",", " ")
    grid = "".join(
        f'<text x="4" y="{at(0, share).split(",")[1]}">{share:.0%}</text>'
        f'<text x="{at(share, 0).split(",")[0]}" y="{_HEIGHT - _MARGIN + 16}">{share:.0%}</text>'
        for share in (0, 0.25, 0.5, 0.75, 1)
    )
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" role="img" '
        f'aria-label="Precision over coverage"><path d="{axes}" fill="none" stroke="currentColor"/>{grid}'
        f'<polyline points="{line}" fill="none" stroke="#1a73e8" stroke-width="2"/>{marks}'
        f'<text x="{_WIDTH // 2 - 60}" y="{_HEIGHT - 8}">share of all questions</text></svg>\n'
    )


def _filter() -> Iterator[str]:
    """Radio buttons that hide the other outcomes with CSS alone."""
    yield '<h2>Answers</h2>\n<input type="radio" name="only" id="only-all" checked> <label for="only-all">all</label>\n'
    for outcome in _OUTCOMES:
        name = outcome.replace(" ", "-")
        yield f'<input type="radio" name="only" id="only-{name}"> <label for="only-{name}">{outcome}</label>\n'


def _answer(one: Shown) -> str:
    judged, turn = one.judged, one.judged.turn
    outcome = judged.outcome or judged.status
    facts: dict[str, str] = {
        "answer": _text(_sentence(judged)),
        "read as": _text(turn.reading),
        "expected": _text(_expected(judged)) if judged.outcome else "",
        "confidence": percent(turn.confidence),
        "result": _table([column.name for column in turn.columns], turn.rows, turn.row_count),
        "plan": f"<pre>{_text(json.dumps(turn.plan, indent=1, ensure_ascii=False))}</pre>"
        if turn.plan
        else "",
        "SQL": f"<pre>{_text(turn.sql)}</pre>" if turn.sql else "",
        "tags": _text(", ".join(judged.item.tags)),
        "capsule": _capsule(one),
    }
    listed = "".join(f"<dt>{name}</dt><dd>{fact}</dd>" for name, fact in facts.items() if fact)
    return (
        f'<details class="{outcome.replace(" ", "-")}"><summary><b>{outcome}</b> '
        f"<code>{_text(str(judged.item.id))}</code> {_text(judged.item.question)}</summary>"
        f"<dl>{listed}</dl></details>\n"
    )


def _sentence(judged: Judged) -> str:
    """The first paragraph of an answer: the rows, which may follow it, are shown as a table."""
    text = judged.turn.answer_text.strip()
    return text.split("\n\n")[0] if judged.status == "answered" else text


def _expected(judged: Judged) -> str:
    answers = [json.dumps(answer, ensure_ascii=False) for answer in judged.item.expected.answers]
    kind = {"answer": "", "ask": "a question back", "decline": "that the data does not tell it"}[
        judged.item.expect
    ]
    return " or ".join([kind, *answers] if kind else answers)


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]] | None, count: int) -> str:
    if not columns or rows is None:
        return ""
    head = "".join(f"<th>{_text(name)}</th>" for name in columns)
    body = "".join(f"<tr>{_cells(row)}</tr>" for row in rows[:MOST_ROWS])
    more = (
        f"<p>{max(count, len(rows)):,} rows, the first {MOST_ROWS} of them here</p>"
        if len(rows) > MOST_ROWS
        else ""
    )
    return f'<div class="wide"><table><tr>{head}</tr>{body}</table></div>{more}'


def _cells(row: Iterable[Any]) -> str:
    return "".join(
        f'<td class="n">{_text(str(cell))}</td>'
        if isinstance(cell, int | float)
        else f"<td>{_text('' if cell is None else str(cell))}</td>"
        for cell in row
    )


def _capsule(one: Shown) -> str:
    if one.envelope is None or one.judged.turn.run_id is None:
        return ""
    content = json.dumps(document(one.envelope), ensure_ascii=False).encode("utf-8", "backslashreplace")
    return _link(
        f"{one.judged.turn.run_id}.json", "application/json", content, "capsule of " + one.judged.turn.run_id
    )


def _link(name: str, media_type: str, content: bytes, shown: str) -> str:
    data = base64.b64encode(content).decode("ascii")
    return f'<a download="{_text(name)}" href="data:{media_type};base64,{data}">{_text(shown)}</a>'


def _text(text: str) -> str:
    """For an element or an attribute; control and direction characters as escapes, so that nothing is reordered."""
    return escape(clean(text, newlines=True))
