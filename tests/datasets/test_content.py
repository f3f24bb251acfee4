"""The data is worth asking about: what the descriptions promise can be found in it."""

from __future__ import annotations

import statistics
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from datetime import datetime
from types import ModuleType
from typing import Any

import pytest

Rows = list[dict[str, str]]
Read = Callable[[str], Rows]


def rate(rows: Iterable[dict[str, str]], flag: str, by: str, also: str = "") -> dict[Any, float]:
    total: Counter[Any] = Counter()
    hits: Counter[Any] = Counter()
    for row in rows:
        key = (row[by], row[also]) if also else row[by]
        total[key] += 1
        hits[key] += row[flag] == "true"
    return {key: hits[key] / total[key] for key in total}


def test_columns_of_the_files_are_those_of_the_registry(rows: Read, registry: dict[str, Any]) -> None:
    for dataset in registry["datasets"]:
        for table in dataset["tables"]:
            read = rows(f"{dataset['id']}/{table['name']}")
            assert list(read[0]) == [c["name"] for c in table["columns"]]


def test_nullable_is_declared_exactly_where_cells_are_missing(rows: Read, registry: dict[str, Any]) -> None:
    for dataset in registry["datasets"]:
        for table in dataset["tables"]:
            read = rows(f"{dataset['id']}/{table['name']}")
            for column in table["columns"]:
                missing = any(row[column["name"]] == "" for row in read)
                assert column["nullable"] == missing, f"{table['name']}.{column['name']}"


def test_relationships_hold(rows: Read, registry: dict[str, Any]) -> None:
    for dataset in registry["datasets"]:
        for r in dataset["relationships"]:
            one = [row[r["one_column"]] for row in rows(f"{dataset['id']}/{r['one_table']}")]
            many = {row[r["many_column"]] for row in rows(f"{dataset['id']}/{r['many_table']}")}
            assert len(one) == len(set(one)), r
            assert many <= set(one), r


def test_every_dataset_offers_four_to_six_questions_and_a_metric(registry: dict[str, Any]) -> None:
    for dataset in registry["datasets"]:
        assert 4 <= len(dataset["prompts"]) <= 6
        assert dataset["metrics"] and dataset["title"] and dataset["description"]


def test_no_row_is_later_than_as_of(rows: Read, registry: dict[str, Any]) -> None:
    for dataset in registry["datasets"]:
        for table in dataset["tables"]:
            if "time_column" in table:
                read = rows(f"{dataset['id']}/{table['name']}")
                latest = max(row[table["time_column"]] for row in read)
                assert latest[:10] == dataset["as_of"][:10]
                assert datetime.fromisoformat(latest) <= datetime.fromisoformat(dataset["as_of"])


def test_return_rate_depends_on_category(rows: Read) -> None:
    returned = rate(rows("ecommerce/order_items"), "returned", "category")
    assert returned["Apparel"] > 1.6 * returned["Electronics"] > 3 * returned["Beauty"]
    assert returned["Grocery"] < 0.03


def test_sales_peak_in_november_and_december_and_grow(rows: Read) -> None:
    orders = Counter(row["order_date"][:7] for row in rows("ecommerce/orders"))
    for year in ("2024", "2025"):
        peak = min(orders[f"{year}-11"], orders[f"{year}-12"])
        assert peak > 1.3 * max(orders[f"{year}-{m:02d}"] for m in range(1, 11))
    years = Counter(row["order_date"][:4] for row in rows("ecommerce/orders"))
    assert years["2025"] > 1.08 * years["2024"]


def test_one_product_is_defective(rows: Read) -> None:
    recent = [r for r in rows("ecommerce/order_items") if r["order_date"] >= "2025-06-01"]
    sold = Counter(r["sku"] for r in recent)
    returned = {sku: r for sku, r in rate(recent, "returned", "sku").items() if sold[sku] >= 30}
    assert max(returned, key=lambda sku: returned[sku]) == "ELE-003"


def test_order_totals_are_the_sums_of_their_lines(rows: Read) -> None:
    lines: Counter[str] = Counter()
    for item in rows("ecommerce/order_items"):
        lines[item["order_id"]] += int(item["line_total"].replace(".", ""))
    for order in rows("ecommerce/orders"):
        assert int(order["order_total"].replace(".", "")) == lines[order["order_id"]]
        assert (order["status"] == "cancelled") == (order["item_count"] == "0")


