"""`sandtable data propose` with the real sandbox: what is proposed, accepted, and used from then on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from sandtable.cli import main
from tests.cli.conftest import Invoke

pytestmark = pytest.mark.needs("userns")

ORDERS = "order_id,kunde,amount\n" + "".join(f"{n},K{n % 20},{n}.50\n" for n in range(1, 41))
KUNDEN = "nr,email,city\n" + "".join(
    f"K{n},k{n}@example.org,{'Bonn' if n % 2 else 'Ulm'}\n" for n in range(20)
)


@pytest.fixture
def invoke(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Invoke:
    monkeypatch.setenv("SANDTABLE_HOME", str(tmp_path / "home"))
    return lambda *arguments: CliRunner().invoke(main, arguments, catch_exceptions=False)


@pytest.fixture
def shop(invoke: Invoke, tmp_path: Path) -> str:
    for name, text in (("orders", ORDERS), ("kunden", KUNDEN)):
        (tmp_path / f"{name}.csv").write_text(text)
    done = invoke("data", "add", str(tmp_path / "orders.csv"), str(tmp_path / "kunden.csv"), "--id", "shop")
    assert done.exit_code == 0, done.output
    return "shop"


def proposed(invoke: Invoke, *arguments: str) -> Any:
    done = invoke("data", "propose", *arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_what_is_accepted_is_in_the_catalog_and_no_longer_proposed(invoke: Invoke, shop: str) -> None:
    found = proposed(invoke, shop)
    kinds = [(each["kind"], each["what"]) for each in found["proposals"]]
    assert kinds == [
        ("join", "orders.kunde → kunden.nr"),
        ("key", "orders: order_id"),
        ("key", "kunden: nr"),
        ("metric", "total_amount"),
        ("mask", "kunden.email"),
    ]
    assert found["proposals"][0]["missing"] == 0
    done = invoke("data", "propose", shop, *(word for n in "12345" for word in ("--accept", n)))
    names = "orders.kunde → kunden.nr, orders: order_id, kunden: nr, total_amount, kunden.email"
    assert done.exit_code == 0 and names in done.stdout
    assert proposed(invoke, shop)["proposals"] == []
    schema = json.loads(invoke("schema", shop, "--json").stdout)
    assert [each["many_column"] for each in schema["relationships"]] == ["kunde"]
    assert {each["name"]: each["key"] for each in schema["tables"]} == {
        "orders": ["order_id"],
        "kunden": ["nr"],
    }
    assert [each["name"] for each in schema["metrics"]] == ["total_amount"]
    assert [c["masked"] for t in schema["tables"] for c in t["columns"] if c["name"] == "email"] == [True]
    assert schema["catalog_version"] != found["catalog_version"]
    asked = invoke("ask", "total amount by city", "--dataset", shop)
    assert asked.exit_code == 0 and "Bonn" in asked.stdout


def test_a_number_that_is_not_listed_is_refused(invoke: Invoke, shop: str) -> None:
    done = invoke("data", "propose", shop, "--accept", "9")
    assert done.exit_code == 2 and "there is no proposal 9" in done.stderr
