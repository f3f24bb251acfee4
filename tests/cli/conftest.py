"""Commands over a scripted house: real queue, store, key and verification; no sandbox."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from sandtable.cli import main
from sandtable.settings import Settings
from tests.cli.analysts import FakeAnalyst
from tests.own_logs import own_logs
from tests.server.house import House, open_house

Invoke = Callable[..., Result]
Write = Callable[..., str]


@pytest.fixture(autouse=True)
def _own_logs() -> Iterator[None]:
    """A command sets up logging for its process; the next test begins anew."""
    with own_logs():
        yield


@pytest.fixture
def prepare() -> list[Callable[[House], None]]:
    """What to do to the house before the command gets it."""
    return []


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, prepare: list[Callable[[House], None]]) -> Invoke:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("SANDTABLE_HOME", str(home))

    @asynccontextmanager
    async def assemble(settings: Settings) -> AsyncIterator[House]:
        async with open_house(home, settings, one_person=True) as house:
            for act in prepare:
                act(house)
            yield house

    monkeypatch.setattr("sandtable.cli.session.assemble", assemble)

    def run(*arguments: str, stdin: str | bytes | None = None) -> Result:
        return CliRunner().invoke(main, arguments, input=stdin, catch_exceptions=False)

    return run


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """A file of questions with these lines."""

    def write(*lines: str) -> str:
        path = tmp_path / "questions.jsonl"
        path.write_text("\n".join(lines) + "\n", "utf-8")
        return str(path)

    return write


@pytest.fixture
def analyst(monkeypatch: pytest.MonkeyPatch) -> FakeAnalyst:
    """Answers in place of the conversation."""
    fake = FakeAnalyst()
    for load in ("load_converse", "load_one_turn"):
        monkeypatch.setattr(f"sandtable.cli.turn.{load}", lambda: fake.converse)
    return fake
