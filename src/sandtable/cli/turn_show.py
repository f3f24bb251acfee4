"""Prints a turn: the answer, its table, its chart, how the question was read, and the run."""

from __future__ import annotations

import re
import sys
from collections.abc import Generator
from contextlib import contextmanager
from string import ascii_lowercase

from rich.console import Console
from rich.markdown import Markdown
from rich.status import Status
from rich.text import Text

from sandtable.agent.events import Delta, Event, RunState, Thought
from sandtable.agent.folding import Watch
from sandtable.agent.read_as.model import ReadAs, ReadPart, Source, Words
from sandtable.capsule.trust import MARK_WORDS
from sandtable.cli import failure
from sandtable.cli.percentages import in_percent
from sandtable.cli.screen import screen, show_chart
from sandtable.cli.show import cell, clean, grid
from sandtable.cli.turn import ShownAnswer
from sandtable.engines.types import NUMERIC

MOST_ROWS = 20
MOST_COLUMNS = 12
_LONGEST_CELL = 60
_TABLE = re.compile(r"\|.*\|\s*")
_TAG = re.compile(r"\n*\[\[[a-z]+-\d+\]\]")
"""The place of an artifact in the text; here, tables and charts follow the text."""


_SOURCES: dict[Source, str] = {
    "words": "",
    "likely": "likely, as in the answer before",
    "kept": "kept from the answer before",
    "chosen": "chosen by you",
    "default": "no word of the question asks for it",
}


