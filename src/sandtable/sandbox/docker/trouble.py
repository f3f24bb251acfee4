"""Errors of the engine as messages for the operator: what was wrong, and what to do about it."""

from __future__ import annotations

import errno

from sandtable.errors import SandboxUnavailable
from sandtable.sandbox.docker.api import NEWEST, OLDEST, EngineAway, EngineRefused

_NOT_FOUND = 404


def unavailable(error: EngineAway | EngineRefused, *, image: str, store: str) -> SandboxUnavailable:
    if isinstance(error, EngineAway):
        return _away(error)
    said = error.message.lower()
    if "no space left on device" in said:
        return SandboxUnavailable(
            f"the disk of the container engine is full: {error.message}",
            suggestion="Make room (`docker system df` shows what takes it, `docker system prune` gives it back)",
        )
    if error.status == _NOT_FOUND and "image" in said:
        return image_missing(image)
    if "bind source path does not exist" in said or "statfs" in said or "bind mount" in said:
        return SandboxUnavailable(
            f"the container engine does not see the data store: {error.message}",
            suggestion=f"Let the engine find {store} under that very path. Where the server itself is in a "
            "container, mount the store there under the path that it has on the engine's machine",
        )
    return SandboxUnavailable(
        f"the container engine refused to start a container: {error.message}",
        suggestion="Look in its own log; `docker info` shows how it is set up",
    )


def _away(away: EngineAway) -> SandboxUnavailable:
    number = away.reason.errno if isinstance(away.reason, OSError) else None
    if number == errno.ENOENT:
        message = f"there is no container engine at {away.path}: no such socket"
        advice = (
            "start Docker, or Podman's service (`systemctl --user start podman.socket`), "
            "or name its socket in DOCKER_HOST, as unix:///path"
        )
    elif number in (errno.EACCES, errno.EPERM):
        message = f"this user may not use the container engine at {away.path}"
        advice = (
            "use an engine of your own (rootless Docker or Podman) and name its socket in DOCKER_HOST, or have "
            "this user added to the group that owns the socket (often `docker`) and sign in again"
        )
    elif number == errno.ECONNREFUSED:
        message = f"the container engine at {away.path} is not running"
        advice = "start it, and look at its log if it does not stay up"
    else:
        message = f"the container engine does not answer: {away}"
        advice = "look whether it is running, and at its log; the next run tries again"
    return SandboxUnavailable(message, suggestion=advice)


def image_missing(image: str) -> SandboxUnavailable:
    return SandboxUnavailable(
        f"the container engine has no image {image!r}",
        suggestion=f"`docker pull {image}`, or build it from a checkout: `python scripts/build_images.py`; "
        "another one is named by SANDTABLE_DOCKER_IMAGE",
        image=image,
    )


def no_runtime(runtime: str, engine: str) -> SandboxUnavailable:
    if engine == "podman":
        advice = (
            f'let Podman use it for all containers: `runtime = "{runtime}"` under [engine] in containers.conf'
        )
    else:
        advice = f"install {runtime} and name it under `runtimes` in the engine's daemon.json"
    return SandboxUnavailable(
        f"the container engine has no runtime {runtime!r}",
        suggestion=f"{advice}; or leave SANDTABLE_DOCKER_RUNTIME unset",
    )


def wrong_version(found: str) -> SandboxUnavailable:
    oldest, newest = (".".join(map(str, version)) for version in (OLDEST, NEWEST))
    return SandboxUnavailable(
        f"the container engine offers version {found or 'none'} of the Docker API; {oldest} to {newest} are supported",
        suggestion="Use Docker 19.03 or newer, or Podman 3 or newer",
    )


def not_ready(why: str, reasons: tuple[str, ...] = ()) -> SandboxUnavailable:
    return SandboxUnavailable(
        f"the container did not get ready: {why}",
        suggestion="Check that SANDTABLE_DOCKER_IMAGE names an image of this version's runner",
        reasons=list(reasons),
    )
