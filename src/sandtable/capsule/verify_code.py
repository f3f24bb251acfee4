"""The further links of a run of Python: what it showed and what it printed, compared with the same code run again.

A cell of a session is run again after the cells that ran before it, each of them judged again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection

from sandtable.capsule.bounds import BEFORE_CELLS
from sandtable.capsule.canonical import digest
from sandtable.capsule.model import LOG_CHARS, CodeCapsule, Earlier, VerdictRecord, query_in
from sandtable.capsule.query import CodeQuery
from sandtable.capsule.report import Link
from sandtable.capsule.shown import differing, same_text
from sandtable.catalog.model import Dataset
from sandtable.errors import RunnerBroken
from sandtable.policy.verdict import Refused, Verdict
from sandtable.sandbox.artifact import artifacts_in
from sandtable.sandbox.job import JobResult

NOT_KEPT = "the earlier cells of its session, on which it depends, are too long to be kept in the capsule"
_TOO_MANY = (
    f"it depends on more than {BEFORE_CELLS} earlier cells of its session, which is more than are run again"
)

Judge = Callable[[str, Dataset, Collection[str]], Awaitable[Verdict]]


def not_replayed(capsule: CodeCapsule) -> str:
    """Why code cannot be judged and run again after the earlier cells of its session; empty when it can be."""
    if not isinstance(query_in(capsule), CodeQuery):
        return ""
    if capsule.before is None:
        return NOT_KEPT
    return _TOO_MANY if len(capsule.before) > BEFORE_CELLS else ""


async def look_back(
    capsule: CodeCapsule,
    dataset: Dataset,
    judge: Judge,
    bound_names: Callable[[str], Awaitable[frozenset[str]]] | None,
) -> tuple[frozenset[str], str]:
    """The names that the code could use, and why its session's earlier cells cannot be run again, if so."""
    names = frozenset(capsule.names or ())
    hindrance = ""
    for number, cell in enumerate(capsule.before or (), 1):
        verdict = await judge(cell.python, dataset, names)
        hindrance = hindrance or _hindrance(
            cell, verdict, f"cell {number} of its session, on which it depends,"
        )
        if bound_names is not None:
            names |= await bound_names(cell.python)
    return names, hindrance


def _hindrance(cell: Earlier, verdict: Verdict, which: str) -> str:
    if cell.interrupted:
        return f"{which} was interrupted, and where it stopped cannot be found again"
    if isinstance(verdict, Refused):
        return f"{which} is not approved now: {verdict.message}"
    if verdict.volatile:
        return f"{which} uses {', '.join(verdict.volatile)}, whose value differs from run to run"
    return ""


def versions_apart(recorded: str, here: str) -> str:
    """Versions that differ between a run (`python 3.11.2, pandas 3.1.0`) and here: `python 3.11.2 (here 3.13.0)`."""
    then, now = _versions(recorded), _versions(here)
    apart = [name for name in {**then, **now} if then.get(name) != now.get(name)]
    return ", ".join(
        f"{name} {then.get(name, 'unknown')} (here {now.get(name, 'unknown')})" for name in apart
    )


def _versions(engine: str) -> dict[str, str]:
    parts = (part.rpartition(" ") for part in engine.split(", "))
    return {name: version for name, _, version in parts if name}


def excused(link: Link, recorded: str, here: str) -> Link:
    """With other versions the same code may correctly give another result: a difference then proves nothing."""
    apart = versions_apart(recorded, here)
    if link.status == "ok" or not apart:
        return link
    why = f"{link.detail}; it was made with {apart[:400]}: verify it where those versions are"
    return Link(name=link.name, status="not_checked", detail=why)


def is_unread(record: VerdictRecord) -> bool:
    """Whether the text was refused because this version of Python cannot parse it."""
    return record.decision == "refused" and record.construct == "syntax"


def code_links(capsule: CodeCapsule, again: JobResult | None, result: Link) -> list[Link]:
    """`again` is None where the code was not run again; the link of the result says why."""
    if capsule.result is None:
        return [_not_repeated(capsule, "artifacts"), _not_repeated(capsule, "stdout")]
    if again is None or again.status != "succeeded":
        return [
            Link(name="artifacts", status="not_checked", detail=result.detail),
            Link(name="stdout", status="not_checked", detail=result.detail),
        ]
    return [_artifacts(capsule, again), _stdout(capsule, again)]


def _not_repeated(capsule: CodeCapsule, name: str) -> Link:
    assert name in ("artifacts", "stdout")
    if getattr(capsule, name):
        why = f"the run is {capsule.status}: it is not repeated, and what it left by then is not compared"
        return Link(name=name, status="not_checked", detail=why)
    return Link(name=name, status="ok", detail="there is nothing to compare")


def _artifacts(capsule: CodeCapsule, again: JobResult) -> Link:
    try:
        shown = artifacts_in(again)
    except RunnerBroken as error:
        return Link(name="artifacts", status="not_checked", detail=error.message)
    wrong = differing(capsule.artifacts, shown)
    if wrong:
        why = f"running it again shows something else: {', '.join(wrong)[:400]}"
        return Link(name="artifacts", status="broken", detail=why)
    return Link(name="artifacts", status="ok", detail="" if shown else "the code shows nothing")


def _stdout(capsule: CodeCapsule, again: JobResult) -> Link:
    if digest(again.stdout) == capsule.digests.stdout:
        return Link(name="stdout", status="ok", detail="" if again.stdout else "the code prints nothing")
    if len(capsule.stdout) < LOG_CHARS and same_text(capsule.stdout, again.stdout):
        return Link(name="stdout", status="ok", detail="equal but for memory addresses")
    return Link(name="stdout", status="broken", detail="running it again prints something else")
