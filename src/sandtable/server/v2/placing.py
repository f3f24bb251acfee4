"""Artifacts in their places in a text: what Markdown can show is put there, the rest is named."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sandtable.sandbox.artifact import Artifact, MarkdownArtifact, MermaidArtifact, TableArtifact

MOST_ROWS = 20
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
            fence = "```" if "```" not in text else "~~~~~~"
            return f"{fence}mermaid\n{text}\n{fence}"
        case _:
            return f"*{artifact.kind.capitalize()}: {_cell(artifact.title or artifact.id)}*"


def _table(table: TableArtifact) -> str:
    lines = [_line(column.name for column in table.columns), _line("---" for _ in table.columns)]
    lines += [_line(row) for row in table.rows[:MOST_ROWS]]
    left = table.row_count - min(len(table.rows), MOST_ROWS)
    more = f"\n\n*… and {left:,} more rows*" if left > 0 else ""
    return "\n".join(lines) + more


def _line(cells: Any) -> str:
    return f"| {' | '.join(_cell(cell) for cell in cells)} |"


def _cell(value: Any) -> str:
    return "" if value is None else " ".join(str(value).split()).replace("|", "\\|")
