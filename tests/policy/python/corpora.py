"""The committed corpora. A title line begins with `===`; fields are divided by ` | `.

`ordinary.txt`: dataset | title. `attacks.txt`: id | the construct that is refused | what its success would be.
`evaluated.txt` is like `attacks.txt`: texts that libraries evaluate, methods that take names, SQL from code. These
are run many to a sandbox, so none of them may end its process.
A last field such as `3.12` names the first Python that knows what is written there: older ones have no such case.
An id is a family and a number. A construct of `(passes)`: the check lets it pass, and the sandbox holds it.
Run without the check, an attack that succeeds prints a line that begins with `LEAK:`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

_FOLDER = Path(__file__).parent / "corpus"
_PASSES = "(passes)"


@dataclass(frozen=True, slots=True)
class Ordinary:
    dataset: str
    title: str
    code: str


@dataclass(frozen=True, slots=True)
class Attack:
    id: str
    construct: str | None
    """What the gate names; None where it lets the text pass."""
    success: str
    code: str

    @property
    def family(self) -> str:
        return self.id.rpartition("-")[0]


def _sections(name: str) -> Iterator[tuple[list[str], str]]:
    whole = (_FOLDER / name).read_text(encoding="utf-8")
    for section in whole.split("=== ")[1:]:
        title, _, code = section.partition("\n")
        yield title.split(" | "), code


def _is_known_here(since: list[str]) -> bool:
    return all(sys.version_info >= tuple(map(int, version.split("."))) for version in since)


ORDINARY = [
    Ordinary(dataset, title, code)
    for (dataset, title, *since), code in _sections("ordinary.txt")
    if _is_known_here(since)
]


def _attacks(file: str) -> list[Attack]:
    return [
        Attack(name, None if construct == _PASSES else construct, success, code)
        for (name, construct, success, *since), code in _sections(file)
        if _is_known_here(since)
    ]


ATTACKS = _attacks("attacks.txt")
EVALUATED = _attacks("evaluated.txt")


def ordinary() -> list[Any]:
    return [pytest.param(case, id=f"{case.dataset}-{case.title.replace(' ', '-')}") for case in ORDINARY]


def attacks() -> list[Any]:
    return [pytest.param(case, id=case.id) for case in (*ATTACKS, *EVALUATED)]
