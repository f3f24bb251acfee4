"""The sentence of a page: worded again from the recorded rows, or a reading."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from sandtable.capsule.model import Capsule, ResultRecord
from sandtable.capsule.report import LINKS, Link, VerifyReport
from sandtable.catalog.model import Dataset
from sandtable.errors import NotFound
from sandtable.proof_page.verify import PageReport, verify_page
from sandtable.sandbox.job import JobResult, ResultColumn
from sandtable.wording import answer_of
from tests.capsule.samples import KEY, SHOP, capsule
from tests.proof_page.samples import answer_with, page

TRUSTED = {KEY.keyid: KEY.private.public_key()}
Find = Callable[[str, str, str | None], Awaitable[Dataset]]


def _total(**changes: Any) -> Capsule:
    columns = (ResultColumn(name="total", type="DOUBLE"),)
    result = JobResult(job_id="j", status="succeeded", columns=columns, rows=((42.5,),), row_count=1)
    return capsule(result=ResultRecord.of(result).model_dump(mode="json"), **changes)


async def _shop(_: str, __: str, ___: str | None) -> Dataset:
    return SHOP


async def _gone(_: str, __: str, ___: str | None) -> Dataset:
    raise NotFound("no version", suggestion="Add it.")


async def _verified(text: str, find: Find = _shop, state: Any = "ok") -> PageReport:
    async def verify(_: dict[str, Any]) -> VerifyReport:
        links = tuple(Link(name=name, status=state) for name in LINKS)
        return VerifyReport(run_id="run", keyid=KEY.keyid, links=links)

    return await verify_page(text, TRUSTED, verify, find)


def _sentence(report: PageReport) -> tuple[str, str]:
    found = report.links[-1]
    assert found.name == "sentence"
    return found.status, found.detail


async def _worded() -> str:
    """What the recorded plan and rows give."""
    main = _total()
    return answer_of(main.question, main.plan, [("total", "DOUBLE")], [[42.5]], SHOP, row_count=1)


async def test_a_sentence_that_follows_from_the_rows_is_derived() -> None:
    said = await _worded()
    assert "42.5" in said
    report = await _verified(page(answer_with(_total(), sentence=said)))
    assert _sentence(report)[0] == "ok" and report.ok and report.complete
    remarked = await _verified(page(answer_with(_total(), sentence=f"{said}\n\n*A remark.*")))
    assert _sentence(remarked)[0] == "ok"


@pytest.mark.parametrize("more", ["", " More."])
async def test_other_words_are_a_reading(more: str) -> None:
    said = f"{await _worded()}{more}" if more else "It is 43."
    status, why = _sentence(await _verified(page(answer_with(_total(), sentence=said))))
    assert status == "reading" and "read it beside the rows" in why


async def test_without_the_data_or_an_intact_capsule_nothing_is_worded() -> None:
    text = page(answer_with(_total(), sentence=await _worded()))
    assert _sentence(await _verified(text, _gone))[0] == "not_checked"
    report = await _verified(text, state="broken")
    assert _sentence(report)[0] == "not_checked" and not report.ok
