"""A turn as a person reads it: the answer, its table, its chart, how the question was read, and the run."""

from __future__ import annotations

import re
import sys
from codecs import lookup
from collections.abc import Generator
from contextlib import contextmanager
from io import BytesIO, TextIOWrapper

import click
from rich.console import Console
from rich.markdown import Markdown
from rich.status import Status
from rich.text import Text

from sandtable.agent.events import Delta, Event, RunState, Thought
from sandtable.cli import failure
from sandtable.cli.show import cell, clean, grid, is_number
from sandtable.cli.terminal_chart import terminal_chart
from sandtable.cli.turn import Turn, Watch

MOST_ROWS = 20
MOST_COLUMNS = 12
_LONGEST_CELL = 60
_WIDTH_ELSEWHERE = 100
_WIDEST_CHART = 100
_GLYPHS = "█▏░⠁●┤…"
_TABLE = re.compile(r"\|.*\|\s*")


@contextmanager
def _screen() -> Generator[Console, None, None]:
    """No colour where NO_COLOR is set; plain lines, of a fixed width and without padding, for files and pipes."""
    if sys.stdout.isatty():
        yield Console(file=sys.stdout, highlight=False)
        return
    page = TextIOWrapper(BytesIO(), encoding=_encoding(), errors="replace")
    yield Console(file=page, highlight=False, width=_WIDTH_ELSEWHERE, color_system=None)
    page.seek(0)
    for line in page:
        click.echo(line.rstrip())


@contextmanager
def progress() -> Generator[Watch, None, None]:
    """What is being done, on one line that is gone when the answer comes; nothing where nobody watches."""
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


def show_turn(turn: Turn) -> None:
    if turn.status in ("failed", "refused") and turn.error is not None and not turn.run_id:
        failure.tell(turn.error)
        return
    with _screen() as screen:
        _show_on(screen, turn)


def _show_on(screen: Console, turn: Turn) -> None:
    _show_prose(screen, turn)
    if turn.rows and (len(turn.rows) > 1 or len(turn.columns) > 1):
        _show_table(screen, turn)
    if turn.chart is not None:
        _show_chart(screen, turn.chart)
    if turn.reading and turn.reading not in turn.answer_text:
        screen.print(Text(f"Read as: {clean(turn.reading)}", style="italic"), soft_wrap=True)
    if turn.status == "abstained":
        _show_suggestions(screen, turn)
    if turn.run_id:
        screen.print(Text(_summary(turn), style="dim"), soft_wrap=True)


def _show_prose(screen: Console, turn: Turn) -> None:
    text = prose(turn.answer_text) if turn.rows else turn.answer_text
    # Nothing in an answer becomes a link: a cell could say one thing and lead to another.
    screen.print(Markdown(clean(text, newlines=True), hyperlinks=False))


def prose(markdown: str) -> str:
    """Without the answer's own table, which is shown below at full width."""
    blocks = markdown.split("\n\n")
    kept = [b for b in blocks if not all(_TABLE.fullmatch(line) for line in b.splitlines())]
    return "\n\n".join(b for b in kept if not b.startswith("Shown: "))


def _show_table(screen: Console, turn: Turn) -> None:
    rows = turn.rows or ()
    columns = turn.columns[:MOST_COLUMNS]
    table = grid()
    for name, kind in columns:
        side = "right" if is_number(kind) else "left"
        table.add_column(Text(clean(name)), justify=side, overflow="ellipsis", no_wrap=is_number(kind))
    for row in rows[:MOST_ROWS]:
        shown = (Text("null", style="dim") if value is None else Text(_short(value)) for value in row)
        table.add_row(*list(shown)[:MOST_COLUMNS])
    screen.print(table)
    left = [f"the first {MOST_ROWS} of {turn.row_count:,} rows"] if len(rows) > MOST_ROWS else []
    left += [f"{MOST_COLUMNS} of {len(turn.columns)} columns"] if len(turn.columns) > MOST_COLUMNS else []
    if left:
        screen.print(Text(f"Shown: {', '.join(left)}; --json has them all.", style="dim"), soft_wrap=True)


def _short(value: object) -> str:
    if isinstance(value, float) and 1e-4 <= abs(value) < 1e15:
        return f"{value:.4f}".rstrip("0").rstrip(".")
    text = cell(value)
    return text if len(text) <= _LONGEST_CELL else text[: _LONGEST_CELL - 1] + "…"


def _show_chart(screen: Console, figure: dict[str, object]) -> None:
    width = min(screen.width, _WIDEST_CHART)
    for line in terminal_chart(figure, width, blocks=_can_show(_GLYPHS)):
        text = Text()
        for span in line:
            text.append(span.text, style=span.colour or "")
        screen.print(text, no_wrap=True, overflow="crop")
    screen.print()


def _can_show(text: str) -> bool:
    try:
        text.encode(_encoding())
    except UnicodeEncodeError:
        return False
    return True


def _encoding() -> str:
    """ASCII is taken for a machine that was never told its encoding, as `click.echo` takes it."""
    given = sys.stdout.encoding or "utf-8"
    return "utf-8" if lookup(given).name == "ascii" else given


def _show_suggestions(screen: Console, turn: Turn) -> None:
    wanted = [s for s in turn.suggestions if s not in turn.answer_text]
    if wanted:
        screen.print(Text("You could ask:"))
    for suggestion in wanted:
        screen.print(Text(f"  {clean(suggestion)}"), soft_wrap=True)


def _summary(turn: Turn) -> str:
    rows = f"{turn.row_count:,} row{'' if turn.row_count == 1 else 's'}"
    parts = [rows + (" (more were cut off)" if turn.truncated else "")] if turn.rows is not None else []
    if turn.exec_time_ms is not None:
        parts.append(f"{turn.exec_time_ms:.1f} ms")
    return " · ".join([*parts, f"sandtable verify {turn.run_id}"])
