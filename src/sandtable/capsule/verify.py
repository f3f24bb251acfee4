"""Re-derives everything a capsule claims, link by link, and names the link that broke.

Invariant: no claim is taken from the capsule when it can be derived again. What runs is the text that the gate approves
now, never the text in the capsule. For an invalid capsule, or one whose signer is not trusted (`examine`), nothing is
compiled, judged or run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from typing import Any

from sandtable.capsule.canonical import digest, plain
from sandtable.capsule.compare import agree, same_figure
from sandtable.capsule.document import Document
from sandtable.capsule.examine import Examined, examine, unchecked, unreadable
from sandtable.capsule.keys import TrustedKeys
from sandtable.capsule.model import (
    AnyCapsule,
    AskedCapsule,
    CapsuleV1,
    CatalogCapsule,
    CodeCapsule,
    ResultRecord,
    VerdictRecord,
    digest_of_rows,
    pin_of,
    query_in,
)
from sandtable.capsule.pin import LivePin
from sandtable.capsule.query import CodeQuery, PlanQuery, Query, SqlQuery, plan_of
from sandtable.capsule.report import Link, VerifyReport
from sandtable.capsule.seal import Unreadable
from sandtable.capsule.trust import MARK_WORDS, marks_of
from sandtable.capsule.verify_code import code_links, excused, is_unread, look_back, not_replayed
from sandtable.catalog.model import Dataset, on_the_day
from sandtable.chart.rules import MAKER, MAKERS, without_words
from sandtable.errors import ErrorCode, InvalidInput, NotFound, SandtableError
from sandtable.policy.verdict import Approved, Verdict
from sandtable.quoting import quote
from sandtable.sandbox.job import JobResult


@dataclass(frozen=True, slots=True)
class Rederive:
    """How to repeat each step. A step that is None is reported as not checked."""

    keys: TrustedKeys
    dataset: Callable[[str, str, str | None], Awaitable[Dataset]] | None = None
    """Dataset id, version and version of its catalog to the dataset; with None, by the current catalog. Raises NotFound
    when one of the two is not here."""
    rehash: Callable[[Dataset], Awaitable[str]] | None = None
    """The version digest, computed again from the stored bytes. Raises NotFound when they are gone."""
    compile: Callable[[dict[str, Any], Dataset, int], str] | None = None
    """Plan, dataset and row limit to SQL. Raises InvalidInput for a plan that cannot be used."""
    judge: Callable[[str, Dataset], Awaitable[Verdict]] | None = None
    judge_plan: Callable[[dict[str, Any], Dataset, int], Awaitable[Verdict]] | None = None
    """Plan, dataset and row limit, for data that stay in a database: there, only what is compiled here is approved."""
    judge_python: Callable[[str, Dataset, Collection[str]], Awaitable[Verdict]] | None = None
    """Code, dataset and further names that the code can use. None where Python is disabled."""
    bound_names: Callable[[str], Awaitable[frozenset[str]]] | None = None
    """The names that code defines for later cells of its session."""
    code_engine: Callable[[str, str], str] | None = None
    """Versions here that the results of code over a dataset depend on, as capsules record them."""
    run: Callable[[AnyCapsule, Approved, Dataset], Awaitable[JobResult]] | None = None
    draw: (
        Callable[[JobResult, str, dict[str, Any] | None, int, Dataset | None, str], dict[str, Any] | None]
        | None
    ) = None
    """Result, question, plan, row limit, dataset and the rules to draw by (`MAKERS`), to the figure. Pure. Without the
    dataset its words differ (`without_words`)."""


async def verify(given: Document, parts: Rederive) -> VerifyReport:
    """Examine a capsule, with or without the readable copy, and derive it again."""
    try:
        examined = await asyncio.to_thread(examine, given, parts.keys)
    except Unreadable as error:
        return unreadable(error.message).report
    return await derive(examined, parts)


async def derive(examined: Examined, parts: Rederive) -> VerifyReport:
    """Derive the capsule's claims again; nothing is derived from an invalid one."""
    capsule = examined.capsule
    if capsule is None or examined.hindrance:
        return examined.report
    try:
        links = await _Rederivation(capsule, parts).links()
    except RecursionError:
        return examined.unfinished("its content is nested too deeply to be derived again")
    asker = capsule.asked_by if isinstance(capsule, AskedCapsule) else None
    every = (*examined.links, *links)
    return VerifyReport(run_id=capsule.run_id, keyid=examined.keyid, asked_by=asker, links=every)


