"""The chart that a question asks for."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from sandtable.plan.model import ChartKind

_LONGEST = 2000
"""Characters of the question that are searched for a chart request."""

_SQL = re.compile(
    r"""```.*?(?:```|\Z)                                                # fenced
      | \bwith\s+(?:recursive\s+)?"?\w+"?(?:\s*\([^)]*\))?\s+as\s+(?:(?:not\s+)?materialized\s*)?\(.*
      | \bselect\s+(?:distinct\b|\*|\(|'|-?\d|"|[\w.]+\s*(?:,|\(|::|[-+*/|]|as\b|from\s+(?!
            (?:the|our|all|last|this|each|my|every|any)\b)\S)).*
      | ^\s*from\s+"?\w+"?\s*(?:;|\Z|select\b|where\b|limit\b|group\b|order\b|join\b).*""",
    re.DOTALL | re.VERBOSE,
)
"""An SQL statement, to the end of the text: its names do not ask for a chart (`count(*) AS lines`)."""

_PICTURE = r"[ -]?(?:charts?|graphs?|plots?|diagrams?)"
_KINDS: tuple[tuple[ChartKind, str], ...] = (
    ("pie", rf"\b(?:pie|donut|doughnut){_PICTURE}|\bas an? (?:pie|donut|doughnut)\b"),
    ("heatmap", r"\bheat[ -]?maps?\b"),
    ("histogram", r"\bhistograms?\b"),
    ("scatter", rf"\bscatter(?:{_PICTURE}|s)?\b"),
    ("line", rf"\blines?{_PICTURE}|\bas (?:a line|lines)\b"),
    ("bar", rf"\b(?:bars?|columns?){_PICTURE}|\bas (?:an? (?:bar|column)|bars|columns)\b"),
)
_NONE = re.compile(rf"\b(?:no|without(?: an?| any)?){_PICTURE}|\bonly (?:the|a) table\b|\btable only\b")
_SHARE = re.compile(
    r"\b(?:shares?|proportions?|break ?downs?|break down|composition|make ?up|split|percentages? of|percent of"
    r"|part of the whole|mix)\b"
)
_VERSUS = re.compile(r"\b(?:versus|vs|against)\b")
_RELATED = re.compile(r"\b(?:correlat\w*|relation(?:ship)?s?|depends? on)\b")
_SPREAD = re.compile(r"\b(?:distribut\w*|histograms?|spread|skew\w*)\b")
_CHANGE = re.compile(r"\b(?:changes?|growth|grew|grow|increase\w*|decrease\w*|decline\w*)\b")
_STACKED = re.compile(r"\bstack(?:ed|s)?\b")
_PARTS = re.compile(r"\b100 ?(?:%|percent\b|per cent\b)|\bnormali[sz]ed\b")
_RUNNING = re.compile(r"\b(?:running|cumulative|accumulated)\b")


@dataclass(frozen=True, slots=True)
class Asked:
    kind: ChartKind | None = None
    """Named explicitly."""
    nothing: bool = False
    """No chart is wanted."""
    share: bool = False
    versus: bool = False
    """Two things side by side, which may be measures or groups."""
    related: bool = False
    """How one measure goes with another."""
    spread: bool = False
    change: bool = False
    running: bool = False
    stacked: bool = False
    parts: bool = False
    """Stacks of one height, which show parts of a hundred."""


def wished(question: str, kind: ChartKind | None, *, current: bool = True) -> Asked:
    """The requested chart: `kind`, which the plan names, else the kind that the question names. Rules of earlier
    versions know no stacks by the question."""
    asked = read(question)
    if current and asked.kind == "bar" and asked.stacked:
        asked = replace(asked, kind="stacked_bar")
    if kind is None:
        return asked
    return replace(asked, kind=None if kind == "none" else kind, nothing=kind == "none")


def read(question: str) -> Asked:
    text = _SQL.sub(" ", question[:_LONGEST].lower())
    return Asked(
        kind=next((kind for kind, pattern in _KINDS if re.search(pattern, text)), None),
        nothing=_NONE.search(text) is not None,
        share=_SHARE.search(text) is not None,
        versus=_VERSUS.search(text) is not None,
        related=_RELATED.search(text) is not None,
        spread=_SPREAD.search(text) is not None,
        change=_CHANGE.search(text) is not None,
        stacked=_STACKED.search(text) is not None,
        parts=_PARTS.search(text) is not None,
        running=_RUNNING.search(text) is not None,
    )
