"""A page verified with this program instead of its own: its statement, its program, its words, and every capsule.

Invariant: a sentence is `ok` only where wording the plan and the recorded rows gives it again; the words of a
conversation are a reading. Nothing is worded for a capsule that is not in order.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, computed_field

from sandtable.capsule.keys import TrustedKeys
from sandtable.capsule.model import AnyCapsule, CatalogCapsule, query_in, read_capsule
from sandtable.capsule.query import CodeQuery, plan_of
from sandtable.capsule.report import VerifyReport
from sandtable.capsule.seal import Envelope, read_statement, unpack
from sandtable.catalog.model import Dataset, on_the_day
from sandtable.errors import InvalidInput, SandtableError
from sandtable.proof_page.page import Content, NotAPage, parted
from sandtable.proof_page.said import AnswerSaid, PageSaid, Unsigned, capsules_named, opened, payload_digest
from sandtable.quoting import quote
from sandtable.wording import answer_of

PageLinkName = Literal["page", "statement", "program", "records", "sentence"]
Verify = Callable[[Envelope], Awaitable[VerifyReport]]
Find = Callable[[str, str, str | None], Awaitable[Dataset]]
"""One version of a dataset, by one version of its catalog. Raises SandtableError."""


class PageLink(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    name: PageLinkName
    status: Literal["ok", "broken", "not_checked", "reading"]
    detail: str = ""


class PageReport(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    links: tuple[PageLink, ...]
    """Of the page itself; one `sentence` for each answer that has one."""
    capsules: tuple[VerifyReport, ...] = ()
    """In the order of the page."""

    @computed_field
    @property
    def ok(self) -> bool:
        """Nothing is broken."""
        own = all(link.status != "broken" for link in self.links)
        return own and all(report.ok for report in self.capsules)

    @computed_field
    @property
    def complete(self) -> bool:
        """Nothing that can be derived was left unchecked."""
        own = all(link.status != "not_checked" for link in self.links)
        return own and all(report.complete for report in self.capsules)


async def verify_page(text: str, keys: TrustedKeys, verify: Verify, find: Find) -> PageReport:
    try:
        content, program = await asyncio.to_thread(parted, text)
    except NotAPage as error:
        return PageReport(links=(PageLink(name="page", status="broken", detail=error.message),))
    reports = tuple([await verify(envelope) for envelope in content.capsules])
    links = [PageLink(name="page", status="ok")]
    try:
        said = await asyncio.to_thread(opened, content.statement, keys)
    except InvalidInput as error:
        detail = f"{error.message}; {error.suggestion}" if isinstance(error, Unsigned) else error.message
        why = "not looked at: no trusted signature covers the words"
        rest = [PageLink(name=name, status="not_checked", detail=why) for name in _WORDS]
        return PageReport(
            links=(*links, PageLink(name="statement", status="broken", detail=detail), *rest),
            capsules=reports,
        )
    links += [PageLink(name="statement", status="ok"), _program(said, program), _records(said, content)]
    if links[-1].status == "ok":
        links += await _sentences(said, content, reports, find)
    return PageReport(links=tuple(links), capsules=reports)


_WORDS: tuple[PageLinkName, ...] = ("program", "records", "sentence")


def _program(said: PageSaid, found: str) -> PageLink:
    if said.program == found:
        return PageLink(name="program", status="ok", detail="the page checks itself as its signer wrote it")
    why = "it is not the one that was signed: what the page says about itself cannot be relied on"
    return PageLink(name="program", status="broken", detail=why)


def _records(said: PageSaid, content: Content) -> PageLink:
    try:
        held = [payload_digest(envelope) for envelope in content.capsules]
    except InvalidInput as error:
        return PageLink(name="records", status="broken", detail=error.message)
    if held == capsules_named(said.answers):
        return PageLink(name="records", status="ok")
    why = "the signed words stand beside other capsules than the page holds"
    return PageLink(name="records", status="broken", detail=why)


async def _sentences(
    said: PageSaid, content: Content, reports: Sequence[VerifyReport], find: Find
) -> list[PageLink]:
    made: list[PageLink] = []
    at = 0
    for answer in said.answers:
        until = at + len(answer.capsules)
        if answer.sentence:
            held, found = content.capsules[at:until], reports[at:until]
            made.append(await _sentence(answer, held, found, find))
        at = until
    return made


async def _sentence(
    answer: AnswerSaid, envelopes: Sequence[Envelope], reports: Sequence[VerifyReport], find: Find
) -> PageLink:
    which = f"of {quote(answer.question)}: " if answer.question else ""
    if not all(report.ok for report in reports):
        why = f"{which}not worded again, because a capsule is not in order"
        return PageLink(name="sentence", status="not_checked", detail=why)
    capsules = [read_capsule(read_statement(unpack(one)[0])["predicate"]) for one in envelopes]
    try:
        again = await _worded(capsules, find)
    except SandtableError as error:
        return PageLink(name="sentence", status="not_checked", detail=f"{which}{error.message}")
    if any(_opens_with(answer.sentence, one) for one in again):
        detail = f"{which}worded again from the plan and the rows, it is the same"
        return PageLink(name="sentence", status="ok", detail=detail)
    why = f"{which}signed as it stood in the conversation; read it beside the rows"
    return PageLink(name="sentence", status="reading", detail=why)


def _opens_with(text: str, sentence: str) -> bool:
    """In a conversation, remarks may follow in paragraphs of their own."""
    return text == sentence or text.startswith(f"{sentence}\n\n")


async def _worded(capsules: Sequence[AnyCapsule], find: Find) -> list[str]:
    """The sentences that the recorded rows give, without and with a second run's figures over everything."""
    if not capsules:
        return []
    main, result = capsules[0], capsules[0].result
    query = query_in(main)
    if isinstance(query, CodeQuery) or result is None or not result.rows_complete:
        return []
    catalog = main.catalog_version if isinstance(main, CatalogCapsule) else None
    dataset = on_the_day(await find(main.dataset_id, main.dataset_version, catalog), main.created_at)
    columns = [(column.name, column.type) for column in result.columns]
    return [
        answer_of(
            main.question,
            plan_of(query),
            columns,
            result.rows,
            dataset,
            truncated=result.truncated,
            row_count=result.row_count,
            overall=overall,
        )
        for overall in (None, *filter(None, [_only_row(capsules[1])] if len(capsules) > 1 else []))
    ]


def _only_row(capsule: AnyCapsule) -> dict[str, Any] | None:
    found = capsule.result
    if found is None or not found.rows:
        return None
    return dict(zip((column.name for column in found.columns), found.rows[0], strict=True))