class _Rederivation:
    def __init__(self, capsule: AnyCapsule, parts: Rederive) -> None:
        self._capsule = capsule
        self._query = query_in(capsule)
        self._live = isinstance(pin_of(capsule), LivePin)
        self._parts = parts
        self._hindrance = ""
        """Why the earlier cells of the session cannot be run again."""
        self._undescribed = ""
        """Why the catalog that the capsule names is not here."""

    async def links(self) -> list[Link]:
        dataset, data = await self._data()
        described = await self._described(dataset)
        return [_question(self._capsule, described), *await self._derived(dataset, described, data)]

    async def _described(self, dataset: Dataset | None) -> Dataset | None:
        """By the catalog that the capsule names; None where that is not here."""
        capsule, find = self._capsule, self._parts.dataset
        wanted = capsule.catalog_version if isinstance(capsule, CatalogCapsule) else None
        if dataset is None or find is None or wanted in (None, dataset.catalog_version):
            return dataset
        try:
            found = await find(capsule.dataset_id, capsule.dataset_version, wanted)
            return on_the_day(found, capsule.created_at)
        except SandtableError as error:
            self._undescribed = f"{error.message}; {error.suggestion}"
            return None

    async def _derived(self, dataset: Dataset | None, described: Dataset | None, data: Link) -> list[Link]:
        if dataset is None:
            missing = "needs the dataset version, which is not here"
            rest = [unchecked(name, missing) for name in ("plan", "verdict", "result")]
            return [data, *rest, *await asyncio.to_thread(self._shown, None, None, rest[-1])]
        plan = await asyncio.to_thread(self._plan, described)
        verdict, judged = await self._verdict(dataset)
        again, result = await self._result(dataset, verdict)
        shown = await asyncio.to_thread(self._shown, described, again, result)
        return [data, plan, judged, result, *shown]

    def _shown(self, dataset: Dataset | None, again: JobResult | None, result: Link) -> list[Link]:
        """The links of what is made from a result."""
        return [self._chart(dataset, again if result.status == "ok" else None), *self._code(again, result)]

    def _code(self, again: JobResult | None, result: Link) -> list[Link]:
        capsule = self._capsule
        if isinstance(capsule, CodeCapsule) and isinstance(self._query, CodeQuery):
            links = code_links(capsule, again, result)
            return [self._excused(link) if link.status == "broken" else link for link in links]
        return []

    def _excused(self, link: Link) -> Link:
        capsule, engine = self._capsule, self._parts.code_engine
        if engine is None or not isinstance(self._query, CodeQuery):
            return link
        return excused(link, capsule.engine, engine(capsule.dataset_id, capsule.dataset_version))

    async def _data(self) -> tuple[Dataset | None, Link]:
        capsule, parts = self._capsule, self._parts
        if parts.dataset is None or parts.rehash is None:
            return None, unchecked("data", "no data store was given")
        try:
            dataset = await parts.dataset(capsule.dataset_id, capsule.dataset_version, None)
            dataset = on_the_day(dataset, capsule.created_at)
            found = await parts.rehash(dataset)
        except NotFound as error:
            if self._live:
                return None, unchecked("data", f"{error.message}; connect the database and verify again")
            todo = f"add version {capsule.dataset_version} of dataset {quote(capsule.dataset_id)} and verify again"
            return None, unchecked("data", f"{error.message}; {todo}")
        except SandtableError as error:
            if self._live:
                return None, unchecked("data", f"{error.message}; {error.suggestion}")
            return None, Link(name="data", status="broken", detail=error.message)
        if (dataset.live is not None) != self._live:
            why = "the capsule pins its data in another way than this version does"
            return None, Link(name="data", status="broken", detail=why)
        if self._live:
            return dataset, _not_pinned(found == capsule.dataset_version)
        if found != capsule.dataset_version:
            why = f"the stored data hashes to {found}, the capsule names {capsule.dataset_version}"
            return dataset, Link(name="data", status="broken", detail=why)
        return dataset, Link(name="data", status="ok")

    def _plan(self, dataset: Dataset | None) -> Link:
        capsule, query = self._capsule, self._query
        if not isinstance(query, PlanQuery):
            return Link(name="plan", status="ok", detail=f"there is no plan: {_kind(query)} was submitted")
        if self._parts.compile is None:
            return unchecked("plan", "no compiler was given")
        if capsule.sql is None and capsule.verdict is None:
            return Link(name="plan", status="ok", detail="the run ended before its plan was compiled")
        if dataset is None:
            return unchecked("plan", self._undescribed)
        try:
            sql = self._parts.compile(query.plan, dataset, capsule.limits.rows)
        except InvalidInput as error:
            if capsule.sql is None and capsule.status == "rejected":
                return Link(name="plan", status="ok", detail="the plan is refused again")
            return Link(name="plan", status="broken", detail=f"the plan no longer compiles: {error.message}")
        if sql != capsule.sql:
            why = f"the plan compiles to other SQL ({digest(sql)})"
            return Link(name="plan", status="broken", detail=why)
        return Link(name="plan", status="ok")

    async def _verdict(self, dataset: Dataset) -> tuple[Approved | None, Link]:
        capsule = self._capsule
        of_code = isinstance(self._query, CodeQuery)
        if capsule.verdict is None or (capsule.sql is None and not of_code):
            what = "code" if of_code else "SQL"
            return None, Link(
                name="verdict", status="ok", detail=f"the run ended before any {what} was judged"
            )
        if isinstance(capsule, CodeCapsule) and (why := not_replayed(capsule)):
            return None, unchecked("verdict", why)
        try:
            verdict = await self._judged(dataset)
        except SandtableError as error:
            return None, unchecked("verdict", f"the gate could not judge: {error.message}")
        if verdict is None:
            off = "Python is switched off here" if of_code else "no gate was given"
            return None, unchecked("verdict", off)
        approved = verdict if isinstance(verdict, Approved) else None
        if capsule.verdict.decision == "unchecked":
            now = "approve" if approved else "refuse"
            return approved, unchecked("verdict", f"the code ran unchecked; the gate would {now} it")
        why = _differs(capsule, verdict)
        link = Link(name="verdict", status="broken" if why else "ok", detail=why)
        unread = is_unread(VerdictRecord.of(verdict)) or is_unread(capsule.verdict)
        return approved, self._excused(link) if unread else link

    async def _judged(self, dataset: Dataset) -> Verdict | None:
        """None where there is no gate for it."""
        capsule, query, parts = self._capsule, self._query, self._parts
        if isinstance(capsule, CodeCapsule) and isinstance(query, CodeQuery):
            if parts.judge_python is None:
                return None
            names, self._hindrance = await look_back(capsule, dataset, parts.judge_python, parts.bound_names)
            return await parts.judge_python(query.code, dataset, names)
        assert capsule.sql is not None
        if self._live and isinstance(query, PlanQuery):
            rows = capsule.limits.rows
            return await parts.judge_plan(query.plan, dataset, rows) if parts.judge_plan else None
        return await parts.judge(capsule.sql, dataset) if parts.judge else None

    async def _result(self, dataset: Dataset, approved: Approved | None) -> tuple[JobResult | None, Link]:
        capsule = self._capsule
        if capsule.result is None:
            why = f"the run is {_how(capsule)}: it has no result"
            return None, Link(name="result", status="ok", detail=why)
        if approved is None or self._parts.run is None:
            return None, unchecked("result", "not run again, because no approval or no sandbox is at hand")
        if approved.volatile:
            what = "code" if isinstance(self._query, CodeQuery) else "query"
            why = f"the {what} uses {', '.join(approved.volatile)}, whose value differs from run to run"
            return None, unchecked("result", why)
        if self._hindrance:
            return None, unchecked("result", self._hindrance)
        try:
            again = await self._parts.run(capsule, approved, dataset)
        except SandtableError as error:
            return None, unchecked("result", f"the sandbox could not run it: {error.message}")
        link = await asyncio.to_thread(_compare, capsule, again)
        if self._live and link.status == "broken":
            return None, Link(name="result", status="not_pinned", detail=_OTHER_ROWS)
        return again, self._excused(link)

    def _chart(self, dataset: Dataset | None, again: JobResult | None) -> Link:
        """Drawn again from the result that was just computed, else from the recorded rows."""
        capsule, draw = self._capsule, self._parts.draw
        if isinstance(capsule, CapsuleV1) or capsule.chart is None:
            return Link(name="chart", status="ok", detail="there is no chart")
        if capsule.result is None:
            return Link(
                name="chart", status="broken", detail="there is a chart, and no result to draw it from"
            )
        if draw is None:
            return unchecked("chart", "not drawn again: no way to draw was given")
        maker = _maker(capsule.chart)
        if maker not in MAKERS:
            return unchecked("chart", f"drawn by other rules ({maker}) than are here ({MAKER})")
        recorded = _recorded(capsule.result)
        for rows in filter(None, (again, recorded)):
            made = plain(
                draw(rows, capsule.question, plan_of(self._query), capsule.limits.rows, dataset, maker)
            )
            if same_figure(made, capsule.chart):
                if again is None:
                    return unchecked("chart", "it fits the recorded rows, but their query was not run again")
                return Link(name="chart", status="ok")
            untitled = dataset is None and isinstance(self._query, PlanQuery)
            if untitled and made and same_figure(without_words(made), without_words(capsule.chart)):
                return unchecked(
                    "chart", "it fits the recorded rows, but its title and units need the dataset version"
                )
        if again is None and recorded is None:
            return unchecked("chart", "not drawn again, because the result is not at hand")
        return Link(name="chart", status="broken", detail="drawn again from the rows, the chart is another")


