"""What code can show besides text: tables, plots, pages, diagrams, prose.

Invariant: everything here is the output of untrusted code. It is data for a renderer that trusts none of it, never
markup for our own pages.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Discriminator, Field, Tag, TypeAdapter, ValidationError

from sandtable.errors import RunnerBroken
from sandtable.sandbox.job import JobResult, ResultColumn

MOST_ARTIFACTS = 20


class _Artifact(BaseModel, frozen=True, extra="forbid"):
    id: str = Field(pattern=r"^(table|plot|html|mermaid|markdown)-[1-9][0-9]{0,5}$")
    """Kind and number. `[[table-1]]` in an answer's text is the place where it belongs."""
    title: str = Field(default="", max_length=400)


class TableArtifact(_Artifact, frozen=True):
    kind: Literal["table"] = "table"
    columns: tuple[ResultColumn, ...]
    rows: tuple[tuple[Any, ...], ...]
    row_count: int
    truncated: bool
    """The code had more rows than may be shown."""


class PlotlyArtifact(_Artifact, frozen=True):
    kind: Literal["plot"] = "plot"
    format: Literal["plotly"] = "plotly"
    figure: dict[str, Any]


class VegaArtifact(_Artifact, frozen=True):
    kind: Literal["plot"] = "plot"
    format: Literal["vega-lite"] = "vega-lite"
    spec: dict[str, Any]


class SvgArtifact(_Artifact, frozen=True):
    kind: Literal["plot"] = "plot"
    format: Literal["svg"] = "svg"
    svg: str


class HtmlArtifact(_Artifact, frozen=True):
    kind: Literal["html"] = "html"
    html: str


class MermaidArtifact(_Artifact, frozen=True):
    kind: Literal["mermaid"] = "mermaid"
    text: str


class MarkdownArtifact(_Artifact, frozen=True):
    kind: Literal["markdown"] = "markdown"
    text: str


def form_of(given: Any) -> str | None:
    """Plots are discriminated by format, everything else by kind."""
    kind, form = (
        (given.get("kind"), given.get("format"))
        if isinstance(given, dict)
        else (getattr(given, "kind", None), getattr(given, "format", None))
    )
    found = form if kind == "plot" else kind
    return found if isinstance(found, str) else None


# A callable discriminator: OpenAPI cannot express two nested levels of discriminator fields.
Artifact = Annotated[
    Annotated[TableArtifact, Tag("table")]
    | Annotated[PlotlyArtifact, Tag("plotly")]
    | Annotated[VegaArtifact, Tag("vega-lite")]
    | Annotated[SvgArtifact, Tag("svg")]
    | Annotated[HtmlArtifact, Tag("html")]
    | Annotated[MermaidArtifact, Tag("mermaid")]
    | Annotated[MarkdownArtifact, Tag("markdown")],
    Discriminator(form_of),
]
ARTIFACTS: TypeAdapter[tuple[Artifact, ...]] = TypeAdapter(tuple[Artifact, ...])


def artifacts_in(result: JobResult) -> tuple[Artifact, ...]:
    """What a run of code showed. Raises RunnerBroken for an answer that does not have the agreed form."""
    given = result.output.get("artifacts")
    if not given:
        return ()
    try:
        made = ARTIFACTS.validate_python(given)
    except ValidationError as error:
        raise _unbelievable(f"{error.error_count()} fields are not as agreed") from error
    if len(made) > MOST_ARTIFACTS or len({artifact.id for artifact in made}) < len(made):
        raise _unbelievable("they are too many, or two have one id")
    for artifact in made:
        if not artifact.id.startswith(f"{artifact.kind}-"):
            raise _unbelievable(f"{artifact.id} is of another kind")
        if isinstance(artifact, TableArtifact) and any(
            len(r) != len(artifact.columns) for r in artifact.rows
        ):
            raise _unbelievable(f"a row of {artifact.id} does not fit its columns")
    return made


def last_figure(artifacts: tuple[Artifact, ...]) -> dict[str, Any] | None:
    """The Plotly figure that was shown last."""
    figures = (artifact.figure for artifact in reversed(artifacts) if isinstance(artifact, PlotlyArtifact))
    return next(figures, None)


def _unbelievable(why: str) -> RunnerBroken:
    return RunnerBroken(
        f"what the code showed cannot be read: {why}",
        suggestion="Run it again; if it happens again, show less.",
    )
