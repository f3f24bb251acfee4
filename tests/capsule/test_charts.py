"""Chart and origin in a capsule: what holds them there, and what shows when they were changed."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from sandtable.capsule.canonical import canonical, digest
from sandtable.capsule.compare import same_figure
from sandtable.capsule.digests import digests_of
from sandtable.capsule.keys import keyid_of, read_public
from sandtable.capsule.model import Capsule, Origin
from sandtable.capsule.report import Link, VerifyReport
from sandtable.capsule.seal import (
    PAYLOAD_TYPE,
    Envelope,
    chart_in,
    pre_authentication,
    read_statement,
    seal,
    unpack,
)
from sandtable.capsule.verify import Rederive, verify
from sandtable.catalog.model import Dataset
from sandtable.chart.rules import FIRST_MAKER, MAKER, MAKERS
from sandtable.runs.draw import draw
from sandtable.sandbox.job import JobResult
from scripts.make_golden_capsules import PLAN, SHOP
from tests.capsule.samples import CHART_ROWS, KEY, ORIGIN, capsule, chart_answer, charted, world

GOLDEN = Path(__file__).parent / "golden"


def broken(report: VerifyReport) -> dict[str, str]:
    return {link.name: link.detail for link in report.links if link.status == "broken"}


def resigned(made: Capsule, *, consistent: bool, **change: Any) -> Envelope:
    """Changed and signed again by the right key; `consistent` with digests that fit."""
    statement = read_statement(unpack(seal(made, KEY))[0])
    statement["predicate"] |= change
    if consistent:
        statement["predicate"]["digests"] = digests_of(statement["predicate"])
    payload = canonical(statement)
    signature = KEY.sign(pre_authentication(PAYLOAD_TYPE, payload))
    return {
        "payloadType": PAYLOAD_TYPE,
        "payload": base64.b64encode(payload).decode(),
        "signatures": [{"keyid": KEY.keyid, "sig": base64.b64encode(signature).decode()}],
    }


def with_other_bar(chart: dict[str, Any] | None) -> dict[str, Any]:
    assert chart is not None
    [trace] = chart["data"]
    return {**chart, "data": [{**trace, "y": [12.5, 9999, 0.1]}]}


def test_the_sample_has_a_chart() -> None:
    chart = charted().chart
    assert chart is not None
    assert chart["data"][0]["y"] == [12.5, 1234.5678901, 0.1]


async def test_a_chart_is_drawn_again_from_the_result() -> None:
    report = await verify(seal(charted(), KEY), world(result=chart_answer()))
    assert report.link("chart") == Link(name="chart", status="ok")
    assert report.ok and report.complete


async def test_a_false_chart_is_named() -> None:
    made = charted()
    forged = resigned(made, consistent=True, chart=with_other_bar(made.chart))
    report = await verify(forged, world(result=chart_answer()))
    assert broken(report) == {"chart": "drawn again from the rows, the chart is another"}


async def test_a_false_chart_is_named_even_when_nothing_can_be_run() -> None:
    made = charted()
    forged = resigned(made, consistent=True, chart=with_other_bar(made.chart))
    assert list(broken(await verify(forged, world(run=None)))) == ["chart"]
    honest = (await verify(seal(made, KEY), world(run=None))).link("chart")
    assert (honest.status, honest.detail[:27]) == ("not_checked", "it fits the recorded rows, ")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        pytest.param({"chart": None}, "chart", id="chart taken out"),
        pytest.param({"chart": {"data": [], "layout": {}}}, "chart", id="another chart"),
        pytest.param({"origin": None, "prompts": []}, "prompts, origin", id="origin taken out"),
        pytest.param({"origin": {**ORIGIN, "tokens_in": 1}}, "origin", id="tokens"),
        pytest.param({"origin": {**ORIGIN, "proposer": "builtin"}}, "origin", id="proposer"),
    ],
)
async def test_what_was_changed_no_longer_fits_its_digest(change: dict[str, Any], named: str) -> None:
    report = await verify(resigned(charted(), consistent=False, **change), world(result=chart_answer()))
    assert broken(report) == {"digests": f"the recorded digest does not fit the recorded content: {named}"}


@pytest.mark.parametrize("field", ["chart", "origin"])
async def test_a_change_without_the_key_breaks_the_signature(field: str) -> None:
    envelope = seal(charted(), KEY)
    statement = read_statement(unpack(envelope)[0])
    statement["predicate"][field] = None
    statement["predicate"]["prompts"] = []
    statement["predicate"]["digests"] = digests_of(statement["predicate"])
    envelope["payload"] = base64.b64encode(canonical(statement)).decode()
    report = await verify(envelope, world(result=chart_answer()))
    assert "signature" in broken(report)


async def test_prompts_are_those_of_the_origin() -> None:
    report = await verify(
        resigned(charted(), consistent=True, prompts=["sha256:00"]), world(result=chart_answer())
    )
    assert broken(report)["digests"].endswith(": prompts")
    made = charted()
    assert made.prompts == ("sha256:" + "1f" * 32, "sha256:" + "2e" * 32)
    assert made.digests.origin == digest(ORIGIN)


async def test_a_chart_without_a_result_is_broken() -> None:
    made = charted(status="failed", result=None)
    assert "no result" in broken(await verify(seal(made, KEY), world()))["chart"]


async def test_a_chart_drawn_by_other_rules_is_not_a_false_one() -> None:
    made = charted()
    assert made.chart is not None
    old = {**made.chart, "layout": {**made.chart["layout"], "meta": "sandtable.chart/0"}}
    link = (await verify(seal(charted(chart=old), KEY), world(result=chart_answer()))).link("chart")
    assert (link.status, "sandtable.chart/0" in link.detail) == ("not_checked", True)
    for odd in ({}, {"layout": 5}, {"layout": {"meta": [1]}}):
        made = charted(chart=odd)
        assert (await verify(seal(made, KEY), world(result=chart_answer()))).link(
            "chart"
        ).status == "not_checked"


def long_answer(noise: float = 0.0) -> JobResult:
    days = [f"2023-{month:02d}-{day:02d}" for month in range(1, 11) for day in range(1, 26)]
    return chart_answer(tuple((day, n / 3 * (1 + noise)) for n, day in enumerate(days)))


async def test_the_chart_of_a_long_result_is_drawn_from_the_fresh_rows() -> None:
    made = charted(long_answer())
    assert made.chart is not None and made.result is not None
    assert (made.chart["data"][0]["type"], made.result.rows_complete) == ("scatter", False)
    assert (await verify(seal(made, KEY), world(result=long_answer()))).complete
    assert (await verify(seal(made, KEY), world(result=long_answer(1e-14)))).complete
    not_run = (await verify(seal(made, KEY), world(run=None))).link("chart")
    assert (not_run.status, "not at hand" in not_run.detail) == ("not_checked", True)
    forged = resigned(made, consistent=True, chart={**made.chart, "data": []})
    assert list(broken(await verify(forged, world(result=long_answer())))) == ["chart"]


async def test_rows_in_another_order_break_no_chart() -> None:
    """Rows are a multiset; a figure is drawn in the order in which they came the first time."""
    report = await verify(seal(charted(), KEY), world(result=chart_answer(CHART_ROWS[::-1])))
    assert report.ok and report.complete


async def test_another_result_breaks_the_result_and_not_the_chart() -> None:
    report = await verify(seal(charted(), KEY), world(result=chart_answer(CHART_ROWS[:2])))
    assert list(broken(report)) == ["result"]


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ({"y": [1.0]}, {"y": [1]}, True),
        ({"y": [1.0]}, {"y": [1.0 + 1e-13]}, True),
        ({"y": [1.0]}, {"y": [1.001]}, False),
        ({"y": [1.0]}, {"y": [1.0, 2.0]}, False),
        ({"y": [True]}, {"y": [1]}, False),
        ({"y": ["1"]}, {"y": [1]}, False),
        ({"y": [None]}, {"y": [None]}, True),
        ({"y": []}, {"x": []}, False),
        (None, {"y": []}, False),
    ],
)
def test_figures_are_the_same_up_to_noise(left: Any, right: Any, same: bool) -> None:
    assert same_figure(left, right) is same


@pytest.mark.parametrize(
    "change",
    [
        {"proposer": ""},
        {"tokens_in": -1},
        {"latency_ms": float("inf")},
        {"prompts": [{"name": "plan", "sha256": "sha256:" + "00" * 32}]},
        {"questions": 1},
    ],
    ids=str,
)
def test_an_origin_that_makes_no_sense_does_not_construct(change: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Origin.model_validate({**ORIGIN, **change})


def test_the_chart_is_found_in_an_envelope() -> None:
    assert chart_in(seal(charted(), KEY)) == charted().chart
    assert chart_in(seal(capsule(), KEY)) is None


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("v2-*.json")), ids=lambda path: path.stem)
async def test_golden_capsules_of_format_two_verify_for_ever(path: Path) -> None:
    key = read_public(GOLDEN / "v2-key.pem")
    report = await verify(path.read_bytes(), Rederive(keys={keyid_of(key): key}, draw=draw))
    assert [link.status for link in report.links[:4]] == ["ok"] * 4, report
    assert report.ok


def test_there_are_golden_capsules_of_format_two() -> None:
    assert len(list(GOLDEN.glob("v2-*.json"))) >= 5


async def test_the_golden_chart_is_still_drawn_the_same() -> None:
    """If this breaks, the rules of drawing have changed: raise `MAKER`, and keep the old golden capsules."""
    key = read_public(GOLDEN / "v2-key.pem")
    text = (GOLDEN / "v2-chart-and-origin.json").read_bytes()
    link = (await verify(text, Rederive(keys={keyid_of(key): key}, draw=draw))).link("chart")
    assert link.detail.startswith("it fits the recorded rows"), link


async def shop(dataset_id: str, version: str, catalog_version: str | None) -> Dataset:
    assert (dataset_id, version) == (SHOP.id, SHOP.version)
    return SHOP


async def unchanged(dataset: Dataset) -> str:
    return dataset.version


async def test_the_golden_title_is_still_worded_the_same() -> None:
    """If this breaks, titles are worded by other rules: raise `MAKER`, and keep the old golden capsules."""
    key = read_public(GOLDEN / "v3-key.pem")
    text = (GOLDEN / "v3-plan.json").read_bytes()
    chart = chart_in(json.loads(text))
    assert chart is not None and chart["layout"]["title"]["text"] == (
        "Total amount by region, this month (April 2024), where region is not `&lt;i&gt;West&lt;/i&gt;`"
    )
    parts = Rederive(keys={keyid_of(key): key}, draw=draw, dataset=shop, rehash=unchanged)
    link = (await verify(text, parts)).link("chart")
    assert link.detail.startswith("it fits the recorded rows, but their query"), link
    without = (await verify(text, Rederive(keys={keyid_of(key): key}, draw=draw))).link("chart")
    assert (without.status, without.detail[-44:]) == (
        "not_checked",
        "its title and units need the dataset version",
    )


def planned(maker: str = MAKER) -> Capsule:
    """A run of the golden plan, whose chart was drawn by the rules of that time."""
    chart = draw(chart_answer(), "total by region", PLAN, 200, SHOP, maker)
    assert chart is not None and chart["layout"]["meta"] == maker
    return charted(plan=PLAN, chart=chart)


@pytest.mark.parametrize("maker", MAKERS)
async def test_figures_of_all_makers_are_drawn_again(maker: str) -> None:
    made, parts = planned(maker), replace(world(result=chart_answer()), dataset=shop)
    assert (await verify(seal(made, KEY), parts)).link("chart") == Link(name="chart", status="ok")
    forged = resigned(made, consistent=True, chart=with_other_bar(made.chart))
    assert "chart" in broken(await verify(forged, parts))


def test_the_first_maker_says_columns_alone() -> None:
    made = planned(FIRST_MAKER).chart
    assert made is not None and made["layout"]["title"]["text"] == "Total by region"


def with_other_title(chart: dict[str, Any] | None) -> dict[str, Any]:
    assert chart is not None
    return {**chart, "layout": {**chart["layout"], "title": {"text": "Profit by region"}}}


async def test_a_false_title_is_named_where_the_dataset_is() -> None:
    made = planned()
    forged = resigned(made, consistent=True, chart=with_other_title(made.chart))
    assert "chart" in broken(await verify(forged, replace(world(result=chart_answer()), dataset=shop)))
    apart = replace(world(run=None), dataset=None)
    link = (await verify(forged, apart)).link("chart")
    assert (link.status, "title" in link.detail) == ("not_checked", True)
    forged = resigned(made, consistent=True, chart=with_other_bar(made.chart))
    assert list(broken(await verify(forged, apart))) == ["chart"]


def test_chart_and_origin_survive_the_round_trip() -> None:
    payload, _, _ = unpack(seal(charted(), KEY))
    assert Capsule.model_validate(read_statement(payload)["predicate"]) == charted()