_OTHER_ROWS = "run again, the database gives another result now; the signed result is what it gave then"


def _not_pinned(same_schema: bool) -> Link:
    """Of data that stay in a database."""
    why = "the rows stay in the database and can change; "
    now = "its tables have the same columns as then" if same_schema else "its tables have other columns now"
    return Link(name="data", status="not_pinned", detail=why + now)


def _question(capsule: AnyCapsule, dataset: Dataset | None) -> Link:
    """How the question became what ran, with its marks of trust: shown, and never `ok`."""
    query = query_in(capsule)
    what = _kind(query)
    if not capsule.question:
        return Link(name="question", status="ok", detail=f"there is no question: the {what} was submitted")
    origin = None if isinstance(capsule, CapsuleV1) else capsule.origin
    known = marks_of(plan_of(query), dataset, origin.proposer if origin else None) if dataset else ()
    said = "; ".join(["a reading, check it", *(MARK_WORDS[mark] for mark in known)])
    return Link(name="question", status="reading", detail=f"question → {what} is {said}")


def _maker(chart: dict[str, Any]) -> str:
    layout = chart.get("layout")
    return str(layout.get("meta"))[:80] if isinstance(layout, dict) else "unknown"


def _recorded(result: ResultRecord) -> JobResult | None:
    """The recorded rows as a result, if they are complete."""
    if not result.rows_complete:
        return None
    return JobResult(
        job_id="recorded",
        status="succeeded",
        columns=result.columns,
        rows=result.rows,
        row_count=result.row_count,
        truncated=result.truncated,
    )


