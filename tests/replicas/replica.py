"""Real servers over one Postgres database, each a process with a home and a port of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from sandtable.capsule.keys import open_signing_key


@dataclass(frozen=True)
class Replica:
    process: subprocess.Popen[bytes]
    url: str
    log: Path

    def kill(self) -> None:
        """As the kernel or a dying machine does it."""
        self.process.kill()
        self.process.wait()

    def said(self, event: str) -> list[dict[str, object]]:
        """What is in its log about an event."""
        lines = [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [line for line in lines if line.get("event") == event]


def prepared(folder: Path, names: str) -> list[Path]:
    """Homes with one key, as a mounted secret would give it."""
    open_signing_key(folder / "secret")
    homes = [folder / name for name in names]
    for home in homes:
        shutil.copytree(folder / "secret", home)
    return homes


@contextmanager
def replicas(homes: list[Path], database_url: str, **settings: str) -> Iterator[list[Replica]]:
    """All of them, listening; what is still alive at the end is killed."""
    started: list[tuple[subprocess.Popen[bytes], Path]] = []
    try:
        for home in homes:
            log = home.with_suffix(".log")
            with log.open("ab") as file:
                started.append((_start(home, database_url, settings, file), log))
        yield [Replica(process, _address(process, log), log) for process, log in started]
    finally:
        for process, _ in started:
            process.kill()
            process.wait()
            assert process.stdout
            process.stdout.close()


def _start(home: Path, url: str, settings: dict[str, str], log: IO[bytes]) -> subprocess.Popen[bytes]:
    given = {"SANDTABLE_HOME": str(home), "SANDTABLE_DATABASE_URL": url, "SANDTABLE_MEMORY_MB": "256"}
    return subprocess.Popen(
        [sys.executable, "-c", "from sandtable.cli import main; main()", "serve", "--port", "0", "--json"],
        env={**os.environ, **given, **{f"SANDTABLE_{name}": value for name, value in settings.items()}},
        stdout=subprocess.PIPE,
        stderr=log,
    )


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    assert process.stdout
    line = process.stdout.readline()
    assert line, log.read_text()[-2000:]
    return json.loads(line)["url"].replace("localhost", "127.0.0.1")
