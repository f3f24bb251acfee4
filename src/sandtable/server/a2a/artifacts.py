"""What an answer is made of, as artifacts: its text, the table, the chart, what code showed, and the signed capsule.

Invariant: numbers in data parts are those of the rows. A2A holds them as doubles, so an integer beyond 2^53 is text;
a capsule travels as bytes, because a document that was read and written again would not verify.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from a2a.types import Artifact, Part
from google.protobuf.json_format import ParseDict
from google.protobuf.struct_pb2 import Struct, Value

from sandtable.agent.analysis.placing import with_artifacts
from sandtable.agent.events import Error, Message
from sandtable.agent.folding import FoldedAnswer
from sandtable.agent.markdown import cell, table
from sandtable.capsule.canonical import plain
from sandtable.runs.described import DescribedArtifact, DescribedColumn
from sandtable.sandbox.artifact import (
    HtmlArtifact,
    MarkdownArtifact,
    MermaidArtifact,
    PlotlyArtifact,
    SvgArtifact,
    TableArtifact,
    VegaArtifact,
)

JSON = "application/json"
MARKDOWN = "text/markdown"
PLOTLY = "application/vnd.plotly.v1+json"
VEGA = "application/vnd.vegalite.v5+json"
ROWS_IN_DATA = 1000
ROWS_IN_MARKDOWN = 20
PART_BYTES = 512 << 10
"""Of one part. A gRPC client accepts messages of 4 MiB by default."""
MOST_CAPSULES = 5

Documents = Callable[[str], Awaitable[bytes | None]]
"""The signed capsule of a run as JSON; None when it is gone."""


async def artifacts_of(number: int, answer: FoldedAnswer, documents: Documents) -> list[Artifact]:
    """`number` is the question's place in its task, from 1."""
    if isinstance(answer.end, Error):
        return []
    made = [_text(number, answer, answer.end)]
    if answer.run.table is not None:
        shown = answer.run.table
        parts = table_parts(shown.columns, shown.rows, shown.row_count, truncated=shown.truncated)
        made.append(Artifact(artifact_id=f"table-{number}", name="Table", parts=parts))
    if answer.chart is not None:
        made.append(_named(f"chart-{number}", "Chart", [figure_part(answer.chart)]))
    made += [_shown(number, one) for one in answer.artifacts]
    for place, run_id in enumerate(answer.end.run_ids[:MOST_CAPSULES]):
        document = await documents(run_id)
        if document is not None:
            name = f"capsule-{number}" if place == 0 else f"capsule-{number}-{place + 1}"
            made.append(_capsule(name, run_id, document))
    return made


def _text(number: int, answer: FoldedAnswer, end: Message) -> Artifact:
    text = with_artifacts(end.text, {one.id: one for one in answer.artifacts})
    run = answer.run
    how: dict[str, Any] = {"ending": end.ending, "runIds": list(end.run_ids)}
    how |= {"reading": run.reading} if run.reading else {}
    how |= {"sql": run.sql} if run.sql else {}
    how |= {"plan": run.plan} if run.plan else {}
    return Artifact(
        artifact_id=f"answer-{number}",
        name="Answer",
        parts=[Part(text=text, media_type=MARKDOWN)],
        metadata=struct(how),
    )


def table_parts(
    columns: Sequence[DescribedColumn], rows: Sequence[Sequence[Any]], row_count: int, *, truncated: bool
) -> list[Part]:
    """The same rows as data and as Markdown."""
    kept = _fitting([list(map(plain, row)) for row in rows[:ROWS_IN_DATA]])
    data = {
        "columns": [column.model_dump(mode="json") for column in columns],
        "rows": kept,
        "rowCount": row_count,
        "truncated": truncated or len(kept) < row_count,
    }
    few = kept[:ROWS_IN_MARKDOWN]
    text = table(columns, ([cell(value) for value in row] for row in few))
    if row_count > len(few):
        text += f"\n\n*{len(few):,} of {row_count:,}{' or more' if truncated else ''} rows*"
    return [data_part(data), Part(text=text, media_type=MARKDOWN)]


def _fitting(rows: list[list[Any]]) -> list[list[Any]]:
    """As many of the first rows as PART_BYTES hold."""
    room = PART_BYTES
    for place, row in enumerate(rows):
        room -= sum(len(value) if isinstance(value, str) else 20 for value in row)
        if room < 0:
            return rows[:place]
    return rows


def _shown(number: int, one: DescribedArtifact) -> Artifact:
    """What code showed is untrusted: pages and drawings are files, for a client that isolates them."""
    match one:
        case TableArtifact():
            parts = table_parts(one.columns, one.rows, one.row_count, truncated=one.truncated)
        case PlotlyArtifact():
            parts = [figure_part(one.figure)]
        case VegaArtifact():
            parts = [data_part(one.spec, VEGA)]
        case SvgArtifact():
            parts = [file_part(one.svg.encode(), "image/svg+xml", f"{one.id}.svg")]
        case HtmlArtifact():
            parts = [file_part(one.html.encode(), "text/html", f"{one.id}.html")]
        case MermaidArtifact():
            parts = [Part(text=one.text, media_type="text/vnd.mermaid")]
        case MarkdownArtifact():
            parts = [Part(text=one.text, media_type=MARKDOWN)]
    return _named(f"{one.id}-of-{number}", one.title or one.id, parts)


def _capsule(name: str, run_id: str, document: bytes) -> Artifact:
    where = {"runId": run_id, "capsule": f"/runs/{run_id}/capsule", "verify": f"/runs/{run_id}/verify"}
    parts = [data_part(where)]
    if len(document) <= PART_BYTES:
        parts.append(file_part(document, JSON, f"{run_id}.capsule.json"))
    return Artifact(
        artifact_id=name,
        name="Capsule",
        description="The signed record of the run; the paths are those of this server.",
        parts=parts,
    )


def _named(artifact_id: str, name: str, parts: Iterable[Part]) -> Artifact:
    return Artifact(artifact_id=artifact_id, name=name, parts=parts)


def figure_part(figure: dict[str, Any]) -> Part:
    return data_part(figure, PLOTLY)


def file_part(content: bytes, media_type: str, name: str) -> Part:
    if len(content) > PART_BYTES:
        said = f"{name} has {len(content):,} bytes, more than a message holds"
        return Part(text=said, media_type="text/plain")
    return Part(raw=content, media_type=media_type, filename=name)


def data_part(data: Any, media_type: str = JSON) -> Part:
    value = ParseDict(plain(data), Value())
    if value.ByteSize() > PART_BYTES:
        return Part(text="This is too large for a message; the run has it.", media_type="text/plain")
    return Part(data=value, media_type=media_type)


def struct(data: dict[str, Any]) -> Struct:
    return ParseDict(plain(data), Struct())
