"""A template's memory before it forks. In processes of their own: what is taken is never given back."""

from __future__ import annotations

import subprocess
import sys

import pytest

HOLES = """
import ctypes
from sandtable_runner.layout import fill_holes
libc = ctypes.CDLL(None)
libc.malloc.argtypes, libc.malloc.restype, libc.free.argtypes = (ctypes.c_size_t,), ctypes.c_void_p, (ctypes.c_void_p,)
blocks = [libc.malloc(700) for _ in range(6000)]
for block in blocks[::2]:
    libc.free(block)
{act}
places = sorted(libc.malloc(700) for _ in range(200))
print(len(set(place >> 12 for place in places)) <= 200 * 720 // 4096 + 2)
"""
CONTENT = """
import hashlib
from sandtable_runner.layout import join_pages
kept = [bytearray(str(number).encode() * 1000) for number in range(5000)]
digest = lambda: hashlib.sha256(b"".join(kept)).hexdigest()
before = digest()
join_pages()
print(before == digest())
"""


def _tell(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("act", "together"), [("fill_holes()", "True"), ("", "False")], ids=["filled", "as it was"]
)
def test_what_comes_after_the_holes_are_filled_lies_together(act: str, together: str) -> None:
    assert _tell(HOLES.format(act=act)) == together


def test_memory_holds_the_same_when_its_pages_are_joined() -> None:
    assert _tell(CONTENT) == "True"