def _compare(capsule: AnyCapsule, again: JobResult) -> Link:
    assert capsule.result is not None
    if again.status != "succeeded":
        why = again.error.message if again.error else again.status
        return unchecked("result", f"the run did not succeed again: {why}")
    if again.truncated == capsule.result.truncated:
        if digest_of_rows(again.columns, again.rows) == capsule.result.digest:
            return Link(name="result", status="ok")
        columns = [(column.name, column.type) for column in again.columns]
        same_columns = again.columns == capsule.result.columns
        if same_columns and capsule.result.rows_complete and agree(columns, again.rows, capsule.result.rows):
            note = "equal up to floating-point noise (1e-9 relative); the digest fell on an edge of its grid"
            return Link(name="result", status="ok", detail=note)
    return Link(name="result", status="broken", detail="running it again gives another result")


def _differs(capsule: AnyCapsule, verdict: Verdict) -> str:
    assert capsule.verdict is not None
    now, then = VerdictRecord.of(verdict), capsule.verdict
    if now.decision != then.decision:
        return f"the gate now says {now.decision}, the capsule {then.decision}"
    if isinstance(verdict, Approved):
        query = query_in(capsule)
        if verdict.sql != (query.code if isinstance(query, CodeQuery) else capsule.executed_sql):
            return "the gate now derives another canonical text"
        names = ("tables", "functions", "serial", "volatile")
    else:
        names = ("code", "construct")
    wrong = [name for name in names if getattr(now, name) != getattr(then, name)]
    return f"the gate now reports other {', '.join(wrong)}" if wrong else ""


def _kind(query: Query) -> str:
    match query:
        case PlanQuery():
            return "plan"
        case SqlQuery():
            return "SQL"
        case CodeQuery():
            return "Python"


def _how(capsule: AnyCapsule) -> str:
    timed_out = capsule.error is not None and capsule.error.code == ErrorCode.RUNNER_TIMEOUT
    return "timed out" if timed_out else capsule.status
