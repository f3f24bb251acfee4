"""What `sandtable ask` does with its question, once its arguments are known to be usable."""

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


def answer(question: str, about: inputs.About, as_json: bool) -> int:
    """Returns the exit code. Raises InvalidInput."""
    asked = checked_question(question)
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
