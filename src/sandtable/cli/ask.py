"""`sandtable ask`: one question in plain language, one answer."""

from __future__ import annotations

import asyncio
import sys

import click

from sandtable.assemble import Parts
from sandtable.catalog.model import Dataset
from sandtable.cli import inputs
from sandtable.cli.session import open_dataset, with_parts
from sandtable.cli.show import print_json
from sandtable.cli.turn import Analyst, ShownAnswer, begin_loading, checked_question, continued, gather
from sandtable.cli.turn_show import progress, show_turn

_MOST_STDIN = 1 << 20


@click.command("ask")
@click.argument("question", metavar="QUESTION|-")
@inputs.dataset_options
@inputs.json_option
def command(question: str, about: inputs.About, as_json: bool) -> int:
    """Ask a question in plain language.

    Prints the answer, its table, a chart where one fits, how the question was read, and the run's id; with
    --json one object: {"status", "answer_text", "reading", "read_as", "columns", "rows", "row_count", "truncated",
    "plan", "sql", "run_id", "chart", "suggestions", "choices", "error", "others"}. `-` reads the question from
    stdin. Several questions in one message get an answer each; with --json the first one has the rest as "others".

    Exit code: 0 answered, 1 failed, 2 the input cannot be used, 3 refused, 4 not understood: it asks back and
    says what it could answer (or, as ever, there is no sandbox).
    """
    inputs.require_dataset(about)
    asked = checked_question(inputs.read_text("-", _MOST_STDIN) if question == "-" else question)
    loading = begin_loading(kept=False)

    async def act(parts: Parts) -> int:
        dataset = await open_dataset(parts, about)
        async with (await asyncio.wrap_future(loading))(parts) as analyst:
            turn = await _ask(analyst, asked, dataset, may_approve=not as_json)
        if as_json:
            print_json(turn.as_json())
        else:
            show_turn(turn)
            if turn.waits:
                click.echo("Nothing was run: a person must approve it, at a terminal.", err=True)
        return turn.exit_code

    return with_parts(act)


async def _ask(analyst: Analyst, question: str, dataset: Dataset, *, may_approve: bool) -> ShownAnswer:
    thread = analyst.new_thread()
    with progress() as watch:
        turn = await gather(analyst.ask(question, dataset_id=dataset.id, thread_id=thread), watch)
    while turn.waits and may_approve and sys.stdin.isatty():
        show_turn(turn)
        decision = "approve" if click.confirm("Run it?", err=True) else "reject"
        with progress() as watch:
            turn = continued(turn, await gather(analyst.approve(thread, {"type": decision}), watch))
    return turn
