"""`sandtable export`: writes answers as a file for those who have no server."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import get_args

import click

from sandtable.answer_files.forms import AnswerFile, Form, file_of
from sandtable.answer_files.shown import Shown
from sandtable.assemble import Parts
from sandtable.assemble.pages import page_of_answers, run_and_answer
from sandtable.cli import inputs
from sandtable.cli.session import with_parts
from sandtable.cli.show import clean, print_json
from sandtable.errors import InvalidInput
from sandtable.quoting import quote

_MOST_TITLE = 200


@click.command("export")
@click.argument("run_ids", metavar="RUN_ID…", nargs=-1, required=True)
@click.option(
    "--as",
    "form",
    type=click.Choice(get_args(Form)),
    default="page",
    show_default=True,
    help="What to write.",
)
@click.option("--html", "html", is_flag=True, help="The same as --as page.")
@click.option(
    "--to",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="The file to write; by default it is named by the question, in the current folder.",
)
@inputs.json_option
def command(run_ids: tuple[str, ...], form: Form, html: bool, to: Path | None, as_json: bool) -> int:
    """Write answers as a page that proves itself, Markdown, a notebook or CSV.

    page: one HTML file that proves itself: it opens from disk, loads nothing and checks its capsules in the
    browser. `sandtable verify FILE` checks all of it.
    markdown: question, sentence, table and what ran.
    notebook: a Jupyter notebook that asks again with `import sandtable`.
    csv: the tables, each named by its question, in a ZIP archive.
    """
    if html and form != "page":
        raise click.UsageError("--html is --as page: give one of them.")
    made = with_parts(partial(_made, run_ids=run_ids, form=form))
    path = to or Path(made.name)
    try:
        path.write_bytes(made.content)
    except OSError as error:
        raise InvalidInput(
            f"cannot write {quote(str(path))}: {error.strerror or error}", suggestion="Give another --to."
        ) from error
    if as_json:
        print_json({"file": str(path), "bytes": len(made.content), "runs": list(run_ids)})
    else:
        click.echo(clean(str(path)))
    return 0


async def _made(parts: Parts, *, run_ids: tuple[str, ...], form: Form) -> AnswerFile:
    shown = [Shown(answer, run) for run, answer in [await run_and_answer(parts, one) for one in run_ids]]
    title = " ".join(shown[0].answer.question.split())[:_MOST_TITLE] or run_ids[0]
    return await file_of(form, shown, title, partial(page_of_answers, parts))
