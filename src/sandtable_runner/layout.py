"""How a template's memory lies before it forks. A fork costs by the page, and so does what a child writes to.

Nothing here is needed for a template to work: where the C library or the kernel does it otherwise, a fork is slower.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

from sandtable_runner import kernel

_SIZES = (*(1 << power for power in range(18, 13, -1)), *range(8192, 1024, -512), *range(1016, 8, -16))
_IN_A_ROW = 16
_OVERHEAD = 32
_AT_MOST = 20_000
"""For one size: a C library that never gives neighbours is left alone at some point."""
_HUGE = 2 << 20
_MADV_COLLAPSE = 25


def settle_memory() -> None:
    fill_holes()
    join_pages()


def fill_holes() -> None:
    """Take the free places between objects, for good and without touching them.

    A child would put its own objects there, and have a page copied for each of the many that they lie on. Without
    holes it begins on pages of its own, one after the other. From large to small, until blocks of a size come one
    after the other: then they are cut from the end.
    """
    malloc = ctypes.CDLL(None).malloc
    malloc.argtypes, malloc.restype = (ctypes.c_size_t,), ctypes.c_void_p
    for size in _SIZES:
        last = in_a_row = 0
        for _ in range(_AT_MOST):
            place = malloc(size) or 0
            in_a_row = in_a_row + 1 if 0 < place - last <= size + _OVERHEAD else 0
            last = place
            if in_a_row == _IN_A_ROW:
                break


def join_pages() -> None:
    """Huge pages under everything that is only in memory: a fork copies one entry where it would copy 512."""
    for start, end in _private_memory():
        for place in range(-(-start // _HUGE) * _HUGE, end - _HUGE + 1, _HUGE):
            # Refused where nothing is in use yet, and by kernels before 6.1.
            kernel.syscall_raw(
                "madvise", ctypes.c_void_p(place), ctypes.c_size_t(_HUGE), ctypes.c_int(_MADV_COLLAPSE)
            )


def _private_memory() -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        span, rights, _, _, inode, *name = line.split(maxsplit=5)
        if rights == "rw-p" and inode == "0" and not (name and name[0].startswith("[stack")):
            start, _, end = span.partition("-")
            found.append((int(start, 16), int(end, 16)))
    return found
