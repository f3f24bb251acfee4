"""`sandtable verify`: derives a capsule again, link by link."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from sandtable.assemble import Parts
from sandtable.assemble.pages import verified_page
from sandtable.capsule.document import Document
from sandtable.capsule.examine import unreadable
from sandtable.capsule.report import Link, VerifyReport
from sandtable.capsule.seal import Unreadable
from sandtable.cli import failure, inputs
from sandtable.cli.session import showing, with_parts
from sandtable.cli.show import clean, print_json
from sandtable.errors import NotFound
from sandtable.proof_page.page import PAGE_BYTES, looks_like_page
from sandtable.proof_page.verify import PageLink, PageReport
from sandtable.quoting import quote
from sandtable.runs.verifying_all import Totals, verify_all

_MARKS = {
    "ok": ("✓", "green"),
    "broken": ("✗", "red"),
    "not_checked": ("–", "yellow"),
    "not_pinned": ("~", "yellow"),
    "reading": ("?", "cyan"),
}


@click.command("verify")
@click.argument("target", metavar="FILE|RUN_ID|-", required=False)
@click.option("--all", "every", is_flag=True, help="Verify the capsule of every run of the home.")
@click.option(
    "--key",
    "keys",
    metavar="PEM",
    multiple=True,
    type=click.Path(path_type=Path, readable=False),
    help="A public key to trust, beside this installation's own. Repeatable.",
)
@inputs.json_option
def command(target: str | None, every: bool, keys: tuple[Path, ...], as_json: bool) -> int:
    """Derive a capsule again and name the link that is broken.

    Checks the signature, the digests and the data, compiles the plan, judges the SQL or Python and
    runs it again.
    ✓ holds, ✗ is broken, – could not be checked, ? is a reading: whether the query is what the question meant
    cannot be derived, and is for you to check.

    FILE is a capsule, or a page that `sandtable export` or the web interface made: then the words and the
    program of the page are checked, too, and every capsule in it.

    --all does so for every run of the home and its database, a few at the same time, and lists what is broken.

    Exit code: 0 nothing is broken, 1 a link is broken, 2 the input cannot be used, 4 no sandbox.
    """
    if every == (target is not None):
        raise click.UsageError("Give a file, a run id or -, or --all.")
    if target is None:
        return with_parts(lambda parts: _verify_all(parts, keys, as_json))
    text = inputs.read_text(target, PAGE_BYTES) if target == "-" or Path(target).exists() else None
    if text is not None and looks_like_page(text):
        return with_parts(lambda parts: _verify_page(parts, text, keys, as_json))
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


async def _verify_page(parts: Parts, text: str, keys: tuple[Path, ...], as_json: bool) -> int:
    report = await verified_page(parts, text, keys)
    if as_json:
        print_json(report.model_dump(mode="json"))
    else:
        _show_page(report)
    return 0 if report.ok else failure.FAILED


async def _stored(parts: Parts, target: str) -> Document:
    try:
        return await parts.runs.capsule(target)
    except NotFound as error:
        if target.startswith("run_"):
            raise
        raise NotFound(f"no file and no run {quote(target)}", suggestion=error.suggestion) from error


async def _verify_all(parts: Parts, keys: tuple[Path, ...], as_json: bool) -> int:
    async with showing("Verifying") as progress:
        totals = await verify_all(
            parts.runs, lambda capsule: parts.verify(capsule, keys), parts.settings.verifications, progress
        )
    if as_json:
        print_json({**asdict(totals), "ended": totals.ended, "ok": not totals.broken})
    else:
        _show_totals(totals)
    return failure.FAILED if totals.broken else 0


def _show_totals(totals: Totals) -> None:
    for one in totals.broken:
        where = f" at {', '.join(one.links)}" if one.links else ""
        click.secho(f"✗ {clean(one.run_id)} is broken{where}: {clean(one.why)}", fg="red")
    said = [f"{totals.verified:,} verified"]
    said += [f"{totals.incomplete:,} not broken, but not all could be checked"] if totals.incomplete else []
    said += [f"{len(totals.broken):,} broken"] if totals.broken else []
    said += [f"{totals.not_ended:,} not ended"] if totals.not_ended else []
    click.secho(f"{totals.ended:,} capsules: {', '.join(said)}", fg="red" if totals.broken else "green")


def _show(report: VerifyReport) -> None:
    if report.run_id:
        asker = f", asked by {clean(report.asked_by.in_words)}" if report.asked_by else ""
        click.echo(f"capsule of {clean(report.run_id)}{asker}")
    _show_links(report.links)
    _show_end(report.links, complete=report.complete)


def _show_page(report: PageReport) -> None:
    click.echo("page")
    _show_links(report.links)
    for capsule in report.capsules:
        _show(capsule)
    if len(report.capsules) != 1 or not report.ok:
        every = [*report.links, *(link for capsule in report.capsules for link in capsule.links)]
        click.echo("the page and its capsules together")
        _show_end(every, complete=report.complete)


def _show_links(links: Sequence[Link | PageLink]) -> None:
    width = max(len(link.name) for link in links)
    for link in links:
        mark, colour = _MARKS[link.status]
        detail = f"  {clean(link.detail)}" if link.detail else ""
        click.echo(f"  {click.style(mark, fg=colour)} {link.name:<{width}}{detail}".rstrip())


def _show_end(links: Sequence[Link | PageLink], *, complete: bool) -> None:
    broken = dict.fromkeys(link.name for link in links if link.status == "broken")
    if broken:
        click.secho(f"broken: {', '.join(broken)}", fg="red")
    else:
        said = "verified" if complete else _incomplete(links)
        read = any(link.status == "reading" for link in links)
        click.secho(f"{said}; how the question was read is for you to check" if read else said, fg="green")


def _incomplete(links: Sequence[Link | PageLink]) -> str:
    if any(link.status == "not_checked" for link in links):
        return "nothing is broken, but not all was checked"
    return "nothing is broken, and the data are not pinned: they stay in the database"
