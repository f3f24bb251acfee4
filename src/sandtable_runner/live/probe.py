"""Escape attempts from inside a worker's seal, in place of a driver: proof that a driver cannot get out either."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from sandtable_runner.escape import attempt_all
from sandtable_runner.live.worker import Send, Session

_SECONDS = 0.5


def open_session(port: int) -> Session:
    return _Probe(port)


class _Probe:
    def __init__(self, port: int) -> None:
        self._port = port

    def serve(self, request: dict[str, Any], send: Send) -> dict[str, Any]:
        """`others`: addresses that must not be reached, as family, host and port."""
        reached = {
            f"{host}:{port}": _attempt(lambda at=(host, port), f=family: _connects(getattr(socket, f), at))
            for family, host, port in request["others"]
        }
        reached["datagrams"] = _attempt(lambda: _makes(socket.AF_INET, socket.SOCK_DGRAM))
        reached["unix"] = _attempt(lambda: _makes(socket.AF_UNIX, socket.SOCK_STREAM))
        reached["listening"] = _attempt(_listens)
        reached["declared"] = _attempt(lambda: _connects(socket.AF_INET, ("127.0.0.1", self._port)))
        return {"attempts": attempt_all(), "reached": reached}


def _attempt(action: Callable[[], object]) -> str:
    """Why it failed; empty where it worked."""
    try:
        action()
    except OSError as error:
        return type(error).__name__
    return ""


def _connects(family: int, address: tuple[str, int]) -> None:
    with socket.socket(family, socket.SOCK_STREAM) as one:
        one.settimeout(_SECONDS)
        one.connect(address)


def _makes(family: int, kind: int) -> None:
    socket.socket(family, kind).close()


def _listens() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
