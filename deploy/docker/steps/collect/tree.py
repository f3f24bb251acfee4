"""Files taken from a root file system into the layers of an image.

Invariant: a file is taken once, into the first layer that wants it, with the links on its way and the shared
libraries it asks for. Owner, times and modes do not depend on the machine; nothing is setuid or writable by others.
"""

from __future__ import annotations

import importlib.util
import os
import posixpath
import shutil
from collections.abc import Callable
from pathlib import Path

from collect import elf

Skip = Callable[[str], bool]


class Missing(Exception):
    """A shared library that no folder of the root has."""


class Tree:
    def __init__(
        self, root: Path, target: Path, libraries: tuple[str, ...], before: frozenset[str] = frozenset()
    ) -> None:
        """`libraries` are the folders that the loader looks in; `before` is what lower layers hold."""
        self._root = root
        self._libraries = libraries
        self._layer = target
        self.target = target
        self.before = before
        self.taken: set[str] = set()
        """As paths inside the image, links resolved."""

    def begin(self, layer: str) -> None:
        """What is taken from now on goes there."""
        self._layer = self.target / layer
        self._layer.mkdir(parents=True, exist_ok=True)

    def real(self, path: str) -> Path:
        return self._root / path.lstrip("/")

    def exists(self, path: str) -> bool:
        return os.path.lexists(self.real(path))

    def take(self, path: str) -> str:
        """One file or (empty) folder; returns where it lies when every link on the way is followed."""
        done = "/"
        parts = [part for part in path.split("/") if part]
        for number, part in enumerate(parts):
            here = posixpath.join(done, part)
            real = self.real(here)
            if real.is_symlink():
                self._link(here, str(real.readlink()))
                onward = posixpath.join(done, str(real.readlink()), *parts[number + 1 :])
                return self.take(posixpath.normpath(onward))
            done = here
        if self.real(done).is_dir():
            self.folder(done)
        else:
            self._copy(self.real(done), done)
        return done

    def take_all(self, folder: str, skip: Skip = lambda _: False) -> None:
        """A folder with everything below it, but for what `skip` names (paths relative to it)."""
        base = self.real(folder)
        for at, folders, files in os.walk(base):
            below = os.path.relpath(at, base)
            names = [posixpath.normpath(posixpath.join(below, name)) for name in sorted(folders + files)]
            folders[:] = sorted(n for n in folders if not skip(posixpath.normpath(posixpath.join(below, n))))
            for name in names:
                whole = base / name
                if skip(name) or (whole.is_dir() and not whole.is_symlink()):
                    continue
                self.take(posixpath.join(folder, name))

    def folder(self, path: str, mode: int = 0o755) -> None:
        there = self._layer / path.lstrip("/")
        there.mkdir(parents=True, exist_ok=True)
        there.chmod(mode)

    def write(self, path: str, text: str, mode: int = 0o644) -> None:
        there = self._layer / path.lstrip("/")
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_text(text, encoding="utf-8")
        there.chmod(mode)
        self.taken.add(path)

    def place(self, real: Path, path: str) -> None:
        """A file from outside of the root."""
        self._copy(real, path)

    def library(self, name: str) -> None:
        """A shared library by the name that a program asks for."""
        self._needed(elf.Wants((name,)), "/")

    def _copy(self, real: Path, path: str) -> None:
        if path in self.taken or path in self.before:
            return
        self.taken.add(path)
        there = self._layer / path.lstrip("/")
        there.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(real, there)
        there.chmod(0o755 if real.stat().st_mode & 0o111 else 0o644)
        if real.suffix == ".py":
            compiled = Path(importlib.util.cache_from_source(str(real)))
            if compiled.is_file():
                self._copy(compiled, posixpath.join(posixpath.dirname(path), "__pycache__", compiled.name))
        if (wanted := elf.wants(real)) is not None:
            self._needed(wanted, path)

    def _link(self, path: str, target: str) -> None:
        if path in self.taken or path in self.before:
            return
        self.taken.add(path)
        there = self._layer / path.lstrip("/")
        there.parent.mkdir(parents=True, exist_ok=True)
        there.symlink_to(target)

    def _needed(self, wanted: elf.Wants, of: str) -> None:
        if wanted.loader:
            self.take(wanted.loader)
        origin = posixpath.dirname(of)
        own = [place.replace("${ORIGIN}", origin).replace("$ORIGIN", origin) for place in wanted.places]
        for name in wanted.libraries:
            # The last resort: a library that a wheel brought is often found by those who loaded it.
            folders = (posixpath.normpath(folder) for folder in (*own, *self._libraries, origin))
            found = next((f"{folder}/{name}" for folder in folders if self.exists(f"{folder}/{name}")), None)
            if found is None:
                raise Missing(f"{of} asks for {name}, which is in none of {[*own, *self._libraries]}")
            self.take(found)
