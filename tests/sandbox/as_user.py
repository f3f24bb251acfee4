"""Run a Python module in another world: as an ordinary user, or on a kernel that seems to have no Landlock.

Root cannot simply change its uid when Python or the checkout lies under a folder that only root may
enter. So the program first takes a mount namespace of its own, in which a tmpfs covers each such
folder and only the needed paths are bound back. Nothing of the host changes.

    python as_user.py '{"uid": 12345, "reach": ["/path"], "landlock": true}' -m some.module argument …
"""

from __future__ import annotations

import ctypes
import json
import os
import stat
import struct
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

ORDINARY_UID = 12345
REPOSITORY = Path(__file__).resolve().parents[2]

_NEW_MOUNT_NAMESPACE = 0x20000
_BIND, _RECURSIVE, _PRIVATE = 4096, 16384, 1 << 18
_NO_NEW_PRIVILEGES, _SET_SECCOMP, _FILTER_MODE = 38, 22, 2
_LANDLOCK_CALLS = (444, 446)
_libc = ctypes.CDLL(None, use_errno=True)


def command(
    module: str, *arguments: str, uid: int | None, landlock: bool = True, reach: Iterable[Path] = ()
) -> list[str]:
    """The command line that runs `module` in that world. `uid` None keeps the present user."""
    if os.geteuid() != 0 or uid == os.geteuid():
        uid = None
    world = {"uid": uid, "landlock": landlock, "reach": [str(path) for path in reach]}
    return [sys.executable, str(Path(__file__).resolve()), json.dumps(world), "-m", module, *arguments]


def run(
    module: str,
    *arguments: str,
    uid: int | None,
    landlock: bool = True,
    reach: Iterable[Path] = (),
    environment: dict[str, str] | None = None,
    timeout: float = 600,
) -> subprocess.CompletedProcess[str]:
    line = command(module, *arguments, uid=uid, landlock=landlock, reach=reach)
    paths = os.pathsep.join((str(REPOSITORY / "src"), str(REPOSITORY)))
    return subprocess.run(
        line,
        env={
            "PATH": "/usr/bin:/bin",
            "PYTHONPATH": paths,
            "PYTHONDONTWRITEBYTECODE": "1",
            **(environment or {}),
        },
        cwd="/",
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


def _checked(code: int, what: str) -> None:
    if code < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    parts = [None if part is None else part.encode() for part in (source, target, kind, data)]
    code = _libc.mount(parts[0], parts[1], parts[2], ctypes.c_ulong(flags), parts[3])
    _checked(code, f"mount {source} on {target}")


def _closed_ancestor(path: Path) -> Path | None:
    """The outermost folder on the way to `path` that strangers may not enter."""
    for folder in reversed((path, *path.parents)):
        if folder.is_dir() and not folder.stat().st_mode & stat.S_IXOTH:
            return folder
    return None


def _open_the_way(paths: Iterable[Path]) -> None:
    _checked(_libc.unshare(_NEW_MOUNT_NAMESPACE), "unshare")
    _mount("none", "/", None, _RECURSIVE | _PRIVATE)
    covered: dict[Path, list[tuple[Path, int]]] = {}
    for path in sorted(paths):
        if folder := _closed_ancestor(path):
            covered.setdefault(folder, []).append((path, os.open(path, os.O_PATH)))
    for folder, wanted in covered.items():
        _mount("tmpfs", str(folder), "tmpfs", 0, "size=1m,mode=755")
        for path, fd in wanted:
            if not path.exists():
                path.mkdir(parents=True)
                _mount(f"/proc/self/fd/{fd}", str(path), None, _BIND | _RECURSIVE)
            os.close(fd)


def _become(uid: int) -> None:
    os.setgroups([])
    os.setresgid(uid, uid, uid)
    os.setresuid(uid, uid, uid)


def _hide_landlock() -> None:
    """A system call filter that answers "no such call" to Landlock, as an old kernel would."""
    load, equal, answer = 0x20, 0x15, 0x06
    absent, allow = 0x50000 | 38, 0x7FFF0000
    program = [(load, 0, 0, 0)]
    program += [(equal, len(_LANDLOCK_CALLS) - index, 0, call) for index, call in enumerate(_LANDLOCK_CALLS)]
    program += [(answer, 0, 0, allow), (answer, 0, 0, absent)]
    body = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *entry) for entry in program))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(program), ctypes.addressof(body)))
    _checked(_libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0), "no_new_privs")
    _checked(_libc.prctl(_SET_SECCOMP, _FILTER_MODE, header, 0, 0), "seccomp")


def _needed(extra: Iterable[str]) -> list[Path]:
    interpreter = Path(sys.executable).resolve().parent
    paths = (Path(sys.prefix), Path(sys.base_prefix), interpreter, REPOSITORY, *map(Path, extra))
    return list(dict.fromkeys(path.resolve() for path in paths))


def main(arguments: Sequence[str]) -> None:
    world = json.loads(arguments[0])
    if world["uid"] is not None:
        _open_the_way(_needed(world["reach"]))
        _become(world["uid"])
    if not world["landlock"]:
        _hide_landlock()
    os.execv(sys.executable, [sys.executable, *arguments[1:]])


if __name__ == "__main__":
    main(sys.argv[1:])
