"""`sandtable execd` as people start it: a process of its own, with a home of its own over given data."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sandtable.sandbox.remote.executor import RemoteExecutor

TOKEN = "only-for-tests-" + "0123456789abcdef" * 2
OTHER_TOKEN = "another-one-for-tests-" + "0123456789abcdef" * 2
_ROOT = Path(__file__).resolve().parents[3]
_PROGRAM = (sys.executable, "-c", "from sandtable.cli import main; main(prog_name='sandtable')")
_READ_ONLY = (
    "unshare", "--mount", "sh", "-c",
    'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"', "sh",
)  # fmt: skip


class Execd:
    def __init__(self, data: Path, *, read_only: bool = False, **settings: str) -> None:
        """`read_only`: the data lie on a disk that cannot be written to (needs root)."""
        self._under = (*_READ_ONLY, str(data)) if read_only else ()
        self._folder = tempfile.TemporaryDirectory(prefix="sandtable-execd-")
        self.home = Path(self._folder.name)
        (self.home / "data").symlink_to(data)
        self._settings = settings
        self.port = 0
        self.process: subprocess.Popen[str]
        self.offer: dict[str, Any] = {}

    def start(self) -> Execd:
        """Returns once it answers requests."""
        self.log = self.home / "log"
        with self.log.open("a", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [*self._under, *_PROGRAM, "execd", "--port", str(self.port), "--json"],
                env=self._environment(), stdout=subprocess.PIPE, stderr=log, text=True,
            )  # fmt: skip
        assert self.process.stdout
        line = self.process.stdout.readline()
        assert '"url"' in line, line + self.process.stdout.read() + self.log.read_text("utf-8")[-3000:]
        # Nothing more is said there.
        self.process.stdout.close()
        self.offer = json.loads(line)
        self.port = int(self.offer["url"].rpartition(":")[2])
        return self

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def _environment(self) -> Mapping[str, str]:
        given = {f"SANDTABLE_{name.upper()}": value for name, value in self._settings.items()}
        own = {"SANDTABLE_HOME": str(self.home), "SANDTABLE_EXECD_TOKEN": TOKEN}
        return {**os.environ, "PYTHONPATH": str(_ROOT / "src"), **own, **given}

    def kill(self) -> None:
        """As the kernel does it."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(30)

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text("utf-8").splitlines()]

    def close(self) -> None:
        if self.process.poll() is None:
            self.stop()
        self._folder.cleanup()


class WithItsService(RemoteExecutor):
    """Starts a service for itself alone, and ends it when it is closed."""

    def __init__(self, data: Path, *, parallel: int) -> None:
        self._service = Execd(data).start()
        super().__init__(self._service.url, TOKEN, parallel=parallel)

    async def aclose(self) -> None:
        await super().aclose()
        self._service.close()
