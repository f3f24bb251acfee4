"""Prompt files: read once, filled in, and recorded with their digest in the capsule.

`{{name}}` is replaced by a part. `{{#name}}…{{/name}}` stays where the part is not empty, `{{^name}}…{{/name}}` where
it is. So all text that a model is sent stands in these files, and the rest of a prompt is data.
Invariant: what is filled in is never itself searched for places to fill.
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
_OPTIONAL = re.compile(r"\{\{([#^])(\w+)\}\}(.*?)\{\{/\2\}\}", re.DOTALL)
_TAG = re.compile(r"<(?=\s*/|\s*data)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PromptFile:
    name: str
    text: str
    sha256: str

    @property
    def digest(self) -> tuple[str, str]:
        return self.name, self.sha256

    def filled(self, **parts: str | bool) -> str:
        """A part that is only a condition is a bool."""
        kept = _OPTIONAL.sub(lambda one: one[3] if bool(parts[one[2]]) == (one[1] == "#") else "", self.text)
        return _PLACE.sub(lambda place: str(parts[place[1]]), kept)


@cache
def prompt_file(name: str) -> PromptFile:
    content = (files("sandtable.agent") / "prompts" / f"{name}.md").read_bytes()
    return PromptFile(f"{name}.md", content.decode(), hashlib.sha256(content).hexdigest())


def as_data(value: Any) -> str:
    """JSON that can neither end the `<data>` around it nor open another, whatever its texts hold."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)
    return _TAG.sub(lambda tag: "\\u003c" + tag[0][1:], text)
