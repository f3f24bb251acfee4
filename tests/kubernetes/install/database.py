"""A Postgres on the node of a cluster of ours, beyond its pods: the external database that the chart is told of."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.postgres import ORDINARY_ACCOUNT, program

USER, PASSWORD = "sandtable", "not-a-secret"


@contextmanager
def database_at(address: str) -> Iterator[str]:
    """The URL of an empty database that pods reach at this address of the node."""
    folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
    port = _free_port(address)
    data = str(folder / "data")
    try:
        account = pwd.getpwnam(ORDINARY_ACCOUNT)
        os.chown(folder, account.pw_uid, account.pw_gid)
        (folder / "password").write_text(PASSWORD)
        (folder / "password").chmod(0o644)
        _do("initdb", "--pgdata", data, "--username", USER, "--pwfile", str(folder / "password"), "--no-sync",
            "--auth", "scram-sha-256", "--encoding", "UTF8", "--no-locale")  # fmt: skip
        with Path(data, "pg_hba.conf").open("a") as rules:
            rules.write("host all all 0.0.0.0/0 scram-sha-256\n")
        options = (
            f"-c listen_addresses={address} -c port={port} -c unix_socket_directories={folder} -c fsync=off"
        )
        _do("pg_ctl", "--pgdata", data, "--log", str(folder / "log"), "--options", options, "--wait", "start")
        try:
            yield f"postgresql://{USER}:{PASSWORD}@{address}:{port}/postgres"
        finally:
            _do("pg_ctl", "--pgdata", data, "--mode", "immediate", "--wait", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _free_port(address: str) -> int:
    with socket.socket() as one:
        one.bind((address, 0))
        return one.getsockname()[1]


def _do(name: str, *arguments: str) -> None:
    """A cluster of ours is root's; Postgres refuses to be root."""
    path = program(name)
    assert path
    account = pwd.getpwnam(ORDINARY_ACCOUNT)
    become = ("setpriv", f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups")
    done = subprocess.run(
        [*become, path, *arguments],
        cwd="/",
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
