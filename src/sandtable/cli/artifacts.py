"""Prints the output of a Python run for a person: each artifact at the place of its tag, the others at the end.

Invariant: all of it comes from untrusted code, and reaches the terminal as plain characters.
"""

from __future__ import annotations

import re

import click

from sandtable.cli.screen import screen, show_chart
from sandtable.cli.show import clean, print_rows
from sandtable.quoting import quote
from sandtable.runs.model import Run
from sandtable.sandbox.artifact import (
    Artifact,
    HtmlArtifact,
    MarkdownArtifact,
    MermaidArtifact,
    PlotlyArtifact,
    TableArtifact,
)

_TAG = re.compile(r"\[\[((?:table|plot|html|mermaid|markdown)-[0-9]+)\]\]")


def show_code_output(run: Run, *, tables: bool = True) -> None:
    """`tables`: whether tables are printed here; otherwise they are written to a file."""
    waiting = {artifact.id: artifact for artifact in run.artifacts}
    _print_text(run.stdout, waiting, tables)
    for name in list(waiting):
        if name in waiting:
            _show(waiting.pop(name), waiting, tables)
    if run.stderr:
        click.echo(clean(run.stderr.rstrip("\n"), newlines=True), err=True)


def _print_text(text: str, waiting: dict[str, Artifact], tables: bool) -> None:
    """Line by line; a tag alone on its line is replaced by its artifact, once."""
    for line in text.splitlines():
        tag = _TAG.fullmatch(line.strip())
        artifact = waiting.pop(tag[1], None) if tag else None
        if artifact is None:
            click.echo(clean(line, newlines=True))
        else:
            _show(artifact, waiting, tables)


def _show(artifact: Artifact, waiting: dict[str, Artifact], tables: bool) -> None:
    match artifact:
        case TableArtifact():
            if tables:
                _title(artifact)
                print_rows([(column.name, column.type) for column in artifact.columns], artifact.rows)
                if artifact.truncated:
                    click.echo(f"(the first {artifact.row_count:,} rows)", err=True)
        case PlotlyArtifact():
            with screen() as page:
                drawn = show_chart(page, artifact.figure)
            if not drawn:
                _name(artifact, "a plot that cannot be drawn in a terminal")
        case MarkdownArtifact():
            _title(artifact)
            _print_text(artifact.text, waiting, tables)
        case MermaidArtifact():
            _title(artifact)
            click.echo(clean(artifact.text, newlines=True))
        case HtmlArtifact():
            _name(artifact, "a page")
        case _:
            _name(artifact, f"a plot ({artifact.format})")


def _title(artifact: Artifact) -> None:
    if artifact.title:
        click.echo(clean(artifact.title))


def _name(artifact: Artifact, what: str) -> None:
    title = f" {quote(artifact.title)}" if artifact.title else ""
    click.echo(f"[{artifact.id}]{title}: {what}; --json has it, and the web interface draws it.")
