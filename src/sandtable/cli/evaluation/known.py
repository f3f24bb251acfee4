"""Known failures: a text file that names every question that is not answered correctly, and how it fails.

Invariant: the list is exact. An unlisted failure and a listed question that passes are both faults, so the list
stays up to date and gets shorter with each improvement. It holds ids, never questions or answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from sandtable.cli.evaluation.outcome import PASSED, Judged, Outcome
from sandtable.cli.inputs import MOST_TEXT, read_text
from sandtable.cli.show import clean
from sandtable.errors import InvalidInput
from sandtable.quoting import quote

_HEAD = "# Questions that are not answered rightly, and how they fail. Written by `sandtable eval --update-known`.\n"
_FAILURES = frozenset(get_args(Outcome)) - PASSED


class KnownFailures:
    def __init__(self, named: dict[str, str]) -> None:
        self.named = named
        self._found: dict[str, str] = {}
        self._passed: set[str] = set()

    @classmethod
    def read(cls, path: Path) -> KnownFailures:
        """A line is an outcome and an id. Raises InvalidInput for other lines."""
        named: dict[str, str] = {}
        for number, line in enumerate(read_text(str(path), MOST_TEXT).splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            outcome, _, name = line.strip().partition(" ")
            if outcome not in _FAILURES or not name or name in named:
                raise InvalidInput(
                    f"{path}, line {number}: {quote(line)} does not name a failure",
                    suggestion=f"Write an outcome ({', '.join(sorted(_FAILURES))}) and an id, each id once.",
                )
            named[name] = outcome
        return cls(named)

    def take(self, one: Judged) -> None:
        """Raises InvalidInput for a duplicate id: it would name two questions."""
        name = clean(str(one.item.id))
        if name in self._found or name in self._passed:
            raise InvalidInput(f"two questions have the id {quote(name)}", suggestion="Give each its own id.")
        if one.outcome in _FAILURES:
            self._found[name] = str(one.outcome)
        elif one.outcome is not None:
            self._passed.add(name)

    def faults(self) -> Iterator[str]:
        """The differences between the list and the outcomes, as sentences with ids."""
        for name, outcome in self._found.items():
            was = self.named.get(name)
            if was is None:
                yield f"{name}: {outcome}, and it is not a known failure"
            elif was != outcome:
                yield f"{name}: {outcome}, and it is known as {was}"
        for name in self.named:
            if name in self._passed:
                yield f"{name}: it passes now, and is still named as a failure"
            elif name not in self._found:
                yield f"{name}: there is no such question"

    def write(self, path: Path) -> None:
        path.write_text(_HEAD + "".join(f"{how} {name}\n" for name, how in self._found.items()), "utf-8")
