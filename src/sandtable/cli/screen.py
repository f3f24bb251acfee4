"""Output for a person: a terminal with colours, or plain lines in a file or a pipe; and charts on it."""

from __future__ import annotations

import sys
from codecs import lookup
from collections.abc import Generator
from contextlib import contextmanager
from io import BytesIO, TextIOWrapper

import click
from rich.console import Console
from rich.text import Text

from sandtable.cli.terminal_chart import terminal_chart

_WIDTH_ELSEWHERE = 100
_WIDEST_CHART = 100
_GLYPHS = "█▏░⠁●┤…"


@contextmanager
def screen() -> Generator[Console, None, None]:
    """No colour where NO_COLOR is set; plain lines, of a fixed width and without padding, for files and pipes."""
    if sys.stdout.isatty():
        yield Console(file=sys.stdout, highlight=False)
        return
    page = TextIOWrapper(BytesIO(), encoding=_encoding(), errors="replace")
    yield Console(file=page, highlight=False, width=_WIDTH_ELSEWHERE, color_system=None)
    page.seek(0)
    for line in page:
        click.echo(line.rstrip())


def show_chart(on: Console, figure: dict[str, object]) -> bool:
    """Prints the chart; False if it cannot be drawn."""
    width = min(on.width, _WIDEST_CHART)
    lines = terminal_chart(figure, width, blocks=_can_show(_GLYPHS))
    for line in lines:
        text = Text()
        for span in line:
            text.append(span.text, style=span.colour or "")
        on.print(text, no_wrap=True, overflow="crop")
    if lines:
        on.print()
    return bool(lines)


def _can_show(text: str) -> bool:
    try:
        text.encode(_encoding())
    except UnicodeEncodeError:
        return False
    return True


def _encoding() -> str:
    """ASCII is treated as an unset encoding, as in `click.echo`."""
    given = sys.stdout.encoding or "utf-8"
    return "utf-8" if lookup(given).name == "ascii" else given
