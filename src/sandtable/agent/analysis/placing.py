"""Artifacts in their places in a text: what Markdown can show is put there, the rest is named."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sandtable.agent.markdown import fenced
from sandtable.sandbox.artifact import Artifact, MarkdownArtifact, MermaidArtifact, TableArtifact
from sandtable.wording.inert import inert

MOST_ROWS = 20
_FIGURE = re.compile(r"[-+]?[0-9][-0-9.,:eE+T ]*")
_TAG = re.compile(r"\[\[((?:table|plot|html|mermaid|markdown)-[1-9][0-9]{0,5})\]\]")


def with_artifacts(text: str, shown: Mapping[str, Artifact]) -> str:
    """A tag whose artifact is not known stays as it is."""

    def placed(tag: re.Match[str]) -> str:
        artifact = shown.get(tag[1])
        return tag[0] if artifact is None else _in_markdown(artifact)

    return _TAG.sub(placed, text)


def _in_markdown(artifact: Artifact) -> str:
    match artifact:
        case TableArtifact():
            return _table(artifact)
        case MarkdownArtifact(text=text):
            return text
        case MermaidArtifact(text=text):
            return fenced("mermaid", text)
        case _:
            return f"*{artifact.kind.capitalize()}: {inert(artifact.title or artifact.id)}*"


def _table(table: TableArtifact) -> str:
    rule = f"| {' | '.join('---' for _ in table.columns)} |"
    lines = [_line(column.name for column in table.columns), rule]
    lines += [_line(row) for row in table.rows[:MOST_ROWS]]
    left = table.row_count - min(len(table.rows), MOST_ROWS)
    more = f"\n\n*… and {left:,} more rows*" if left > 0 else ""
    return "\n".join(lines) + more


def _line(cells: Any) -> str:
    return f"| {' | '.join(_cell(cell) for cell in cells)} |"


def _cell(value: Any) -> str:
    """A table's cells are strangers' texts: they stay what they are. A bar ends a cell even within code."""
    text = "" if value is None else str(value)
    if not text or _FIGURE.fullmatch(text):
        return text
    return inert(text).replace("|", "\\|")
