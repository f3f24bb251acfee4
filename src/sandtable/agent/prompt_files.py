"""The prompts, which are files: read once, filled in, and named with their digest for the capsule.

Invariant: what is filled in is never itself looked through for places to fill.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

_PLACE = re.compile(r"\{\{(\w+)\}\}")
_TAG = re.compile(r"<(?=\s*/|\s*data)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PromptFile:
    name: str
    text: str
    sha256: str

    @property
    def digest(self) -> tuple[str, str]:
        return self.name, self.sha256

    def filled(self, **parts: str) -> str:
        return _PLACE.sub(lambda place: parts[place[1]], self.text)


@cache
def prompt_file(name: str) -> PromptFile:
    content = (files("sandtable.agent") / "prompts" / f"{name}.md").read_bytes()
    return PromptFile(f"{name}.md", content.decode(), hashlib.sha256(content).hexdigest())


def as_data(value: Any) -> str:
    """JSON that can neither end the `<data>` around it nor open another, whatever its texts hold."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return _TAG.sub(lambda tag: "\\u003c" + tag[0][1:], text)
