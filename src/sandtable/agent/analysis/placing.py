"""Artifacts in their places in a text: what Markdown can show is put there, the rest is named."""

from __future__ import annotations

import re
from collections.abc import Mapping

from sandtable.agent.markdown import cell, fenced, table
from sandtable.sandbox.artifact import Artifact, MarkdownArtifact, MermaidArtifact, TableArtifact
from sandtable.wording.inert import inert

MOST_ROWS = 20
MOST_COLUMNS = 20
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


def _table(shown: TableArtifact) -> str:
    columns, rows = shown.columns[:MOST_COLUMNS], shown.rows[:MOST_ROWS]
    made = table(columns, ([cell(value) for value in row[:MOST_COLUMNS]] for row in rows))
    left = [f"{shown.row_count - len(rows):,} more rows"] if shown.row_count > len(rows) else []
    wide = len(shown.columns) - len(columns)
    left += [f"{wide:,} more columns"] if wide else []
    return made + (f"\n\n*… and {' and '.join(left)}*" if left else "")
