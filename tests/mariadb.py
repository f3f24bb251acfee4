"""A MariaDB of the tests' own: made in a temporary folder, run by an ordinary user, on a Unix socket and a loopback
port."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pymysql

from tests.postgres import ORDINARY_ACCOUNT

SPEED = (
    "innodb-flush-log-at-trx-commit=0", "innodb-buffer-pool-size=64M", "innodb-doublewrite=0",
    "innodb-log-file-size=16M", "skip-name-resolve", "performance-schema=0", "character-set-server=utf8mb4",
)  # fmt: skip
_START_S = 60


def program(name: str) -> str | None:
    """Debian keeps the server where an ordinary user's PATH does not lead."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")


def why_none() -> str | None:
    found = program("mariadbd") and program("mariadb-install-db")
    return None if found else "no MariaDB server is installed"


@dataclass
class Server:
    folder: Path
    port: int
    options: tuple[str, ...] = SPEED
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def socket(self) -> Path:
        return self.folder / "socket"

    def start(self) -> None:
        path = program("mariadbd")
        assert path
        fixed = (f"datadir={self.folder}/data", f"socket={self.socket}", f"port={self.port}",
                 "bind-address=127.0.0.1", f"pid-file={self.folder}/pid", f"log-error={self.folder}/log")  # fmt: skip
        options = [f"--{option}" for option in (*fixed, *self.options)]
        self.process = subprocess.Popen(
            [*_become(), path, "--no-defaults", *options],
            cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        deadline = time.monotonic() + _START_S
        while not self._answers():
            assert self.process.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < deadline, (self.folder / "log").read_text()
            time.sleep(0.1)

    def _answers(self) -> bool:
        """The driver leaves a socket open that it cannot connect."""
        with socket.socket(socket.AF_UNIX) as one:
            return one.connect_ex(str(self.socket)) == 0

    def connect(self, user: str = "root", password: str = "") -> pymysql.Connection[Any]:
        return pymysql.connect(
            unix_socket=str(self.socket), user=user, password=password, autocommit=True, ssl_disabled=True
        )

    def stop(self, with_signal: signal.Signals = signal.SIGKILL) -> None:
        if self.process is not None:
            self.process.send_signal(with_signal)
            self.process.wait(60)
            self.process = None


@contextmanager
def server(options: tuple[str, ...] = ()) -> Iterator[Server]:
    """A running one, whose `root` has no password on its socket."""
    folder = Path(tempfile.mkdtemp(prefix="mariadb-", dir="/tmp"))
    try:
        if os.geteuid() == 0:
            account = pwd.getpwnam(ORDINARY_ACCOUNT)
            os.chown(folder, account.pw_uid, account.pw_gid)
        _install(folder)
        made = Server(folder, _free_port(), (*SPEED, *options))
        try:
            made.start()
            yield made
        finally:
            made.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _install(folder: Path) -> None:
    path = program("mariadb-install-db")
    assert path
    done = subprocess.run(
        [*_become(), path, "--no-defaults", f"--datadir={folder}/data", "--skip-test-db",
         "--auth-root-authentication-method=normal", "--skip-name-resolve", "--innodb-flush-log-at-trx-commit=0"],
        cwd="/", stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout.decode(errors="replace") + done.stderr.decode(errors="replace")


def _become() -> tuple[str, ...]:
    if os.geteuid() != 0:
        return ()
    # As root it would do what nobody does, such as read files of root.
    account = pwd.getpwnam(ORDINARY_ACCOUNT)
    return ("setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups")


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]
