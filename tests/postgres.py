"""A Postgres cluster of the tests' own: made in a temporary folder, by an ordinary user, on a Unix socket."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

ORDINARY_ACCOUNT = "nobody"
USER, PASSWORD = "sandtable", "not-a-secret%26"
"""The password as it stands in the address, where `&` is escaped."""
LASTING = ("fsync=off", "full_page_writes=off", "listen_addresses=")
"""What was committed survives the death of the database's processes, though not of the machine."""
_SPEED = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "listen_addresses=")


def program(name: str) -> str | None:
    """Debian keeps the server's programs off the PATH."""
    found = shutil.which(name)
    if found:
        return found
    kept = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(kept[-1]) if kept else None


def why_none() -> str | None:
    return None if program("initdb") and program("pg_ctl") else "no Postgres server is installed"


@contextmanager
def cluster(speed: tuple[str, ...] = _SPEED) -> Iterator[str]:
    """The address of a running server's database `postgres`."""
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    try:
        if os.geteuid() == 0:
            account = pwd.getpwnam(ORDINARY_ACCOUNT)
            os.chown(folder, account.pw_uid, account.pw_gid)
        (folder / "password").write_text(PASSWORD.replace("%26", "&"))
        (folder / "password").chmod(0o644)
        data = str(folder / "data")
        _do("initdb", "--pgdata", data, "--username", USER, "--pwfile", str(folder / "password"),
            "--auth", "scram-sha-256", "--encoding", "UTF8", "--no-locale", "--no-sync")  # fmt: skip
        start(folder, speed)
        try:
            yield address(folder, "postgres")
        finally:
            _do("pg_ctl", "--pgdata", data, "--mode", "immediate", "--wait", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def start(folder: Path, speed: tuple[str, ...] = _SPEED) -> None:
    options = " ".join(f"-c {option}" for option in (*speed, f"unix_socket_directories={folder}"))
    log = str(folder / "log")
    _do("pg_ctl", "--pgdata", str(folder / "data"), "--log", log, "--options", options, "--wait", "start")


def address(folder: Path | str, database: str, password: str = PASSWORD) -> str:
    return f"postgresql://{USER}:{password}@/{database}?host={quote(str(folder), safe='')}"


def _do(name: str, *arguments: str) -> None:
    path = program(name)
    assert path
    become: tuple[str, ...] = ()
    if os.geteuid() == 0:
        # Postgres refuses to be root.
        account = pwd.getpwnam(ORDINARY_ACCOUNT)
        become = ("setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups")
    done = subprocess.run(
        [*become, path, *arguments],
        cwd="/",
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
