"""The program with a scripted house and analyst, for a test that sits at its terminal."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from sandtable.cli import main, session, turn
from sandtable.settings import Settings
from tests.cli.analysts import FakeAnalyst, ended
from tests.server.house import House, open_house


@asynccontextmanager
async def _assemble(settings: Settings) -> AsyncIterator[House]:
    try:
        async with open_house(Path(sys.argv[1]), settings) as house:
            yield house
    finally:
        sys.stderr.write("closed in order\n")


if __name__ == "__main__":
    analyst = FakeAnalyst(hangs={"hang"}, script={"approve": ended("waiting", "May I run this?")})
    session.assemble = _assemble  # pyright: ignore[reportAttributeAccessIssue] - a double
    turn.load_converse = lambda: analyst.converse
    try:
        main(sys.argv[2:])
    finally:
        sys.stderr.write(f"asked {[asked[0] for asked in analyst.asked]} stopped {analyst.stopped}\n")
