"""`sandtable chat`: one question after the other, each in the context of those before it."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from string import ascii_lowercase

import click

from sandtable.agent.read_as.model import Choice
from sandtable.assemble import Parts
from sandtable.catalog.model import Dataset
from sandtable.cli import failure, inputs
from sandtable.cli.lines import lines_of
from sandtable.cli.prompting import Prompter, history
from sandtable.cli.screen import screen
from sandtable.cli.session import on_parts, open_dataset, with_parts
from sandtable.cli.show import clean, print_json
from sandtable.cli.turn import Analyst, ShownAnswer, begin_loading, checked_question, continued, gather
from sandtable.cli.turn_show import progress, show_choices, show_turn
from sandtable.errors import InvalidInput, SandtableError
from sandtable.process import load_settings, quiet_logs

_PROMPT = "> "
_HISTORY = "chat_history"
_HELP = """\
Ask in plain words; a question may build on the one before ("and by month?").
Where it asks which of its readings you mean, the number of one answers your question.
  /sql    the SQL of the last answer      /plan   its plan
  /change what else its parts could be; /change 2 b reads part 2 as choice b and answers again
  /help   this text                       /quit   leave (or Ctrl-D)
Ctrl-C stops an answer that takes too long."""


@click.command("chat")
@inputs.dataset_options
@inputs.json_option
def command(about: inputs.About, as_json: bool) -> int:
    """Ask one question after the other.

    Each question knows what came before. /sql and /plan show how the last answer came about, /change reads it
    otherwise without asking again, /help says the rest. Where it asks which of its readings is meant, the number of
    one is enough.
    Ctrl-C stops the running answer, Ctrl-D leaves. Questions may also be piped in, one per line; with --json
    every answer is one line, as of `sandtable ask --json`.

    Exit code: 0 left, 2 the input cannot be used, 4 no sandbox.
    """
    inputs.require_dataset(about)
    if sys.stdin.isatty():
        _at_a_prompt(about, as_json)
    else:
        with_parts(lambda parts: _piped(parts, about, as_json))
    return 0


class Chat:
    """One thread about one dataset."""

    def __init__(self, analyst: Analyst, dataset: Dataset, *, as_json: bool) -> None:
        self._analyst = analyst
        self._dataset = dataset
        self._as_json = as_json
        self._thread = analyst.new_thread()
        self._last: ShownAnswer | None = None

    def greet(self) -> None:
        dataset = self._dataset
        click.echo(f"{clean(dataset.title or dataset.id)}: {clean(dataset.description)}".rstrip(": "))
        tables = ", ".join(f"{t.name} ({t.rows:,} rows)" if t.rows else t.name for t in dataset.tables)
        click.echo(clean(tables))
        if dataset.prompts:
            click.echo("You could ask:")
        for prompt in dataset.prompts:
            click.echo(f"  {clean(prompt)}")
        click.echo("/help says what else there is.")

    def command(self, text: str) -> bool | Choice:
        """Whether to continue, or the choice to run."""
        match text.split()[0].lower():
            case "/change":
                return self._change(text.split()[1:])
            case "/quit" | "/exit":
                return False
            case "/help":
                click.echo(_HELP)
            case "/sql":
                click.echo(
                    clean(self._last.sql, newlines=True) if self._last and self._last.sql else "No SQL yet."
                )
            case "/plan":
                plan = self._last.plan if self._last else None
                shown = json.dumps(plan, ensure_ascii=False, indent=2) if plan else "No plan yet."
                click.echo(clean(shown, newlines=True))
            case other:
                click.echo(f"There is no {clean(other)}; /help lists what there is.")
        return True

    def _change(self, wanted: list[str]) -> bool | Choice:
        read = self._last.read_as if self._last else None
        if read is None:
            click.echo("There is no reading yet that could be changed.")
            return True
        number = int(wanted[0]) if wanted and wanted[0].isascii() and wanted[0].isdecimal() else None
        if wanted and (number is None or not 1 <= number <= len(read.parts)):
            click.echo(f"The parts are 1 to {len(read.parts)}: /change lists them.")
            return True
        if number is not None and len(wanted) > 1:
            choices = read.parts[number - 1].choices
            place = ascii_lowercase.find(wanted[1].lower()) if len(wanted[1]) == 1 else -1
            if 0 <= place < len(choices):
                return choices[place]
            click.echo(f"Part {number} has no choice {clean(wanted[1])}.")
        with screen() as page:
            show_choices(page, read, number)
        return True

    async def answer(self, text: str | Choice) -> ShownAnswer | None:
        """Prints the answer to the question, or the error for an unusable one."""
        plan = None if isinstance(text, str) else text.plan
        try:
            question = checked_question(text if isinstance(text, str) else text.message)
            with progress() as watch:
                asking = self._analyst.ask(
                    question, dataset_id=self._dataset.id, thread_id=self._thread, plan=plan
                )
                turn = await gather(asking, watch)
        except SandtableError as error:
            failure.explain(error, as_json=self._as_json)
            return None
        return self._show(turn)

    async def decide(self, *, approve: bool) -> ShownAnswer:
        decision = {"type": "approve" if approve else "reject"}
        with progress() as watch:
            turn = await gather(self._analyst.approve(self._thread, decision), watch)
        return self._show(continued(self._last, turn) if self._last else turn)

    def _show(self, turn: ShownAnswer) -> ShownAnswer:
        self._last = turn.parts[-1]
        if self._as_json:
            print_json(turn.as_json(), indent=None)
        else:
            show_turn(turn)
        return turn


@asynccontextmanager
async def _opened(parts: Parts, about: inputs.About, as_json: bool) -> AsyncGenerator[Chat, None]:
    loading = begin_loading()
    dataset = await open_dataset(parts, about)
    async with (await asyncio.wrap_future(loading))(parts) as analyst:
        yield Chat(analyst, dataset, as_json=as_json)


async def _piped(parts: Parts, about: inputs.About, as_json: bool) -> None:
    async with _opened(parts, about, as_json) as chat:
        async for number, raw in lines_of("-"):
            text = _decoded(raw, number, as_json)
            if text is None:
                continue
            if not as_json:
                click.echo(f"{_PROMPT}{clean(text)[:200]}")
            asked = chat.command(text) if text.startswith("/") else text
            if asked is False:
                return
            if asked is True:
                continue
            turn = await chat.answer(asked)
            while turn is not None and turn.waits:
                # Not interactive: no person can decide.
                turn = await chat.decide(approve=False)


def _decoded(raw: bytes, number: int, as_json: bool) -> str | None:
    try:
        return raw.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        error = InvalidInput(f"line {number} is not UTF-8", suggestion="Save the questions as UTF-8.")
        failure.explain(error, as_json=as_json)
        return None


def _at_a_prompt(about: inputs.About, as_json: bool) -> None:
    quiet_logs()
    settings = load_settings()

    async def conversation(prompter: Prompter) -> None:
        async def act(parts: Parts) -> None:
            async with _opened(parts, about, as_json) as chat:
                chat.greet()
                await _talk(chat, prompter)

        await on_parts(act, settings)

    with history(settings.home / _HISTORY):
        Prompter().talk(conversation)


async def _talk(chat: Chat, prompter: Prompter) -> None:
    while (line := await prompter.ask(_PROMPT)) is not None:
        text = line.strip()
        asked = chat.command(text) if text.startswith("/") else text
        if asked is False:
            return
        if asked and asked is not True and not await prompter.stoppable(_one(chat, prompter, asked)):
            click.echo("Stopped.")


async def _one(chat: Chat, prompter: Prompter, text: str | Choice) -> None:
    turn = await chat.answer(text)
    while turn is not None and turn.waits:
        said = await prompter.ask("Run it? [y/N] ")
        turn = await chat.decide(approve=(said or "").strip().lower() in ("y", "yes"))
