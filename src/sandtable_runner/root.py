"""The file tree of a sandbox: a private, almost empty root.

/data     the one dataset, read-only        /scratch  private memory-backed space, size-limited
/out      only while ingesting or exporting: where the Parquet is written
/store, /staging, /proc  the template's own view of the data store and of itself; hidden from every child
Nothing of the host is there: no /etc, no /usr, no /home, no /sys.
"""

from __future__ import annotations

import os
from pathlib import Path

from sandtable_runner import kernel

_FOLDERS = ("scratch", "data", "out", "store", "staging", "dev", "proc", "empty", "old")
_DEVICES = ("null", "zero", "urandom")


def build_root(store: str | None) -> None:
    """In the template, inside its own mount namespace: replace the root. The current folder becomes `/`. Without a
    `store`, no data can be seen."""
    kernel.mount("none", "/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    # Any existing folder will do: the tmpfs over it is visible in this namespace only.
    new = "/proc"
    kernel.mount("tmpfs", new, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, "size=1m,nr_inodes=1k,mode=755")
    for folder in _FOLDERS:
        (Path(new) / folder).mkdir()
    for device in _DEVICES:
        target = Path(new) / "dev" / device
        target.touch()
        kernel.bind(f"/dev/{device}", str(target))
        kernel.make_unchangeable(str(target))
    if store is not None:
        _bind_store(store, new)
    kernel.mount("proc", f"{new}/proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    os.chdir(new)
    kernel.pivot_root(".", "old")
    os.chdir("/")
    kernel.unmount("/old")
    Path("/old").rmdir()
    kernel.make_read_only("/", recursive=False)


def _bind_store(store: str, new: str) -> None:
    # Recursive, because in a container a dataset's folder is a mount below the store.
    kernel.bind(store, f"{new}/store", recursive=True)
    kernel.make_read_only(f"{new}/store", noexec=True)
    if Path(store, "staging").is_dir():
        kernel.bind(f"{store}/staging", f"{new}/staging", recursive=True)
        kernel.make_inert(f"{new}/staging")


def add_scratch(megabytes: int) -> None:
    """In the child: 0 means none."""
    if megabytes:
        flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
        kernel.mount("tmpfs", "/scratch", "tmpfs", flags, f"size={megabytes}m,nr_inodes=4096,mode=1777")


def show_data(folder: str | None, staging: str | None) -> None:
    """In the child: bind what this job may see, then hide the rest. Over-mounting; nothing is unmounted."""
    if folder:
        # A bind inherits the flags of its source: read-only, like the store.
        kernel.bind(f"/store/{folder}", "/data")
    if staging:
        kernel.bind(f"/staging/{staging}", "/out")
        kernel.make_inert("/out")
    for path in ("/store", "/staging", "/proc"):
        kernel.bind("/empty", path)
