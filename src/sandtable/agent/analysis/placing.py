"""Inserts artifacts at their tags in a text: what Markdown can show is inserted, the rest is named."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sandtable.agent.markdown import cell, fenced, table
from sandtable.quoting import inert
from sandtable.sandbox.artifact import Artifact, MarkdownArtifact, MermaidArtifact, TableArtifact

MOST_ROWS = 20
MOST_COLUMNS = 20
MOST_CHARS = 32_000
"""Limit for all artifacts together: every state of the thread holds the message."""
_TAG = re.compile(r"\[\[((?:table|plot|html|mermaid|markdown)-[1-9][0-9]{0,5})\]\]")


def with_artifacts(text: str, shown: Mapping[str, Artifact]) -> str:
    """A tag with an unknown artifact is left unchanged; an artifact that does not fit is named."""
    room = MOST_CHARS

    def placed(tag: re.Match[str]) -> str:
        nonlocal room
        artifact = shown.get(tag[1])
        if artifact is None:
            return tag[0]
        made = _in_markdown(artifact)
        if made is None or len(made) > room:
            return f"*{artifact.kind.capitalize()}: {inert(artifact.title or artifact.id)}*"
        room -= len(made)
        return made

    return _TAG.sub(placed, text)


def _in_markdown(artifact: Artifact) -> str | None:
    match artifact:
        case TableArtifact():
            return _table(artifact)
        case MarkdownArtifact(text=text):
            # Untrusted Markdown: a renderer would fetch the images in it.
            return fenced("markdown", text)
        case MermaidArtifact(text=text):
            return fenced("mermaid", text)
        case _:
            return None


def _table(shown: TableArtifact) -> str:
    columns, rows = shown.columns[:MOST_COLUMNS], shown.rows[:MOST_ROWS]
    made = table(columns, ([cell(value) for value in row[:MOST_COLUMNS]] for row in rows))
    left = [f"{shown.row_count - len(rows):,} more rows"] if shown.row_count > len(rows) else []
    wide = len(shown.columns) - len(columns)
    left += [f"{wide:,} more columns"] if wide else []
    return made + (f"\n\n*… and {' and '.join(left)}*" if left else "")