def test_breaches_depend_on_priority_and_region(rows: Read) -> None:
    breached = rate(rows("support/tickets"), "sla_breached", "priority")
    assert breached["urgent"] > 1.4 * breached["high"] > 2 * breached["normal"] > 3 * breached["low"]
    by_region = rate(rows("support/tickets"), "sla_breached", "region")
    assert by_region["Asia Pacific"] > 1.4 * by_region["Latin America"] > 1.4 * by_region["North America"]
    both = rate(rows("support/tickets"), "sla_breached", "region", "priority")
    assert max(both, key=lambda k: both[k]) == ("Asia Pacific", "urgent")


def test_breach_flag_agrees_with_minutes_and_timestamps(rows: Read) -> None:
    for ticket in rows("support/tickets"):
        if not ticket["resolved_at"]:
            continue
        took = datetime.fromisoformat(ticket["resolved_at"]) - datetime.fromisoformat(ticket["created_at"])
        assert int(ticket["resolution_minutes"]) == took.total_seconds() // 60
        late = int(ticket["resolution_minutes"]) > int(ticket["sla_target_minutes"])
        assert (ticket["sla_breached"] == "true") == late


def test_satisfaction_is_often_missing_and_falls_with_breaches(rows: Read) -> None:
    scores: dict[str, list[int]] = defaultdict(list)
    tickets = rows("support/tickets")
    for ticket in tickets:
        if ticket["csat"]:
            scores[ticket["sla_breached"]].append(int(ticket["csat"]))
    assert 0.5 < 1 - sum(map(len, scores.values())) / len(tickets) < 0.7
    assert statistics.fmean(scores["false"]) - statistics.fmean(scores["true"]) > 1


@pytest.mark.parametrize(
    ("kind", "column"),
    [
        ("temperature spike", "temperature_c"),
        ("vibration spike", "vibration_mm_s"),
        ("humidity spike", "humidity_pct"),
    ],
)
def test_spikes_stand_out(rows: Read, generator: ModuleType, kind: str, column: str) -> None:
    read = [r for r in rows("sensors/readings") if r[column]]
    values = [float(r[column]) for r in read]
    mean, deviation = statistics.fmean(values), statistics.pstdev(values)
    faults = [f for f in sys.modules["generate.sensors"].PLANTED if f.kind == kind]
    assert faults
    for row, value in zip(read, values, strict=True):
        at = datetime.fromisoformat(row["recorded_at"])
        planted = any(f.device == row["device_id"] and f.hours_in(at) is not None for f in faults)
        # The drifting device leaves the ordinary range too, slowly.
        if planted or row["device_id"] != "D-18":
            assert ((value - mean) / deviation > 4.5) == planted, row


def test_stuck_device_repeats_one_value_for_days(rows: Read) -> None:
    days: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows("sensors/readings"):
        if row["temperature_c"]:
            days[row["device_id"], row["recorded_at"][:10]].add(row["temperature_c"])
    frozen = {key for key, values in days.items() if len(values) == 1}
    assert {device for device, _ in frozen} == {"D-10"}
    assert len(frozen) == 7


def test_drifting_device_is_far_from_its_start(rows: Read) -> None:
    def mean(device: str, first: str) -> float:
        return statistics.fmean(
            float(r["temperature_c"])
            for r in rows("sensors/readings")
            if r["device_id"] == device and r["recorded_at"] >= first and r["temperature_c"]
        )

    assert mean("D-18", "2025-12-29") - mean("D-18", "2025-11-01") > 5
    assert abs(mean("D-17", "2025-12-29") - mean("D-17", "2025-11-01")) < 5


def test_gaps_have_no_rows(rows: Read) -> None:
    seen = {(r["device_id"], r["recorded_at"]) for r in rows("sensors/readings")}
    assert ("D-04", "2025-12-15 12:00:00") not in seen
    assert ("D-09", "2025-11-27 10:00:00") not in seen
    assert len(seen) == len(rows("sensors/readings"))
