"""A database from the command line: connect, copy, ask, verify, refresh, disconnect."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.sources.conftest import SECRET, SHOP, Database, database_of, started
from tests.sources.mariadb import MariaDatabase, shop_server

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = (sys.executable, "-c", "from sandtable.cli import main; main(prog_name='sandtable')")

pytestmark = pytest.mark.needs("userns")


@contextmanager
def _postgres() -> Iterator[Database]:
    cluster, port = started()
    with cluster as address:
        made = database_of(address, port)
        made.execute(SHOP)
        made.reader("reader", "shop")
        yield made


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(_postgres, marks=pytest.mark.needs("postgres"), id="postgresql"),
        pytest.param(shop_server, marks=pytest.mark.needs("mariadb"), id="mariadb"),
    ],
)
def database(request: pytest.FixtureRequest) -> Iterator[Database | MariaDatabase]:
    with request.param() as made:
        made.reader("writer", "shop")
        made.execute("GRANT INSERT ON shop.orders TO writer")
        yield made


@pytest.fixture
def sandtable(tmp_path: Path) -> Any:
    home = tmp_path / "home"

    def run(*arguments: str, code: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
        inherited = {**os.environ, "SANDTABLE_HOME": str(home), "PYTHONPATH": str(ROOT / "src")}
        done = subprocess.run(
            [*PROGRAM, *arguments],
            env={**inherited, "COLUMNS": "100", **environment},
            stdin=subprocess.DEVNULL,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert SECRET not in done.stdout + done.stderr
        return done

    return run


def test_a_database_is_connected_copied_asked_about_and_proven(
    database: Database | MariaDatabase, sandtable: Any, tmp_path: Path
) -> None:
    url = database.url("reader").replace(f":{SECRET}", "")
    named = {"SHOP_PASSWORD": SECRET}
    done = sandtable("data", "connect", url, "--name", "shop", "--password-env", "SHOP_PASSWORD", **named)
    assert re.search(r"The (role|user) can only read\.", done.stdout)
    assert "shop.orders\ttable" in done.stdout
    assert "as reader, not encrypted" in sandtable("data", "sources", "shop", **named).stdout
    (listed,) = json.loads(sandtable("data", "sources", "--json").stdout)
    assert (listed["name"], listed["role"], listed["password_env"]) == ("shop", "reader", "SHOP_PASSWORD")

    made = sandtable("data", "snapshot", "shop", "--table", "orders", "--table", "shop.customers", **named)
    assert "orders: 1,000 rows, 4 columns, from shop.orders" in made.stdout
    answer = json.loads(sandtable("ask", "total amount by city", "--dataset", "shop", "--json").stdout)
    text = json.dumps(answer)
    assert "Köln" in text or "K\\u00f6ln" in text
    capsule = tmp_path / "capsule.json"
    sql = "SELECT city, count(*) AS n FROM orders JOIN customers ON buyer = id GROUP BY city"
    capsule.write_text(sandtable("run", "--dataset", "shop", "--sql", sql, "--json").stdout)
    rows = json.loads(capsule.read_text())["capsule"]["result"]["rows"]
    assert sorted(rows, key=str) == sorted([["Berlin", 250], ["Köln", 250], ["", 250], [None, 250]], key=str)
    report = json.loads(sandtable("verify", str(capsule), "--json").stdout)
    assert (report["ok"], report["complete"]) == (True, True)

    assert "Nothing changed in shop" in sandtable("data", "refresh", "shop", **named).stdout
    database.execute("INSERT INTO shop.orders VALUES (5000, 1, 7, NULL)")
    assert "1,000 rows before, 1,001 now" in sandtable("data", "refresh", "shop", **named).stdout
    # The earlier version is still there to be proven.
    assert json.loads(sandtable("verify", str(capsule), "--json").stdout)["ok"]
    home = tmp_path / "home"
    assert not [p for p in home.rglob("*") if p.is_file() and SECRET.encode() in p.read_bytes()]

    refused = sandtable("data", "refresh", "shop", code=2)
    assert "SHOP_PASSWORD has no password" in refused.stderr
    sandtable("data", "disconnect", "shop")
    assert "no source `shop` is connected" in sandtable("data", "refresh", "shop", code=2).stderr
    assert "shop" in sandtable("data", "list").stdout


def test_a_writer_is_refused_with_what_to_do(
    database: Database | MariaDatabase, sandtable: Any, tmp_path: Path
) -> None:
    url = database.url("writer")
    refused = sandtable("data", "connect", url, "--name", "shop", "--table", "orders", code=2)
    assert "can change `shop.orders`" in refused.stderr
    assert re.search(r"GRANT SELECT ON (ALL TABLES IN SCHEMA \"shop\"|`shop`\.\*) TO", refused.stderr)
    assert not list((tmp_path / "home" / "sources").glob("*"))
    allowed = sandtable(
        "data", "connect", url, "--name", "shop", "--table", "orders", "--allow-writer", "writer"
    )
    assert "Allowed although it can change `shop.orders`." in allowed.stdout
    assert "Added shop" in allowed.stdout
    error = json.loads(sandtable("data", "connect", f"x{url}", "--name", "a", "--json", code=2).stdout)[
        "error"
    ]
    assert error["code"] == "VALIDATION_ERROR"
