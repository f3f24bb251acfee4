"""Where the engine listens: the socket that was named, or the first of the usual ones that is there."""

from __future__ import annotations

import os
from pathlib import Path

from sandtable.errors import InvalidInput

_SCHEME = "unix://"


def _usual() -> tuple[str, ...]:
    """One's own engine first: it needs no rights over the machine."""
    own = f"/run/user/{os.getuid()}"
    return (
        f"{own}/docker.sock",
        str(Path.home() / ".docker/run/docker.sock"),
        "/var/run/docker.sock",
        f"{own}/podman/podman.sock",
        "/run/podman/podman.sock",
    )


def socket_path(host: str | None) -> str:
    """`host` as in DOCKER_HOST. Raises InvalidInput for an address that is no socket of this machine."""
    if not host:
        usual = _usual()
        return next((path for path in usual if Path(path).exists()), "/var/run/docker.sock")
    path = host.removeprefix(_SCHEME)
    if not path.startswith("/"):
        raise InvalidInput(
            f"DOCKER_HOST is {host!r}: containers are started over a socket of this machine only",
            suggestion=f"name one as {_SCHEME}/var/run/docker.sock; "
            "for an engine elsewhere, run `sandtable execd` there and use the remote back end",
        )
    return path