@contextmanager
def progress() -> Generator[Watch, None, None]:
    """Shows progress on one line that is erased when the answer comes; nothing if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield lambda event: None
        return
    status = Status("Reading the question…", console=Console(file=sys.stderr))

    def watch(event: Event) -> None:
        match event:
            case Thought(text=text):
                status.update(Text(clean(text)))
            case RunState(status=state):
                status.update(Text(f"The run is {state}…"))
            case Delta():
                status.update(Text("Writing the answer…"))
            case _:
                return

    with status:
        yield watch


def show_turn(turn: ShownAnswer) -> None:
    """The answers to all questions of the message, in order."""
    for part in turn.parts:
        _show_answer(part)


def _show_answer(turn: ShownAnswer) -> None:
    if turn.status in ("failed", "refused") and turn.error is not None and not turn.run_id:
        failure.tell(turn.error)
        return
    with screen() as page:
        _show_on(page, turn)


def _show_on(page: Console, turn: ShownAnswer) -> None:
    _show_prose(page, turn)
    if turn.rows and (len(turn.rows) > 1 or len(turn.columns) > 1):
        _show_table(page, turn)
    if turn.chart is not None:
        show_chart(page, turn.chart)
    if turn.read_as is not None:
        show_reading(page, turn.read_as)
    elif turn.reading and turn.reading not in turn.answer_text:
        page.print(Text(f"Read as: {clean(turn.reading)}", style="italic"), soft_wrap=True)
    if turn.status == "abstained":
        _show_suggestions(page, turn)
    if turn.run_id:
        page.print(Text(_summary(turn), style="dim"), soft_wrap=True)


def _show_prose(page: Console, turn: ShownAnswer) -> None:
    text = _TAG.sub("", prose(turn.answer_text) if turn.rows else turn.answer_text)
    if turn.read_as is not None:
        # The reading follows below, with numbers for `/change`.
        for line in (f"Read as: {turn.read_as.line}", turn.read_as.joined):
            text = text.replace(f"*{line}*", "").strip()
    # Nothing in an answer becomes a link: the text of a cell could hide its target.
    page.print(Markdown(clean(text, newlines=True), hyperlinks=False))


def prose(markdown: str) -> str:
    """The text without its table, which is shown below at full width."""
    blocks = markdown.split("\n\n")
    kept = [b for b in blocks if not all(_TABLE.fullmatch(line) for line in b.splitlines())]
    return "\n\n".join(b for b in kept if not b.startswith("Shown: "))


def show_reading(page: Console, read: ReadAs) -> None:
    """The parts on one line, numbered, and the words that are in none of them."""
    line = Text("Read as: ", style="italic")
    for number, part in enumerate(read.parts, start=1):
        line.append(f"{' · ' if number > 1 else ''}")
        line.append(f"{number} ", style="dim")
        line.append(clean(part.text), style="italic")
        if part.source == "default":
            line.append(" (assumed)", style="dim")
        elif part.source == "likely":
            line.append(f" ({_likely(part)})", style="yellow")
    page.print(line, soft_wrap=True)
    if read.joins:
        page.print(Text(f"Joined by: {clean(', '.join(read.joins))}", style="italic"), soft_wrap=True)
    if read.trust:
        page.print(Text("; ".join(MARK_WORDS[mark] for mark in read.trust), style="dim"), soft_wrap=True)
    if read.unread:
        page.print(Text(f"In no part of it: {_quoted(read.unread)}", style="yellow"), soft_wrap=True)
    if read.aside:
        page.print(Text(f"Left aside: {_quoted(read.aside)}", style="dim"), soft_wrap=True)


def _likely(part: ReadPart) -> str:
    return f"likely: {_quoted(part.words)}" if part.words else _SOURCES["likely"]


def _quoted(words: tuple[Words, ...]) -> str:
    return ", ".join(f"“{clean(each.text)}”" for each in words)


def show_choices(page: Console, read: ReadAs, only: int | None = None) -> None:
    """The alternatives of each part, with the letters that `/change` takes."""
    for number, part in enumerate(read.parts, start=1):
        if only not in (None, number):
            continue
        source = _likely(part) if part.source == "likely" else _quoted(part.words) or _SOURCES[part.source]
        page.print(Text(f"{number} {clean(part.label)} ({source})"), soft_wrap=True)
        for letter, choice in zip(ascii_lowercase, part.choices, strict=False):
            page.print(Text(f"  {letter}  {clean(choice.label)}"), soft_wrap=True)
        if not part.choices:
            page.print(Text("  nothing else to choose", style="dim"))


def _show_table(page: Console, turn: ShownAnswer) -> None:
    rows = turn.rows or ()
    columns = turn.columns[:MOST_COLUMNS]
    table = grid()
    for column in columns:
        numeric = column.kind in NUMERIC
        side = "right" if numeric else "left"
        table.add_column(Text(clean(column.name)), justify=side, overflow="ellipsis", no_wrap=numeric)
    for row in rows[:MOST_ROWS]:
        values = in_percent(row, turn.columns)
        shown = (Text("null", style="dim") if value is None else Text(_short(value)) for value in values)
        table.add_row(*list(shown)[:MOST_COLUMNS])
    page.print(table)
    left = [f"the first {MOST_ROWS} of {turn.row_count:,} rows"] if len(rows) > MOST_ROWS else []
    left += [f"{MOST_COLUMNS} of {len(turn.columns)} columns"] if len(turn.columns) > MOST_COLUMNS else []
    if left:
        page.print(Text(f"Shown: {', '.join(left)}; --json has them all.", style="dim"), soft_wrap=True)


def _short(value: object) -> str:
    if isinstance(value, float) and 1e-4 <= abs(value) < 1e15:
        return f"{value:.4f}".rstrip("0").rstrip(".")
    text = cell(value)
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 1] + "…"


def _show_suggestions(page: Console, turn: ShownAnswer) -> None:
    wanted = [s for s in turn.suggestions if s not in turn.answer_text]
    if wanted:
        page.print(Text("You could ask:"))
    for suggestion in wanted:
        page.print(Text(f"  {clean(suggestion)}"), soft_wrap=True)


def _summary(turn: ShownAnswer) -> str:
    rows = f"{turn.row_count:,} row{'' if turn.row_count == 1 else 's'}"
    parts = [rows + (" (more were cut off)" if turn.truncated else "")] if turn.rows is not None else []
    if turn.exec_time_ms is not None:
        parts.append(f"{turn.exec_time_ms:.1f} ms")
    return " · ".join([*parts, f"sandtable verify {turn.run_id}"])
