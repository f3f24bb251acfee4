"""Modules that libraries load on first use, kept in memory: after the seal there is no file to load them from.

Only source and bytecode can be kept; compiled extension modules must be imported before the seal. They lie in one
read-only mapping that all sandboxes share: a fork copies nothing of it.
"""

from __future__ import annotations

import fcntl
import importlib.machinery
import importlib.util
import marshal
import mmap
import os
import sys
from collections.abc import Sequence
from importlib.abc import InspectLoader, MetaPathFinder
from pathlib import Path
from types import CodeType, ModuleType

_HEADER = 16
_SKIPPED = frozenset(
    {"tests", "test", "testing", "__pycache__", "examples", "benchmarks", "idlelib", "tkinter"}
)


class _Loader(InspectLoader):
    def __init__(self, path: str, content: bytes | memoryview, compiled: bool) -> None:
        self._path = path
        self.content = content
        self._compiled = compiled

    def get_code(self, fullname: str) -> CodeType:
        if self._compiled:
            return marshal.loads(self.content[_HEADER:])  # noqa: S302 - written by this very Python
        return compile(self.content, self._path, "exec", dont_inherit=True)

    def get_source(self, fullname: str) -> str | None:
        return None

    def is_package(self, fullname: str) -> bool:
        return self._path.endswith("__init__.py")


class Shelf(MetaPathFinder):
    def __init__(self) -> None:
        self._loaders: dict[str, _Loader] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        loader = self._loaders.get(fullname)
        if loader is None:
            return None
        return importlib.util.spec_from_loader(fullname, loader, is_package=loader.is_package(fullname))

    def keep(self, package: str) -> None:
        """Keep every module of the package that is not loaded yet."""
        for folder in getattr(sys.modules[package], "__path__", ()):
            self._keep_folder(folder, package)

    def _keep_folder(self, folder: str, package: str) -> None:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
        for entry in entries:
            stem, _, suffix = entry.name.partition(".")
            if entry.is_dir():
                if entry.name.isidentifier() and entry.name not in _SKIPPED:
                    self._keep_folder(entry.path, f"{package}.{entry.name}")
            elif suffix == "py" and stem.isidentifier():
                self._keep_file(entry.path, package if stem == "__init__" else f"{package}.{stem}")

    def _keep_file(self, path: str, name: str) -> None:
        if name in sys.modules:
            return
        cached = Path(importlib.util.cache_from_source(path))
        if cached.exists():
            content = cached.read_bytes()
            if content[:4] == importlib.util.MAGIC_NUMBER:
                self._loaders[name] = _Loader(path, content, compiled=True)
                return
        self._loaders[name] = _Loader(path, Path(path).read_bytes(), compiled=False)

    def lay_down(self) -> None:
        """Move what was kept so far into one memory mapping."""
        loaders = self._loaders.values()
        piece = memoryview(_unwritable(b"".join(loader.content for loader in loaders)))
        start = 0
        for loader in loaders:
            end = start + len(loader.content)
            loader.content = piece[start:end]
            start = end

    def __len__(self) -> int:
        return len(self._loaders)


def _unwritable(content: bytes) -> mmap.mmap:
    fd = os.memfd_create("modules", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        with os.fdopen(fd, "wb", closefd=False) as file:
            file.write(content)
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        return mmap.mmap(fd, len(content), flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)
    finally:
        os.close(fd)


def stock(packages: Sequence[str]) -> Shelf:
    """Placed first among the finders: without a private root, files are visible but cannot be read."""
    shelf = Shelf()
    for package in packages:
        shelf.keep(package)
    shelf.lay_down()
    sys.meta_path.insert(0, shelf)
    return shelf
