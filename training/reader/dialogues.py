"""Follow-ups to answers: files in `training/dialogues`, one for each domain, as `training/README.md` describes them.

`plainer` and `leaning` make more of them: what writers say with one word too many to be clear, and whole questions that
begin with `and`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from sandtable.catalog.model import Dataset
from sandtable.planner.candidates.network.plans import plan_of
from sandtable.planner.candidates.network.sketch import Item, Token
from training.reader.notation import NotationError, read_sketch


@dataclass(frozen=True, slots=True)
class Continued:
    """One message in its wordings, the answer that it follows, and what it means."""

    line: int
    before: tuple[Token, ...]
    wordings: tuple[str, ...]
    written: str
    sketch: tuple[Token, ...]


@dataclass(frozen=True, slots=True)
class Dialogues:
    found: tuple[Continued, ...]
    refused: tuple[str, ...]
    """Lines that cannot be read, with the reason."""


def read_dialogues(path: Path, dataset: Dataset) -> Dialogues:
    found: list[Continued] = []
    refused: list[str] = []
    before: tuple[Token, ...] | None = None
    wordings: list[str] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        sign, written = line[:1], line[1:].strip()
        try:
            if sign == ":":
                before = None
                before = _sketch(written, dataset)
            elif sign == ">":
                wordings.append(written)
            elif sign == "=":
                said, wordings = tuple(wordings), []
                if before is None:
                    raise NotationError("no answer stands before it")
                found.append(Continued(number, before, said, written, _sketch(written, dataset, none=True)))
            elif line.strip() and sign != "#":
                raise NotationError("a line begins with `:`, `>`, `=` or `#`")
        except (NotationError, IndexError) as error:
            refused.append(f"{path.name}:{number}: {error}: {line}")
    return Dialogues(tuple(found), tuple(refused))


def _sketch(written: str, dataset: Dataset, *, none: bool = False) -> tuple[Token, ...]:
    sketch = read_sketch(written, dataset)
    if plan_of(sketch, dataset.id) is None and not (none and sketch == ("none",)):
        raise NotationError("the sketch means no plan")
    return sketch


_SPLIT = re.compile(
    r"^(?:.*\b)?(?:break|split|divide|cut|slice)\b.*\b(?:by|per|into|over|across)\b", re.IGNORECASE
)
_MORE = re.compile(r",? \b(?:too|as well|further|also|additionally|in addition)\b", re.IGNORECASE)
_PARTS = {
    "where": "where",
    "time": "time",
    "limit": "limit",
    "then": "then",
    "having": "having",
    "top": "top",
}
_DERIVED = frozenset({"share_of", "share_in", "growth", "change", "running", "rank", "diff", "pct"})


def plainer(each: Continued) -> list[str]:
    """`split that by plan too` as `split that by plan`: it splits the groups that are there."""
    return [_MORE.sub("", said) for said in each.wordings if _SPLIT.match(said) and _MORE.search(said)]


def leaning(
    question: str, sketch: tuple[Token, ...], before: tuple[Token, ...]
) -> tuple[str, tuple[Token, ...]] | None:
    """A whole question that goes on with `and`: it is about the rows that the answer before was about.

    None where it has a time or conditions of its own, or is about another table.
    """
    mine, theirs = _sections(sketch), _sections(before)
    kept = theirs.get("where", ()) + theirs.get("time", ())
    if sketch[0] != before[0] or not kept or mine.keys() & {"where", "time", "then"} or "then" in theirs:
        return None
    items = mine["items"]
    rest = tuple(t for name in ("having", "derive", "top", "order", "limit") for t in mine.get(name, ()))
    asked = question[:1].lower() + question[1:] if question[1:2].islower() else question
    return f"and {asked}", (*items, *kept, *rest, "end")


def _sections(sketch: tuple[Token, ...]) -> dict[str, tuple[Token, ...]]:
    """The parts of a sketch by their names; the table is with the items."""
    found: dict[str, tuple[Token, ...]] = {}
    now = "items"
    for token in sketch:
        if isinstance(token, Item):
            pass
        elif token == "end":
            break
        elif token in _PARTS:
            now = _PARTS[token]
        elif token in _DERIVED:
            now = "derive"
        elif (token in {"desc", "asc"} and now != "top") or (
            token in {"desc", "asc"} and len(found["top"]) > 3
        ):
            now = "order"
        found[now] = (*found.get(now, ()), token)
    return found
