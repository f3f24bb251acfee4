"""An engine of a test's own, which it may kill and start again."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.needs import RUNNER_IMAGE
from tests.sandbox.docker.engine import docker

_PATIENCE_S = 60.0


class OwnEngine:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.host = f"unix://{folder}/docker.sock"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        # Of its own group: it must not hear of a Ctrl-C meant for the tests.
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                ["dockerd", "--host", self.host, "--data-root", str(self._folder / "data"),
                 "--exec-root", str(self._folder / "exec"), "--pidfile", str(self._folder / "pid"),
                 "--bridge", "none", "--iptables=false", "--ip6tables=false"],
                stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        latest = time.monotonic() + _PATIENCE_S
        while time.monotonic() < latest:
            with contextlib.suppress(AssertionError):
                docker("version", host=self.host)
                return
            time.sleep(0.2)
        raise AssertionError((self._folder / "log").read_text()[-2000:])

    def end(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)
        self._process.wait(_PATIENCE_S)
        (self._folder / "pid").unlink(missing_ok=True)
        if number == signal.SIGKILL:
            # Its containerd dies with it and cannot say so: the next engine would wait for it in vain.
            _kill_all(self._folder, "containerd.toml")
            for name in ("containerd.pid", "containerd.sock"):
                (self._folder / "exec/containerd" / name).unlink(missing_ok=True)


@contextlib.contextmanager
def own_engine() -> Iterator[OwnEngine]:
    folder = Path(tempfile.mkdtemp(prefix="sandtable-engine-"))
    engine = OwnEngine(folder)
    try:
        engine.start()
        docker("save", "--output", str(folder / "image.tar"), RUNNER_IMAGE)
        docker("load", "--input", str(folder / "image.tar"), host=engine.host)
        yield engine
    finally:
        with contextlib.suppress(AssertionError):
            engine.end(signal.SIGTERM)
        _kill_all(folder, "")
        shutil.rmtree(folder, ignore_errors=True)


def _kill_all(folder: Path, word: str) -> None:
    """Processes whose command line names the engine's folder, and the word."""
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            command = (
                (entry / "cmdline").read_bytes().decode(errors="replace") if entry.name.isdigit() else ""
            )
            if str(folder) in command and word in command:
                os.kill(int(entry.name), signal.SIGKILL)
