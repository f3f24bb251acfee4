"""`sandtable verify`: derives a capsule again, link by link."""

from __future__ import annotations

from pathlib import Path

import click

from sandtable.assemble import Parts
from sandtable.capsule.bounds import DOCUMENT_BYTES
from sandtable.capsule.document import Document
from sandtable.capsule.examine import unreadable
from sandtable.capsule.report import VerifyReport
from sandtable.capsule.seal import Unreadable
from sandtable.cli import failure, inputs
from sandtable.cli.session import with_parts
from sandtable.cli.show import clean, print_json
from sandtable.errors import NotFound
from sandtable.quoting import quote

_MARKS = {
    "ok": ("✓", "green"),
    "broken": ("✗", "red"),
    "not_checked": ("–", "yellow"),
    "reading": ("?", "cyan"),
}


@click.command("verify")
@click.argument("target", metavar="FILE|RUN_ID|-")
@click.option(
    "--key",
    "keys",
    metavar="PEM",
    multiple=True,
    type=click.Path(path_type=Path, readable=False),
    help="A public key to trust, beside this installation's own. Repeatable.",
)
@inputs.json_option
def command(target: str, keys: tuple[Path, ...], as_json: bool) -> int:
    """Derive a capsule again and name the link that is broken.

    Checks the signature, the digests and the data, compiles the plan, judges the SQL or Python and
    runs it again.
    ✓ holds, ✗ is broken, – could not be checked, ? is a reading: whether the query is what the question meant
    cannot be derived, and is for you to check.

    Exit code: 0 nothing is broken, 1 a link is broken, 2 the input cannot be used, 4 no sandbox.
    """
    text = inputs.read_text(target, DOCUMENT_BYTES) if target == "-" or Path(target).exists() else None
    return with_parts(lambda parts: _verify(parts, target, text, keys, as_json))


async def _verify(parts: Parts, target: str, text: str | None, keys: tuple[Path, ...], as_json: bool) -> int:
    try:
        report = await parts.verify(await _stored(parts, target) if text is None else text, keys)
    except Unreadable as error:
        report = unreadable(error.message).report
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        _show(report)
    return 0 if report.ok else failure.FAILED


async def _stored(parts: Parts, target: str) -> Document:
    try:
        return await parts.runs.capsule(target)
    except NotFound as error:
        if target.startswith("run_"):
            raise
        raise NotFound(f"no file and no run {quote(target)}", suggestion=error.suggestion) from error


def _show(report: VerifyReport) -> None:
    if report.run_id:
        click.echo(f"capsule of {clean(report.run_id)}")
    width = max(len(link.name) for link in report.links)
    for link in report.links:
        mark, colour = _MARKS[link.status]
        detail = f"  {clean(link.detail)}" if link.detail else ""
        click.echo(f"  {click.style(mark, fg=colour)} {link.name:<{width}}{detail}".rstrip())
    broken = [link.name for link in report.links if link.status == "broken"]
    if broken:
        click.secho(f"broken: {', '.join(broken)}", fg="red")
    else:
        said = "verified" if report.complete else "nothing is broken, but not all was checked"
        read = any(link.status == "reading" for link in report.links)
        click.secho(f"{said}; how the question was read is for you to check" if read else said, fg="green")
