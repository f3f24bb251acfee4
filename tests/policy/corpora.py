"""The committed corpora: one JSON object with id, family and sql on each line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

_FOLDER = Path(__file__).parent / "corpus"


def _load(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (_FOLDER / name).read_text(encoding="utf-8").splitlines()]


ATTACKS = _load("attacks.jsonl")
LEGIT = _load("legit.jsonl")


def cases(corpus: list[dict[str, Any]]) -> list[Any]:
    return [pytest.param(case, id=case["id"]) for case in corpus]
